//! Bulk loads: Arrow batches become encoded segments while more are read.
//!
//! - Full segments are encoded and written by worker threads; the log will name them, not hold them.
//! - Memory is bounded: few segments wait for each worker.
//! - A remainder of few rows is inserted as rows, so that small loads make no small segments.

use super::Transaction;
use super::bulk_workers::Workers;
use super::loaded::{Loaded, check_distinct};
use crate::engine::{Inner, not_null, too_long};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::write_run;
use crate::locks::What;
use crate::segment::{Row, SEGMENT_BYTES_MAX, SEGMENT_ROWS_MAX};
use crate::types::{
    ColumnType, Datum, TableSchema, VALUE_BYTES_MAX, bytes_from_nested, bytes_of, datum_from_array,
    length_of,
};
use crate::version::TableVersion;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use gadus_base::ByteCount;
use std::sync::Arc;

/// Fewer rows than this go through the log: their record is then about a megabyte.
const SEGMENT_ROWS_MIN: usize = 8_192;

/// Bytes of values that become one segment, unless the caller has less memory for the load: a segment waits,
/// as many as there are threads are in the queue, and as many are encoded.
const LOAD_BYTES_MAX: u64 = 64 << 20;
const LOAD_BYTES_MIN: u64 = 8 << 20;

/// Bytes of values that are worth a segment, however few rows they are: as rows they would go through the log.
const ROWS_BYTES_MAX: u64 = 4 << 20;

/// Takes Arrow batches of a table's rows.
#[derive(Debug)]
pub struct BulkWriter {
    schema: Arc<TableSchema>,
    table: Arc<TableVersion>,
    inner: Arc<Inner>,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    /// Bytes by column.
    waiting_bytes: Vec<u64>,
    segment_bytes_max: u64,
    workers: Option<Workers>,
}

impl Transaction {
    /// Begins a bulk load into a table; `finish_bulk` takes its rows into the transaction.
    ///
    /// # Errors
    /// `Locked` where somebody changes the table's shape.
    pub fn bulk(&mut self, schema: &Arc<TableSchema>) -> Result<BulkWriter> {
        self.lock(What::Rows(schema.id))?;
        let table = self.view_table(schema)?;
        Ok(BulkWriter::new(schema.clone(), table.clone(), self.inner.clone()))
    }
}

impl BulkWriter {
    pub(super) fn new(
        schema: Arc<TableSchema>,
        table: Arc<TableVersion>,
        inner: Arc<Inner>,
    ) -> Self {
        let waiting_bytes = vec![0; schema.columns.len()];
        Self {
            schema,
            table,
            inner,
            waiting: Vec::new(),
            waiting_rows: 0,
            waiting_bytes,
            segment_bytes_max: LOAD_BYTES_MAX,
            workers: None,
        }
    }

    /// Sets how much memory the load may take, about.
    #[must_use]
    pub fn within(mut self, memory: ByteCount) -> Self {
        let parts = 2 + 2 * self.inner.options.threads as u64;
        // Encoding takes as much again.
        self.segment_bytes_max = (memory.0 / (2 * parts)).clamp(LOAD_BYTES_MIN, LOAD_BYTES_MAX);
        self
    }

    /// The table's schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// Takes rows; the batch has the table's columns in order, in their canonical Arrow types.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check(batch)?;
        let bytes = batch.columns().iter().map(|column| bytes_of(column) as u64);
        let bytes = bytes.collect::<Vec<_>>();
        if self.is_too_much(bytes.iter().copied()) && batch.num_rows() > 1 {
            let half = batch.num_rows() / 2;
            self.push(&batch.slice(0, half))?;
            return self.push(&batch.slice(half, batch.num_rows() - half));
        }
        let together = self.waiting_bytes.iter().zip(&bytes).map(|(waiting, more)| waiting + more);
        if self.waiting_rows > 0 && self.is_too_much(together) {
            self.send()?;
        }
        self.waiting_bytes.iter_mut().zip(bytes).for_each(|(waiting, more)| *waiting += more);
        let mut batch = batch.clone();
        while self.waiting_rows + batch.num_rows() >= SEGMENT_ROWS_MAX as usize {
            let room = SEGMENT_ROWS_MAX as usize - self.waiting_rows;
            self.waiting.push(batch.slice(0, room));
            self.send()?;
            batch = batch.slice(room, batch.num_rows() - room);
        }
        if batch.num_rows() > 0 {
            self.waiting_rows += batch.num_rows();
            self.waiting.push(batch);
        }
        Ok(())
    }

    /// Returns true if columns of so many bytes are more than a segment should have: scans read a column as a whole.
    fn is_too_much(&self, mut columns: impl Iterator<Item = u64>) -> bool {
        let all =
            columns.try_fold(0, |all, bytes| (bytes <= SEGMENT_BYTES_MAX).then_some(all + bytes));
        all.is_none_or(|all| all > self.segment_bytes_max)
    }

    fn check(&self, batch: &RecordBatch) -> Result<()> {
        if batch.num_columns() != self.schema.columns.len() {
            return Err(Error::new(
                ErrorKind::Input,
                format!(
                    "table \"{}\" has {} columns, the rows have {}",
                    self.schema.name,
                    self.schema.columns.len(),
                    batch.num_columns()
                ),
            ));
        }
        for (column, array) in self.schema.columns.iter().zip(batch.columns()) {
            if array.data_type() != &column.column_type.arrow() {
                return Err(Error::new(
                    ErrorKind::Input,
                    format!(
                        "column \"{}\" of table \"{}\" is {}, the rows have {}",
                        column.name,
                        self.schema.name,
                        column.column_type,
                        array.data_type()
                    ),
                ));
            }
            if !column.nullable && array.null_count() > 0 {
                return Err(not_null(&self.schema, &column.name));
            }
            let longest = longest(column.column_type, array);
            if longest > VALUE_BYTES_MAX {
                return Err(too_long(&column.name, longest));
            }
        }
        Ok(())
    }

    /// Hands the waiting rows to a worker as one segment.
    fn send(&mut self) -> Result<()> {
        let job = (self.table.reserve_segment()?, std::mem::take(&mut self.waiting));
        self.waiting_rows = 0;
        self.waiting_bytes.fill(0);
        let workers = match &mut self.workers {
            Some(workers) => workers,
            None => self.workers.insert(Workers::start(&self.inner, &self.table)?),
        };
        workers.send(job)
    }

    pub(super) fn finish(mut self) -> Result<Loaded> {
        if self.waiting_rows >= SEGMENT_ROWS_MIN
            || self.waiting_bytes.iter().sum::<u64>() > ROWS_BYTES_MAX
        {
            self.send()?;
        }
        let mut built = self.workers.take().map_or(Ok(Vec::new()), Workers::finish)?;
        built.sort_by_key(|built| built.id);
        let mut rows = Vec::with_capacity(self.waiting_rows);
        for batch in &self.waiting {
            append_rows(&self.schema, batch, &mut rows)?;
        }
        let mut keys = vec![Vec::new(); self.table.keys.iter().count()];
        for built in &mut built {
            for (all, some) in keys.iter_mut().zip(&mut built.keys) {
                all.append(some);
            }
        }
        let segments = built.into_iter().map(|built| (built.id, built.base)).collect();
        let mut loaded = Loaded { segments, runs: Vec::new(), rows };
        for (key, mut entries) in self.table.keys.iter().zip(keys) {
            if entries.is_empty() {
                continue;
            }
            entries.sort_unstable();
            if key.shape.unique {
                let of = (&*self.schema, &*key.shape);
                check_distinct(of, &entries, |row| loaded.key(of, &self.inner.blobs, row))?;
            }
            let run = Arc::new(write_run(&entries, &self.inner.blobs)?);
            loaded.runs.push((key.shape.id, run));
        }
        Ok(loaded)
    }
}

/// The length of the longest text or other byte string, as it is kept.
fn longest(column_type: ColumnType, array: &ArrayRef) -> usize {
    let of_views = |views: &[u128]| views.iter().map(|view| length_of(*view)).max().unwrap_or(0);
    match column_type {
        // Looked at more closely where one may be too long; what stands around values is less than they are.
        ColumnType::Nested(nested) if bytes_of(array) > VALUE_BYTES_MAX / 8 => {
            of_views(bytes_from_nested(nested, array).views())
        }
        text if text.is_text() => of_views(array.as_string_view().views()),
        ColumnType::Binary => of_views(array.as_binary_view().views()),
        _ => 0,
    }
}

fn append_rows(schema: &TableSchema, batch: &RecordBatch, rows: &mut Vec<Row>) -> Result<()> {
    for row in 0..batch.num_rows() {
        let values = schema
            .columns
            .iter()
            .zip(batch.columns())
            .map(|(column, array)| datum_from_array(column.column_type, array, row))
            .collect::<Result<Vec<Datum>>>()?;
        rows.push(Row::from(values));
    }
    Ok(())
}
