//! Columns by name.

use super::Binder;
use super::scope::{Scope, ScopeTable};
use crate::bound::{Scalar, ScalarKind};
use crate::error::{BindError, Result};
use crate::types::constants;
use gadus_syntax::Span;
use gadus_syntax::ast::Name;

impl Binder<'_> {
    /// Resolves `a`, `t.a` or `s.t.a`.
    pub(super) fn column(&mut self, parts: &[Name], span: Span) -> Result<Scalar> {
        if parts.len() > 4 {
            let name = dotted(parts);
            let message = format!("improper qualified name (too many dotted names): {name}");
            return Err(BindError::new("42601", message, span));
        }
        let found = match parts {
            [column] => self.plain_column(&column.text, span)?,
            [table, column] => self.qualified_column(None, &table.text, column, span)?,
            [schema, table, column] => {
                self.qualified_column(Some(&schema.text), &table.text, column, span)?
            }
            [_, schema, table, column] => {
                self.qualified_column(Some(&schema.text), &table.text, column, span)?
            }
            _ => None,
        };
        let found = found.ok_or_else(|| missing_column(parts, span))?;
        Ok(Scalar { span, ..found })
    }

    /// Looks for a column by its name alone, then for a whole row.
    fn plain_column(&mut self, name: &str, span: Span) -> Result<Option<Scalar>> {
        for scope in self.scopes.iter().rev().filter(|scope| !scope.is_hidden) {
            let mut columns = scope.plain_columns(name);
            if let Some(found) = columns.next() {
                return match columns.next() {
                    None => Ok(Some(found.clone())),
                    Some(_) => {
                        let message = format!("column reference \"{name}\" is ambiguous");
                        Err(BindError::new("42702", message, span))
                    }
                };
            }
        }
        let scopes = self.scopes.iter().rev().filter(|scope| !scope.is_hidden);
        for scope in scopes {
            if let Some(table) = scope.table(None, name) {
                return Ok(Some(whole_row(table, span)));
            }
        }
        let mut changed = self.scopes.iter().filter_map(Scope::hidden_changed);
        let has_column = |table: &&ScopeTable| table.columns_named(name).next().is_some();
        if let Some(table) = changed.find(has_column) {
            return Err(changed_table(&table.name, span));
        }
        Ok(None)
    }

    fn qualified_column(
        &mut self,
        schema: Option<&str>,
        table: &str,
        column: &Name,
        span: Span,
    ) -> Result<Option<Scalar>> {
        let Some(found) = self.find_table(schema, table) else {
            return Err(self.missing_table(schema, table, span));
        };
        let mut columns = found.columns_named(&column.text);
        match (columns.next(), columns.next()) {
            (Some(_), Some(_)) => {
                let message = format!("column reference \"{}\" is ambiguous", column.text);
                Err(BindError::new("42702", message, span))
            }
            (first, _) => Ok(first.cloned()),
        }
    }

    /// Looks for a table in the scopes.
    pub(super) fn find_table(&self, schema: Option<&str>, name: &str) -> Option<&ScopeTable> {
        let mut scopes = self.scopes.iter().rev().filter(|scope| !scope.is_hidden);
        scopes.find_map(|scope| scope.table(schema, name))
    }

    /// Returns the error of a table that is not in FROM, or not visible where it is named.
    pub(super) fn missing_table(&self, schema: Option<&str>, name: &str, span: Span) -> BindError {
        let mut changed = self.scopes.iter().filter_map(Scope::hidden_changed);
        if schema.is_none() && changed.any(|table| table.name == name) {
            return changed_table(name, span);
        }
        let shown = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
        let tables = || self.scopes.iter().rev().flat_map(|scope| &scope.tables);
        let message = format!("invalid reference to FROM-clause entry for table \"{shown}\"");
        let renamed = |table: &&ScopeTable| table.hidden_name.as_deref() == Some(name);
        if let Some(alias) = tables().find(renamed).map(|table| &table.name) {
            let error = BindError::new("42P01", message, span);
            return error.with_hint(match self.find_table(None, alias) {
                Some(_) => {
                    format!("Perhaps you meant to reference the table alias \"{alias}\".")
                }
                None => unreachable_table(name),
            });
        }
        if tables().any(|table| table.name == name) {
            return BindError::new("42P01", message, span).with_hint(unreachable_table(name));
        }
        let message = format!("missing FROM-clause entry for table \"{shown}\"");
        BindError::new("42P01", message, span)
    }
}

/// Returns the error of a lateral item that names the table which is changed.
fn changed_table(name: &str, span: Span) -> BindError {
    let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
    BindError::new("42P10", message, span).with_hint(unreachable_table(name))
}

fn unreachable_table(name: &str) -> String {
    format!(
        "There is an entry for table \"{name}\", but it cannot be referenced from this part of the query."
    )
}

/// Returns the row of a table as a value.
pub(super) fn whole_row(table: &ScopeTable, span: Span) -> Scalar {
    let fields = table.expanded().iter().map(|column| column.value.clone()).collect();
    let row_type = table.row_type.unwrap_or(constants::RECORD);
    let names = table.expanded().iter().map(|column| column.name.clone()).collect();
    Scalar { field_names: Some(names), ..Scalar::new(ScalarKind::Row(fields), row_type, span) }
}

fn dotted(parts: &[Name]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".")
}

fn missing_column(parts: &[Name], span: Span) -> BindError {
    let texts = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>();
    let message = match texts.as_slice() {
        [column] => format!("column \"{column}\" does not exist"),
        [.., table, column] => format!("column {table}.{column} does not exist"),
        [] => "column does not exist".to_owned(),
    };
    BindError::new("42703", message, span)
}
