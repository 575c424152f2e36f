//! ALTER TABLE … SET SCHEMA, and ALTER CONSTRAINT.

use super::super::constraints::no_constraint;
use super::super::schemas::unknown_schema;
use super::super::sequences::move_sequence;
use crate::error::{coded, unsupported};
use crate::names::{TEMPORARY_SCHEMAS, kept};
use gadus_engine::{
    Error, ErrorKind, Result, TableSchema, Transaction, is_temporary, schema_and_name,
};

/// Moves a table to another schema, with its indexes and the sequences that belong to its columns.
pub(super) fn move_to_schema(
    transaction: &mut Transaction,
    schema: &TableSchema,
    to: &str,
) -> Result<()> {
    let snapshot = transaction.snapshot();
    if is_temporary(&schema.name) || TEMPORARY_SCHEMAS.contains(&to) {
        return Err(unsupported("cannot move objects into or out of temporary schemas; this"));
    }
    if to != "public" && !snapshot.has_schema(to) {
        return Err(unknown_schema(to));
    }
    let moved = |name: &str| kept(to, schema_and_name(name).1);
    let mut after = TableSchema::clone(schema);
    after.name = moved(&schema.name);
    if after.name == schema.name {
        return Ok(());
    }
    if snapshot.has_relation(&after.name) {
        let name = schema_and_name(&schema.name).1;
        let message = format!("relation \"{name}\" already exists in schema \"{to}\"");
        return Err(Error::new(ErrorKind::AlreadyExists, message));
    }
    for index in &mut after.indexes {
        index.name = moved(&index.name);
    }
    let owned = snapshot.owned_sequences(schema.id).cloned().collect::<Vec<_>>();
    drop(snapshot);
    transaction.alter_table(&after, &[])?;
    for sequence in owned {
        move_sequence(transaction, &sequence, moved(&sequence.name))?;
    }
    Ok(())
}

/// Says of a foreign key that it cannot be deferred, as none can.
pub(super) fn alter_constraint(schema: &TableSchema, name: &str, is_deferred: bool) -> Result<()> {
    if schema.foreign_keys.iter().any(|key| key.name == name) {
        return match is_deferred {
            true => Err(unsupported("a constraint that is DEFERRABLE")),
            false => Ok(()),
        };
    }
    let error = no_constraint(schema, name);
    let is_other = schema.checks.iter().any(|check| check.name == name)
        || schema.indexes.iter().any(|index| schema_and_name(&index.name).1 == name)
        || name == super::super::checks::key_name(schema);
    match is_other {
        true => {
            let table = schema_and_name(&schema.name).1;
            let message = format!(
                "constraint \"{name}\" of relation \"{table}\" is not a foreign key constraint"
            );
            Err(coded("42809", message))
        }
        false => Err(error),
    }
}
