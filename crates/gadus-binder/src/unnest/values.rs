//! Queries as values: outer joins that add a column.

use super::Unnesting;
use super::attach::{Detached, Key};
use super::build::{
    aggregate, boolean, case, coalesce, column, count, function, infix, integer, is, null, written,
};
use super::columns::{self, Columns, has_query};
use super::conditions::{is_one_row, stripped};
use super::groups::{Calls, value_of_group};
use crate::bound::{
    AggregateCall, ColumnId, JoinKind, Limit, OutputColumn, Relational, Scalar, ScalarKind,
    Subquery, SubqueryKind,
};
use crate::error::{BindError, Result};
use crate::types::{SqlType, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::BooleanTest;
use std::collections::{HashMap, HashSet};

impl Unnesting {
    /// Joins the correlated query that an expression is to rows, and returns its value.
    pub(super) fn value(&mut self, input: &mut Relational, scalar: &Scalar) -> Result<Scalar> {
        let ScalarKind::Subquery(subquery) = scalar.kind.clone() else { return Ok(scalar.clone()) };
        let Subquery { kind, query } = *subquery;
        let output = query.outputs.first().map(|output| (output.id, output.data_type));
        match (kind, output) {
            (SubqueryKind::Scalar, Some((id, data_type))) => {
                // The rows around may have the column, too.
                let own = self.new_column(data_type);
                let items = vec![(own, column(id, data_type))];
                let root = Relational::Project { input: Box::new(query.root), items };
                self.only_value(input, root, own, data_type)
            }
            (SubqueryKind::Exists, _) => {
                let root = stripped(query.root);
                if is_one_row(&root) {
                    return Ok(boolean(true));
                }
                if self.columns_around(input, &mut root.clone()).is_empty() {
                    let (root, id) = self.existence(root)?;
                    return self.only_value(input, root, id, constants::BOOL.plain());
                }
                let detached = self.detach(input, root, &[], false)?;
                let mark = self.new_column(constants::BOOL.plain());
                let rows = std::mem::replace(input, Relational::OneRow);
                *input = detached.attach(rows, JoinKind::Mark(mark), None)?;
                Ok(column(mark, constants::BOOL))
            }
            (SubqueryKind::Any(condition), _) => {
                if let Some(value) = self.is_member(input, &query, &condition, "=")? {
                    return Ok(value);
                }
                let (root, id) = self.comparison(query.root, *condition, true)?;
                self.only_value(input, root, id, constants::BOOL.plain())
            }
            (SubqueryKind::All(condition), _) => {
                if let Some(value) = self.is_member(input, &query, &condition, "<>")? {
                    return Ok(value);
                }
                let (root, id) = self.comparison(query.root, *condition, false)?;
                self.only_value(input, root, id, constants::BOOL.plain())
            }
            (SubqueryKind::Array, Some((id, data_type))) => {
                let is_array = data_type.id.is_array;
                let function = function("array_agg", 1, |entry| {
                    (entry.arguments == [constants::ANYARRAY]) == is_array
                })?;
                let array = self.new_column(scalar.data_type);
                let values = vec![column(id, data_type)];
                let call = aggregate(function, values, scalar.data_type);
                let empty =
                    Scalar::new(ScalarKind::Array(Vec::new()), scalar.data_type, Span::default());
                let value = coalesce(column(array, scalar.data_type), empty);
                let (root, id) = self.computed(query.root, vec![(array, call)], value);
                self.only_value(input, root, id, scalar.data_type)
            }
            _ => Err(BindError::unsupported("a query without columns as a value", scalar.span)),
        }
    }

    /// Makes a scalar query of EXISTS, ANY or ALL that names nothing around it.
    pub(super) fn as_scalar(&mut self, scalar: &mut Scalar) -> Result<()> {
        let ScalarKind::Subquery(subquery) = &mut scalar.kind else { return Ok(()) };
        if let SubqueryKind::Scalar | SubqueryKind::Array = subquery.kind {
            return Ok(());
        }
        let root = std::mem::replace(&mut subquery.query.root, Relational::OneRow);
        let kind = std::mem::replace(&mut subquery.kind, SubqueryKind::Scalar);
        let (root, id) = match kind {
            SubqueryKind::Any(condition) => self.comparison(root, *condition, true)?,
            SubqueryKind::All(condition) => self.comparison(root, *condition, false)?,
            _ => {
                let limit =
                    Limit { input: root, limit: Some(integer(1)), offset: None, with_ties: false };
                self.existence(Relational::Limit(Box::new(limit)))?
            }
        };
        let data_type = constants::BOOL.plain();
        subquery.query.root = root;
        subquery.query.outputs = vec![OutputColumn { name: format!("c{}", id.0), id, data_type }];
        Ok(())
    }

    /// Returns a query of one row, in whose column it is if another one has rows.
    fn existence(&mut self, root: Relational) -> Result<(Relational, ColumnId)> {
        let rows = self.new_column(constants::INT8.plain());
        let exists = infix(">", column(rows, constants::INT8), integer(0))?;
        Ok(self.computed(root, vec![(rows, count(None)?)], exists))
    }

    /// Returns a query of one row, in whose column the value of ANY or ALL is: of three values, by the numbers of rows that
    /// decide and that do not tell.
    fn comparison(
        &mut self,
        root: Relational,
        condition: Scalar,
        is_any: bool,
    ) -> Result<(Relational, ColumnId)> {
        let (deciding, unknown) =
            (self.new_column(constants::INT8.plain()), self.new_column(constants::INT8.plain()));
        let test = if is_any { BooleanTest::True } else { BooleanTest::False };
        let calls = vec![
            (deciding, count(Some(is(condition.clone(), test, false)))?),
            (unknown, count(Some(is(condition, BooleanTest::Null, false)))?),
        ];
        let branches = vec![
            (is_some(deciding)?, boolean(is_any)),
            (is_some(unknown)?, null(constants::BOOL.plain())),
        ];
        Ok(self.computed(root, calls, case(branches, Some(boolean(!is_any)))))
    }

    /// Returns a query of one row, with a value of aggregates over all rows of another one.
    fn computed(
        &mut self,
        root: Relational,
        aggregates: Vec<(ColumnId, AggregateCall)>,
        value: Scalar,
    ) -> (Relational, ColumnId) {
        let id = self.new_column(value.data_type);
        let rows = grouped(root, Vec::new(), aggregates);
        let items = vec![(id, value)];
        (Relational::Project { input: Box::new(rows), items }, id)
    }

    /// Returns the value of a column of the only row of a query, NULL without rows.
    fn only_value(
        &mut self,
        input: &mut Relational,
        root: Relational,
        id: ColumnId,
        data_type: SqlType,
    ) -> Result<Scalar> {
        if let Some(value) = self.value_over_groups(input, &root, id, data_type)? {
            return Ok(value);
        }
        let has_one_row = has_one_row(&root);
        let detached = self.detach(input, root, &[(id, data_type)], true)?;
        if has_one_row || has_unique_keys(&detached) {
            self.attach_value(input, detached)?;
            return Ok(column(id, data_type));
        }
        let (value, rows) = (self.new_column(data_type), self.new_column(constants::INT8.plain()));
        let any =
            aggregate(function("any_value", 1, |_| true)?, vec![column(id, data_type)], data_type);
        let detached = detached.grouped(self, vec![(value, any), (rows, count(None)?)])?;
        self.attach_value(input, detached)?;
        let kind = ScalarKind::OnlyRow {
            value: Box::new(column(value, data_type)),
            rows: Box::new(column(rows, constants::INT8)),
        };
        Ok(Scalar::new(kind, data_type, Span::default()))
    }

    pub(super) fn attach_value(
        &mut self,
        input: &mut Relational,
        detached: Detached,
    ) -> Result<()> {
        let rows = std::mem::replace(input, Relational::OneRow);
        *input = detached.attach(rows, JoinKind::Left, None)?;
        Ok(())
    }

    /// Returns the value of an aggregate of all rows: they are grouped by what joins them to the rows around, over which the
    /// rest of the query is computed. `None` for other queries.
    fn value_over_groups(
        &mut self,
        input: &mut Relational,
        root: &Relational,
        id: ColumnId,
        data_type: SqlType,
    ) -> Result<Option<Scalar>> {
        let Some((rows, mut aggregates, value)) = computed_of_group(root, column(id, data_type))
        else {
            return Ok(None);
        };
        let mut named = Columns::new();
        for (_, call) in &mut aggregates {
            call.for_each_scalar(&mut |part| named.extend(columns::named(part)));
        }
        let there = self.outputs(input);
        if named.keys().any(|id| there.contains(id)) {
            return Ok(None);
        }
        let mut values = HashMap::new();
        for (id, call) in &aggregates {
            values.insert(*id, value_of_group(call, column(*id, call.data_type))?);
        }
        let mut value = value;
        replace(&mut value, &values);
        let wanted = named.into_iter().collect::<Vec<_>>();
        let detached = self.detach(input, rows, &wanted, true)?.grouped(self, aggregates)?;
        self.attach_value(input, detached)?;
        Ok(Some(value))
    }

    /// Unnests rows of expressions.
    pub(super) fn values_unnested(
        &mut self,
        rows: Vec<Vec<Scalar>>,
        columns: Vec<(ColumnId, SqlType)>,
    ) -> Result<Relational> {
        let mut inputs = Vec::with_capacity(rows.len());
        let mut is_plain = true;
        for mut row in rows {
            let mut input = Relational::OneRow;
            for value in row.iter_mut().filter(|value| has_query(&mut (*value).clone())) {
                self.extract(&mut input, value)?;
            }
            is_plain &= input == Relational::OneRow;
            inputs.push((input, row));
        }
        if is_plain {
            let rows = inputs.into_iter().map(|(_, row)| row).collect();
            return Ok(Relational::Values { rows, columns });
        }
        self.rows_of_inputs(inputs, &columns)
    }
}

/// Returns groups of rows.
pub(super) fn grouped(
    input: Relational,
    groups: Vec<(ColumnId, Scalar)>,
    aggregates: Vec<(ColumnId, AggregateCall)>,
) -> Relational {
    Relational::Aggregate {
        input: Box::new(input),
        groups,
        sets: None,
        aggregates,
        set_number: None,
    }
}

/// Returns the condition that a number of rows is not zero.
pub(super) fn is_some(rows: ColumnId) -> Result<Scalar> {
    infix(">", column(rows, constants::INT8), integer(0))
}

/// Returns the input and the calls of an aggregate of all rows, and what a query computes of it, as an expression over the
/// aggregate.
fn computed_of_group(root: &Relational, value: Scalar) -> Option<(Relational, Calls, Scalar)> {
    match root {
        Relational::Project { input, items } => {
            let values = items.iter().cloned().collect::<HashMap<_, _>>();
            let mut value = value;
            replace(&mut value, &values);
            computed_of_group(input, value)
        }
        Relational::Filter { input, predicate } => {
            computed_of_group(input, case(vec![(predicate.clone(), value)], None))
        }
        Relational::Aggregate { input, groups, sets: None, aggregates, .. }
            if groups.is_empty() =>
        {
            Some(((**input).clone(), aggregates.clone(), value))
        }
        _ => None,
    }
}

/// Puts expressions in the place of columns.
fn replace(scalar: &mut Scalar, values: &HashMap<ColumnId, Scalar>) {
    if let Some(value) = scalar.as_column().and_then(|id| values.get(&id)) {
        *scalar = value.clone();
        return;
    }
    scalar.for_each_part(&mut |part| replace(part, values));
}

/// Returns true for a query that has at most one row for each row around it.
fn has_one_row(root: &Relational) -> bool {
    match root {
        Relational::OneRow => true,
        Relational::Project { input, .. }
        | Relational::Filter { input, .. }
        | Relational::Sort { input, .. } => has_one_row(input),
        Relational::Limit(limit) => {
            let most = limit.limit.as_ref().and_then(written);
            (most.is_some_and(|most| most <= 1) && !limit.with_ties) || has_one_row(&limit.input)
        }
        root => is_one_row(root),
    }
}

/// Returns true for a query whose keys are those of a table.
fn has_unique_keys(detached: &Detached) -> bool {
    let keys = detached.keys.iter().map(|key| match key {
        Key::Equality(_) => key.inner().as_column(),
        Key::Domain(_) => None,
    });
    let keys = keys.flatten().collect::<HashSet<_>>();
    let mut rows = &detached.rows;
    loop {
        rows = match rows {
            Relational::Project { input, .. }
            | Relational::Filter { input, .. }
            | Relational::Sort { input, .. } => input,
            Relational::Scan { relation, columns } => {
                let has = |place: &usize| {
                    columns.iter().any(|(column, id)| column == place && keys.contains(id))
                };
                return relation.keys.iter().any(|key| key.iter().all(has));
            }
            _ => return false,
        };
    }
}
