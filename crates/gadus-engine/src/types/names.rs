//! Names of relations in schemas.
//!
//! - A relation of the main schema is kept under its name alone, one of another schema under both names with
//!   [`SCHEMA_SEPARATOR`] between them, which is in no name.
//! - Schemas whose names begin with [`TEMPORARY_PREFIX`] hold what goes with a session, whose number follows; they are there
//!   without being made.

/// Stands between the name of a schema and that of a relation.
pub const SCHEMA_SEPARATOR: char = '\u{1f}';
/// What schemas of temporary relations begin with.
pub const TEMPORARY_PREFIX: &str = "pg_temp_";

/// The schema of a relation, unless it is the main one, and its name there.
#[must_use]
pub fn schema_and_name(kept: &str) -> (Option<&str>, &str) {
    match kept.split_once(SCHEMA_SEPARATOR) {
        Some((schema, name)) => (Some(schema), name),
        None => (None, kept),
    }
}

/// Whether a relation goes with a session.
#[must_use]
pub fn is_temporary(kept: &str) -> bool {
    schema_and_name(kept).0.is_some_and(|schema| schema.starts_with(TEMPORARY_PREFIX))
}
