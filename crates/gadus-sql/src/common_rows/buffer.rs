//! Rows of a common table: kept as they are made, for all readers.
//!
//! - Whoever asks for a row that is not there yet drives the input; the others are woken when it has made progress.
//! - Rows beyond the plan's memory are written to a file, which each reader then reads for itself.

use crate::memory::{Append, append_to_file};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::utils::memory::get_record_batch_memory_size;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{RecordBatchStream, SpillFile, TaskContext};
use datafusion::physical_plan::metrics::SpillMetrics;
use datafusion::physical_plan::{SendableRecordBatchStream, SpillManager};
use futures::{Stream, StreamExt};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Name under which buffers hold memory.
pub(crate) const CONSUMER: &str = "CommonTable";

/// Rows of one run.
pub(super) struct Buffer {
    schema: SchemaRef,
    spill: SpillManager,
    rows: Mutex<Rows>,
    waiting: Arc<Waiting>,
    /// True if a reader has found the rows locked since they were locked.
    has_missed: AtomicBool,
    readers: AtomicU64,
}

/// Rows that are there.
struct Rows {
    batches: Vec<RecordBatch>,
    memory: MemoryReservation,
    rest: Rest,
}

/// Rows behind those in memory.
enum Rest {
    /// Input that has more of them.
    Coming(SendableRecordBatchStream),
    /// Input whose rows go to a file.
    Spilling(SendableRecordBatchStream, Append),
    Spilled(Arc<dyn SpillFile>),
    None,
    Failed(Arc<DataFusionError>),
}

/// Place of the next row of a reader.
enum Next {
    Batch(RecordBatch),
    File(Arc<dyn SpillFile>),
    End,
}

/// Readers that wait for the input.
#[derive(Default)]
struct Waiting(Mutex<HashMap<u64, Waker>>);

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiting = std::mem::take(&mut *self.0.lock());
        waiting.into_values().for_each(Waker::wake);
    }
}

impl Buffer {
    /// Creates a buffer of rows that the input has not given yet.
    pub(super) fn new(
        input: SendableRecordBatchStream,
        metrics: SpillMetrics,
        task: &TaskContext,
    ) -> Self {
        let schema = input.schema();
        let memory =
            MemoryConsumer::new(CONSUMER).with_can_spill(true).register(task.memory_pool());
        Self {
            spill: SpillManager::new(task.runtime_env(), metrics, schema.clone()),
            schema,
            rows: Mutex::new(Rows { batches: Vec::new(), memory, rest: Rest::Coming(input) }),
            waiting: Arc::default(),
            has_missed: AtomicBool::new(false),
            readers: AtomicU64::new(0),
        }
    }

    /// Returns the rows from the first one on.
    pub(super) fn read(self: &Arc<Self>) -> Reader {
        let number = self.readers.fetch_add(1, Ordering::Relaxed);
        Reader { buffer: self.clone(), number, place: 0, file: None }
    }

    /// Looks for the batch at a place; drives the input if it is not there.
    fn poll(&self, reader: u64, place: usize, context: &Context<'_>) -> Poll<Result<Next>> {
        self.waiting.0.lock().insert(reader, context.waker().clone());
        let Some(mut rows) = self.lock() else { return Poll::Pending };
        let found = rows.poll(place, &self.spill, &mut Context::from_waker(&self.waker()));
        drop(rows);
        if found.is_ready() {
            self.waiting.0.lock().remove(&reader);
        }
        if found.is_ready() || self.has_missed.swap(false, Ordering::AcqRel) {
            self.waiting.wake_by_ref();
        }
        found
    }

    /// Locks the rows; `None` if another reader has them, which wakes those that wait when it unlocks them.
    fn lock(&self) -> Option<MutexGuard<'_, Rows>> {
        self.rows.try_lock().or_else(|| {
            self.has_missed.store(true, Ordering::Release);
            self.rows.try_lock()
        })
    }

    fn waker(&self) -> Waker {
        Waker::from(self.waiting.clone())
    }
}

impl Rows {
    fn poll(
        &mut self,
        place: usize,
        spill: &SpillManager,
        context: &mut Context<'_>,
    ) -> Poll<Result<Next>> {
        loop {
            if let Some(batch) = self.batches.get(place) {
                return Poll::Ready(Ok(Next::Batch(batch.clone())));
            }
            let (input, append) = match &mut self.rest {
                Rest::Coming(input) => (input, None),
                Rest::Spilling(input, append) => (input, Some(append)),
                Rest::Spilled(file) => return Poll::Ready(Ok(Next::File(file.clone()))),
                Rest::None => return Poll::Ready(Ok(Next::End)),
                Rest::Failed(error) => {
                    return Poll::Ready(Err(DataFusionError::Shared(error.clone())));
                }
            };
            let batch = match input.poll_next_unpin(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(batch) => batch.transpose(),
            };
            let taken = match (batch, append) {
                (Ok(Some(batch)), Some(append)) => append(Some(&batch)).map(|_| ()),
                (Ok(Some(batch)), None) => self.hold(batch, spill),
                (Ok(None), Some(append)) => append(None).map(|file| {
                    self.rest = file.map_or(Rest::None, Rest::Spilled);
                }),
                (Ok(None), None) => {
                    self.rest = Rest::None;
                    Ok(())
                }
                (Err(error), _) => Err(error),
            };
            if let Err(error) = taken {
                self.rest = Rest::Failed(Arc::new(error));
            }
        }
    }

    /// Keeps a batch in memory, or begins a file with it.
    fn hold(&mut self, batch: RecordBatch, spill: &SpillManager) -> Result<()> {
        if self.memory.try_grow(get_record_batch_memory_size(&batch)).is_ok() {
            self.batches.push(batch);
            return Ok(());
        }
        let mut append = append_to_file(spill, "rows of a common table")?;
        append(Some(&batch))?;
        if let Rest::Coming(input) = std::mem::replace(&mut self.rest, Rest::None) {
            self.rest = Rest::Spilling(input, append);
        }
        Ok(())
    }
}

/// Rows of a buffer for one reader.
pub(super) struct Reader {
    buffer: Arc<Buffer>,
    number: u64,
    place: usize,
    file: Option<SendableRecordBatchStream>,
}

impl Stream for Reader {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let reader = &mut *self;
        if let Some(file) = &mut reader.file {
            return file.poll_next_unpin(context);
        }
        match reader.buffer.poll(reader.number, reader.place, context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(Next::Batch(batch))) => {
                reader.place += 1;
                Poll::Ready(Some(Ok(batch)))
            }
            Poll::Ready(Ok(Next::File(file))) => {
                match reader.buffer.spill.read_spill_as_stream_unbuffered(file, None) {
                    Ok(rows) => reader.file.insert(rows).poll_next_unpin(context),
                    Err(error) => Poll::Ready(Some(Err(error))),
                }
            }
            Poll::Ready(Ok(Next::End)) => Poll::Ready(None),
            Poll::Ready(Err(error)) => Poll::Ready(Some(Err(error))),
        }
    }
}

impl RecordBatchStream for Reader {
    fn schema(&self) -> SchemaRef {
        self.buffer.schema.clone()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Its waker may be the one that the input wakes: the others look again.
        self.buffer.waiting.0.lock().remove(&self.number);
        self.buffer.waiting.wake_by_ref();
    }
}
