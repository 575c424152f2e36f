//! Rows that a statement holds outside of its plan, such as those that it changes, and that RETURNING gives afterwards.

use super::Memory;
use crate::error::{from_datafusion, limit};
use crate::value_limits::largest_and_all;
use arrow::array::RecordBatch;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::TryStreamExt;
use gadus_base::ByteCount;
use gadus_engine::Result;

/// Values of a transaction's changes are in memory, and once more in the log's record when it commits.
const COPIES_OF_CHANGES: u64 = 2;

/// An account of such rows: all plans' memory has them until it is dropped.
#[derive(Debug)]
pub(crate) struct Gathered {
    memory: Memory,
    bytes: u64,
    /// Copies of each row that the statement holds while it runs.
    copies: u64,
}

impl Gathered {
    /// Of rows that the statement holds once.
    pub(crate) fn new(memory: &Memory) -> Self {
        Self::with_copies(memory, 1)
    }

    /// Of rows of which the statement makes so many copies in all.
    pub(crate) fn with_copies(memory: &Memory, copies: u64) -> Self {
        Self { memory: memory.clone(), bytes: 0, copies }
    }

    /// Adds all rows of a stream, and returns them.
    pub(crate) async fn collect(
        &mut self,
        mut rows: SendableRecordBatchStream,
    ) -> Result<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        while let Some(batch) = rows.try_next().await.map_err(from_datafusion)? {
            self.add(&batch)?;
            batches.push(batch);
        }
        Ok(batches)
    }

    /// Adds rows that are held from now on.
    ///
    /// # Errors
    /// `Limit` when the statement would hold more than `gadus.memory_limit` allows.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        // Values that are one text in memory are as many where they are kept.
        let bytes = batch.columns().iter().map(|column| {
            let in_memory = column.to_data().get_slice_memory_size().unwrap_or(0);
            largest_and_all(column).1.max(in_memory as u64)
        });
        let bytes = bytes.fold(0, u64::saturating_add).saturating_mul(self.copies);
        if self.memory.is_beyond(self.bytes.saturating_add(bytes)) {
            return Err(limit(format!(
                "out of memory: the statement holds {} of rows; gadus.memory_limit is {}, change fewer rows \
                 at a time or raise it",
                ByteCount(self.bytes),
                self.memory.limit()
            )));
        }
        self.bytes += bytes;
        self.memory.hold(bytes);
        Ok(())
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.memory.release(self.bytes);
    }
}

/// Refuses changes of a transaction whose values take so many bytes, if that is more than there is.
///
/// # Errors
/// `Limit` when they hold more than `gadus.memory_limit` allows.
pub(super) fn check_changes(bytes: u64, memory: &Memory) -> Result<()> {
    if !memory.is_beyond(bytes.saturating_mul(COPIES_OF_CHANGES)) {
        return Ok(());
    }
    Err(limit(format!(
        "out of memory: the transaction holds {} of changed rows; gadus.memory_limit is {}, change fewer rows \
         in one transaction or raise it",
        ByteCount(bytes),
        memory.limit()
    )))
}
