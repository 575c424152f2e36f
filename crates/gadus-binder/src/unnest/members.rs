//! `value IN (SELECT …)` as a value: outer joins with the members, and with the numbers of rows.
//!
//! - It is true where there is an equal member; else unknown where the value is NULL and there are rows, or a member is NULL.

use super::Unnesting;
use super::attach::Detached;
use super::build::{all, boolean, case, count, infix, is, null};
use super::columns::named;
use super::domain::is_repeatable;
use super::pull::{Equality, equalities, names_any};
use super::values::{grouped, is_some};
use crate::bound::{BoundQuery, Relational, Scalar, ScalarKind};
use crate::error::Result;
use crate::types::constants;
use gadus_syntax::ast::BooleanTest;
use std::collections::HashSet;

/// Rows that are searched for a value.
struct Members {
    rows: Relational,
    /// Equalities with values of the rows around.
    keys: Vec<Equality>,
    /// Equality of a member with the value.
    equality: Equality,
}

impl Unnesting {
    /// Returns the value of `= ANY` or `<> ALL`; `None` if the query is joined with the rows around by more than equalities.
    pub(super) fn is_member(
        &mut self,
        input: &mut Relational,
        query: &BoundQuery,
        condition: &Scalar,
        operator: &str,
    ) -> Result<Option<Scalar>> {
        let Some(members) = self.members(input, query, condition, operator)? else {
            return Ok(None);
        };
        let Members { rows, keys, equality } = members;
        let member = equality.inner.clone();
        // Members, by the keys.
        let found = self.new_column(constants::INT8.plain());
        let mut groups = Vec::new();
        let mut by = keys.clone();
        by.push(equality.clone());
        let conditions = self.group_by(&mut groups, &by);
        let different = grouped(rows.clone(), groups, vec![(found, count(None)?)]);
        self.attach_value(input, Detached::joined_by(different, conditions))?;
        // Numbers of rows, by the keys.
        let (all_rows, unknown) =
            (self.new_column(constants::INT8.plain()), self.new_column(constants::INT8.plain()));
        let is_null = is(member, BooleanTest::Null, false);
        let calls = vec![(all_rows, count(None)?), (unknown, count(Some(is_null))?)];
        let mut groups = Vec::new();
        let conditions = self.group_by(&mut groups, &keys);
        let numbers = grouped(rows, groups, calls);
        self.attach_value(input, Detached::joined_by(numbers, conditions))?;
        let outer_is_null = is(equality.outer().clone(), BooleanTest::Null, false);
        let both = all(vec![outer_is_null, is_some(all_rows)?]);
        let mut branches = vec![(is_some(found)?, boolean(true))];
        let unknown_value = null(constants::BOOL.plain());
        branches.extend(both.map(|both| (both, unknown_value.clone())));
        branches.push((is_some(unknown)?, unknown_value));
        let value = case(branches, Some(boolean(false)));
        Ok(Some(match operator {
            "=" => value,
            _ => Scalar::new(ScalarKind::Not(Box::new(value)), constants::BOOL, condition.span),
        }))
    }

    fn members(
        &mut self,
        input: &Relational,
        query: &BoundQuery,
        condition: &Scalar,
        operator: &str,
    ) -> Result<Option<Members>> {
        let ScalarKind::Operator { operator: known, operands } = &condition.kind else {
            return Ok(None);
        };
        let ([left, right], true) = (operands.as_slice(), known.name == operator) else {
            return Ok(None);
        };
        let outer = self.outputs(input).into_iter().collect::<HashSet<_>>();
        let outputs = query.outputs.iter().map(|output| output.id).collect::<HashSet<_>>();
        // The query's column may be one of the rows around.
        if outputs.iter().any(|id| outer.contains(id)) || !is_repeatable(&mut query.root.clone()) {
            return Ok(None);
        }
        let equality = infix("=", left.clone(), right.clone())?;
        let Some(equality) = Equality::of(&equality, &outer) else { return Ok(None) };
        if named(&mut equality.inner.clone()).keys().any(|id| !outputs.contains(id)) {
            return Ok(None);
        }
        let Some(pulled) = self.pull(query.root.clone(), &outer)? else { return Ok(None) };
        let Some(keys) = equalities(&pulled.conditions, &outer) else { return Ok(None) };
        let is_around = |key: &Equality| names_any(&mut key.inner.clone(), &outer);
        if keys.iter().any(is_around) {
            return Ok(None);
        }
        Ok(Some(Members { rows: pulled.rows, keys, equality }))
    }
}
