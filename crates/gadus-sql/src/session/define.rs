//! CREATE TABLE, CREATE TABLE AS, ALTER TABLE and DROP TABLE.

use super::modify::{folded, table_name, target};
use super::users::drop_users;
use super::{Outcome, Session};
use crate::error::{input, unsupported};
use crate::types::column_type;
use crate::value::Value;
use datafusion::sql::sqlparser::ast::{
    AlterTable, AlterTableOperation, ColumnDef, ColumnOption, CreateTable, Expr, Ident, ObjectType,
    PrimaryKeyConstraint, Statement, TableConstraint,
};
use gadus_engine::{
    ColumnDefinition, ColumnType, DefaultValue, Error, ErrorKind, Result, TableSchema, Transaction,
};

impl Session {
    pub(super) async fn define(
        &self,
        transaction: &mut Transaction,
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Outcome> {
        match statement {
            Statement::CreateTable(create) => {
                self.create_table(transaction, create, parameters).await
            }
            Statement::AlterTable(alter) => {
                self.alter_table(transaction, alter).await?;
                Ok(Outcome::Done("ALTER TABLE"))
            }
            Statement::Drop { object_type: ObjectType::Table, if_exists, names, .. } => {
                for name in names {
                    match transaction.drop_table(&table_name(name)?) {
                        Err(error) if *if_exists && error.kind() == ErrorKind::NotFound => {}
                        other => other?,
                    }
                }
                Ok(Outcome::Done("DROP TABLE"))
            }
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
        create: &CreateTable,
        parameters: &[Value],
    ) -> Result<Outcome> {
        if create.temporary || create.external {
            return Err(unsupported("a temporary or external table"));
        }
        let name = table_name(&create.name)?;
        if transaction.snapshot().find_table(&name).is_some() {
            if create.if_not_exists {
                return Ok(Outcome::Done("CREATE TABLE"));
            }
            if create.or_replace {
                transaction.drop_table(&name)?;
            }
        }
        let Some(query) = &create.query else {
            let (columns, key) = self.definitions(create).await?;
            transaction.create_table(&TableSchema::new(&name, columns, key)?)?;
            return Ok(Outcome::Done("CREATE TABLE"));
        };
        let mut statement = Statement::Query(query.clone());
        let context = self.planner(transaction.snapshot(), &mut statement).await?;
        let stream = self.stream_to_write(&context, statement, parameters).await?;
        let mut columns = Vec::new();
        for (index, field) in stream.schema().fields().iter().enumerate() {
            let column_type = ColumnType::from_arrow(field.data_type()).ok_or_else(|| {
                unsupported(&format!(
                    "a column of {}: cast \"{}\"; it",
                    field.data_type(),
                    field.name()
                ))
            })?;
            let name = create.columns.get(index).map(|column| folded(&column.name));
            let name = name.unwrap_or_else(|| field.name().clone());
            columns.push(ColumnDefinition::new(&name, column_type));
        }
        let targets = (0..columns.len()).collect::<Vec<_>>();
        let key = key_of(create, &columns)?;
        let schema = transaction.create_table(&TableSchema::new(&name, columns, key)?)?;
        let rows = self.insert_stream(transaction, &schema, &targets, stream).await?;
        Ok(Outcome::Changed { verb: "CREATE TABLE AS", rows })
    }

    async fn alter_table(&self, transaction: &mut Transaction, alter: &AlterTable) -> Result<()> {
        for operation in &alter.operations {
            let AlterTableOperation::AddConstraint {
                constraint: TableConstraint::PrimaryKey(primary),
                ..
            } = operation
            else {
                return Err(unsupported(&format!("ALTER TABLE … {operation}")));
            };
            let schema = match target(&transaction.snapshot(), &alter.name) {
                Err(error) if alter.if_exists && error.kind() == ErrorKind::NotFound => continue,
                found => found?,
            };
            if !schema.key.is_empty() {
                let name = &schema.name;
                return Err(input(format!("table \"{name}\" has a primary key already")));
            }
            let key = key_columns(primary, &schema.columns)?;
            self.add_primary_key(transaction, &schema, key).await?;
        }
        Ok(())
    }

    /// Writes a table anew, with a key.
    async fn add_primary_key(
        &self,
        transaction: &mut Transaction,
        schema: &TableSchema,
        key: Vec<usize>,
    ) -> Result<()> {
        let name = Ident::with_quote('"', &schema.name);
        let rows = super::parse(&format!("SELECT * FROM {name}"))?;
        let mut rows = Statement::clone(&rows.statement);
        let context = self.planner(transaction.snapshot(), &mut rows).await?;
        let stream = self.stream_to_write(&context, rows, &[]).await?;
        transaction.drop_table(&schema.name)?;
        let keyed = TableSchema::new(&schema.name, schema.columns.clone(), key)?;
        let keyed = transaction.create_table(&keyed)?;
        let columns = (0..keyed.columns.len()).collect::<Vec<_>>();
        self.insert_stream(transaction, &keyed, &columns, stream).await.map(|_| ())
    }

    async fn definitions(
        &self,
        create: &CreateTable,
    ) -> Result<(Vec<ColumnDefinition>, Vec<usize>)> {
        let mut columns = Vec::with_capacity(create.columns.len());
        for column in &create.columns {
            let definition = definition(column)?;
            if let Some(default) = &definition.default {
                // A default that is no value of its column is refused now, not at the first INSERT.
                let value = self.evaluate(&default.0).await?;
                crate::value::assign_array(&value, definition.column_type)?;
            }
            columns.push(definition);
        }
        let key = key_of(create, &columns)?;
        Ok((columns, key))
    }
}

fn definition(column: &ColumnDef) -> Result<ColumnDefinition> {
    let column_type = column_type(&column.data_type)?;
    let mut definition = ColumnDefinition::new(&folded(&column.name), column_type);
    for option in &column.options {
        match &option.option {
            ColumnOption::Null | ColumnOption::Comment(_) => {}
            ColumnOption::NotNull | ColumnOption::PrimaryKey(_) => definition.nullable = false,
            ColumnOption::Default(expr) => {
                definition.default = Some(DefaultValue(expr.to_string()));
            }
            other => return Err(unsupported(&format!("the column constraint {other}"))),
        }
    }
    Ok(definition)
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
        let TableConstraint::PrimaryKey(primary) = constraint else {
            return Err(unsupported(&format!("the table constraint {constraint}")));
        };
        keys.push(key_columns(primary, columns)?);
    }
    match keys.len() {
        0 | 1 => Ok(keys.pop().unwrap_or_default()),
        _ => Err(input("a table has one primary key")),
    }
}

/// Indexes of the columns that a key names.
fn key_columns(primary: &PrimaryKeyConstraint, columns: &[ColumnDefinition]) -> Result<Vec<usize>> {
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
