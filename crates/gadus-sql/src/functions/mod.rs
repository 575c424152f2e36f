//! Functions of SQL: `CREATE FUNCTION … LANGUAGE SQL`, and DuckDB's `CREATE MACRO`.
//!
//! - A call is replaced by the function's body, with the arguments in the place of its parameters, before a statement
//!   is planned: the planner sees the whole query, and knows no functions of SQL. An argument whose value is another
//!   each time, as of `random()`, is evaluated where the parameter stands.
//! - What a statement keeps as a text, a view, a CHECK, a DEFAULT, another function, keeps the body: a function may be
//!   replaced and dropped without a look at who called it, and none calls itself.
//! - A parameter hides a column of the same name within the body.

mod arguments;
mod calls;
mod definition;

pub(crate) use calls::{calls_any, expand};
pub(crate) use definition::{Body, Function, function_name};

use gadus_engine::{DefinitionKey, Snapshot};
use std::sync::Arc;

/// The statement that made a function.
pub(crate) fn definition_of(snapshot: &Snapshot, name: &str) -> Option<Arc<str>> {
    snapshot.definition(&DefinitionKey::Function(name.to_owned())).cloned()
}

/// All functions, by their names, with the statements that made them.
pub fn all(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &Arc<str>)> {
    // They come before all else.
    snapshot.definitions().map_while(|(key, text)| match key {
        DefinitionKey::Function(name) => Some((name.as_str(), text)),
        _ => None,
    })
}
