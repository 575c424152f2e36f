//! Queries in conditions of filters: semi joins and anti joins.

use super::Unnesting;
use super::build::{all, boolean, column, conjuncts, is, written};
use super::columns::{has_query, named};
use crate::bound::{JoinKind, Relational, Scalar, ScalarKind, Subquery, SubqueryKind};
use crate::error::Result;
use crate::types::constants;
use gadus_syntax::ast::BooleanTest;

/// Outcome for a condition with a query in it.
enum Membership {
    /// The rows are joined with the query.
    Joined,
    /// A query that names nothing around it, which the filter keeps.
    Left(Scalar),
    /// Condition over the mark that says if a row has a pair.
    Marked(Scalar),
    /// Condition in which the query is a value.
    Other(Scalar),
}

impl Unnesting {
    /// Filters rows, by what needs no query first.
    pub(super) fn filter(&mut self, input: Relational, predicate: Scalar) -> Result<Relational> {
        let parts = conjuncts(predicate).into_iter();
        let (late, early) = parts.partition::<Vec<_>, _>(|part| has_query(&mut part.clone()));
        let mut input = filtered(input, early);
        let mut rest = Vec::new();
        for part in late {
            match self.membership(&mut input, part, false)? {
                Membership::Joined => {}
                Membership::Left(part) | Membership::Marked(part) => rest.push(part),
                Membership::Other(part) => rest.push(self.other(&mut input, part)?),
            }
        }
        Ok(filtered(input, rest))
    }

    /// Joins rows with a correlated query that a condition is about: to those with a row of it, or without one, or to all with
    /// a mark.
    fn membership(
        &mut self,
        input: &mut Relational,
        part: Scalar,
        as_mark: bool,
    ) -> Result<Membership> {
        let (mut part, mut negated) = (part, false);
        while let ScalarKind::Not(operand) = part.kind {
            (part, negated) = (*operand, !negated);
        }
        let span = part.span;
        let ScalarKind::Subquery(subquery) = part.kind else {
            return Ok(Membership::Other(denied(part, negated)));
        };
        let mut subquery = *subquery;
        if let SubqueryKind::Scalar | SubqueryKind::Array = subquery.kind {
            let kind = ScalarKind::Subquery(Box::new(subquery));
            return Ok(Membership::Other(denied(Scalar { kind, ..part }, negated)));
        }
        if let SubqueryKind::Any(condition) | SubqueryKind::All(condition) = &mut subquery.kind {
            self.extract(input, condition)?;
        }
        self.query(&mut subquery.query)?;
        let is_marked = as_mark
            && matches!(
                (&subquery.kind, negated),
                (SubqueryKind::Any(_), false) | (SubqueryKind::All(_), true)
            )
            && self.is_correlated(&mut subquery);
        if !is_marked && !self.is_joined(input, &mut subquery) {
            let kind = ScalarKind::Subquery(Box::new(subquery));
            return Ok(Membership::Left(denied(Scalar { kind, span, ..part }, negated)));
        }
        let (has_pair, condition) = deciding(subquery.kind, negated);
        let root = match condition {
            Some(_) => subquery.query.root,
            None => stripped(subquery.query.root),
        };
        if is_one_row(&root) && condition.is_none() {
            return Ok(Membership::Other(boolean(!negated)));
        }
        let outputs = subquery.query.outputs.iter();
        let mut wanted = outputs.map(|output| (output.id, output.data_type)).collect::<Vec<_>>();
        if condition.is_none() {
            wanted.clear();
        }
        let detached = self.detach(input, root, &wanted, false)?;
        let rows = std::mem::replace(input, Relational::OneRow);
        if as_mark {
            let mark = self.new_column(constants::BOOL.plain());
            *input = detached.attach(rows, JoinKind::Mark(mark), condition)?;
            return Ok(Membership::Marked(denied(column(mark, constants::BOOL), !has_pair)));
        }
        let kind = if has_pair { JoinKind::Semi } else { JoinKind::Anti };
        *input = detached.attach(rows, kind, condition)?;
        Ok(Membership::Joined)
    }

    /// Joins the queries of a condition that is as good as false where it is unknown.
    fn condition(&mut self, input: &mut Relational, part: Scalar) -> Result<Scalar> {
        let (data_type, span) = (part.data_type, part.span);
        let kind = match part.kind {
            ScalarKind::And(parts) => ScalarKind::And(self.conditions(input, parts)?),
            ScalarKind::Or(parts) => ScalarKind::Or(self.conditions(input, parts)?),
            kind => {
                let part = Scalar { kind, data_type, span, field_names: None };
                return Ok(match self.membership(input, part, true)? {
                    Membership::Marked(part) => part,
                    Membership::Left(mut part) | Membership::Other(mut part) => {
                        self.extract(input, &mut part)?;
                        part
                    }
                    Membership::Joined => boolean(true),
                });
            }
        };
        Ok(Scalar::new(kind, data_type, span))
    }

    /// Joins the queries of a condition of a filter that is no query itself.
    fn other(&mut self, input: &mut Relational, mut part: Scalar) -> Result<Scalar> {
        match part.kind {
            ScalarKind::And(_) | ScalarKind::Or(_) => self.condition(input, part),
            _ => {
                self.extract(input, &mut part)?;
                Ok(part)
            }
        }
    }

    fn conditions(&mut self, input: &mut Relational, parts: Vec<Scalar>) -> Result<Vec<Scalar>> {
        parts.into_iter().map(|part| self.condition(input, part)).collect()
    }

    /// Returns true for a query that names columns of the rows or of queries further out. The condition of one that names
    /// none is left to joins that know NULLs.
    fn is_joined(&self, input: &Relational, subquery: &mut Subquery) -> bool {
        let there = self.outputs(input);
        let mut named_by_condition = match &mut subquery.kind {
            SubqueryKind::Any(condition) | SubqueryKind::All(condition) => named(condition),
            _ => Default::default(),
        };
        let outputs = subquery.query.outputs.iter().map(|output| output.id).collect::<Vec<_>>();
        named_by_condition.retain(|id, _| !there.contains(id) && !outputs.contains(id));
        !named_by_condition.is_empty() || !self.free(&mut subquery.query.root).is_empty()
    }
}

/// Returns true if a condition holds for rows that have a pair, and what their pairs satisfy.
fn deciding(kind: SubqueryKind, negated: bool) -> (bool, Option<Scalar>) {
    match (kind, negated) {
        (SubqueryKind::Any(condition), false) => (true, Some(*condition)),
        (SubqueryKind::Any(condition), true) => {
            (false, Some(is(*condition, BooleanTest::False, true)))
        }
        (SubqueryKind::All(condition), false) => {
            (false, Some(is(*condition, BooleanTest::True, true)))
        }
        (SubqueryKind::All(condition), true) => {
            (true, Some(is(*condition, BooleanTest::False, false)))
        }
        (_, negated) => (!negated, None),
    }
}

fn filtered(input: Relational, parts: Vec<Scalar>) -> Relational {
    match all(parts) {
        Some(predicate) => Relational::Filter { input: Box::new(input), predicate },
        None => input,
    }
}

fn denied(condition: Scalar, negated: bool) -> Scalar {
    match negated {
        true => {
            let (data_type, span) = (condition.data_type, condition.span);
            Scalar::new(ScalarKind::Not(Box::new(condition)), data_type, span)
        }
        false => condition,
    }
}

/// Leaves out what makes no difference to the existence of rows: columns, orders, limits above zero.
pub(super) fn stripped(root: Relational) -> Relational {
    match root {
        Relational::Project { input, .. }
        | Relational::Sort { input, .. }
        | Relational::Distinct { input, .. } => stripped(*input),
        Relational::Limit(limit) => {
            let is_some = limit.limit.as_ref().is_none_or(|most| written(most) > Some(0));
            match is_some && limit.offset.is_none() {
                true => stripped(limit.input),
                false => Relational::Limit(limit),
            }
        }
        root => root,
    }
}

/// Returns true for an aggregate of all rows, which is there also if they are none.
pub(super) fn is_one_row(root: &Relational) -> bool {
    matches!(root, Relational::Aggregate { groups, sets: None, .. } if groups.is_empty())
}
