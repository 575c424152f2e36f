//! INSERT, UPDATE, DELETE and TRUNCATE.
//!
//! - UPDATE and DELETE are planned as queries that yield row ids and new values, so that any WHERE
//!   that a query accepts works, subqueries and all.
//! - All rows are read before any is changed.

use super::{Outcome, Session, State};
use crate::error::{from_datafusion, input, unsupported};
use crate::provider::ROWS_SCHEMA;
use crate::value::{Value, assign_array};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use datafusion::common::ScalarValue;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, Ident, Insert, ObjectName, Query,
    SetExpr, Statement, TableFactor, TableObject, TableWithJoins, Update,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use futures::TryStreamExt;
use gadus_base::RowId;
use gadus_engine::{
    ErrorKind, ROW_ID_COLUMN, Result, Snapshot, TableSchema, Transaction, datum_from_array,
};
use std::sync::Arc;

/// How often a statement outside a transaction is run again after a conflict. Each time another
/// commit has made progress.
const CONFLICT_RETRIES_MAX: usize = 100;

impl Session {
    /// Runs a statement that changes something, in the session's transaction or in one of its own.
    pub(super) async fn write(
        &self,
        state: &mut State,
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Outcome> {
        if let Some(mut transaction) = state.transaction.take() {
            let savepoint = transaction.savepoint();
            let outcome = self.write_once(&mut transaction, statement, parameters).await;
            if outcome.is_err() {
                transaction.restore(savepoint);
            }
            state.transaction = Some(transaction);
            return outcome;
        }
        let mut retries = 0;
        loop {
            let mut transaction = self.shared.engine.begin();
            if let Some(durability) = state.durability {
                transaction.set_durability(durability);
            }
            let outcome = self.write_once(&mut transaction, statement, parameters).await?;
            match transaction.commit() {
                Ok(_) => return Ok(outcome),
                Err(error)
                    if error.kind() == ErrorKind::Conflict && retries < CONFLICT_RETRIES_MAX =>
                {
                    retries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn write_once(
        &self,
        transaction: &mut Transaction,
        statement: &Statement,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let (verb, rows) = match statement {
            Statement::Insert(insert) => {
                ("INSERT", self.insert(transaction, insert, parameters).await?)
            }
            Statement::Update(update) => {
                ("UPDATE", self.update(transaction, update, parameters).await?)
            }
            Statement::Delete(delete) => {
                ("DELETE", self.delete(transaction, delete, parameters).await?)
            }
            Statement::Truncate(truncate) => {
                for target in &truncate.table_names {
                    let text = format!("DELETE FROM {}", target.name);
                    let delete = super::run::parse(&text)?;
                    if let Statement::Delete(delete) = &*delete.statement {
                        self.delete(transaction, delete, &[]).await?;
                    }
                }
                return Ok(Outcome::Done("TRUNCATE TABLE"));
            }
            _ => return self.define(transaction, statement, parameters).await,
        };
        Ok(Outcome::Changed { verb, rows })
    }

    async fn insert(
        &self,
        transaction: &mut Transaction,
        insert: &Insert,
        parameters: &[Value],
    ) -> Result<u64> {
        refuse_extras(&[
            (insert.on.is_some() || insert.or.is_some() || insert.ignore, "ON CONFLICT"),
            (insert.returning.is_some(), "RETURNING"),
            (insert.overwrite || insert.partitioned.is_some(), "INSERT OVERWRITE"),
        ])?;
        let TableObject::TableName(name) = &insert.table else {
            return Err(unsupported("INSERT into a table function"));
        };
        let snapshot = transaction.snapshot();
        let schema = target(&snapshot, name)?;
        let columns = target_columns(&schema, &insert.columns)?;
        let Some(source) = &insert.source else {
            return Err(unsupported("INSERT without VALUES or a query"));
        };
        let mut source = Query::clone(source);
        expand_defaults(&mut source, &schema, &columns)?;
        let mut statement = Statement::Query(Box::new(source));
        let context = self.planner(snapshot, &mut statement).await?;
        let stream = self.stream(&context, statement, parameters).await?;
        self.insert_stream(transaction, &schema, &columns, stream).await
    }

    /// Inserts the rows of a stream, whose columns go to `columns` of the table.
    pub(super) async fn insert_stream(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        columns: &[usize],
        mut stream: SendableRecordBatchStream,
    ) -> Result<u64> {
        if stream.schema().fields().len() != columns.len() {
            return Err(input(format!(
                "{} values for {} columns of table \"{}\"",
                stream.schema().fields().len(),
                columns.len(),
                schema.name
            )));
        }
        let defaults = self.defaults(schema, columns).await?;
        let mut bulk = transaction.bulk(schema)?;
        while let Some(batch) = stream.try_next().await.map_err(from_datafusion)? {
            bulk.push(&whole_batch(schema, columns, &defaults, &batch)?)?;
        }
        transaction.finish_bulk(bulk)
    }

    /// For each column that is not given: the value of its DEFAULT, or NULL.
    async fn defaults(
        &self,
        schema: &TableSchema,
        given: &[usize],
    ) -> Result<Vec<Option<ScalarValue>>> {
        let mut defaults = Vec::with_capacity(schema.columns.len());
        for (index, column) in schema.columns.iter().enumerate() {
            if given.contains(&index) {
                defaults.push(None);
                continue;
            }
            let null = || ScalarValue::try_from(column.column_type.arrow());
            defaults.push(Some(match &column.default {
                None => null().map_err(from_datafusion)?,
                Some(default) => {
                    let array = self.evaluate(&default.0).await?;
                    let array = assign_array(&array, column.column_type)?;
                    ScalarValue::try_from_array(&array, 0).map_err(from_datafusion)?
                }
            }));
        }
        Ok(defaults)
    }

    /// The value of an expression without columns.
    pub(super) async fn evaluate(&self, expression: &str) -> Result<ArrayRef> {
        let prepared = super::run::parse(&format!("SELECT {expression}"))?;
        let mut statement = Statement::clone(&prepared.statement);
        let context = self.planner(self.shared.engine.snapshot(), &mut statement).await?;
        let stream = self.stream(&context, statement, &[]).await?;
        let batches: Vec<RecordBatch> = stream.try_collect().await.map_err(from_datafusion)?;
        match batches.iter().find(|batch| batch.num_rows() > 0) {
            Some(batch) if batch.num_columns() == 1 => Ok(batch.column(0).slice(0, 1)),
            _ => Err(input(format!("{expression} is not one value"))),
        }
    }

    async fn update(
        &self,
        transaction: &mut Transaction,
        update: &Update,
        parameters: &[Value],
    ) -> Result<u64> {
        refuse_extras(&[
            (update.from.is_some() || !update.table.joins.is_empty(), "UPDATE … FROM"),
            (update.returning.is_some(), "RETURNING"),
            (update.limit.is_some() || !update.order_by.is_empty(), "UPDATE … LIMIT"),
        ])?;
        let snapshot = transaction.snapshot();
        let (schema, alias) = modified(&snapshot, &update.table)?;
        let mut columns = Vec::new();
        let mut items = Vec::new();
        for Assignment { target, value } in &update.assignments {
            let AssignmentTarget::ColumnName(name) = target else {
                return Err(unsupported("assignment to several columns at once"));
            };
            let column = column_index(&schema, name)?;
            if columns.contains(&column) {
                return Err(input(format!("column {name} is assigned twice")));
            }
            columns.push(column);
            let default = schema.columns[column].default.as_ref();
            items.push(match value {
                Expr::Identifier(word) if is_default(word) => {
                    default.map_or_else(|| "NULL".to_owned(), |default| format!("({})", default.0))
                }
                value => format!("({value})"),
            });
        }
        let rows =
            self.rows(snapshot, &schema, &alias, &items, update.selection.as_ref(), parameters);
        let mut ids = Vec::new();
        let mut values = Vec::new();
        for batch in rows.await? {
            ids.extend(row_ids(&batch)?);
            let arrays = columns
                .iter()
                .zip(batch.columns())
                .map(|(&column, array)| assign_array(array, schema.columns[column].column_type))
                .collect::<Result<Vec<_>>>()?;
            for row in 0..batch.num_rows() {
                let values_of_row = columns.iter().zip(&arrays).map(|(&column, array)| {
                    datum_from_array(schema.columns[column].column_type, array, row)
                });
                values.push(values_of_row.collect::<Result<Vec<_>>>()?);
            }
        }
        transaction.update(&schema, &columns, &ids, &values)
    }

    async fn delete(
        &self,
        transaction: &mut Transaction,
        delete: &Delete,
        parameters: &[Value],
    ) -> Result<u64> {
        refuse_extras(&[
            (delete.using.is_some() || !delete.tables.is_empty(), "DELETE … USING"),
            (delete.returning.is_some(), "RETURNING"),
            (delete.limit.is_some() || !delete.order_by.is_empty(), "DELETE … LIMIT"),
        ])?;
        let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
        let [table] = tables.as_slice() else {
            return Err(unsupported("DELETE from several tables"));
        };
        let snapshot = transaction.snapshot();
        let (schema, alias) = modified(&snapshot, table)?;
        let rows = self.rows(snapshot, &schema, &alias, &[], delete.selection.as_ref(), parameters);
        let mut ids = Vec::new();
        for batch in rows.await? {
            ids.extend(row_ids(&batch)?);
        }
        transaction.delete(&schema, &ids)
    }

    /// The rows that a WHERE selects: the given expressions, then the row id.
    async fn rows(
        &self,
        snapshot: Snapshot,
        schema: &TableSchema,
        alias: &Ident,
        items: &[String],
        selection: Option<&Expr>,
        parameters: &[Value],
    ) -> Result<Vec<RecordBatch>> {
        let id = format!("{alias}.{ROW_ID_COLUMN}");
        let list = items.iter().chain([&id]).cloned().collect::<Vec<_>>().join(", ");
        let table = Ident::with_quote('"', &schema.name);
        let mut text = format!("SELECT {list} FROM {ROWS_SCHEMA}.{table} AS {alias}");
        if let Some(selection) = selection {
            text = format!("{text} WHERE {selection}");
        }
        let mut statements = Parser::parse_sql(&GenericDialect {}, &text)
            .map_err(|error| crate::error::from_parser(&error))?;
        let mut statement = statements.pop().ok_or_else(|| input("there is no statement"))?;
        let context = self.planner(snapshot, &mut statement).await?;
        let stream = self.stream(&context, statement, parameters).await?;
        stream.try_collect().await.map_err(from_datafusion)
    }

    pub(super) async fn append_batches(
        &self,
        table: &str,
        batches: Vec<RecordBatch>,
    ) -> Result<u64> {
        let mut state = self.state.lock().await;
        let append = |transaction: &mut Transaction| -> Result<u64> {
            let schema = transaction.snapshot().table(table)?.schema().clone();
            let columns = (0..schema.columns.len()).collect::<Vec<_>>();
            let mut bulk = transaction.bulk(&schema)?;
            for batch in &batches {
                if batch.num_columns() != columns.len() {
                    return Err(input(format!(
                        "{} values for {} columns of table \"{table}\"",
                        batch.num_columns(),
                        columns.len()
                    )));
                }
                bulk.push(&whole_batch(&schema, &columns, &[], batch)?)?;
            }
            transaction.finish_bulk(bulk)
        };
        if let Some(transaction) = &mut state.transaction {
            let savepoint = transaction.savepoint();
            let rows = append(transaction);
            if rows.is_err() {
                transaction.restore(savepoint);
            }
            return rows;
        }
        let mut transaction = self.shared.engine.begin();
        if let Some(durability) = state.durability {
            transaction.set_durability(durability);
        }
        let rows = append(&mut transaction)?;
        transaction.commit()?;
        Ok(rows)
    }
}

fn refuse_extras(extras: &[(bool, &str)]) -> Result<()> {
    match extras.iter().find(|(present, _)| *present) {
        Some((_, what)) => Err(unsupported(what)),
        None => Ok(()),
    }
}

/// The table that a name means.
pub(super) fn target(snapshot: &Snapshot, name: &ObjectName) -> Result<Arc<TableSchema>> {
    Ok(snapshot.table(&table_name(name)?)?.schema().clone())
}

/// The exact name of a table: unquoted names are folded to lower case, as everywhere.
pub(crate) fn table_name(name: &ObjectName) -> Result<String> {
    let parts = name.0.iter().map(|part| part.as_ident()).collect::<Option<Vec<_>>>();
    match parts.as_deref() {
        Some([table]) => Ok(folded(table)),
        Some([schema, table]) if matches!(folded(schema).as_str(), "main" | "public") => {
            Ok(folded(table))
        }
        _ => Err(input(format!("{name} names no table: there is one schema, main"))),
    }
}

/// A name as it is stored.
pub(crate) fn folded(ident: &Ident) -> String {
    match ident.quote_style {
        None => ident.value.to_lowercase(),
        Some(_) => ident.value.clone(),
    }
}

/// The table of an UPDATE or DELETE, and the name by which its WHERE may call it.
fn modified(snapshot: &Snapshot, table: &TableWithJoins) -> Result<(Arc<TableSchema>, Ident)> {
    let TableFactor::Table { name, alias, .. } = &table.relation else {
        return Err(unsupported("changing anything but a table"));
    };
    if !table.joins.is_empty() {
        return Err(unsupported("changing a join"));
    }
    let schema = target(snapshot, name)?;
    let alias = match alias {
        Some(alias) => alias.name.clone(),
        None => Ident::with_quote('"', &schema.name),
    };
    Ok((schema, alias))
}

pub(crate) fn column_index(schema: &TableSchema, name: &ObjectName) -> Result<usize> {
    let last = name.0.last().and_then(|part| part.as_ident());
    let found = last.and_then(|ident| schema.column_index(&folded(ident)));
    found.ok_or_else(|| {
        gadus_engine::Error::new(
            ErrorKind::NotFound,
            format!("table \"{}\" has no column {name}", schema.name),
        )
    })
}

/// The columns that an INSERT names, or all.
pub(crate) fn target_columns(schema: &TableSchema, names: &[ObjectName]) -> Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..schema.columns.len()).collect());
    }
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let column = column_index(schema, name)?;
        if columns.contains(&column) {
            return Err(input(format!("column {name} is named twice")));
        }
        columns.push(column);
    }
    Ok(columns)
}

fn is_default(word: &Ident) -> bool {
    word.quote_style.is_none() && word.value.eq_ignore_ascii_case("default")
}

/// Replaces DEFAULT in VALUES by the column's expression.
fn expand_defaults(source: &mut Query, schema: &TableSchema, columns: &[usize]) -> Result<()> {
    let SetExpr::Values(values) = &mut *source.body else { return Ok(()) };
    for row in &mut values.rows {
        for (expr, &column) in row.content.iter_mut().zip(columns) {
            let Expr::Identifier(word) = expr else { continue };
            if is_default(word) {
                let text = schema.columns[column].default.as_ref();
                let text = text.map_or("NULL", |default| default.0.as_str());
                *expr = Parser::new(&GenericDialect {})
                    .try_with_sql(text)
                    .and_then(|mut parser| parser.parse_expr())
                    .map_err(|error| crate::error::from_parser(&error))?;
            }
        }
    }
    Ok(())
}

/// A batch with all columns of the table, in their types.
fn whole_batch(
    schema: &TableSchema,
    columns: &[usize],
    defaults: &[Option<ScalarValue>],
    batch: &RecordBatch,
) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.columns.len());
    for (index, column) in schema.columns.iter().enumerate() {
        let given = columns.iter().position(|&given| given == index);
        arrays.push(match (given, defaults.get(index)) {
            (Some(source), _) => {
                assign_array(batch.column(source), column.column_type).map_err(|error| {
                    let message = format!("column \"{}\": {}", column.name, error.message());
                    gadus_engine::Error::new(error.kind(), message)
                })?
            }
            (None, Some(Some(value))) => value.to_array_of_size(rows).map_err(from_datafusion)?,
            (None, _) => return Err(gadus_engine::Error::internal("a column without a value")),
        });
        if !column.nullable && arrays[index].null_count() > 0 {
            return Err(gadus_engine::Error::new(
                ErrorKind::NotNullViolation,
                format!("column \"{}\" of table \"{}\" must not be NULL", column.name, schema.name),
            ));
        }
    }
    let fields = schema
        .columns
        .iter()
        .map(|column| arrow::datatypes::Field::new(&column.name, column.column_type.arrow(), true));
    let shape = Arc::new(arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()));
    Ok(RecordBatch::try_new(shape, arrays)?)
}

fn row_ids(batch: &RecordBatch) -> Result<Vec<RowId>> {
    let column = batch.columns().last().and_then(|column| column.as_primitive_opt::<UInt64Type>());
    let column = column.ok_or_else(|| gadus_engine::Error::internal("row ids are missing"))?;
    Ok(column.values().iter().map(|&id| RowId::from_u64(id)).collect())
}
