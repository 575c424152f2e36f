//! Semantic analysis of queries by `gadus-binder`, on one snapshot.
//!
//! - Queries are not planned from bound queries yet. Analysis says why a statement is refused, in PostgreSQL's words and
//!   with a position, and shows the bound query: EXPLAIN (BOUND).
//! - Trees are as deep as the grammar allows: all that handles them has a stack of its own ([`with_room`]).
//! - What the binder does not know (files, system tables, functions of Gadus alone) is left to the planner's errors.

mod catalog;
mod errors;
mod types;

pub(crate) use catalog::BinderCatalog;
pub(crate) use errors::{KnownFunctions, diagnosed, diagnosed_syntax, is_of_planning};

use crate::error::input;
use crate::room::with_room;
use errors::from_bind;
use gadus_binder::bind_query;
use gadus_engine::Result;
use gadus_syntax::ast::{Query, Statement};
use gadus_syntax::parse_statement;

/// Binds the query of an EXPLAIN, and returns the bound query as lines.
pub(crate) fn explain_bound(catalog: &BinderCatalog, text: &str) -> Result<Vec<String>> {
    with_room(true, || bound_lines(catalog, text))
}

fn bound_lines(catalog: &BinderCatalog, text: &str) -> Result<Vec<String>> {
    let parsed = parse_statement(text).map_err(|error| from_bind(error.into()))?;
    let Some(query) = query_of(parsed.statement) else {
        return Err(input("EXPLAIN (BOUND) shows queries"));
    };
    let bound = bind_query(catalog, &query, &[]).map_err(from_bind)?;
    Ok(bound.query.to_string().lines().map(str::to_owned).collect())
}

/// Returns the query that a statement is or explains.
fn query_of(statement: Statement) -> Option<Box<Query>> {
    match statement {
        Statement::Query(query) => Some(query),
        Statement::Explain(explain) => query_of(explain.statement),
        _ => None,
    }
}
