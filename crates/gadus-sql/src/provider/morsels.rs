//! How a partition of a scan reads morsels, in turns after which other tasks have the thread.

use super::Reading;
use super::dynamic::Dynamic;
use super::measured::ScanFigures;
use crate::error::to_datafusion;
use crate::pace::TURN;
use arrow::array::RecordBatch;
use datafusion::error::Result;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use gadus_base::clock;
use gadus_engine::{Scan, ScannedBatch, ScansAlone};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One partition of a scan.
pub(super) struct Reader {
    pub(super) reading: Reading,
    pub(super) scan: Arc<Scan>,
    pub(super) next: Arc<AtomicUsize>,
    /// Rows that it gives at most.
    pub(super) left: usize,
    /// Batches of the last morsel.
    pub(super) waiting: VecDeque<ScannedBatch>,
    pub(super) held: WideMorsels,
    pub(super) figures: Option<Arc<ScanFigures>>,
    pub(super) dynamic: Option<Dynamic>,
    pub(super) _alone: Option<Arc<ScansAlone>>,
}

impl Reader {
    /// Returns the next batch. It is empty if no row has passed for a whole turn, so that other tasks get the thread.
    pub(super) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let turn = clock().now();
        while self.left > 0 {
            if let Some(batch) = self.waiting.pop_front() {
                let batch = batch.into_own();
                let batch = match &mut self.dynamic {
                    Some(dynamic) => dynamic.passing(batch)?,
                    None => batch,
                };
                let rows = batch.num_rows().min(self.left);
                if rows > 0 {
                    self.left -= rows;
                    return Ok(Some(batch.slice(0, rows)));
                }
            } else {
                if !self.read_morsel()? {
                    return Ok(None);
                }
                if !self.waiting.is_empty() {
                    continue;
                }
            }
            if turn.elapsed() > TURN {
                return Ok(Some(RecordBatch::new_empty(self.scan.schema().clone())));
            }
        }
        Ok(None)
    }

    /// Reads the next morsel; false if there is none.
    fn read_morsel(&mut self) -> Result<bool> {
        let morsel = self.next.fetch_add(1, Ordering::Relaxed);
        if morsel >= self.scan.morsels() {
            return Ok(false);
        }
        let (waiting, left) = (&mut self.waiting, self.left);
        let (mut rows, mut buffers) = (0, BTreeMap::new());
        self.scan
            .morsel_batches(morsel, |batch| {
                rows += batch.num_rows();
                buffers.extend(batch.wide_buffers());
                waiting.push_back(batch);
                if rows >= left { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .map_err(to_datafusion)?;
        self.held.note(buffers.values().sum());
        self.reading.progress.morsel_read();
        if let Some(figures) = &self.figures {
            figures.segment();
        }
        Ok(true)
    }
}

/// The memory of a morsel of wide rows, which are read with all of their segment.
///
/// - It is on the account of the plan, so that operators that can spill do so earlier. The scan itself is never refused.
/// - It is kept until the partition ends: the next morsel will be as large.
pub(super) struct WideMorsels {
    pool: Arc<dyn MemoryPool>,
    reserved: Option<MemoryReservation>,
    /// Partitions that read at the same time.
    partitions: usize,
}

impl WideMorsels {
    /// Less than this is what any scan takes.
    const BYTES_MIN: usize = 1 << 20;

    /// Scans count for this part of the memory limit at most: the rest of a plan needs room to work in.
    const PART: usize = 4;

    pub(super) fn new(pool: &Arc<dyn MemoryPool>, partitions: usize) -> Self {
        Self { pool: pool.clone(), reserved: None, partitions }
    }

    /// Counts a morsel that holds so many bytes of wide rows.
    fn note(&mut self, bytes: usize) {
        if bytes < Self::BYTES_MIN {
            return;
        }
        let bytes = match self.pool.memory_limit() {
            MemoryLimit::Finite(limit) => bytes.min(limit / Self::PART / self.partitions.max(1)),
            _ => bytes,
        };
        let anew = || MemoryConsumer::new("WideMorsels").register(&self.pool);
        let reserved = self.reserved.get_or_insert_with(anew);
        reserved.grow(bytes.saturating_sub(reserved.size()));
    }
}
