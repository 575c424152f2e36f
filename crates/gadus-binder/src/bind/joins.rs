//! Joins and the columns that USING and NATURAL merge.

use super::Binder;
use super::from::{names_any, rename};
use super::scope::{Clause, ScopeColumn, ScopeTable};
use crate::bound::{Join, JoinKind, Relational, Scalar, ScalarKind};
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::Span;
use gadus_syntax::ast::{self, Alias, FromItem, JoinCondition, Name};
use std::collections::HashSet;

/// Tables of a join in the scope: those of its left item, then those of its right one.
#[derive(Debug, Clone, Copy)]
struct Sides {
    first: usize,
    middle: usize,
}

impl Binder<'_> {
    /// Binds a join.
    pub(super) fn join(
        &mut self,
        [left, right]: [&FromItem; 2],
        kind: ast::JoinKind,
        condition: &JoinCondition,
        alias: Option<&Alias>,
        span: Span,
    ) -> Result<Relational> {
        let kind = match kind {
            ast::JoinKind::Inner | ast::JoinKind::Cross => JoinKind::Inner,
            ast::JoinKind::Left => JoinKind::Left,
            ast::JoinKind::Right => JoinKind::Right,
            ast::JoinKind::Full => JoinKind::Full,
            ast::JoinKind::Semi => JoinKind::Semi,
            ast::JoinKind::Anti => JoinKind::Anti,
            ast::JoinKind::AsOf { .. } => return Err(BindError::unsupported("ASOF JOIN", span)),
            ast::JoinKind::Positional => {
                return Err(BindError::unsupported("POSITIONAL JOIN", span));
            }
        };
        let first = self.scope().tables.len();
        let left_rows = self.bind_item(left)?;
        let before = self.columns;
        let sides = Sides { first, middle: self.scope().tables.len() };
        let right_rows = self.bind_item(right)?;
        self.check_names(sides.first, sides.middle)?;
        let is_lateral = self.is_lateral(&right_rows, before);
        if is_lateral && matches!(kind, JoinKind::Right | JoinKind::Full) {
            let detail = "The combining JOIN type must be INNER or LEFT for a LATERAL reference.";
            let name = self.lateral_name(&right_rows, sides);
            let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
            return Err(BindError::new("42P10", message, right.span).with_detail(detail));
        }
        let condition = match condition {
            JoinCondition::None => None,
            JoinCondition::On(condition) => Some(self.join_condition(condition, sides)?),
            JoinCondition::Using { columns, alias: using } => {
                let condition = self.merge(columns, (kind, sides), span)?;
                if let Some(using) = using {
                    self.add_merged_alias(using, columns.len(), span)?;
                }
                condition
            }
            JoinCondition::Natural => {
                let common = self.common_names(sides);
                self.merge(&common, (kind, sides), span)?
            }
        };
        if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
            self.scope().tables.truncate(sides.middle);
        }
        if let Some(alias) = alias {
            self.alias_join(alias, first, span)?;
        }
        let join = Join { kind, left: left_rows, right: right_rows, condition, is_lateral };
        Ok(Relational::Join(Box::new(join)))
    }

    /// Returns the first table of the left side that the right one names.
    fn lateral_name(&mut self, right: &Relational, sides: Sides) -> String {
        let tables = &self.scope().tables[sides.first..sides.middle];
        let is_named = |table: &&ScopeTable| {
            let columns = table.columns.iter().filter_map(|column| column.value.as_column());
            let columns = columns.collect::<HashSet<_>>();
            names_any(right, |column| columns.contains(&column))
        };
        tables.iter().find(is_named).map_or_else(String::new, |table| table.name.clone())
    }

    /// Binds ON, which sees the tables of the join alone.
    fn join_condition(&mut self, condition: &ast::Expr, sides: Sides) -> Result<Scalar> {
        let scope = self.scope();
        let clause = std::mem::replace(&mut scope.clause, Clause::JoinOn);
        let visible = std::mem::replace(&mut scope.visible_from, sides.first);
        let bound = self.condition(condition, "JOIN/ON");
        let scope = self.scope();
        (scope.clause, scope.visible_from) = (clause, visible);
        bound
    }

    /// Returns the names that columns of both sides have, in the order of the left one.
    fn common_names(&mut self, sides: Sides) -> Vec<Name> {
        let scope = self.scope();
        let (left, right) = scope.tables[sides.first..].split_at(sides.middle - sides.first);
        let plain = |tables: &[ScopeTable]| {
            let visible = tables.iter().filter(|table| table.has_plain_columns);
            visible
                .flat_map(|table| &table.columns)
                .map(|column| column.name.clone())
                .collect::<Vec<_>>()
        };
        let right = plain(right);
        let mut names = Vec::<Name>::new();
        for text in plain(left) {
            if right.contains(&text) && !names.iter().any(|name| name.text == text) {
                names.push(Name { text, span: Span::default() });
            }
        }
        names
    }

    /// Merges columns of both sides; returns the condition that they are equal.
    fn merge(
        &mut self,
        names: &[Name],
        (kind, sides): (JoinKind, Sides),
        span: Span,
    ) -> Result<Option<Scalar>> {
        let (mut merged, mut conditions) = (Vec::new(), Vec::new());
        for (place, name) in names.iter().enumerate() {
            if names[..place].iter().any(|other| other.text == name.text) {
                let message =
                    format!("column name \"{}\" appears more than once in USING clause", name.text);
                return Err(BindError::new("42701", message, name.span));
            }
            let left = self.side_column(name, sides.first..sides.middle, "left")?;
            let count = self.scope().tables.len();
            let right = self.side_column(name, sides.middle..count, "right")?;
            conditions.push(self.infix_named("=", left.clone(), right.clone(), span)?);
            let value = self.merged_value(kind, left, right, span)?;
            merged.push(ScopeColumn { name: name.text.clone(), value });
        }
        let is_merged = |column: &ScopeColumn| names.iter().any(|name| name.text == column.name);
        let scope = self.scope();
        let mut columns = merged;
        for table in &mut scope.tables[sides.first..] {
            if !std::mem::take(&mut table.has_plain_columns) {
                continue;
            }
            match table.is_named {
                true => columns.extend(table.columns.iter().filter(|one| !is_merged(one)).cloned()),
                // Columns of a join below, which nothing else names.
                false => columns.extend(table.columns.drain(..).filter(|one| !is_merged(one))),
            }
        }
        let mut table = ScopeTable::new("", [], span);
        (table.columns, table.is_named) = (columns, false);
        scope.add(table);
        Ok(match conditions.len() {
            0 | 1 => conditions.pop(),
            _ => Some(Scalar::new(ScalarKind::And(conditions), constants::BOOL, span)),
        })
    }

    fn side_column(
        &mut self,
        name: &Name,
        tables: std::ops::Range<usize>,
        side: &str,
    ) -> Result<Scalar> {
        let tables = self.scope().tables[tables].iter().filter(|table| table.has_plain_columns);
        let mut found = tables.flat_map(|table| table.columns_named(&name.text));
        match (found.next(), found.next()) {
            (Some(column), None) => Ok(column.clone()),
            (None, _) => {
                let message = format!(
                    "column \"{}\" specified in USING clause does not exist in {side} table",
                    name.text
                );
                Err(BindError::new("42703", message, name.span))
            }
            (Some(_), Some(_)) => {
                let message = format!(
                    "common column name \"{}\" appears more than once in {side} table",
                    name.text
                );
                Err(BindError::new("42702", message, name.span))
            }
        }
    }

    /// Returns the value of a merged column (`buildMergedJoinVar`).
    fn merged_value(
        &mut self,
        kind: JoinKind,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> Result<Scalar> {
        let common = self.coercion().common(&[left.clone(), right.clone()], "JOIN/USING")?;
        let is_left_plain = left.data_type.id == common.id;
        let left = self.coercion().convert_to_common(left, common, "JOIN/USING")?;
        let is_right_plain = right.data_type.id == common.id;
        let right = self.coercion().convert_to_common(right, common, "JOIN/USING")?;
        Ok(match kind {
            JoinKind::Inner if !is_left_plain && is_right_plain => right,
            JoinKind::Inner
            | JoinKind::Left
            | JoinKind::Semi
            | JoinKind::Anti
            | JoinKind::Mark(_) => left,
            JoinKind::Right => right,
            JoinKind::Full => Scalar::new(ScalarKind::Coalesce(vec![left, right]), common, span),
        })
    }

    /// Names the merged columns: `JOIN b USING (k) AS j`.
    fn add_merged_alias(&mut self, alias: &Name, merged: usize, span: Span) -> Result<()> {
        let columns = self.scope().tables.last().map(|table| table.columns[..merged].to_vec());
        let mut table = ScopeTable::new(alias.text.clone(), [], span);
        (table.columns, table.has_plain_columns) = (columns.unwrap_or_default(), false);
        self.add_table(table, None, span)
    }

    /// Gives a join a name that hides those of its tables.
    fn alias_join(&mut self, alias: &Alias, first: usize, span: Span) -> Result<()> {
        let mut columns = Vec::new();
        for table in &mut self.scope().tables[first..] {
            if table.has_plain_columns {
                columns.extend(table.columns.iter().cloned());
            }
            (table.has_plain_columns, table.is_named) = (false, false);
        }
        let mut table = ScopeTable::new("", [], span);
        table.columns = columns;
        rename(&mut table, alias, span)?;
        self.add_table(table, None, span)
    }
}
