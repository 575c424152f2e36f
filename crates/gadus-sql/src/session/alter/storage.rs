//! Actions of ALTER TABLE that are respelled as options: storage, which has no meaning here, and identity columns.

use super::super::Session;
use super::super::constraints::no_constraint;
use super::super::numbering::let_go;
use super::super::sequences::{drop_sequence, set_options};
use super::moving::{alter_constraint, move_to_schema};
use super::no_column;
use super::respelling::{
    COLUMN, CONSTRAINT, DEFERRABLE, DROP_EXPRESSION, DROP_IDENTITY, GENERATED, IDENTITY, IF_EXISTS,
    INDEX, SCHEMA, STORAGE, UNSUPPORTED,
};
use crate::error::{input, unsupported};
use crate::names::beside;
use datafusion::sql::sqlparser::ast::{Expr, SqlOption, Value as SqlValue};
use gadus_engine::{Error, ErrorKind, Identity, Reason, Result, TableSchema, Transaction};
use std::sync::Arc;

/// PostgreSQL's parameters of how tables are stored and maintained.
const PARAMETERS: [&str; 5] = [
    "fillfactor",
    "toast_tuple_target",
    "parallel_workers",
    "vacuum_truncate",
    "vacuum_index_cleanup",
];

impl Session {
    /// Carries out `SET (…)`.
    pub(super) fn set_options_of_table(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        options: &[SqlOption],
    ) -> Result<()> {
        let value = |name: &str| options.iter().find_map(|option| text_of(option, name));
        let if_exists = value(IF_EXISTS).is_some();
        if let Some(action) = value(UNSUPPORTED) {
            return Err(unsupported(&format!("ALTER TABLE … {action}")));
        }
        if let Some(name) = value(SCHEMA) {
            return move_to_schema(transaction, schema, &name);
        }
        if let Some(name) = value(CONSTRAINT) {
            return alter_constraint(schema, &name, value(DEFERRABLE).is_some());
        }
        if let Some(column) = value(DROP_IDENTITY) {
            return drop_identity(transaction, schema, (&column, if_exists));
        }
        if let Some(column) = value(DROP_EXPRESSION) {
            return drop_expression(transaction, schema, (&column, if_exists));
        }
        if let Some(column) = value(IDENTITY) {
            return set_identity(transaction, schema, (&column, value(GENERATED)), options);
        }
        if let Some(column) = value(COLUMN) {
            return match schema.column_index(&column) {
                Some(_) => Ok(()),
                None => Err(no_column(schema, &column)),
            };
        }
        if let Some(index) = value(INDEX) {
            let is_there = schema.index_named(&beside(&schema.name, &index)).is_some();
            let is_key = !schema.key.is_empty() && index == format!("{}_pkey", schema.name);
            return match is_there || is_key {
                true => Ok(()),
                false => {
                    let message =
                        format!("index \"{index}\" for table \"{}\" does not exist", schema.name);
                    Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownObject))
                }
            };
        }
        options.iter().try_for_each(|option| match option {
            SqlOption::KeyValue { key, .. } if is_parameter(&key.value) => Ok(()),
            SqlOption::KeyValue { key, .. } => {
                let message = format!("unrecognized parameter \"{}\"", key.value);
                Err(input(message).because(Reason::InvalidParameter))
            }
            other => Err(unsupported(&format!("ALTER TABLE … SET ({other})"))),
        })
    }
}

fn is_parameter(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("toast.").unwrap_or(&name);
    name == STORAGE || PARAMETERS.contains(&name) || name.starts_with("autovacuum_")
}

/// Returns the value of an option with this name.
fn text_of(option: &SqlOption, name: &str) -> Option<String> {
    match option {
        SqlOption::KeyValue { key, value: Expr::Value(value) } if key.value == name => {
            Some(match &value.value {
                SqlValue::SingleQuotedString(text) => text.clone(),
                other => other.to_string(),
            })
        }
        _ => None,
    }
}

fn place_of_identity(
    schema: &TableSchema,
    column: &str,
) -> Result<std::result::Result<usize, Error>> {
    let place = schema.column_index(column).ok_or_else(|| no_column(schema, column))?;
    Ok(match schema.columns[place].identity {
        Some(_) => Ok(place),
        None => {
            let table = &schema.name;
            let message =
                format!("column \"{column}\" of relation \"{table}\" is not an identity column");
            Err(input(message).because(Reason::NotInState))
        }
    })
}

/// ALTER COLUMN … DROP IDENTITY
fn drop_identity(
    transaction: &mut Transaction,
    schema: &TableSchema,
    (column, if_exists): (&str, bool),
) -> Result<()> {
    let place = match place_of_identity(schema, column)? {
        Ok(place) => place,
        Err(_) if if_exists => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut after = TableSchema::clone(schema);
    after.columns[place].identity = None;
    after.columns[place].default = None;
    let id = schema.columns[place].id;
    let sequence = let_go(transaction, (schema.id, id))?;
    transaction.alter_table(&after, &[])?;
    match sequence {
        Some(sequence) => drop_sequence(transaction, &sequence.name),
        None => Ok(()),
    }
}

/// ALTER COLUMN … DROP EXPRESSION: stored values stay.
fn drop_expression(
    transaction: &mut Transaction,
    schema: &TableSchema,
    (column, if_exists): (&str, bool),
) -> Result<()> {
    let place = schema.column_index(column).ok_or_else(|| no_column(schema, column))?;
    let mut after = TableSchema::clone(schema);
    if after.columns[place].generated.take().is_none() {
        let table = &schema.name;
        let message =
            format!("column \"{column}\" of relation \"{table}\" is not a stored generated column");
        return if if_exists { Ok(()) } else { Err(input(message).because(Reason::NotInState)) };
    }
    transaction.alter_table(&after, &[]).map(|_| ())
}

/// ALTER COLUMN … SET GENERATED, RESTART, and SET of its sequence's options.
fn set_identity(
    transaction: &mut Transaction,
    schema: &TableSchema,
    (column, generated): (&str, Option<String>),
    options: &[SqlOption],
) -> Result<()> {
    let place = place_of_identity(schema, column)??;
    let id = schema.columns[place].id;
    if let Some(generated) = generated {
        let mut after = TableSchema::clone(schema);
        after.columns[place].identity = Some(match generated.as_str() {
            "always" => Identity::Always,
            _ => Identity::ByDefault,
        });
        transaction.alter_table(&after, &[])?;
    }
    let is_own = |option: &&SqlOption| {
        text_of(option, IDENTITY).is_none() && text_of(option, GENERATED).is_none()
    };
    let options = options.iter().filter(is_own).cloned().collect::<Vec<_>>();
    if options.is_empty() {
        return Ok(());
    }
    let snapshot = transaction.snapshot();
    let mut owned = snapshot.owned_sequences(schema.id);
    let sequence = owned.find(|owned| owned.owner == Some((schema.id, id))).cloned();
    drop(owned);
    let sequence = sequence.ok_or_else(|| Error::internal("an identity column has no sequence"))?;
    drop(snapshot);
    set_options(transaction, &sequence, &options)
}

impl Session {
    /// ALTER TABLE … VALIDATE CONSTRAINT
    pub(super) async fn validate_constraint(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        name: &str,
    ) -> Result<()> {
        if let Some(check) = schema.checks.iter().find(|check| check.name == name) {
            transaction.keep_rows(schema)?;
            let condition = format!("NOT ({})", check.condition);
            return match self.has_row(transaction, schema, &condition).await? {
                false => Ok(()),
                true => {
                    let table = &schema.name;
                    let message = format!(
                        "check constraint \"{name}\" of relation \"{table}\" is violated by some row"
                    );
                    Err(Error::new(ErrorKind::CheckViolation, message))
                }
            };
        }
        // All rows meet the others from the beginning.
        match schema.foreign_keys.iter().any(|key| key.name == name) {
            true => Ok(()),
            false => Err(no_constraint(schema, name)),
        }
    }
}
