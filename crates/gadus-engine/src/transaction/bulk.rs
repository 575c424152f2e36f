//! Bulk loads: Arrow batches become encoded segments while more are read.
//!
//! - Full segments are encoded and written by worker threads; the log will name them, not hold them.
//! - Memory is bounded: at most two segments wait for each worker.
//! - A remainder of few rows is inserted as rows, so that small loads make no small segments.

use super::Transaction;
use crate::blobs::Blobs;
use crate::engine::{Inner, duplicate_key, not_null};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{KeyHash, KeyRun, row_code, row_of, write_run};
use crate::locks::What;
use crate::segment::{EncodedSegment, Row, SEGMENT_ROWS_MAX, build_segment};
use crate::types::{Datum, TableSchema, datum_from_array};
use crate::vector::Vector;
use crate::version::{Change, TableVersion};
use arrow::array::{Array, RecordBatch};
use gadus_base::{Account, RowId, SegmentId, spawn};
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Fewer rows than this go through the log: their record is then about a megabyte.
const SEGMENT_ROWS_MIN: usize = 8_192;

/// Takes Arrow batches of a table's rows.
#[derive(Debug)]
pub struct BulkWriter {
    schema: Arc<TableSchema>,
    table: Arc<TableVersion>,
    inner: Arc<Inner>,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    workers: Option<Workers>,
}

/// Threads that encode segments.
#[derive(Debug)]
struct Workers {
    jobs: SyncSender<Job>,
    threads: Vec<JoinHandle<Result<Vec<Built>>>>,
}

/// The batches of one segment.
type Job = (SegmentId, Vec<RecordBatch>);

/// An encoded segment with its key entries (hash, row code).
#[derive(Debug)]
struct Built {
    id: SegmentId,
    base: Arc<EncodedSegment>,
    keys: Vec<(u64, u64)>,
}

/// What a bulk load made.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) segments: Vec<(SegmentId, Arc<EncodedSegment>)>,
    pub(super) run: Option<Arc<KeyRun>>,
    /// The remainder, as rows.
    pub(super) rows: Vec<Row>,
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

    /// Takes the rows of a bulk load into the transaction; returns how many.
    pub fn finish_bulk(&mut self, bulk: BulkWriter) -> Result<u64> {
        let schema = bulk.schema().clone();
        let loaded = bulk.finish()?;
        check_loaded(self.view_table(&schema)?, &loaded, &self.blobs)?;
        self.whole_or_not(|transaction| transaction.take_loaded(&schema, loaded))
    }

    fn take_loaded(&mut self, schema: &Arc<TableSchema>, loaded: Loaded) -> Result<u64> {
        let mut rows = loaded.rows.len() as u64;
        if !loaded.segments.is_empty() {
            rows += loaded.segments.iter().map(|(_, base)| u64::from(base.rows())).sum::<u64>();
            let change = Change::AddSegments {
                table: schema.id,
                segments: loaded.segments.clone(),
                run: loaded.run.clone(),
            };
            self.apply(&change)?;
            let since = self.state.base.commit;
            let writes = self.writes(schema.id);
            writes.keys_since.get_or_insert(since);
            writes.loaded.extend(loaded.segments);
            writes.runs.extend(loaded.run);
        }
        if !loaded.rows.is_empty() {
            self.insert(schema, loaded.rows)?;
        }
        Ok(rows)
    }
}

impl BulkWriter {
    pub(super) fn new(
        schema: Arc<TableSchema>,
        table: Arc<TableVersion>,
        inner: Arc<Inner>,
    ) -> Self {
        Self { schema, table, inner, waiting: Vec::new(), waiting_rows: 0, workers: None }
    }

    /// The table's schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// Takes rows; the batch has the table's columns in order, in their canonical Arrow types.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check(batch)?;
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
        }
        Ok(())
    }

    /// Hands the waiting rows to a worker as one segment.
    fn send(&mut self) -> Result<()> {
        let job = (self.table.reserve_segment()?, std::mem::take(&mut self.waiting));
        self.waiting_rows = 0;
        let workers = match &self.workers {
            Some(workers) => workers,
            None => self.workers.insert(Workers::start(&self.inner, &self.schema)?),
        };
        if workers.jobs.send(job).is_err() {
            // Every worker has ended early: joining them gives the reason.
            self.workers.take().map_or(Ok(Vec::new()), Workers::join)?;
            return Err(Error::internal("the workers of a bulk load ended early"));
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Loaded> {
        if self.waiting_rows >= SEGMENT_ROWS_MIN {
            self.send()?;
        }
        let mut built = self.workers.take().map_or(Ok(Vec::new()), Workers::join)?;
        built.sort_by_key(|built| built.id);
        let mut rows = Vec::with_capacity(self.waiting_rows);
        for batch in &self.waiting {
            append_rows(&self.schema, batch, &mut rows)?;
        }
        let mut keys = Vec::new();
        for built in &mut built {
            keys.append(&mut built.keys);
        }
        let segments = built.into_iter().map(|built| (built.id, built.base)).collect();
        let mut loaded = Loaded { segments, run: None, rows };
        if !keys.is_empty() {
            keys.sort_unstable();
            loaded.check_distinct(&self.schema, &keys, &self.inner.blobs)?;
            loaded.run = Some(Arc::new(write_run(&keys, &self.inner.blobs)?));
        }
        Ok(loaded)
    }
}

/// A load that is given up leaves no thread behind that holds the database open.
impl Drop for BulkWriter {
    fn drop(&mut self) {
        if let Some(workers) = self.workers.take() {
            // Nobody wants what they made, nor why they failed.
            let _ = workers.join();
        }
    }
}

impl Workers {
    fn start(inner: &Arc<Inner>, schema: &Arc<TableSchema>) -> Result<Self> {
        let (jobs, receiver) = sync_channel::<Job>(inner.options.threads);
        let receiver = Arc::new(Mutex::new(receiver));
        let mut threads = Vec::new();
        for _ in 0..inner.options.threads {
            let (receiver, schema, inner) = (receiver.clone(), schema.clone(), inner.clone());
            let account = Account::current().unwrap_or_default();
            let encode = move || account.charge(|| encode_jobs(&receiver, &schema, &inner.blobs));
            let thread = spawn("gadus-load", encode);
            threads.push(thread.map_err(|error| {
                Error::new(ErrorKind::Limit, "the system has no thread for a bulk load")
                    .caused_by(error)
            })?);
        }
        Ok(Self { jobs, threads })
    }

    fn join(self) -> Result<Vec<Built>> {
        drop(self.jobs);
        let mut all = Vec::new();
        for thread in self.threads {
            let built = thread.join();
            all.extend(built.map_err(|_| Error::internal("a bulk load's thread panicked"))??);
        }
        Ok(all)
    }
}

fn encode_jobs(
    receiver: &Mutex<Receiver<Job>>,
    schema: &TableSchema,
    blobs: &Blobs,
) -> Result<Vec<Built>> {
    let mut built = Vec::new();
    loop {
        let job = receiver.lock().map_err(|_| Error::internal("a load's queue is broken"))?.recv();
        let Ok((id, batches)) = job else { return Ok(built) };
        built.push(encode_job(id, &batches, schema, blobs)?);
    }
}

fn encode_job(
    id: SegmentId,
    batches: &[RecordBatch],
    schema: &TableSchema,
    blobs: &Blobs,
) -> Result<Built> {
    let keys = if schema.key.is_empty() { Vec::new() } else { key_entries(id, batches, schema)? };
    let columns = schema.columns.iter().enumerate().map(|(index, column)| {
        let mut vector = Vector::empty(column.column_type.storage());
        for batch in batches {
            vector.append(Vector::from_array(column.column_type, batch.column(index)));
        }
        vector
    });
    let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    let rows = u32::try_from(rows).expect("at most SEGMENT_ROWS_MAX");
    let base = Arc::new(build_segment(rows, columns.collect(), blobs)?);
    Ok(Built { id, base, keys })
}

fn key_entries(
    id: SegmentId,
    batches: &[RecordBatch],
    schema: &TableSchema,
) -> Result<Vec<(u64, u64)>> {
    let mut entries = Vec::new();
    let mut position = 0;
    for batch in batches {
        let columns = schema
            .key
            .iter()
            .map(|&column| {
                (
                    Vector::from_array(schema.columns[column].column_type, batch.column(column)),
                    column,
                )
            })
            .collect::<Vec<_>>();
        for row in 0..batch.num_rows() {
            let key = columns.iter().map(|(vector, _)| vector.datum(row)).collect::<Vec<_>>();
            let code = row_code(RowId { segment: id, position });
            entries.push((KeyHash::of(&key).0, code));
            position += 1;
        }
    }
    Ok(entries)
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

impl Loaded {
    /// The key of a loaded row.
    pub(super) fn key(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        id: SegmentId,
        position: u32,
    ) -> Result<Vec<Datum>> {
        let index = self.segments.binary_search_by_key(&id, |(id, _)| *id);
        let (_, base) = &self.segments[index.expect("asked of loaded segments only")];
        let value =
            |&column: &usize| Ok(base.column(schema, blobs, column)?.datum(position as usize));
        schema.key.iter().map(value).collect()
    }

    /// Refuses two rows with one key; `entries` are sorted by hash.
    fn check_distinct(
        &self,
        schema: &TableSchema,
        entries: &[(u64, u64)],
        blobs: &Blobs,
    ) -> Result<()> {
        for same in entries.chunk_by(|left, right| left.0 == right.0).filter(|same| same.len() > 1)
        {
            // Compared as values, not as bytes: -0 is 0, and one NaN is another.
            let mut seen = BTreeSet::new();
            for &(_, code) in same {
                let row = row_of(code);
                let key = self.key(schema, blobs, row.segment, row.position)?;
                if seen.contains(&key) {
                    return Err(duplicate_key(schema, &key));
                }
                seen.insert(key);
            }
        }
        Ok(())
    }
}

/// Refuses loaded keys that are in the table already.
fn check_loaded(table: &TableVersion, loaded: &Loaded, blobs: &Blobs) -> Result<()> {
    if table.schema.key.is_empty() || table.live_rows == 0 {
        return Ok(());
    }
    for (id, base) in &loaded.segments {
        for position in 0..base.rows() {
            let key = loaded.key(&table.schema, blobs, *id, position)?;
            if table.find_key(blobs, &key)?.is_some() {
                return Err(duplicate_key(&table.schema, &key));
            }
        }
    }
    Ok(())
}
