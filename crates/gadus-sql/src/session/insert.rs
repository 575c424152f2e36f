//! INSERT, and rows that come as Arrow batches.
//!
//! - Values are cast as assignments, which fail rather than change a value beyond rounding.
//! - Columns that are not named take their DEFAULT: see [`super::defaults`].

use super::cancel::{Cancel, Flag};
use super::defaults::expand_defaults;
use super::generated::Rules;
use super::loading::load;
use super::locking::Part;
use super::modify::{column_index, is_default, refuse_extras, target};
use super::on_conflict::{Into, OnKey};
use super::overriding::{Left, Overriding};
use super::relations::Relation;
use super::returning::Written;
use super::transact::begin;
use super::{Session, State};
use crate::error::{coded, from_datafusion, input, unsupported};
use crate::executor::WorkFor;
use crate::memory::Gathered;
use crate::names::own_name;
use crate::value::{Value, assign_array};
use arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Insert, ObjectName, Parens, Query, SetExpr, Statement, TableObject,
};
use futures::TryStreamExt;
use gadus_engine::{
    ColumnDefinition, Error, ErrorKind, Identity, Isolation, Reason, Result, SEGMENT_ROWS_MAX,
    Snapshot, TableSchema, Transaction,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Of rows whose keys are looked up: as they came, in one piece, those that are new, as values, and in the log.
pub(super) const COPIES_ON_KEY: u64 = 5;

/// Rows that are cast together.
const PIECE_ROWS: usize = SEGMENT_ROWS_MAX as usize;

impl Session {
    pub(super) async fn insert(
        &self,
        transaction: &mut Transaction,
        insert: &Insert,
        parameters: &[Value],
    ) -> Result<Written> {
        refuse_extras(&[
            (insert.output.is_some(), "OUTPUT"),
            (insert.overwrite || insert.partitioned.is_some(), "INSERT OVERWRITE"),
        ])?;
        let TableObject::TableName(name) = &insert.table else {
            return Err(unsupported("INSERT into a table function"));
        };
        let snapshot = transaction.snapshot();
        let schema = target(&snapshot, name)?;
        let on_key = OnKey::of((insert, parameters), &schema)?;
        let mut columns = target_columns(&schema, &insert.columns)?;
        let mut source = match &insert.source {
            Some(source) => Query::clone(source),
            // DEFAULT VALUES.
            None => default_values(columns.len())?,
        };
        let given = Given::of(&source);
        let left = Left::of(insert, &schema, &columns);
        if let Some(left) = &left {
            left.make_none(&mut source);
        }
        expand_defaults(&mut source, &schema, &columns)?;
        let mut statement = Statement::Query(Box::new(source));
        let returning = self.returning(&snapshot, insert.returning.as_deref(), parameters)?;
        let context = self.planner(snapshot.clone(), &mut statement).await?;
        let mut stream = self.stream_to_write(&context, statement, parameters).await?;
        given.go_to(insert, &schema, &mut columns, stream.schema().fields().len())?;
        if let Some(left) = &left {
            (columns, stream) = left.without(&columns, stream)?;
        }
        let alias = called(insert, &schema);
        let mut pieces = Vec::new();
        if let Some(on_key) = on_key {
            let mut gathered = Gathered::with_copies(&self.shared.memory, COPIES_ON_KEY);
            let take = |batch: RecordBatch| {
                gathered.add(&batch)?;
                pieces.push(batch.columns().to_vec());
                Ok(())
            };
            self.whole_rows(&snapshot, (&schema, &columns), stream, take).await?;
            let into = Into { schema: &schema, alias: alias.clone(), snapshot };
            let (rows, now) = self.insert_on_key(transaction, into, &on_key, &pieces).await?;
            let relations = [Relation::of_table(alias, &schema, vec![now])];
            return self.written(rows, returning, &relations).await;
        }
        if returning.is_none() {
            drop(snapshot);
            let rows = self.insert_stream(transaction, &schema, &columns, stream).await?;
            return Ok(Written::of(rows));
        }
        let mut bulk = transaction.bulk(&schema)?.within(self.shared.memory.limit());
        let mut gathered = Gathered::new(&self.shared.memory);
        let take = |batch: RecordBatch| {
            gathered.add(&batch)?;
            load(&mut bulk, &batch)?;
            pieces.push(batch.columns().to_vec());
            Ok(())
        };
        self.whole_rows(&snapshot, (&schema, &columns), stream, take).await?;
        drop(snapshot);
        let rows = transaction.finish_bulk(bulk)?;
        let relations = [Relation::of_table(alias, &schema, pieces)];
        self.written(rows, returning, &relations).await
    }

    /// Inserts the rows of a stream, whose columns go to `columns` of the table.
    pub(super) async fn insert_stream(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        columns: &[usize],
        stream: SendableRecordBatchStream,
    ) -> Result<u64> {
        let mut bulk = transaction.bulk(schema)?.within(self.shared.memory.limit());
        let snapshot = transaction.snapshot();
        let to = (schema, columns);
        self.whole_rows(&snapshot, to, stream, |batch| load(&mut bulk, &batch)).await?;
        drop(snapshot);
        transaction.finish_bulk(bulk)
    }

    /// Hands on the rows of a stream with all columns of their table; those that it has go to `columns`.
    pub(super) async fn whole_rows(
        &self,
        snapshot: &Snapshot,
        (schema, columns): (&Arc<TableSchema>, &[usize]),
        mut stream: SendableRecordBatchStream,
        mut take: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        if stream.schema().fields().len() != columns.len() {
            let message = format!(
                "{} values for {} columns of table \"{}\"",
                stream.schema().fields().len(),
                columns.len(),
                schema.name
            );
            return Err(coded("42601", message));
        }
        let defaults = self.defaults(|| snapshot.clone(), schema, columns).await?;
        let rules = self.rules(schema)?;
        while let Some(batch) = stream.try_next().await.map_err(from_datafusion)? {
            let filled = self.fill(schema, &defaults, batch.num_rows()).await?;
            take(whole_batch((schema, &rules), columns, filled, &batch)?)?;
            self.progress.rows_written(batch.num_rows());
        }
        Ok(())
    }

    pub(super) async fn append_batches(
        &self,
        table: &str,
        columns: &[String],
        batches: Vec<RecordBatch>,
    ) -> Result<u64> {
        // Before anything is waited for: in a forked child nobody is there to end it.
        self.engine.check_usable()?;
        let state = &mut *self.state.lock().await;
        super::transact::refuse_read_only(&self.engine, state)?;
        let flag = self.begin_statement(state)?;
        let kept = self.kept_name(state, &state.snapshot(&self.engine)?, table);
        let rows = loop {
            let appended = {
                let work =
                    std::pin::pin!(self.append_once(state, (&kept, columns), &batches, &flag));
                // Texts are read in the zone and the styles of the session.
                WorkFor { cancel: Cancel::of(flag.clone()), work }.await
            };
            match appended {
                Ok(rows) => break Ok(rows),
                Err(error) => {
                    if let Err(error) = self.wait_for_lock(state, &flag, error) {
                        break Err(error);
                    }
                }
            }
        };
        self.end_statement(state, rows)
    }

    async fn append_once(
        &self,
        state: &mut State,
        target: (&str, &[String]),
        batches: &[RecordBatch],
        flag: &Flag,
    ) -> Result<u64> {
        if !self.autocommit() && state.transaction.is_none() {
            begin(self, state, &[])?;
        }
        if let Some(transaction) = &mut state.transaction {
            transaction.refresh()?;
            let part = Part::of(transaction);
            let rows = self.append_in(part.transaction, target, batches, flag).await?;
            part.keep();
            return Ok(rows);
        }
        let mut transaction = self.begin(state, Isolation::ReadCommitted)?;
        let rows = self.append_in(&mut transaction, target, batches, flag).await?;
        transaction.commit().map(|_| rows)
    }

    async fn append_in(
        &self,
        transaction: &mut Transaction,
        (table, columns): (&str, &[String]),
        batches: &[RecordBatch],
        flag: &Flag,
    ) -> Result<u64> {
        let schema = transaction.snapshot().table(table)?.schema().clone();
        let names = columns.iter().map(|name| vec![Ident::with_quote('"', name)].into());
        let columns = loaded_columns(&schema, &names.collect::<Vec<_>>())?;
        let defaults = self.defaults(|| transaction.snapshot(), &schema, &columns).await?;
        let rules = self.rules(&schema)?;
        let mut bulk = transaction.bulk(&schema)?.within(self.shared.memory.limit());
        for batch in batches.iter().flat_map(pieces) {
            if flag.is_set() {
                return Err(flag.reason());
            }
            if batch.num_columns() != columns.len() {
                return Err(input(format!(
                    "{} values for {} columns of table \"{table}\"",
                    batch.num_columns(),
                    columns.len()
                )));
            }
            let filled = self.fill(&schema, &defaults, batch.num_rows()).await?;
            load(&mut bulk, &whole_batch((&schema, &rules), &columns, filled, &batch)?)?;
        }
        let rows = transaction.finish_bulk(bulk)?;
        self.settle(transaction).await.map(|()| rows)
    }
}

/// A batch in pieces that are cast one after another: what is cast needs memory again.
fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    (0..rows).step_by(PIECE_ROWS).map(move |from| batch.slice(from, PIECE_ROWS.min(rows - from)))
}

/// The columns that a load names, or all whose values do not follow from others.
pub(super) fn loaded_columns(schema: &TableSchema, names: &[ObjectName]) -> Result<Vec<usize>> {
    let mut columns = target_columns(schema, names)?;
    if names.is_empty() {
        columns.retain(|&column| schema.columns[column].generated.is_none());
    }
    match columns.iter().find(|column| schema.columns[**column].generated.is_some()) {
        Some(&column) => Err(generated_always(&schema.columns[column], "")),
        None => Ok(columns),
    }
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

/// A row of so many DEFAULTs.
fn default_values(columns: usize) -> Result<Query> {
    let prepared = super::parse(&format!("VALUES ({})", vec!["DEFAULT"; columns].join(", ")))?;
    match &*prepared.statement {
        Statement::Query(query) => Ok(Query::clone(query)),
        other => Err(gadus_engine::Error::internal(format!("{other} is no row of defaults"))),
    }
}

/// Which columns an INSERT gives values to: DEFAULT is none.
enum Given {
    All,
    /// Those of these places.
    Places(BTreeSet<usize>),
}

impl Given {
    fn of(source: &Query) -> Self {
        let SetExpr::Values(values) = &*source.body else { return Self::All };
        let is_value = |expr: &Expr| !matches!(expr, Expr::Identifier(word) if is_default(word));
        let of_row = |row: &Parens<Vec<Expr>>| {
            let values = row.content.iter().enumerate().filter(|(_, value)| is_value(value));
            values.map(|(place, _)| place).collect::<Vec<_>>()
        };
        Self::Places(values.rows.iter().flat_map(of_row).collect())
    }

    /// Finds the columns to which so many values go; refuses those for columns that are always generated.
    fn go_to(
        &self,
        insert: &Insert,
        schema: &TableSchema,
        columns: &mut Vec<usize>,
        values: usize,
    ) -> Result<()> {
        if insert.columns.is_empty() {
            // The first ones.
            columns.truncate(values);
        }
        let is_given = |place: &usize| match self {
            Self::All => true,
            Self::Places(places) => places.contains(place),
        };
        let overridden = Overriding::of(insert).is_some();
        let given = columns.iter().enumerate().filter(|(place, _)| is_given(place));
        given.map(|(_, &column)| &schema.columns[column]).try_for_each(|column| {
            let is_refused = column.identity == Some(Identity::Always) && !overridden;
            match column.generated.is_some() || is_refused {
                true => Err(generated_always(
                    column,
                    "; OVERRIDING SYSTEM VALUE takes one nevertheless",
                )),
                false => Ok(()),
            }
        })
    }
}

/// What an INSERT calls its table.
fn called(insert: &Insert, schema: &TableSchema) -> Ident {
    match &insert.table_alias {
        Some(alias) => alias.alias.clone(),
        None => own_name(&schema.name),
    }
}

/// The error of a value for a column that is always generated, with what helps.
pub(super) fn generated_always(column: &ColumnDefinition, hint: &str) -> Error {
    let why = match &column.generated {
        Some(generated) => format!("a generated column ({})", generated.expression),
        None => format!("GENERATED ALWAYS AS IDENTITY{hint}"),
    };
    let name = &column.name;
    let message = format!("cannot insert a non-DEFAULT value into column \"{name}\": it is {why}");
    input(message).because(Reason::GeneratedAlways)
}

/// A batch with all columns of the table, in their types and as its rules say.
pub(super) fn whole_batch(
    (schema, rules): (&TableSchema, &Rules),
    columns: &[usize],
    mut filled: Vec<Option<ArrayRef>>,
    batch: &RecordBatch,
) -> Result<RecordBatch> {
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.columns.len());
    for (index, column) in schema.columns.iter().enumerate() {
        let given = columns.iter().position(|&given| given == index);
        arrays.push(match (given, filled.get_mut(index).and_then(Option::take)) {
            (Some(source), _) => {
                let of_column = |error: Error| error.about(&format!("column \"{}\"", column.name));
                assign_array(batch.column(source), column.column_type).map_err(of_column)?
            }
            (None, Some(array)) => array,
            (None, None) => return Err(Error::internal("a column without a value")),
        });
        let is_computed = column.generated.is_some();
        if !column.nullable && !is_computed && arrays[index].null_count() > 0 {
            return Err(Error::new(
                ErrorKind::NotNullViolation,
                format!("column \"{}\" of table \"{}\" must not be NULL", column.name, schema.name),
            ));
        }
    }
    rules.complete(&mut arrays)?;
    let fields = schema.columns.iter().map(|column| column.column_type.field(&column.name, true));
    let shape = Arc::new(arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()));
    Ok(RecordBatch::try_new(shape, arrays)?)
}
