//! Semantic analysis of queries by `gadus-binder`, on one snapshot.
//!
//! - A query is planned from its bound tree if all of it can be lowered. Analysis also says why a statement is refused, in
//!   PostgreSQL's words and with a position, and shows the bound query: EXPLAIN (BOUND).
//! - Trees are as deep as the grammar allows: all that handles them has a stack of its own (`with_room`).
//! - What the binder does not know (files, system tables, functions of Gadus alone) is left to the planner's errors.

mod catalog;
mod errors;
mod rows;
mod types;
mod views;

pub(crate) use catalog::{BinderCatalog, MAIN};
pub(crate) use errors::{
    KnownFunctions, diagnosed, diagnosed_syntax, from_bind, is_of_planning, not_planned,
};
pub(crate) use rows::bound_row_expression;
pub(crate) use views::ViewCatalog;

use crate::room::with_room;
use gadus_binder::{BindError, BoundStatement, Provider, bind_query, bind_statement};
use gadus_syntax::ast::{Query, Statement};
use gadus_syntax::parse_statement;

/// Binds the query that a text is or explains.
///
/// # Errors
/// The binder's; `None` if there is no query in the text that the binder can see.
pub(crate) fn bound_query(
    catalog: &dyn Provider,
    text: &str,
) -> std::result::Result<BoundStatement, Option<BindError>> {
    let parsed = parse_statement(text).map_err(|error| Some(error.into()))?;
    let query = query_of(parsed.statement).ok_or(None)?;
    bind_query(catalog, &query, &[]).map_err(Some)
}

/// Binds the INSERT, UPDATE, DELETE or MERGE that a text is or explains.
///
/// # Errors
/// The binder's; `None` if the text is another statement.
pub(crate) fn bound_change(
    catalog: &BinderCatalog,
    text: &str,
) -> std::result::Result<BoundStatement, Option<BindError>> {
    let mut statement = parse_statement(text).map_err(|error| Some(error.into()))?.statement;
    if let Statement::Explain(explain) = statement {
        statement = explain.statement;
    }
    match statement {
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Merge(_) => bind_statement(catalog, &statement, &[]).map_err(Some),
        _ => Err(None),
    }
}

/// Binds a query or a change whose WITH may have changes.
///
/// # Errors
/// The binder's; `None` if the text is another statement.
pub(crate) fn bound_statement(
    catalog: &BinderCatalog,
    text: &str,
) -> std::result::Result<BoundStatement, Option<BindError>> {
    let statement = parse_statement(text).map_err(|error| Some(error.into()))?.statement;
    match statement {
        Statement::Query(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_) => bind_statement(catalog, &statement, &[]).map_err(Some),
        _ => Err(None),
    }
}

/// Makes joins of the correlated queries of a statement.
///
/// # Errors
/// 0A000 for those that have no join.
pub(crate) fn unnested(
    mut bound: BoundStatement,
) -> std::result::Result<BoundStatement, BindError> {
    with_room(true, || bound.unnest()).map(|()| bound)
}

/// Returns the query that a statement is or explains.
fn query_of(statement: Statement) -> Option<Box<Query>> {
    match statement {
        Statement::Query(query) => Some(query),
        Statement::Explain(explain) => query_of(explain.statement),
        _ => None,
    }
}
