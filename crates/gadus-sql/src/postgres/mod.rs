//! PostgreSQL's catalog, as tables that its clients ask about the schema.
//!
//! - Made from a snapshot when a statement names them; what Gadus has nothing of is an empty table.
//! - Statements that name them are written by tools in PostgreSQL's own words: casts to `regclass`,
//!   operators with a schema, subqueries in the place of values. They are put into words that the planner
//!   knows, by their shape and never by whose statement it is.

mod activity;
mod build;
mod constraints;
mod enums;
mod functions;
mod keys;
mod known;
mod oids;
mod relations;
mod rewrite;
mod routines;
mod rows;
mod sequences;
mod settings;
mod types;

pub use enums::enum_number;
pub(crate) use functions::functions;
pub use known::quoted;
pub(crate) use known::{Asking, parts as parts_of_name};
pub(crate) use relations::{is_relation, names, relation};
pub(crate) use rewrite::rewrite;
pub(crate) use sequences::as_table as sequence_as_table;

/// The schema of the catalog.
pub(crate) const SCHEMA: &str = "pg_catalog";

/// The key under which the metadata of a column has the name of its type in PostgreSQL, where its data does not
/// tell it.
pub const TYPE: &str = "gadus.postgres_type";

/// Whether a type that is built in has this name.
pub(crate) fn is_type(name: &str) -> bool {
    types::find(&quoted(name)).is_some()
}

/// What the catalog calls the type of a column.
pub(crate) fn type_name(column: gadus_engine::ColumnType) -> &'static str {
    types::of_column(column).name
}
