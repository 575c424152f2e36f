//! UPDATE, DELETE and TRUNCATE, and the transaction that every change runs in.
//!
//! - UPDATE and DELETE are planned as queries that yield row ids and new values, so that any WHERE
//!   that a query accepts works, subqueries and all.
//! - All rows are read before any is changed.

use super::assigned::Assigned;
use super::beside::Beside;
use super::bound_changes::ChangeText;
use super::locking::Part;
use super::on_conflict::as_conflict;
use super::relations::Relation;
use super::returning::Written;
use super::truncate::truncate;
use super::users::{is_hidden, manage};
use super::{Outcome, Prepared, Session, State};
use crate::error::{input, unsupported};
use crate::memory::Gathered;
use crate::names::{kept, own_name};
use crate::provider::ROWS_SCHEMA;
use crate::value::Value;
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{SchemaRef, UInt64Type};
use datafusion::sql::sqlparser::ast::{
    Delete, Expr, FromTable, Ident, ObjectName, Statement, TableFactor, TableWithJoins, Update,
    UpdateTableFromKind,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_base::RowId;
use gadus_engine::{
    Datum, ErrorKind, InterruptCheck, ROW_ID_COLUMN, Reason, Result, Snapshot, TableSchema,
    Transaction, datum_from_array,
};
use std::sync::Arc;

impl Session {
    /// Runs a statement that changes something, in the session's transaction or in one of its own.
    pub(super) async fn write(
        &self,
        state: &mut State,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let statement = &*prepared.statement;
        let change = ChangeText { prepared, names: self.names(state) };
        if let Some(transaction) = &mut state.transaction {
            let part = Part::of(transaction);
            let outcome = self.write_once(part.transaction, &change, parameters).await?;
            part.keep();
            return Ok(outcome);
        }
        let mut own = self.own_transaction(state)?;
        let outcome = self.write_once(&mut own.transaction, &change, parameters).await;
        // It may have taken numbers of what it made.
        let settled = self.sequences.settle(&mut own.transaction);
        let outcome = outcome.and_then(|outcome| settled.map(|()| outcome));
        if outcome.is_err() {
            // It may be run again, and makes what it makes anew.
            self.sequences.end_transaction(&self.engine);
        }
        let is_done = outcome.is_ok();
        own.end(state, outcome).map_err(|error| match statement {
            // Not all keys are locked before the commit.
            Statement::Insert(insert) if is_done && insert.on.is_some() => {
                as_conflict(&insert.table.to_string(), error)
            }
            _ => error,
        })
    }

    async fn write_once(
        &self,
        transaction: &mut Transaction,
        change: &ChangeText<'_>,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let outcome = self.change(transaction, change, parameters).await?;
        self.settle(transaction).await?;
        Ok(outcome)
    }

    async fn change(
        &self,
        transaction: &mut Transaction,
        change: &ChangeText<'_>,
        parameters: &[Value],
    ) -> Result<Outcome> {
        let statement = &*change.prepared.statement;
        if change.prepared.changes_within {
            return self.change_within(transaction, change, parameters).await;
        }
        if let Some(outcome) = self.change_bound(transaction, change, parameters).await? {
            return Ok(outcome);
        }
        let (verb, written) = match statement {
            Statement::Insert(insert) => {
                ("INSERT", self.insert(transaction, insert, parameters).await?)
            }
            Statement::Update(update) => {
                ("UPDATE", self.update(transaction, update, parameters).await?)
            }
            Statement::Delete(delete) => {
                ("DELETE", self.delete(transaction, delete, parameters).await?)
            }
            Statement::Merge(merge) => ("MERGE", self.merge(transaction, merge, parameters).await?),
            Statement::Truncate(emptied) => return truncate(transaction, emptied),
            _ => match manage(transaction, statement)? {
                Some(outcome) => return Ok(outcome),
                None => return self.define(transaction, change, parameters).await,
            },
        };
        Ok(written.outcome(verb))
    }

    pub(super) async fn update(
        &self,
        transaction: &mut Transaction,
        update: &Update,
        parameters: &[Value],
    ) -> Result<Written> {
        refuse_extras(&[
            (!update.table.joins.is_empty(), "UPDATE of a join"),
            (update.limit.is_some() || !update.order_by.is_empty(), "UPDATE … LIMIT"),
            (update.or.is_some() || update.output.is_some(), "UPDATE OR … and OUTPUT"),
        ])?;
        let from = match &update.from {
            Some(UpdateTableFromKind::AfterSet(tables)) => Some(tables),
            Some(UpdateTableFromKind::BeforeSet(_)) => {
                return Err(input("FROM of an UPDATE stands behind SET"));
            }
            None => None,
        };
        let beside = Beside::of(from, update.returning.as_deref())?;
        let snapshot = transaction.snapshot();
        let (schema, alias) = modified(&snapshot, &update.table)?;
        let assigned = Assigned::of(&schema, &update.assignments)?;
        let (mut items, columns) = (assigned.items(), assigned.columns());
        let first_of_row = items.len();
        let returning = self.returning(&snapshot, update.returning.as_deref(), parameters)?;
        let rules = self.rules(&schema)?;
        let changed = rules.changed(&schema, columns);
        let whole_rows = returning.is_some() || !rules.is_empty();
        if whole_rows {
            items.extend(columns_of(&schema, &alias));
        }
        if returning.is_some() {
            items.extend(beside.items());
        }
        let wanted = Wanted {
            beside: &beside.text(),
            copies: COPIES_OF_UPDATED,
            ..Wanted::by(update.selection.as_ref())
        };
        let rows = self.rows(snapshot, (&schema, &alias), &items, wanted, parameters);
        let Found { schema: found_schema, batches: found, memory: _memory } = rows.await?;
        let found = beside.once(found)?;
        let (mut ids, mut values, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
        for batch in &found {
            ids.extend(row_ids(batch)?);
            let mut arrays = assigned.arrays(&schema, batch.columns())?;
            if whole_rows {
                let old = batch.columns().iter().skip(first_of_row).take(schema.columns.len());
                let mut whole = old.cloned().collect::<Vec<_>>();
                for (&column, array) in columns.iter().zip(arrays) {
                    whole[column] = array;
                }
                rules.complete(&mut whole)?;
                arrays = changed.iter().map(|&column| whole[column].clone()).collect();
                pieces.push(whole);
            }
            values.extend(rows_of(&schema, &changed, &arrays, batch.num_rows())?);
        }
        let rows = transaction.update(&schema, &changed, &ids, &values)?;
        let mut relations = vec![Relation::of_table(alias, &schema, pieces)];
        relations.extend(beside.relations(&found_schema, &found)?);
        self.written(rows, returning, &relations).await
    }

    async fn delete(
        &self,
        transaction: &mut Transaction,
        delete: &Delete,
        parameters: &[Value],
    ) -> Result<Written> {
        refuse_extras(&[
            (!delete.tables.is_empty(), "DELETE from several tables"),
            (delete.limit.is_some() || !delete.order_by.is_empty(), "DELETE … LIMIT"),
            (delete.output.is_some(), "OUTPUT"),
        ])?;
        let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
        let [table] = tables.as_slice() else {
            return Err(unsupported("DELETE from several tables"));
        };
        let snapshot = transaction.snapshot();
        let (schema, alias) = modified(&snapshot, table)?;
        let returning = self.returning(&snapshot, delete.returning.as_deref(), parameters)?;
        let beside = Beside::of(delete.using.as_ref(), delete.returning.as_deref())?;
        let items = match returning {
            Some(_) => columns_of(&schema, &alias).chain(beside.items()).collect(),
            None => Vec::new(),
        };
        let wanted = Wanted { beside: &beside.text(), ..Wanted::by(delete.selection.as_ref()) };
        let rows = self.rows(snapshot, (&schema, &alias), &items, wanted, parameters);
        let Found { schema: found_schema, batches: found, memory: _memory } = rows.await?;
        let found = beside.once(found)?;
        let (mut ids, mut pieces) = (Vec::new(), Vec::new());
        for batch in &found {
            ids.extend(row_ids(batch)?);
            if returning.is_some() {
                let whole = batch.columns().iter().take(schema.columns.len());
                pieces.push(whole.cloned().collect());
            }
        }
        let rows = transaction.delete(&schema, &ids)?;
        let mut relations = vec![Relation::of_table(alias, &schema, pieces)];
        relations.extend(beside.relations(&found_schema, &found)?);
        self.written(rows, returning, &relations).await
    }

    /// The rows that are wanted of a table: the given expressions, then the row id.
    pub(super) async fn rows(
        &self,
        snapshot: Snapshot,
        (schema, alias): (&TableSchema, &Ident),
        items: &[String],
        Wanted { beside, selection, rest, copies }: Wanted<'_>,
        parameters: &[Value],
    ) -> Result<Found> {
        let id = format!("{alias}.{ROW_ID_COLUMN}");
        let list = items.iter().chain([&id]).cloned().collect::<Vec<_>>().join(", ");
        let table = Ident::with_quote('"', &schema.name);
        let mut text = format!("SELECT {list} FROM {ROWS_SCHEMA}.{table} AS {alias}{beside}");
        if let Some(selection) = selection {
            text = format!("{text} WHERE {selection}");
        }
        text.push_str(rest);
        let mut statements = Parser::parse_sql(&GenericDialect {}, &text)
            .map_err(|error| crate::error::from_parser(&error))?;
        let mut statement = statements.pop().ok_or_else(|| input("there is no statement"))?;
        let context = self.planner(snapshot, &mut statement).await?;
        let stream = self.stream(&context, statement, parameters).await?;
        let schema = stream.schema();
        let mut memory = Gathered::with_copies(&self.shared.memory, copies);
        let batches = memory.collect(stream).await?;
        Ok(Found { schema, batches, memory })
    }
}

/// Which rows are wanted: what stands beside their table, the condition, and what follows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) beside: &'a str,
    pub(super) selection: Option<&'a Expr>,
    pub(super) rest: &'a str,
    /// Copies of each row that the statement holds while it runs.
    pub(super) copies: u64,
}

/// The rows that were wanted, and what they take of the memory.
pub(super) struct Found {
    schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
    pub(super) memory: Gathered,
}

/// Of rows that get other values: as they are found, as they will be, and in the log.
pub(super) const COPIES_OF_UPDATED: u64 = 3;

impl<'a> Wanted<'a> {
    /// Those that a condition lets pass.
    pub(super) fn by(selection: Option<&'a Expr>) -> Self {
        Self { beside: "", selection, rest: "", copies: 1 }
    }
}

/// All columns of a table under the name by which it is called.
pub(super) fn columns_of(schema: &TableSchema, alias: &Ident) -> impl Iterator<Item = String> {
    let quoted = |name: &str| Ident::with_quote('"', name);
    schema.columns.iter().map(move |column| format!("{alias}.{}", quoted(&column.name)))
}

/// The values of columns, row by row.
pub(super) fn rows_of(
    schema: &TableSchema,
    columns: &[usize],
    arrays: &[ArrayRef],
    rows: usize,
) -> Result<Vec<Vec<Datum>>> {
    let value = |row: usize, (&column, array): (&usize, &ArrayRef)| {
        datum_from_array(schema.columns[column].column_type, array, row)
    };
    let mut check = InterruptCheck::default();
    let row = |row| {
        let values = columns.iter().zip(arrays).map(|both| value(row, both));
        let values = values.collect::<Result<Vec<_>>>()?;
        check.row_of(values.iter().map(Datum::heap_bytes).sum())?;
        Ok(values)
    };
    (0..rows).map(row).collect()
}

pub(super) fn refuse_extras(extras: &[(bool, &str)]) -> Result<()> {
    match extras.iter().find(|(present, _)| *present) {
        Some((_, what)) => Err(unsupported(what)),
        None => Ok(()),
    }
}

/// The table that a name means.
pub(super) fn target(snapshot: &Snapshot, name: &ObjectName) -> Result<Arc<TableSchema>> {
    let name = table_name(name)?;
    if snapshot.find_view(&name).is_some() {
        let message = format!("\"{name}\" is a view: change the tables that it reads");
        return Err(input(message).because(Reason::NotInState));
    }
    if snapshot.find_sequence(&name).is_some() {
        let message = format!("\"{name}\" is a sequence: nextval and setval change it");
        return Err(input(message).because(Reason::WrongObject));
    }
    Ok(snapshot.table(&name)?.schema().clone())
}

/// The exact name of a table: unquoted names are folded to lower case, as everywhere.
pub(crate) fn table_name(name: &ObjectName) -> Result<String> {
    let parts = name.0.iter().map(|part| part.as_ident()).collect::<Option<Vec<_>>>();
    let table = match parts.as_deref() {
        Some([table]) => folded(table),
        Some([schema, table]) => kept(&folded(schema), &folded(table)),
        _ => return Err(input(format!("{name} names no table: it has a schema and a name"))),
    };
    match is_hidden(&table) {
        true => Err(input(format!("{name} is a name that the database keeps for itself"))),
        false => Ok(table),
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
pub(super) fn modified(
    snapshot: &Snapshot,
    table: &TableWithJoins,
) -> Result<(Arc<TableSchema>, Ident)> {
    let TableFactor::Table { name, alias, .. } = &table.relation else {
        return Err(unsupported("changing anything but a table"));
    };
    if !table.joins.is_empty() {
        return Err(unsupported("changing a join"));
    }
    let schema = target(snapshot, name)?;
    let alias = match alias {
        Some(alias) => alias.name.clone(),
        None => own_name(&schema.name),
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
        .because(Reason::UnknownColumn)
    })
}

/// Whether a word is the keyword DEFAULT.
pub(super) fn is_default(word: &Ident) -> bool {
    word.quote_style.is_none() && word.value.eq_ignore_ascii_case("default")
}

pub(super) fn row_ids(batch: &RecordBatch) -> Result<Vec<RowId>> {
    let column = batch.columns().last().and_then(|column| column.as_primitive_opt::<UInt64Type>());
    let column = column.ok_or_else(|| gadus_engine::Error::internal("row ids are missing"))?;
    Ok(column.values().iter().map(|&id| RowId::from_u64(id)).collect())
}
