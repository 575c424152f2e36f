//! The elements of CREATE SCHEMA: relations that are created in the new schema.
//!
//! - They are created in PostgreSQL's order, so that a view may come before the table that it reads.
//! - Names without a schema mean the new schema's first.

use super::super::bound_changes::ChangeText;
use super::super::modify::folded;
use super::super::{Prepared, Session};
use crate::error::{coded, unsupported};
use crate::names::Names;
use crate::room::with_room;
use datafusion::sql::sqlparser::ast::{ObjectName, Statement};
use gadus_engine::{Result, Transaction};
use gadus_syntax::ast::Statement as SyntaxStatement;
use gadus_syntax::parse_statement;
use std::sync::Arc;

impl Session {
    /// Creates the elements of a schema that a statement has created.
    pub(super) async fn create_elements(
        &self,
        transaction: &mut Transaction,
        change: &ChangeText<'_>,
        schema: &str,
    ) -> Result<()> {
        if change.prepared.unread.is_none() {
            return Ok(());
        }
        let names = change.names.clone().unwrap_or_default();
        let path = std::iter::once(schema.to_owned()).chain(names.path).collect();
        let names = Names { path, temporary: names.temporary };
        for text in elements(&change.prepared.text)? {
            let prepared = self.parse(&text)?;
            if prepared.parameters() > 0 {
                return Err(coded("42P02", "there is no parameter $1"));
            }
            check_schema(&prepared.statement, schema)?;
            let snapshot = transaction.snapshot();
            let statement = self.resolved(&names, &snapshot, &prepared.statement);
            drop(snapshot);
            let prepared = Prepared { statement: Arc::new(statement), ..prepared };
            let element = ChangeText { prepared: &prepared, names: Some(names.clone()) };
            Box::pin(self.define(transaction, &element, &[])).await?;
        }
        Ok(())
    }
}

/// Returns the texts of a schema's elements in the order in which they are created.
fn elements(text: &str) -> Result<Vec<String>> {
    let parsed = with_room(true, || parse_statement(text).map(|parsed| parsed.statement));
    let Ok(SyntaxStatement::CreateSchema(schema)) = parsed else {
        return Err(unsupported("this CREATE SCHEMA"));
    };
    if schema.if_not_exists && !schema.elements.is_empty() {
        let message = "CREATE SCHEMA IF NOT EXISTS cannot include schema elements";
        return Err(coded("0A000", message));
    }
    if schema.owner.is_some() {
        return Err(unsupported("CREATE SCHEMA … AUTHORIZATION"));
    }
    let mut ordered = Vec::with_capacity(schema.elements.len());
    for element in &schema.elements {
        let order = match &element.statement {
            SyntaxStatement::CreateSequence(_) => 0,
            SyntaxStatement::CreateTable(_) => 1,
            SyntaxStatement::CreateView(_) => 2,
            SyntaxStatement::CreateIndex(_) => 3,
            _ => return Err(unsupported("this element of CREATE SCHEMA")),
        };
        let range = element.span.start as usize..element.span.end as usize;
        let text = text.get(range).ok_or_else(|| unsupported("this element of CREATE SCHEMA"))?;
        ordered.push((order, text.to_owned()));
    }
    ordered.sort_by_key(|(order, _)| *order);
    Ok(ordered.into_iter().map(|(_, text)| text).collect())
}

/// Refuses an element of another schema.
fn check_schema(statement: &Statement, schema: &str) -> Result<()> {
    let is_temporary = match statement {
        Statement::CreateTable(create) => create.temporary,
        Statement::CreateView(create) => create.temporary,
        _ => false,
    };
    if is_temporary {
        let message = "cannot create temporary relation in non-temporary schema";
        return Err(coded("42P16", message));
    }
    let name: &ObjectName = match statement {
        Statement::CreateTable(create) => &create.name,
        Statement::CreateView(create) => &create.name,
        Statement::CreateSequence { name, .. } => name,
        Statement::CreateIndex(create) => &create.table_name,
        _ => return Ok(()),
    };
    let parts = name.0.iter().filter_map(|part| part.as_ident()).map(folded);
    match parts.collect::<Vec<_>>().as_slice() {
        [other, _] if other != schema => {
            let message = format!(
                "CREATE specifies a schema ({other}) different from the one being created ({schema})"
            );
            Err(coded("42P15", message))
        }
        _ => Ok(()),
    }
}
