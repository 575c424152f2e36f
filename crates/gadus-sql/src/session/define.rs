//! CREATE TABLE, CREATE TABLE AS, and DROP.

mod like;
mod schema_elements;

pub(super) use like::respell;

use super::bound_changes::ChangeText;
use super::bound_queries::QueryText;
use super::comments::{comment, comment_on_columns};
use super::enums::{alter_type, create_type, drop_type, drop_types};
use super::foreign_keys;
use super::functions::drop_functions;
use super::indexes::{Wanted, add_to, drop_indexes, of_table, rename_index};
use super::modify::{folded, refuse_extras, table_name};
use super::numbering::{add_numbering, is_identity_option, numbered};
use super::query_parts::query_within;
use super::schemas::{create_schema, drop_schemas, schema_name};
use super::sequences::{create_sequence, drop_sequence, drop_sequences, free_owned};
use super::users::drop_users;
use super::views::{drop_readers, drop_views};
use super::{Outcome, Session};
use crate::enums::known_or_text;
use crate::error::{coded, input, unsupported};
use crate::types::{column_type, serial_type};
use crate::value::Value;
use datafusion::sql::sqlparser::ast::{
    AlterIndexOperation, CheckConstraint, ColumnDef, ColumnOption, ColumnOptionDef, CreateTable,
    Expr, ObjectName, ObjectType, OnCommit, PrimaryKeyConstraint, SchemaName, Statement,
    TableConstraint,
};
use gadus_engine::{
    ColumnDefinition, ColumnType, DefaultValue, Error, ErrorKind, ForeignKey, Result, Snapshot,
    TableSchema, Transaction, schema_and_name,
};

impl Session {
    pub(super) async fn define(
        &self,
        transaction: &mut Transaction,
        change: &ChangeText<'_>,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let statement = &*change.prepared.statement;
        let (statement, indexes) = like::expanded(&transaction.snapshot(), statement)?;
        let statement = &*statement;
        let resolved = Self::with_column_types(&transaction.snapshot(), statement)?;
        let statement = resolved.as_ref().unwrap_or(statement);
        match statement {
            Statement::CreateTable(create) => {
                self.create_table(transaction, (change, create, indexes), parameters).await
            }
            Statement::AlterTable(alter) => self.alter_table(transaction, alter).await,
            Statement::CreateView(create) => self.create_view(transaction, (change, create)).await,
            Statement::CreateIndex(create) => self.create_index(transaction, create).await,
            Statement::AlterIndex { name, operation } => {
                let AlterIndexOperation::RenameIndex { index_name } = operation;
                rename_index(transaction, name, index_name)
            }
            Statement::CreateSchema { schema_name: name, if_not_exists, .. } => {
                let done = create_schema(transaction, (name, *if_not_exists))?;
                if let SchemaName::Simple(name) = name {
                    self.create_elements(transaction, change, &schema_name(name)?).await?;
                }
                Ok(done)
            }
            Statement::CreateType { name, representation } => {
                create_type(transaction, name, representation.as_ref())
            }
            Statement::AlterType(alter) => alter_type(transaction, alter),
            Statement::Drop {
                object_type: ObjectType::Type, if_exists, names, cascade, ..
            } => drop_types(transaction, names, (*if_exists, *cascade)),
            Statement::Drop {
                object_type: ObjectType::Schema, if_exists, names, cascade, ..
            } => drop_schemas(transaction, names, (*if_exists, *cascade)),
            Statement::Drop {
                object_type: ObjectType::Index, if_exists, names, cascade, ..
            } => drop_indexes(transaction, names, (*if_exists, *cascade)),
            Statement::Drop {
                object_type: ObjectType::View, if_exists, names, cascade, ..
            } => drop_views(transaction, names, (*if_exists, *cascade)),
            Statement::Drop {
                object_type: ObjectType::Table, if_exists, names, cascade, ..
            } => drop_tables(transaction, names, (*if_exists, *cascade)),
            Statement::CreateFunction(_) | Statement::CreateMacro { .. } => {
                self.create_function(transaction, statement).await
            }
            Statement::Comment { object_type, object_name, comment: text, if_exists } => {
                comment(transaction, (object_type, object_name), text.as_deref(), *if_exists)
            }
            Statement::DropFunction(dropped) => drop_functions(transaction, dropped),
            Statement::CreateSequence { .. } => create_sequence(transaction, statement),
            Statement::Drop {
                object_type: ObjectType::Sequence,
                if_exists,
                names,
                cascade,
                ..
            } => drop_sequences(transaction, names, (*if_exists, *cascade)),
            Statement::Drop { object_type: ObjectType::Role, if_exists, names, .. } => {
                drop_users(transaction, names, *if_exists)
            }
            Statement::Drop { object_type, .. } => Err(unsupported(&format!("DROP {object_type}"))),
            other => Err(Error::internal(format!("{other} defines nothing"))),
        }
    }

    async fn create_table(
        &self,
        transaction: &mut Transaction,
        (change, create, indexes): (&ChangeText<'_>, &CreateTable, Vec<Wanted>),
        parameters: &[Value],
    ) -> Result<Outcome> {
        let is_kept = matches!(create.on_commit, None | Some(OnCommit::PreserveRows));
        refuse_extras(&[
            (create.external, "an external table"),
            (!is_kept, "ON COMMIT DROP and ON COMMIT DELETE ROWS"),
            (create.partition_of.is_some(), "PARTITION OF"),
            (create.inherits.is_some(), "a table that INHERITS from others"),
        ])?;
        let name = table_name(&create.name)?;
        if transaction.snapshot().has_relation(&name) {
            if create.if_not_exists {
                return Ok(Outcome::Done("CREATE TABLE"));
            }
            if create.or_replace {
                drop_table(transaction, &name, false)?;
            }
        }
        let Some(query) = &create.query else {
            let (columns, key) = self.definitions(&transaction.snapshot(), create).await?;
            let numbered = numbered(&create.columns)?;
            let mut schema = TableSchema::new(&name, columns, key)?;
            self.add_constraints(&transaction.snapshot(), create, &mut schema)?;
            add_to(&mut schema, &transaction.snapshot(), indexes);
            let mut schema = transaction.create_table(&schema)?;
            for (place, numbering) in numbered {
                schema = add_numbering(transaction, &schema, (place, numbering))?;
            }
            comment_on_columns(transaction, schema.id, &create.columns)?;
            return Ok(Outcome::Done("CREATE TABLE"));
        };
        let written = query_within(&change.prepared.text).unwrap_or_else(|| query.to_string());
        let query = QueryText {
            text: &written,
            statement: &Statement::Query(query.clone()),
            is_deep: change.prepared.is_deep,
            snapshot: transaction.snapshot(),
            names: change.names.clone(),
        };
        let stream = self.rows_to_store(query, parameters).await?;
        let (mut columns, snapshot) = (Vec::new(), transaction.snapshot());
        for (index, field) in stream.schema().fields().iter().enumerate() {
            let column_type = ColumnType::from_field(field).ok_or_else(|| {
                unsupported(&format!(
                    "a column of {}: cast \"{}\"; it",
                    field.data_type(),
                    field.name()
                ))
            })?;
            let name = create.columns.get(index).map(|column| folded(&column.name));
            let name = name.unwrap_or_else(|| field.name().clone());
            columns.push(ColumnDefinition::new(&name, known_or_text(&snapshot, column_type)));
        }
        drop(snapshot);
        let targets = (0..columns.len()).collect::<Vec<_>>();
        let key = key_of(create, &columns)?;
        let mut schema = TableSchema::new(&name, columns, key)?;
        self.add_constraints(&transaction.snapshot(), create, &mut schema)?;
        let schema = transaction.create_table(&schema)?;
        let rows = self.insert_stream(transaction, &schema, &targets, stream).await?;
        Ok(Outcome::Changed { verb: "CREATE TABLE AS", rows })
    }

    /// Adds the constraints that stand behind columns and beside them.
    fn add_constraints(
        &self,
        snapshot: &Snapshot,
        create: &CreateTable,
        schema: &mut TableSchema,
    ) -> Result<()> {
        self.add_generated(schema, &create.columns)?;
        let of_columns = create.columns.iter().flat_map(check_options);
        let beside = create.constraints.iter().filter_map(|constraint| match constraint {
            TableConstraint::Check(check) => Some(check.clone()),
            _ => None,
        });
        for check in of_columns.chain(beside) {
            let check = self.check_definition(schema, &check)?;
            schema.checks.push(check);
        }
        let unique = of_table(create, schema)?;
        add_to(schema, snapshot, unique);
        for key in foreign_keys::of_table(create) {
            foreign_keys::add_to(schema, snapshot, &key)?;
        }
        Ok(())
    }

    async fn definitions(
        &self,
        snapshot: &Snapshot,
        create: &CreateTable,
    ) -> Result<(Vec<ColumnDefinition>, Vec<usize>)> {
        let mut columns = Vec::with_capacity(create.columns.len());
        for column in &create.columns {
            let definition = definition(column)?;
            if let Some(default) = &definition.default {
                // A default that is no value of its column is refused now, not at the first INSERT.
                self.check_default(snapshot, default, definition.column_type).await?;
            }
            columns.push(definition);
        }
        let key = key_of(create, &columns)?;
        Ok((columns, key))
    }
}

fn drop_tables(
    transaction: &mut Transaction,
    names: &[ObjectName],
    (if_exists, cascade): (bool, bool),
) -> Result<Outcome> {
    // Those that are dropped together may refer to one another.
    let snapshot = transaction.snapshot();
    let table = |name: &ObjectName| snapshot.find_table(&table_name(name).ok()?);
    let dropped = names.iter().filter_map(table).map(|table| table.id()).collect::<Vec<_>>();
    for &id in &dropped {
        let is_gone = |other: &TableSchema, _: &ForeignKey| dropped.contains(&other.id);
        foreign_keys::drop_referring(transaction, id, is_gone)?;
    }
    for name in names {
        match drop_table(transaction, &table_name(name)?, cascade) {
            Err(error) if if_exists && error.kind() == ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(Outcome::Done("DROP TABLE"))
}

/// Drops a table and its sequences, and what depends on them where it cascades; else they refuse it.
fn drop_table(transaction: &mut Transaction, name: &str, cascade: bool) -> Result<()> {
    let table = transaction.snapshot().find_table(name);
    if let Some(schema) = table.map(|table| table.schema().clone()) {
        free_owned(transaction, &schema, |_| true, (&format!("table {name}"), cascade))?;
        if cascade {
            drop_readers(transaction, schema.id)?;
            foreign_keys::drop_referring(transaction, schema.id, |_, _| true)?;
        }
    }
    transaction.drop_table(name)
}

/// Drops whatever a schema holds, and what depends on it.
pub(super) fn drop_everything(transaction: &mut Transaction, schema: &str) -> Result<()> {
    loop {
        let snapshot = transaction.snapshot();
        let held = snapshot.of_schema(schema).next().map(|(name, id)| (name.clone(), id));
        let Some((name, id)) = held else { break };
        let is_view = snapshot.find_view(&name).is_some();
        let is_sequence = snapshot.find_sequence(&name).is_some();
        drop(snapshot);
        if is_view {
            drop_readers(transaction, id)?;
            transaction.drop_view(&name)?;
        } else if is_sequence {
            drop_sequence(transaction, &name)?;
        } else {
            drop_table(transaction, &name, true)?;
        }
    }
    loop {
        let snapshot = transaction.snapshot();
        let held = snapshot.enums_of_schema(schema).next().cloned();
        drop(snapshot);
        let Some(name) = held else { return Ok(()) };
        drop_type(transaction, &name, true)?;
    }
}

/// A column as a statement defines it.
pub(super) fn definition(column: &ColumnDef) -> Result<ColumnDefinition> {
    let column_type = column_type(&column.data_type)?;
    let mut definition = ColumnDefinition::new(&folded(&column.name), column_type);
    definition.nullable = serial_type(&column.data_type).is_none();
    for option in &column.options {
        match &option.option {
            // Checks, foreign keys and indexes are added to the table.
            ColumnOption::Null
            | ColumnOption::Comment(_)
            | ColumnOption::Check(_)
            | ColumnOption::ForeignKey(_)
            | ColumnOption::Unique(_) => {}
            ColumnOption::NotNull | ColumnOption::PrimaryKey(_) => definition.nullable = false,
            // Of those that are generated, the table says how.
            ColumnOption::Generated { generation_expr: Some(_), .. } => {}
            // The table is given its sequence behind.
            option if is_identity_option(option) => definition.nullable = false,
            ColumnOption::Default(expr) => {
                definition.default = Some(DefaultValue(expr.to_string()));
            }
            ColumnOption::Collation(name) if is_of_bytes(name) => {}
            other => return Err(unsupported(&format!("the column constraint {other}"))),
        }
    }
    Ok(definition)
}

/// Returns true for collations that order texts as all texts are ordered here: by their bytes.
pub(super) fn is_of_bytes(collation: &ObjectName) -> bool {
    let name = collation.0.last().and_then(|part| part.as_ident());
    name.is_some_and(|name| ["C", "POSIX", "default", "ucs_basic"].contains(&name.value.as_str()))
}

/// The conditions that stand behind a column, with their names.
pub(super) fn check_options(column: &ColumnDef) -> Vec<CheckConstraint> {
    let check = |option: &ColumnOptionDef| match &option.option {
        ColumnOption::Check(check) => {
            let name = check.name.clone().or_else(|| option.name.clone());
            Some(CheckConstraint { name, ..check.clone() })
        }
        _ => None,
    };
    column.options.iter().filter_map(check).collect()
}

/// Indexes of the primary key's columns.
fn key_of(create: &CreateTable, columns: &[ColumnDefinition]) -> Result<Vec<usize>> {
    let mut keys = Vec::new();
    for (index, column) in create.columns.iter().enumerate() {
        let is_key = |option: &ColumnOption| matches!(option, ColumnOption::PrimaryKey(_));
        if column.options.iter().any(|option| is_key(&option.option)) {
            keys.push(vec![index]);
        }
    }
    for constraint in &create.constraints {
        match constraint {
            TableConstraint::PrimaryKey(primary) => keys.push(key_columns(primary, columns)?),
            TableConstraint::Check(_)
            | TableConstraint::Unique(_)
            | TableConstraint::ForeignKey(_) => {}
            _ => return Err(unsupported(&format!("the table constraint {constraint}"))),
        }
    }
    match keys.len() {
        0 | 1 => Ok(keys.pop().unwrap_or_default()),
        _ => {
            let name = table_name(&create.name)?;
            let name = schema_and_name(&name).1;
            let message = format!("multiple primary keys for table \"{name}\" are not allowed");
            Err(coded("42P16", message))
        }
    }
}

/// Indexes of the columns that a key names.
pub(super) fn key_columns(
    primary: &PrimaryKeyConstraint,
    columns: &[ColumnDefinition],
) -> Result<Vec<usize>> {
    let mut key = Vec::new();
    for column in &primary.columns {
        let Expr::Identifier(name) = &column.column.expr else {
            return Err(unsupported("a primary key over an expression"));
        };
        let index = columns.iter().position(|column| column.name == folded(name));
        key.push(index.ok_or_else(|| input(format!("the key's column {name} is not there")))?);
    }
    Ok(key)
}
