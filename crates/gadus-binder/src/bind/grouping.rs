//! GROUP BY, and expressions over groups.

use super::Binder;
use super::order::{check_equality, labelled, plain_name, position};
use super::scope::{Clause, Scope};
use super::targets::BoundTarget;
use crate::bound::{ColumnId, Scalar, ScalarKind};
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::Span;
use gadus_syntax::ast::{Expr, ExprKind, FunctionCall, GroupBy, GroupingElement};

/// Most grouping sets, as CUBE and ROLLUP make them.
const SETS_MAX: usize = 4096;

/// Groups of a query.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Expressions by which rows are grouped; columns keep their numbers.
    pub(super) keys: Vec<(ColumnId, Scalar)>,
    /// Positions of the keys in each set.
    pub(super) sets: Option<Vec<Vec<usize>>>,
}

impl Binder<'_> {
    /// Binds GROUP BY; `None` without it.
    pub(super) fn group_by(
        &mut self,
        clause: Option<&GroupBy>,
        targets: &[BoundTarget],
    ) -> Result<Option<Groups>> {
        self.scope().clause = Clause::GroupBy;
        let Some(clause) = clause else { return Ok(None) };
        let mut groups = Groups::default();
        match clause {
            GroupBy::All => {
                let calls = self.scope().aggregates.iter().map(|(id, _)| *id).collect::<Vec<_>>();
                for target in targets {
                    if !mentions(&target.value, &calls) {
                        self.add_key(target.value.clone(), &mut groups)?;
                    }
                }
            }
            GroupBy::Elements { distinct, elements } => {
                let is_plain = |element| matches!(element, &GroupingElement::Expr(_));
                let mut sets = vec![Vec::new()];
                for element in elements {
                    let next = self.element_sets(element, targets, &mut groups)?;
                    // Before they are made: two cubes would be millions.
                    check_count(sets.len().saturating_mul(next.len()))?;
                    sets = cross(&sets, &next);
                }
                if *distinct {
                    let mut seen = Vec::<Vec<usize>>::new();
                    sets.retain(|set| {
                        let mut sorted = set.clone();
                        sorted.sort_unstable();
                        let is_new = !seen.contains(&sorted);
                        seen.push(sorted);
                        is_new
                    });
                }
                groups.sets = (!elements.iter().all(is_plain)).then_some(sets);
            }
        }
        Ok(Some(groups))
    }

    /// Returns the grouping sets that one element makes.
    fn element_sets(
        &mut self,
        element: &GroupingElement,
        targets: &[BoundTarget],
        groups: &mut Groups,
    ) -> Result<Vec<Vec<usize>>> {
        match element {
            GroupingElement::Empty => Ok(vec![Vec::new()]),
            GroupingElement::Expr(expr) => Ok(vec![self.element_keys(expr, targets, groups)?]),
            GroupingElement::Rollup(exprs) => {
                let keys = self.all_keys(exprs, targets, groups)?;
                Ok((0..=keys.len()).rev().map(|count| keys[..count].concat()).collect())
            }
            GroupingElement::Cube(exprs) => {
                let keys = self.all_keys(exprs, targets, groups)?;
                if keys.len() > 12 {
                    let message = "CUBE is limited to 12 elements";
                    return Err(BindError::new("54011", message, exprs[0].span));
                }
                let count = keys.len();
                let subset = |mask: usize| {
                    let chosen = (0..count).filter(|place| mask & (1 << (count - 1 - place)) != 0);
                    chosen.flat_map(|place| keys[place].clone()).collect()
                };
                Ok((0..1_usize << count).rev().map(subset).collect())
            }
            GroupingElement::Sets(elements) => {
                let mut sets = Vec::new();
                for element in elements {
                    sets.extend(self.element_sets(element, targets, groups)?);
                    check_count(sets.len())?;
                }
                Ok(sets)
            }
        }
    }

    fn all_keys(
        &mut self,
        exprs: &[Expr],
        targets: &[BoundTarget],
        groups: &mut Groups,
    ) -> Result<Vec<Vec<usize>>> {
        exprs.iter().map(|expr| self.element_keys(expr, targets, groups)).collect()
    }

    /// Returns the keys of an expression: of `(a, b)` there are several.
    fn element_keys(
        &mut self,
        expr: &Expr,
        targets: &[BoundTarget],
        groups: &mut Groups,
    ) -> Result<Vec<usize>> {
        if let ExprKind::Row { fields, explicit: false } = &expr.kind {
            let keys = fields.iter().map(|field| self.element_keys(field, targets, groups));
            return Ok(keys.collect::<Result<Vec<_>>>()?.concat());
        }
        let value = self.group_value(expr, targets)?;
        Ok(vec![self.add_key(value, groups)?])
    }

    /// Binds one expression: a position, a column of FROM, a heading, or any other.
    fn group_value(&mut self, expr: &Expr, targets: &[BoundTarget]) -> Result<Scalar> {
        if let Some(place) = position(expr, Clause::GroupBy, targets.len())? {
            return self.checked_key(targets[place].value.clone(), expr.span);
        }
        if let Some(name) = plain_name(expr) {
            let is_column = self.scope().plain_columns(name).next().is_some();
            let place = match is_column {
                true => None,
                false => labelled(name, targets, (Clause::GroupBy, expr.span))?,
            };
            if let Some(place) = place {
                return self.checked_key(targets[place].value.clone(), expr.span);
            }
        }
        let value = self.expr(expr)?;
        match value.data_type.id.is_unknown() {
            true => self.coercion().argument(value, constants::TEXT),
            false => Ok(value),
        }
    }

    /// Refuses keys that name aggregates and window functions of the select list.
    fn checked_key(&mut self, value: Scalar, span: Span) -> Result<Scalar> {
        let scope = self.scope();
        let aggregates = scope.aggregates.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let windows = scope.windows.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        if mentions(&value, &aggregates) {
            let message = "aggregate functions are not allowed in GROUP BY";
            return Err(BindError::new("42803", message, span));
        }
        if mentions(&value, &windows) {
            let message = "window functions are not allowed in GROUP BY";
            return Err(BindError::new("42P20", message, span));
        }
        Ok(value)
    }

    fn add_key(&mut self, value: Scalar, groups: &mut Groups) -> Result<usize> {
        check_equality(value.data_type.id, value.span)?;
        if let Some(place) = groups.keys.iter().position(|(_, known)| *known == value) {
            return Ok(place);
        }
        let id = match value.as_column() {
            Some(id) => id,
            None => self.new_column(),
        };
        groups.keys.push((id, value));
        Ok(groups.keys.len() - 1)
    }

    /// Binds GROUPING; its arguments are looked up among the groups later.
    pub(super) fn grouping_call(&mut self, call: &FunctionCall, span: Span) -> Result<Scalar> {
        if call.arguments.len() > 31 {
            let message = "GROUPING must have fewer than 32 arguments";
            return Err(BindError::new("54023", message, span));
        }
        let arguments = call.arguments.iter().map(|argument| self.expr(&argument.value));
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        let id = self.new_column();
        self.scope().groupings.push((id, arguments));
        Ok(Scalar::new(ScalarKind::Column(id), constants::INT4, span))
    }
}

/// Rewrites expressions over rows to expressions over groups.
pub(super) struct OverGroups<'a> {
    pub(super) groups: &'a mut Groups,
    pub(super) scope: &'a Scope,
}

impl OverGroups<'_> {
    /// Replaces the parts of an expression that are groups; columns in others must depend on the groups.
    pub(super) fn rewrite(&mut self, value: &mut Scalar) -> Result<()> {
        self.rewrite_at(value, false)
    }

    fn rewrite_at(&mut self, value: &mut Scalar, is_inside_query: bool) -> Result<()> {
        if let Some((id, _)) = self.groups.keys.iter().find(|(_, group)| group == value) {
            value.kind = ScalarKind::Column(*id);
            return Ok(());
        }
        if let Some(column) = value.as_column() {
            if let Some((_, arguments)) = self.scope.groupings.iter().find(|(id, _)| *id == column)
            {
                value.kind = self.grouping(arguments)?;
                return Ok(());
            }
            if !self.scope.own.contains(&column) || self.adopt(column, value) {
                return Ok(());
            }
            return Err(self.ungrouped(column, value.span, is_inside_query));
        }
        let is_query = is_inside_query || matches!(value.kind, ScalarKind::Subquery(_));
        let mut failed = None;
        value.for_each_part(&mut |part| {
            if failed.is_none() {
                failed = self.rewrite_at(part, is_query).err();
            }
        });
        failed.map_or(Ok(()), Err)
    }

    fn grouping(&self, arguments: &[Scalar]) -> Result<ScalarKind> {
        let place = |argument: &Scalar| {
            let place = self.groups.keys.iter().position(|(_, group)| group == argument);
            place.ok_or_else(|| {
                let message =
                    "arguments to GROUPING must be grouping expressions of the associated query level";
                BindError::new("42803", message, argument.span)
            })
        };
        Ok(ScalarKind::Grouping(arguments.iter().map(place).collect::<Result<_>>()?))
    }

    /// Adds a column to the groups that follows from them: they have a key of its table.
    fn adopt(&mut self, column: ColumnId, value: &Scalar) -> bool {
        // In all grouping sets, that is.
        let is_group = |id: &ColumnId| {
            let keys = &self.groups.keys;
            let place = keys.iter().position(|(_, group)| group.as_column() == Some(*id));
            place.is_some_and(|place| {
                self.groups.sets.iter().flatten().all(|set| set.contains(&place))
            })
        };
        let has = |table: &&super::scope::ScopeTable| {
            table.columns.iter().any(|known| known.value.as_column() == Some(column))
        };
        let table = self.scope.tables.iter().find(has);
        let depends = table.is_some_and(|table| {
            table.keys.iter().any(|key| !key.is_empty() && key.iter().all(is_group))
        });
        if depends {
            let place = self.groups.keys.len();
            self.groups.keys.push((column, value.clone()));
            self.groups.sets.iter_mut().flatten().for_each(|set| set.push(place));
        }
        depends
    }

    fn ungrouped(&self, column: ColumnId, span: Span, is_inside_query: bool) -> BindError {
        let mut shown = String::new();
        for table in &self.scope.tables {
            let named = table.columns.iter().find(|known| known.value.as_column() == Some(column));
            if let Some(named) = named.filter(|_| shown.is_empty()) {
                shown = match table.name.is_empty() {
                    true => named.name.clone(),
                    false => format!("{}.{}", table.name, named.name),
                };
            }
        }
        let message = match is_inside_query {
            true => format!("subquery uses ungrouped column \"{shown}\" from outer query"),
            false => format!(
                "column \"{shown}\" must appear in the GROUP BY clause or be used in an aggregate function"
            ),
        };
        BindError::new("42803", message, span)
    }
}

fn cross(left: &[Vec<usize>], right: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let pairs = left.iter().flat_map(|first| right.iter().map(move |second| (first, second)));
    let joined = pairs.map(|(first, second)| {
        let mut set = first.clone();
        set.extend(second.iter().filter(|place| !first.contains(place)));
        set
    });
    joined.collect()
}

fn check_count(sets: usize) -> Result<()> {
    if sets <= SETS_MAX {
        return Ok(());
    }
    let message = format!("too many grouping sets present (maximum {SETS_MAX})");
    Err(BindError::new("54001", message, Span::default()))
}

/// Returns true if an expression names any of these columns.
pub(super) fn mentions(value: &Scalar, columns: &[ColumnId]) -> bool {
    let mut found = false;
    value.clone().for_each(&mut |part| {
        found |= part.as_column().is_some_and(|column| columns.contains(&column));
    });
    found
}
