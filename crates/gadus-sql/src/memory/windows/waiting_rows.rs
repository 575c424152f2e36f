//! A queue of rows that wait for the results of window expressions; it spills from its front.
//!
//! - The newest batch is not counted: where results come as fast as rows, no batch is ever measured.
//! - At most one file is written at a time, before all batches in memory. When its rows are wanted, it is written no
//!   further; what spills afterwards goes into another one.
//! - Columns that expressions refer to are in memory until the rows are taken. They are counted apart once the rows that
//!   have them are spilled.

use super::WINDOW;
use super::columns::NeededColumns;
use crate::memory::spill::{Append, append_to_file};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::metrics::SpillMetrics;
use datafusion::physical_plan::{SendableRecordBatchStream, SpillManager};
use futures::StreamExt;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// The rows of one partition of a plan, shared by what fills the queue and what empties it.
pub(super) type SharedRows = Arc<Mutex<WaitingRows>>;

pub(super) struct WaitingRows {
    needed: Arc<NeededColumns>,
    spill: SpillManager,
    /// Of batches in memory.
    rows: MemoryReservation,
    /// Of needed columns whose rows are spilled.
    columns: MemoryReservation,
    /// The front of the queue, if it is being written.
    written: Option<Written>,
    batches: VecDeque<Waiting>,
}

struct Written {
    append: Append,
    batches: usize,
    needed_bytes: usize,
}

struct Waiting {
    batch: RecordBatch,
    /// None while it is not counted.
    bytes: Option<(usize, usize)>,
}

/// The front of the queue.
pub(super) enum Front {
    Batch(RecordBatch),
    /// Batches that come from a file.
    Spilled(SpilledRows),
}

/// Rows that are read again. The columns that were held meanwhile are counted until their rows are read.
pub(super) struct SpilledRows {
    rows: SendableRecordBatchStream,
    batches_left: usize,
    needed: MemoryReservation,
}

impl SpilledRows {
    /// Returns the next batch; none after the last one.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.rows.next().await.transpose()? else { return Ok(None) };
        let part = self.needed.size() / self.batches_left.max(1);
        self.needed.try_shrink(part)?;
        self.batches_left = self.batches_left.saturating_sub(1);
        Ok(Some(batch))
    }
}

impl WaitingRows {
    pub(super) fn new(
        schema: SchemaRef,
        needed: Arc<NeededColumns>,
        metrics: SpillMetrics,
        task: &TaskContext,
    ) -> Self {
        let pool = task.memory_pool();
        Self {
            needed,
            spill: SpillManager::new(task.runtime_env(), metrics, schema),
            rows: MemoryConsumer::new("WindowRows").with_can_spill(true).register(pool),
            columns: MemoryConsumer::new(WINDOW).register(pool),
            written: None,
            batches: VecDeque::new(),
        }
    }

    pub(super) fn shared(self) -> SharedRows {
        Arc::new(Mutex::new(self))
    }

    /// An account of what cannot spill.
    pub(super) fn account(&self) -> MemoryReservation {
        self.columns.new_empty()
    }

    /// Returns the bytes that are held for all rows but the newest ones.
    pub(super) fn bytes(&self) -> usize {
        self.rows.size() + self.columns.size()
    }

    /// Adds rows, right after the input has given them.
    pub(super) fn push(&mut self, batch: RecordBatch) -> Result<()> {
        if let Some(newest) = self.batches.back_mut() {
            let (bytes, needed) = self.needed.bytes(&newest.batch);
            newest.bytes = Some((bytes, needed));
            if self.rows.try_grow(bytes).is_err() {
                newest.bytes = Some((0, needed));
                self.write()?;
            }
        }
        self.batches.push_back(Waiting { batch, bytes: None });
        Ok(())
    }

    /// Writes all batches to the file.
    fn write(&mut self) -> Result<()> {
        let written = match &mut self.written {
            Some(written) => written,
            none => {
                let append = append_to_file(&self.spill, "rows of windows")?;
                none.insert(Written { append, batches: 0, needed_bytes: 0 })
            }
        };
        while let Some(Waiting { batch, bytes }) = self.batches.pop_front() {
            let (bytes, needed) = bytes.unwrap_or_default();
            (written.append)(Some(&batch))?;
            drop(batch);
            self.rows.try_shrink(bytes)?;
            self.columns.try_grow(needed)?;
            written.batches += 1;
            written.needed_bytes += needed;
        }
        Ok(())
    }

    /// Takes the rows that came first.
    pub(super) fn pop(&mut self) -> Result<Option<Front>> {
        if let Some(mut written) = self.written.take()
            && let Some(file) = (written.append)(None)?
        {
            return Ok(Some(Front::Spilled(SpilledRows {
                rows: self.spill.read_spill_as_stream_unbuffered(file, None)?,
                batches_left: written.batches,
                needed: self.columns.split(written.needed_bytes),
            })));
        }
        let Some(Waiting { batch, bytes }) = self.batches.pop_front() else { return Ok(None) };
        self.rows.try_shrink(bytes.unwrap_or_default().0)?;
        Ok(Some(Front::Batch(batch)))
    }
}
