//! Joins: LATERAL inputs, and queries in conditions.

use super::Unnesting;
use super::build::{all, conjuncts};
use super::columns::has_query;
use super::dependent::joined;
use super::domain::substitute;
use crate::bound::{CommonTable, Join, JoinKind, Relational, Scalar, ScalarKind};
use crate::error::{BindError, Result};

impl Unnesting {
    pub(super) fn join(&mut self, join: Join) -> Result<Relational> {
        let Join { kind, mut left, mut right, condition, is_lateral } = join;
        self.within(&mut left)?;
        self.within(&mut right)?;
        let (conditions, late) = match condition {
            Some(condition) => {
                let parts = conjuncts(condition).into_iter();
                parts.partition::<Vec<_>, _>(|part| !has_query(&mut part.clone()))
            }
            None => (Vec::new(), Vec::new()),
        };
        if is_lateral {
            return self.lateral(left, right, (kind, conditions), late);
        }
        if late.is_empty() {
            return Ok(joined(kind, left, right, all(conditions), false));
        }
        self.join_with_queries((left, right), kind, conditions, late)
    }

    fn lateral(
        &mut self,
        mut left: Relational,
        mut right: Relational,
        (kind, conditions): (JoinKind, Vec<Scalar>),
        late: Vec<Scalar>,
    ) -> Result<Relational> {
        if let Relational::TableFunctions { calls, .. } = &mut right {
            for call in calls {
                self.extract(&mut left, &mut call.call)?;
            }
        }
        let is_dependent = !self.columns_around(&left, &mut right).is_empty();
        if !is_dependent {
            return self.join_with_queries((left, right), kind, conditions, late);
        }
        if let Relational::TableFunctions { .. } = right {
            return self.with_late(joined(kind, left, right, all(conditions), true), kind, late);
        }
        let outputs = self.outputs(&right).into_iter();
        let wanted = outputs.map(|id| (id, self.type_of(id))).collect::<Vec<_>>();
        let detached = self.detach(&mut left, right, &wanted, false)?;
        if kind != JoinKind::Inner && !late.is_empty() {
            return Err(unsupported(&late));
        }
        let rows = detached.attach(left, kind, all(conditions))?;
        self.with_late(rows, kind, late)
    }

    /// Joins with conditions in which there are queries.
    fn join_with_queries(
        &mut self,
        (mut left, mut right): (Relational, Relational),
        kind: JoinKind,
        mut conditions: Vec<Scalar>,
        mut late: Vec<Scalar>,
    ) -> Result<Relational> {
        if kind == JoinKind::Inner {
            let rows = joined(kind, left, right, all(conditions), false);
            return self.with_late(rows, kind, late);
        }
        let mut tables = Vec::new();
        for part in &mut late {
            let added = self.extract_from_sides((&mut left, &mut right), kind, part)?;
            conditions.extend(added.conditions);
            tables.extend(added.tables);
        }
        conditions.extend(late);
        let rows = joined(kind, left, right, all(conditions), false);
        Ok(match tables.is_empty() {
            true => rows,
            false => Relational::With { tables, input: Box::new(rows) },
        })
    }

    /// Filters the rows of an inner join by conditions in which there are queries.
    fn with_late(
        &mut self,
        rows: Relational,
        kind: JoinKind,
        late: Vec<Scalar>,
    ) -> Result<Relational> {
        match all(late) {
            Some(late) if kind == JoinKind::Inner => self.filter(rows, late),
            Some(late) => Err(unsupported(&[late])),
            None => Ok(rows),
        }
    }

    /// Joins the queries of an expression to the input whose columns they name.
    fn extract_from_sides(
        &mut self,
        (left, right): (&mut Relational, &mut Relational),
        kind: JoinKind,
        scalar: &mut Scalar,
    ) -> Result<Added> {
        let mut added = Added::default();
        if !has_query(scalar) {
            return Ok(added);
        }
        let ScalarKind::Subquery(subquery) = &mut scalar.kind else {
            let mut done = Ok(());
            scalar.for_each_part(&mut |part| {
                if done.is_ok() {
                    done = self
                        .extract_from_sides((&mut *left, &mut *right), kind, part)
                        .map(|part| added.extend(part));
                }
            });
            return done.map(|()| added);
        };
        let free = self.free_of_query(subquery);
        let names = |side: &Relational| self.outputs(side).iter().any(|id| free.contains_key(id));
        match (names(left), names(right)) {
            (_, false) => self.extract(left, scalar)?,
            (false, true) => self.extract(right, scalar)?,
            (true, true) => match kind {
                kind if kind.keeps_left() => {
                    return self.extract_from_pairs((left, right), scalar);
                }
                JoinKind::Right => return self.extract_from_pairs((right, left), scalar),
                _ => {
                    let what = "a query over both sides of a full join in its condition";
                    return Err(BindError::unsupported(what, scalar.span));
                }
            },
        }
        Ok(added)
    }

    /// Joins a query that names columns of both sides to the side whose rows need not stay: each of its rows is there once for
    /// each of the values that the query names of the other side, and a row of that side is joined with those of its own.
    fn extract_from_pairs(
        &mut self,
        (kept, other): (&mut Relational, &mut Relational),
        scalar: &mut Scalar,
    ) -> Result<Added> {
        let ScalarKind::Subquery(subquery) = &mut scalar.kind else { return Ok(Added::default()) };
        let there = self.outputs(kept);
        let mut columns = self.free_of_query(subquery);
        columns.retain(|id, _| there.contains(id));
        let (domain, shared) = self.domain(kept, columns);
        let (rows, of) = self.rows_of(&domain)?;
        let right = std::mem::replace(other, Relational::OneRow);
        *other = joined(JoinKind::Inner, rows, right, None, false);
        substitute(scalar, &of)?;
        self.extract(other, scalar)?;
        let conditions = of.iter().map(|column| column.is_of_row(column.key()));
        Ok(Added {
            conditions: conditions.collect::<Result<_>>()?,
            tables: shared.into_iter().collect(),
        })
    }
}

/// Additions to a join for a query in its condition.
#[derive(Default)]
struct Added {
    conditions: Vec<Scalar>,
    tables: Vec<CommonTable>,
}

impl Added {
    fn extend(&mut self, other: Self) {
        self.conditions.extend(other.conditions);
        self.tables.extend(other.tables);
    }
}

fn unsupported(late: &[Scalar]) -> BindError {
    let span = late.first().map_or_else(Default::default, |part| part.span);
    BindError::unsupported("a query in the condition of this lateral join", span)
}
