//! Rows that a statement holds outside of its plan, such as those that RETURNING gives afterwards.

use super::Memory;
use crate::error::limit;
use arrow::array::RecordBatch;
use gadus_base::ByteCount;
use gadus_engine::Result;

/// An account of such rows: all plans' memory has them until it is dropped.
#[derive(Debug)]
pub(crate) struct Gathered {
    memory: Memory,
    bytes: u64,
}

impl Gathered {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { memory: memory.clone(), bytes: 0 }
    }

    /// Adds rows that are held from now on.
    ///
    /// # Errors
    /// `Limit` when the statement would hold more than `gadus.memory_limit` allows.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter();
        let bytes = columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
        let bytes = bytes.sum::<usize>() as u64;
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
