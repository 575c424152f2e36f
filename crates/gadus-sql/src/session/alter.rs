//! ALTER TABLE.
//!
//! - Rows are not written again but where a column takes another type, or each row a value of its own.
//! - What the rows must be for the new shape is seen while nobody else changes them.

mod moving;
mod respelling;
mod storage;

pub(super) use respelling::{STORAGE, respell};

use super::checks::with_name;
use super::comments::comment_on_columns;
use super::constraints::{rename_constraint, without_constraint};
use super::defaults::Looked;
use super::define::{check_options, definition};
use super::foreign_keys;
use super::generated::generation;
use super::indexes::of_column;
use super::modify::{folded, table_name, target};
use super::numbering::{add_numbering, numbering};
use super::sequences::{alter_sequence, free_owned, schema_now};
use super::views::drop_column_readers;
use super::{Outcome, Session};
use crate::error::{from_datafusion, input, unsupported};
use crate::names::beside;
use crate::value::assign_array;
use datafusion::sql::sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnDef, ColumnOption, DropBehavior,
    Ident, RenameTableNameKind, Statement,
};
use gadus_engine::{
    ColumnType, Datum, DefaultValue, Error, ErrorKind, Reason, Result, Snapshot, TableSchema,
    Transaction, datum_from_array,
};
use std::sync::Arc;

impl Session {
    pub(super) async fn alter_table(
        &self,
        transaction: &mut Transaction,
        alter: &AlterTable,
    ) -> Result<Outcome> {
        if let Some(sequence) = transaction.snapshot().find_sequence(&table_name(&alter.name)?) {
            return alter_sequence(transaction, sequence, &alter.operations);
        }
        let schema = match target(&transaction.snapshot(), &alter.name) {
            Err(error) if alter.if_exists && error.kind() == ErrorKind::NotFound => {
                return Ok(Outcome::Done("ALTER TABLE"));
            }
            found => found?,
        };
        let id = schema.id;
        for operation in &alter.operations {
            // As the one before has left it.
            let table = transaction.snapshot().table_by_id(id);
            let table = table.ok_or_else(|| Error::internal("a table that is altered is gone"))?;
            self.alter(transaction, table.schema(), operation).await?;
        }
        Ok(Outcome::Done("ALTER TABLE"))
    }

    async fn alter(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        operation: &AlterTableOperation,
    ) -> Result<()> {
        match operation {
            AlterTableOperation::AddColumn {
                if_not_exists,
                column_def,
                column_position: None,
                ..
            } => {
                self.add_column(transaction, schema, (column_def, *if_not_exists)).await?;
                self.add_unique_column(transaction, schema, column_def).await?;
                comment_on_columns(transaction, schema.id, std::slice::from_ref(column_def))?;
                let is_there = schema.column_index(&folded(&column_def.name)).is_some();
                let keys = match is_there {
                    true => Vec::new(),
                    false => foreign_keys::of_column(column_def),
                };
                let schema = schema_now(transaction, schema)?;
                self.add_foreign_keys(transaction, &Arc::new(schema), &keys).await
            }
            AlterTableOperation::DropColumn { column_names, if_exists, drop_behavior, .. } => {
                let cascade = *drop_behavior == Some(DropBehavior::Cascade);
                drop_columns(transaction, schema, column_names, (*if_exists, cascade))
            }
            AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
                rename_column(transaction, schema, (old_column_name, new_column_name))
            }
            AlterTableOperation::RenameTable { table_name: name } => {
                let (RenameTableNameKind::To(name) | RenameTableNameKind::As(name)) = name;
                let name = beside(&schema.name, &table_name(name)?);
                let after = TableSchema { name, ..TableSchema::clone(schema) };
                transaction.alter_table(&after, &[]).map(|_| ())
            }
            AlterTableOperation::AlterColumn { column_name, op } => {
                self.alter_column(transaction, schema, (place_of(schema, column_name)?, op)).await
            }
            AlterTableOperation::AddConstraint { constraint, not_valid } => {
                self.add_constraint(transaction, schema, (constraint, *not_valid)).await
            }
            AlterTableOperation::DropConstraint { if_exists, name, drop_behavior } => {
                let cascade = *drop_behavior == Some(DropBehavior::Cascade);
                let named = (&*folded(name), *if_exists, cascade);
                let after = without_constraint(transaction, schema, named)?;
                self.reshape_indexed(transaction, schema, after).await
            }
            AlterTableOperation::RenameConstraint { old_name, new_name } => {
                rename_constraint(transaction, schema, (folded(old_name), folded(new_name)))
            }
            // Everything has one owner.
            AlterTableOperation::OwnerTo { .. } => Ok(()),
            AlterTableOperation::SetOptionsParens { options } => {
                self.set_options_of_table(transaction, schema, options)
            }
            AlterTableOperation::ValidateConstraint { name } => {
                self.validate_constraint(transaction, schema, &folded(name)).await
            }
            operation => Err(unsupported(&format!("ALTER TABLE … {operation}"))),
        }
    }

    async fn add_column(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        (column, if_not_exists): (&ColumnDef, bool),
    ) -> Result<()> {
        let mut added = definition(column)?;
        if if_not_exists && schema.column_index(&added.name).is_some() {
            return Ok(());
        }
        refuse_column(schema, &added.name)?;
        if column.options.iter().any(|option| {
            matches!(option.option, datafusion::sql::sqlparser::ast::ColumnOption::PrimaryKey(_))
        }) {
            return Err(unsupported("ADD COLUMN … PRIMARY KEY: ADD PRIMARY KEY behind it; it"));
        }
        added.id = schema.next_column;
        let numbering = numbering(column)?;
        let is_generated = generation(column).is_some();
        let (mut value, mut is_of_rows) = (Datum::Null, numbering.is_some() || is_generated);
        if let Some(default) = &added.default {
            let default =
                self.default_value(&transaction.snapshot(), default, added.column_type).await?;
            is_of_rows = default.is_none();
            value = default.unwrap_or(Datum::Null);
        }
        if !added.nullable && !is_of_rows && value.is_null() {
            transaction.keep_rows(schema)?;
            let table = transaction.table(schema)?;
            if table.rows()? > 0 {
                return Err(holds_null(schema, &added.name));
            }
        }
        let checks = check_options(column);
        let mut after = TableSchema::clone(schema);
        let (id, is_nullable) = (added.id, added.nullable);
        let name = added.name.clone();
        // Not before each row has its own.
        added.nullable |= is_of_rows;
        let mut default = added.default.clone();
        after.columns.push(added);
        after.next_column += 1;
        self.add_generated(&mut after, [column])?;
        let mut after = transaction.alter_table(&after, &[(id, value)])?;
        if let Some(numbering) = numbering {
            let place = after.columns.len() - 1;
            after = add_numbering(transaction, &after, (place, numbering))?;
            default = after.columns[place].default.clone();
        }
        if (default.is_none() && !is_generated) || !is_of_rows {
            return match checks.is_empty() {
                true => Ok(()),
                false => self.add_checks_to(transaction, &after, (checks, false)).await,
            };
        }
        let text = format!("UPDATE {} SET {} = DEFAULT", quoted(&after.name), quoted(&name));
        let update = super::parse(&text)?;
        if let Statement::Update(update) = &*update.statement {
            self.update(transaction, update, &[]).await?;
        }
        if !is_nullable {
            let (place, set) = (after.columns.len() - 1, AlterColumnOperation::SetNotNull);
            self.alter_column(transaction, &after, (place, &set)).await?;
        }
        let table = transaction.snapshot().table_by_id(after.id);
        let table = table.ok_or_else(|| Error::internal("a table that is altered is gone"))?;
        self.add_checks_to(transaction, table.schema(), (checks, false)).await
    }

    /// Adds the UNIQUE constraints behind a column that was added.
    async fn add_unique_column(
        &self,
        transaction: &mut Transaction,
        before: &TableSchema,
        column: &ColumnDef,
    ) -> Result<()> {
        let table = transaction.snapshot().table_by_id(before.id);
        let table = table.ok_or_else(|| Error::internal("a table that is altered is gone"))?;
        let schema = table.schema().clone();
        drop(table);
        let name = folded(&column.name);
        let is_new = before.column_index(&name).is_none();
        let Some(place) = schema.column_index(&name).filter(|_| is_new) else { return Ok(()) };
        let mut wanted = Vec::new();
        for option in &column.options {
            if let ColumnOption::Unique(unique) = &option.option {
                let name = unique.name.as_ref().or(option.name.as_ref());
                wanted.push(of_column(place, unique, name)?);
            }
        }
        self.add_indexes(transaction, &schema, wanted).await
    }

    /// The value of a DEFAULT for rows that are there; none where each has one of its own.
    async fn default_value(
        &self,
        snapshot: &Snapshot,
        default: &DefaultValue,
        column_type: ColumnType,
    ) -> Result<Option<Datum>> {
        match self.check_default(snapshot, default, column_type).await? {
            Looked::Value(value) => {
                let array = assign_array(&value, column_type)?;
                datum_from_array(column_type, &array, 0).map(Some)
            }
            Looked::Numbers(_) | Looked::Each => Ok(None),
        }
    }

    /// Whether a condition is true of any row of a table.
    pub(super) async fn has_row(
        &self,
        transaction: &Transaction,
        schema: &TableSchema,
        condition: &str,
    ) -> Result<bool> {
        let table = quoted(&schema.name);
        self.has_rows(transaction, &format!("SELECT 1 FROM {table} WHERE {condition} LIMIT 1"))
            .await
    }

    /// Whether a query has any rows.
    pub(super) async fn has_rows(&self, transaction: &Transaction, query: &str) -> Result<bool> {
        let prepared = super::parse(query)?;
        let mut statement = Statement::clone(&prepared.statement);
        let context = self.planner(transaction.snapshot(), &mut statement).await?;
        let stream = self.stream(&context, statement, &[]).await?;
        let batches = futures::TryStreamExt::try_collect::<Vec<_>>(stream).await;
        Ok(batches.map_err(from_datafusion)?.iter().any(|batch| batch.num_rows() > 0))
    }
}

pub(super) fn drop_columns(
    transaction: &mut Transaction,
    schema: &Arc<TableSchema>,
    names: &[Ident],
    (if_exists, cascade): (bool, bool),
) -> Result<()> {
    let names = &with_generated(schema, names, cascade)?;
    let gone = names.iter().filter_map(|name| schema.column_index(&folded(name)));
    let gone = gone.map(|place| schema.columns[place].id).collect::<Vec<_>>();
    let what = format!("a column of table {}", schema.name);
    let is_gone = |column| gone.contains(&column);
    free_owned(transaction, schema, is_gone, (&what, cascade))?;
    let mut after = schema_now(transaction, schema)?;
    for name in names {
        let place = match place_of(&after, name) {
            Err(_) if if_exists => continue,
            found => found?,
        };
        let dropped = after.columns.remove(place);
        if cascade {
            drop_column_readers(transaction, schema.id, dropped.id)?;
        }
        after.checks.retain(|check| !check.columns.contains(&dropped.id));
        foreign_keys::remove_from(&mut after, |key| key.columns.contains(&dropped.id));
        after.indexes.retain(|index| !index.columns.contains(&dropped.id));
        // A key is one of all its columns.
        if after.key.contains(&place) {
            after.key.clear();
        }
        after.key.iter_mut().for_each(|key| *key -= usize::from(*key > place));
    }
    if after.columns.is_empty() {
        return Err(unsupported("a table without columns"));
    }
    if cascade {
        foreign_keys::drop_dangling(transaction, &mut after)?;
    }
    transaction.alter_table(&after, &[]).map(|_| ())
}

/// Columns that are dropped, with the generated ones that read them where these go along; else they refuse it.
fn with_generated(schema: &TableSchema, names: &[Ident], cascade: bool) -> Result<Vec<Ident>> {
    let mut all = names.to_vec();
    for name in names {
        let Some(place) = schema.column_index(&folded(name)) else { continue };
        for reader in schema.generated_from(schema.columns[place].id) {
            let (reader, table) = (&schema.columns[reader].name, &schema.name);
            if all.iter().any(|name| folded(name) == *reader) {
                continue;
            }
            if !cascade {
                let message = format!(
                    "cannot drop column {name} of table {table} because other objects depend on it: column {reader}; \
                     DROP … CASCADE drops them, too"
                );
                return Err(input(message).because(Reason::Depended));
            }
            all.push(Ident::with_quote('"', reader));
        }
    }
    Ok(all)
}

pub(super) fn holds_null(schema: &TableSchema, column: &str) -> Error {
    let message =
        format!("column \"{column}\" of relation \"{}\" contains null values", schema.name);
    Error::new(ErrorKind::NotNullViolation, message)
}

/// The place of a column that is to be changed.
fn place_of(schema: &TableSchema, name: &Ident) -> Result<usize> {
    schema.column_index(&folded(name)).ok_or_else(|| no_column(schema, &folded(name)))
}

fn no_column(schema: &TableSchema, name: &str) -> Error {
    let message = format!("column \"{name}\" of relation \"{}\" does not exist", schema.name);
    Error::new(ErrorKind::NotFound, message).because(Reason::UnknownColumn)
}

fn rename_column(
    transaction: &mut Transaction,
    schema: &TableSchema,
    (old, new): (&Ident, &Ident),
) -> Result<()> {
    let mut after = TableSchema::clone(schema);
    let place = place_of(schema, old)?;
    let name = folded(new);
    refuse_column(schema, &name)?;
    let old = std::mem::replace(&mut after.columns[place].name, name.clone());
    for check in &mut after.checks {
        check.condition = with_name(&check.condition, &old, &name)?;
    }
    for generated in after.columns.iter_mut().filter_map(|one| one.generated.as_mut()) {
        generated.expression = with_name(&generated.expression, &old, &name)?;
    }
    transaction.alter_table(&after, &[]).map(|_| ())
}

/// Refuses the name of a column that is there.
fn refuse_column(schema: &TableSchema, name: &str) -> Result<()> {
    match schema.column_index(name) {
        None => Ok(()),
        Some(_) => {
            let table = &schema.name;
            let message = format!("column \"{name}\" of relation \"{table}\" already exists");
            Err(Error::new(ErrorKind::AlreadyExists, message).because(Reason::DuplicateColumn))
        }
    }
}

pub(super) fn quoted(name: &str) -> String {
    Ident::with_quote('"', name).to_string()
}
