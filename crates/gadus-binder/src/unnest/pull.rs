//! Correlated queries whose only dependence is in conditions: these are pulled up, to where the query is joined.

use super::Unnesting;
use super::build::{all, column, conjuncts};
use super::columns::{Columns, named};
use crate::bound::{ColumnId, JoinKind, Relational, Scalar, ScalarKind};
use crate::catalog::Operator;
use crate::error::Result;
use std::collections::HashSet;

/// Query without the conditions that name columns around it.
pub(super) struct Pulled {
    pub(super) rows: Relational,
    /// Conditions over the columns of the rows and those around.
    pub(super) conditions: Vec<Scalar>,
}

/// Equality of a value of the rows around and one of the query.
#[derive(Debug, Clone)]
pub(super) struct Equality {
    operator: &'static Operator,
    outer: Scalar,
    pub(super) inner: Scalar,
    is_inner_left: bool,
    whole: Scalar,
}

impl Equality {
    /// Returns the side of the rows around.
    pub(super) fn outer(&self) -> &Scalar {
        &self.outer
    }

    /// Returns the equality that a condition is, if it is one.
    pub(super) fn of(condition: &Scalar, outer: &HashSet<ColumnId>) -> Option<Self> {
        let ScalarKind::Operator { operator, operands } = &condition.kind else { return None };
        let [left, right] = operands.as_slice() else { return None };
        if operator.name != "=" {
            return None;
        }
        let is_around =
            |side: &Scalar| named(&mut side.clone()).keys().all(|id| outer.contains(id));
        let is_within = |side: &Scalar| {
            let named = named(&mut side.clone());
            !named.is_empty() && !named.keys().any(|id| outer.contains(id))
        };
        let (around, within, is_inner_left) = match (is_around(left), is_around(right)) {
            (true, false) => (left, right, false),
            (false, true) => (right, left, true),
            _ => return None,
        };
        is_within(within).then(|| Self {
            operator,
            outer: around.clone(),
            inner: within.clone(),
            is_inner_left,
            whole: condition.clone(),
        })
    }

    /// Returns the condition with another expression for the value of the query.
    pub(super) fn with(&self, inner: Scalar) -> Scalar {
        let operands = match self.is_inner_left {
            true => vec![inner, self.outer.clone()],
            false => vec![self.outer.clone(), inner],
        };
        let kind = ScalarKind::Operator { operator: self.operator, operands };
        Scalar { kind, ..self.whole.clone() }
    }
}

/// Returns the equalities that conditions are; `None` if one is something else.
pub(super) fn equalities(
    conditions: &[Scalar],
    outer: &HashSet<ColumnId>,
) -> Option<Vec<Equality>> {
    conditions.iter().map(|condition| Equality::of(condition, outer)).collect()
}

impl Unnesting {
    /// Pulls the conditions out of a query that names columns around it; `None` if it does so elsewhere, too.
    pub(super) fn pull(
        &mut self,
        mut rows: Relational,
        outer: &HashSet<ColumnId>,
    ) -> Result<Option<Pulled>> {
        if !self.depends(&mut rows, outer) {
            return Ok(Some(Pulled { rows, conditions: Vec::new() }));
        }
        match rows {
            Relational::Filter { input, predicate } => {
                let Some(mut pulled) = self.pull(*input, outer)? else { return Ok(None) };
                let (around, within) = self.split(predicate, outer);
                if let Some(predicate) = all(within) {
                    let input = Box::new(pulled.rows);
                    pulled.rows = Relational::Filter { input, predicate };
                }
                pulled.conditions.extend(around);
                Ok(Some(pulled))
            }
            Relational::Project { input, mut items } => {
                if items.iter_mut().any(|(_, item)| names_any(item, outer)) {
                    return Ok(None);
                }
                let Some(mut pulled) = self.pull(*input, outer)? else { return Ok(None) };
                let there = self.outputs(&pulled.rows);
                let mut wanted = Columns::new();
                pulled.conditions.iter_mut().for_each(|part| wanted.extend(named(part)));
                for (id, data_type) in wanted.into_iter().filter(|(id, _)| there.contains(id)) {
                    if !items.iter().any(|(known, _)| *known == id) {
                        items.push((id, column(id, data_type)));
                    }
                }
                pulled.rows = Relational::Project { input: Box::new(pulled.rows), items };
                Ok(Some(pulled))
            }
            Relational::Sort { input, keys } => {
                let Some(mut pulled) = self.pull(*input, outer)? else { return Ok(None) };
                pulled.rows = Relational::Sort { input: Box::new(pulled.rows), keys };
                Ok(Some(pulled))
            }
            Relational::With { mut tables, input } => {
                let mut is_correlated = false;
                for table in &mut tables {
                    is_correlated |= self.depends(&mut table.query.root, outer);
                    let step = table.recursive.iter_mut();
                    for (step, _) in step {
                        is_correlated |= self.depends(&mut step.root, outer);
                    }
                }
                if is_correlated {
                    return Ok(None);
                }
                let Some(mut pulled) = self.pull(*input, outer)? else { return Ok(None) };
                pulled.rows = Relational::With { tables, input: Box::new(pulled.rows) };
                Ok(Some(pulled))
            }
            Relational::Join(_) => self.pull_join(rows, outer),
            Relational::Aggregate { .. } | Relational::Window { .. } | Relational::Limit(_) => {
                self.pull_groups(rows, outer)
            }
            _ => Ok(None),
        }
    }

    fn pull_join(&mut self, rows: Relational, outer: &HashSet<ColumnId>) -> Result<Option<Pulled>> {
        let Relational::Join(join) = rows else { return Ok(None) };
        let mut join = *join;
        let is_inner = join.kind == JoinKind::Inner;
        let names_outer = join.condition.as_mut().is_some_and(|on| names_any(on, outer));
        if !is_inner && (names_outer || self.depends(&mut join.right, outer)) {
            return Ok(None);
        }
        if !is_inner && !join.kind.keeps_left() {
            return Ok(None);
        }
        if join.is_lateral && self.depends(&mut join.right, outer) {
            return Ok(None);
        }
        let Some(left) = self.pull(join.left, outer)? else { return Ok(None) };
        let Some(right) = self.pull(join.right, outer)? else { return Ok(None) };
        let mut conditions = left.conditions;
        conditions.extend(right.conditions);
        (join.left, join.right) = (left.rows, right.rows);
        if is_inner && let Some(condition) = join.condition.take() {
            let (around, within) = self.split(condition, outer);
            conditions.extend(around);
            join.condition = all(within);
        }
        Ok(Some(Pulled { rows: Relational::Join(Box::new(join)), conditions }))
    }

    /// Pulls equalities out of groups, windows and limits, which are then of each of their values.
    fn pull_groups(
        &mut self,
        rows: Relational,
        outer: &HashSet<ColumnId>,
    ) -> Result<Option<Pulled>> {
        match rows {
            Relational::Aggregate { input, mut groups, sets: None, mut aggregates, set_number } => {
                let mut depends = groups.is_empty();
                groups.iter_mut().for_each(|(_, group)| depends |= names_any(group, outer));
                for (_, call) in &mut aggregates {
                    call.for_each_scalar(&mut |part| depends |= names_any(part, outer));
                }
                let pulled = if depends { None } else { self.pull(*input, outer)? };
                let Some(mut pulled) = pulled else { return Ok(None) };
                let Some(keys) = equalities(&pulled.conditions, outer) else { return Ok(None) };
                pulled.conditions = self.group_by(&mut groups, &keys);
                let input = Box::new(pulled.rows);
                pulled.rows =
                    Relational::Aggregate { input, groups, sets: None, aggregates, set_number };
                Ok(Some(pulled))
            }
            Relational::Window { input, mut calls } => {
                let mut depends = false;
                for (_, call) in &mut calls {
                    call.for_each_scalar(&mut |part| depends |= names_any(part, outer));
                }
                let pulled = if depends { None } else { self.pull(*input, outer)? };
                let Some(mut pulled) = pulled else { return Ok(None) };
                let Some(keys) = equalities(&pulled.conditions, outer) else { return Ok(None) };
                for (_, call) in &mut calls {
                    call.partition_by.extend(keys.iter().map(|key| key.inner.clone()));
                }
                pulled.rows = Relational::Window { input: Box::new(pulled.rows), calls };
                Ok(Some(pulled))
            }
            Relational::Limit(limit) => {
                let mut limit = *limit;
                let counts = limit.limit.iter_mut().chain(&mut limit.offset);
                if counts.into_iter().any(|count| names_any(count, outer)) {
                    return Ok(None);
                }
                let Some(mut pulled) = self.pull(limit.input.clone(), outer)? else {
                    return Ok(None);
                };
                let Some(keys) = equalities(&pulled.conditions, outer) else { return Ok(None) };
                let keys = keys.into_iter().map(|key| key.inner).collect();
                limit.input = pulled.rows;
                pulled.rows = self.limit_each(limit, keys)?;
                Ok(Some(pulled))
            }
            _ => Ok(None),
        }
    }

    /// Adds the query's sides of equalities to groups; returns the equalities over the groups.
    pub(super) fn group_by(
        &mut self,
        groups: &mut Vec<(ColumnId, Scalar)>,
        keys: &[Equality],
    ) -> Vec<Scalar> {
        let conditions = keys.iter().map(|key| {
            let id = self.new_column(key.inner.data_type);
            groups.push((id, key.inner.clone()));
            key.with(column(id, key.inner.data_type))
        });
        conditions.collect()
    }

    /// Splits a condition into the parts that name columns around, and the others.
    fn split(&self, condition: Scalar, outer: &HashSet<ColumnId>) -> (Vec<Scalar>, Vec<Scalar>) {
        let parts = conjuncts(condition).into_iter();
        parts.partition(|part| names_any(&mut part.clone(), outer))
    }
}

/// Returns true for an expression that names any of some columns.
pub(super) fn names_any(scalar: &mut Scalar, columns: &HashSet<ColumnId>) -> bool {
    named(scalar).keys().any(|id| columns.contains(id))
}
