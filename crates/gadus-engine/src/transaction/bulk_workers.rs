//! Threads that encode the segments of a bulk load.
//!
//! - At most two segments wait for each thread or are encoded by it.
//! - The interrupts of the load's statement are theirs, too: they end within a column that is encoded or a few
//!   megabytes that are written. A cancelled statement does not wait for that; closing the database does.

use crate::blobs::Blobs;
use crate::engine::{Inner, Threads};
use crate::error::{Error, ErrorKind, Result};
use crate::interrupt_check::check_interrupt;
use crate::keys::{KeyEntry, TableKey, TableKeys, row_code};
use crate::segment::{EncodedSegment, build_segment_interruptibly};
use crate::types::TableSchema;
use crate::vector::Vector;
use crate::version::TableVersion;
use arrow::array::RecordBatch;
use gadus_base::{Account, RowId, SegmentId, current_interrupt, interruptible, spawn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Segments that wait for each thread or are encoded by it.
const JOBS_PER_THREAD: usize = 2;

/// Time between two checks for interrupts of a statement that waits for a segment: a request to cancel does not wake a
/// thread that waits for another one.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The threads of one load.
#[derive(Debug)]
pub(super) struct Workers {
    jobs: Sender<Job>,
    results: Receiver<Result<Built>>,
    /// Jobs whose results have not come.
    outstanding: usize,
    built: Vec<Built>,
    threads: Vec<JoinHandle<()>>,
    /// Set once no segment is wanted any more.
    is_given_up: Arc<AtomicBool>,
    of_database: Arc<Threads>,
}

/// The batches of one segment.
pub(super) type Job = (SegmentId, Vec<RecordBatch>);

/// An encoded segment with its entries of each index.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) id: SegmentId,
    pub(super) base: Arc<EncodedSegment>,
    pub(super) keys: Vec<Vec<KeyEntry>>,
}

/// State of one thread.
struct Worker {
    jobs: Arc<Mutex<Receiver<Job>>>,
    results: Sender<Result<Built>>,
    is_given_up: Arc<AtomicBool>,
    table: Arc<TableVersion>,
    blobs: Arc<Blobs>,
    account: Arc<Account>,
}

impl Workers {
    pub(super) fn start(inner: &Arc<Inner>, table: &Arc<TableVersion>) -> Result<Self> {
        let (jobs, receiver) = channel();
        let (sender, results) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let mut workers = Self {
            jobs,
            results,
            outstanding: 0,
            built: Vec::new(),
            threads: Vec::new(),
            is_given_up: Arc::default(),
            of_database: inner.threads.clone(),
        };
        for _ in 0..inner.options.threads {
            let worker = Worker {
                jobs: receiver.clone(),
                results: sender.clone(),
                is_given_up: workers.is_given_up.clone(),
                table: table.clone(),
                blobs: inner.blobs.clone(),
                account: Account::current().unwrap_or_default(),
            };
            let interrupt = current_interrupt();
            let thread = spawn("gadus-load", || interruptible(interrupt, move || worker.work()));
            workers.threads.push(thread.map_err(|error| {
                Error::new(ErrorKind::Limit, "the system has no thread for a bulk load")
                    .caused_by(error)
            })?);
        }
        Ok(workers)
    }

    /// Hands over the batches of a segment.
    pub(super) fn send(&mut self, job: Job) -> Result<()> {
        while self.outstanding >= JOBS_PER_THREAD * self.threads.len() {
            self.receive()?;
        }
        self.outstanding += 1;
        self.jobs.send(job).map_err(|_| ended())
    }

    /// Returns all segments, once the last one is written.
    pub(super) fn finish(mut self) -> Result<Vec<Built>> {
        while self.outstanding > 0 {
            self.receive()?;
        }
        Ok(mem::take(&mut self.built))
    }

    fn receive(&mut self) -> Result<()> {
        loop {
            match self.results.recv_timeout(LOOK_EVERY) {
                Ok(built) => {
                    self.outstanding -= 1;
                    self.built.push(built?);
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => check_interrupt()?,
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            }
        }
    }
}

/// They end as soon as they see that the load is over.
impl Drop for Workers {
    fn drop(&mut self) {
        self.is_given_up.store(true, Ordering::Relaxed);
        self.of_database.add(mem::take(&mut self.threads));
    }
}

fn ended() -> Error {
    Error::internal("the threads of a bulk load ended early")
}

impl Worker {
    fn work(&self) {
        loop {
            let job = self.jobs.lock().map(|jobs| jobs.recv());
            let Ok(Ok((id, batches))) = job else { return };
            if self.is_given_up.load(Ordering::Relaxed) {
                return;
            }
            let encode = || encode_job(id, &batches, &self.table, &self.blobs);
            let encode = || catch_unwind(AssertUnwindSafe(encode));
            // Charged before the result is there: the statement may end with it.
            let built = self.account.charge(encode).unwrap_or_else(|_| {
                // The panic has been reported by the runtime.
                Err(Error::internal("a thread of a bulk load panicked"))
            });
            if self.results.send(built).is_err() {
                return;
            }
        }
    }
}

fn encode_job(
    id: SegmentId,
    batches: &[RecordBatch],
    table: &TableVersion,
    blobs: &Blobs,
) -> Result<Built> {
    let schema = &table.schema;
    let keys = key_entries(id, batches, schema, &table.keys);
    let columns = schema.columns.iter().enumerate().map(|(index, column)| {
        let mut vector = Vector::empty(column.column_type.storage());
        for batch in batches {
            vector.append(Vector::from_array(column.column_type, batch.column(index)));
        }
        vector
    });
    let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    let rows = u32::try_from(rows).expect("at most SEGMENT_ROWS_MAX");
    check_interrupt()?;
    let base = Arc::new(build_segment_interruptibly(rows, columns.collect(), blobs)?);
    Ok(Built { id, base, keys })
}

/// The entries of each index.
fn key_entries(
    id: SegmentId,
    batches: &[RecordBatch],
    schema: &TableSchema,
    keys: &TableKeys,
) -> Vec<Vec<KeyEntry>> {
    let of_key = |key: &TableKey| {
        let mut entries = Vec::new();
        let mut position = 0;
        for batch in batches {
            let column = |&column: &usize| {
                Vector::from_array(schema.columns[column].column_type, batch.column(column))
            };
            let columns = key.shape.columns.iter().map(column).collect::<Vec<_>>();
            for row in 0..batch.num_rows() {
                let values = columns.iter().map(|vector| vector.datum(row)).collect::<Vec<_>>();
                let code = key.shape.code(values.iter());
                entries.push(KeyEntry { code, row: row_code(RowId { segment: id, position }) });
                position += 1;
            }
        }
        entries
    };
    keys.iter().map(of_key).collect()
}
