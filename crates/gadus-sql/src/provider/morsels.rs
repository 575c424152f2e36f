//! How a partition of a scan reads morsels, in turns after which other tasks have the thread.

use super::Reading;
use super::dynamic::Dynamic;
use super::measured::ScanFigures;
use crate::error::to_datafusion;
use crate::pace::TURN;
use arrow::array::RecordBatch;
use datafusion::error::Result;
use gadus_base::clock;
use gadus_engine::{Scan, ScansAlone};
use std::collections::VecDeque;
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
    pub(super) waiting: VecDeque<RecordBatch>,
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
        let mut rows = 0;
        self.scan
            .morsel(morsel, |batch| {
                rows += batch.num_rows();
                waiting.push_back(batch);
                if rows >= left { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .map_err(to_datafusion)?;
        self.reading.progress.morsel_read();
        if let Some(figures) = &self.figures {
            figures.segment();
        }
        Ok(true)
    }
}
