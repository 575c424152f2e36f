//! ALTER TABLE … ADD, DROP and RENAME CONSTRAINT.

use super::Session;
use super::alter::quoted;
use super::checks::key_name;
use super::define::key_columns;
use super::foreign_keys;
use super::indexes::of_constraint;
use crate::error::{input, unsupported};
use crate::names::beside;
use datafusion::sql::sqlparser::ast::{CheckConstraint, PrimaryKeyConstraint, TableConstraint};
use gadus_engine::{Error, ErrorKind, Reason, Result, TableSchema, Transaction};
use std::sync::Arc;

impl Session {
    /// Adds a constraint that all rows meet.
    pub(super) async fn add_constraint(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        (constraint, not_valid): (&TableConstraint, bool),
    ) -> Result<()> {
        match constraint {
            TableConstraint::PrimaryKey(primary) => {
                self.add_primary_key(transaction, schema, primary).await
            }
            TableConstraint::Check(check) => {
                self.add_checks_to(transaction, schema, (vec![check.clone()], not_valid)).await
            }
            TableConstraint::Unique(unique) => {
                let wanted = of_constraint(unique, schema)?;
                self.add_indexes(transaction, schema, vec![wanted]).await
            }
            TableConstraint::ForeignKey(_) if not_valid => {
                Err(unsupported("a foreign key that is NOT VALID"))
            }
            TableConstraint::ForeignKey(key) => {
                self.add_foreign_keys(transaction, schema, std::slice::from_ref(key)).await
            }
            other => Err(unsupported(&format!("ALTER TABLE … ADD {other}"))),
        }
    }

    async fn add_primary_key(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        primary: &PrimaryKeyConstraint,
    ) -> Result<()> {
        if !schema.key.is_empty() {
            let name = &schema.name;
            let message = format!("multiple primary keys for table \"{name}\" are not allowed");
            return Err(input(message).because(Reason::InvalidDefinition));
        }
        let key = key_columns(primary, &schema.columns)?;
        let mut after = TableSchema { key, ..TableSchema::clone(schema) };
        for &column in &after.key {
            after.columns[column].nullable = false;
        }
        let items = schema.columns.iter().map(|column| quoted(&column.name)).collect();
        self.rewrite(transaction, schema, (after, items)).await
    }

    /// Adds conditions that all rows meet.
    pub(super) async fn add_checks_to(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        (checks, not_valid): (Vec<CheckConstraint>, bool),
    ) -> Result<()> {
        let mut after = TableSchema::clone(schema);
        for check in &checks {
            let check = self.check_definition(&after, check)?;
            if !not_valid {
                transaction.keep_rows(schema)?;
                let condition = format!("NOT ({})", check.condition);
                if self.has_row(transaction, schema, &condition).await? {
                    let (name, table) = (&check.name, &schema.name);
                    let message = format!(
                        "check constraint \"{name}\" of relation \"{table}\" is violated by some row"
                    );
                    return Err(Error::new(ErrorKind::CheckViolation, message));
                }
            }
            after.checks.push(check);
        }
        transaction.alter_table(&after, &[]).map(|_| ())
    }
}

/// Renames a constraint.
pub(super) fn rename_constraint(
    transaction: &mut Transaction,
    schema: &TableSchema,
    (old, new): (String, String),
) -> Result<()> {
    let mut after = TableSchema::clone(schema);
    let mut of_indexes = after.indexes.iter_mut().filter(|index| index.constraint && index.unique);
    let index = beside(&schema.name, &old);
    if let Some(index) = of_indexes.find(|of| of.name == index) {
        index.name = beside(&schema.name, &new);
    } else if let Some(key) = after.foreign_keys.iter_mut().find(|key| key.name == old) {
        key.name = new;
    } else {
        let check = after.checks.iter_mut().find(|check| check.name == old);
        check.ok_or_else(|| no_constraint(schema, &old))?.name = new;
    }
    transaction.alter_table(&after, &[]).map(|_| ())
}

/// The shape without a constraint, and without what refers to it where that is asked for.
pub(super) fn without_constraint(
    transaction: &mut Transaction,
    schema: &TableSchema,
    (name, if_exists, cascade): (&str, bool, bool),
) -> Result<TableSchema> {
    let mut after = TableSchema::clone(schema);
    let index = beside(&schema.name, name);
    if let Some(place) = schema.checks.iter().position(|check| check.name == name) {
        after.checks.remove(place);
    } else if schema.foreign_keys.iter().any(|key| key.name == name) {
        foreign_keys::remove_from(&mut after, |key| key.name == name);
    } else if schema.index_named(&index).is_some_and(|index| index.constraint && index.unique) {
        after.indexes.retain(|other| other.name != index);
    } else if !schema.key.is_empty() && key_name(schema) == name {
        after.key.clear();
    } else if if_exists {
        return Ok(after);
    } else {
        return Err(no_constraint(schema, name));
    }
    if cascade {
        foreign_keys::drop_dangling(transaction, &mut after)?;
    }
    // The index of a key may have been that of a foreign key, too.
    foreign_keys::index_all(&mut after, &transaction.snapshot());
    Ok(after)
}

pub(super) fn no_constraint(schema: &TableSchema, name: &str) -> Error {
    let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", schema.name);
    Error::new(ErrorKind::NotFound, message).because(Reason::UnknownObject)
}
