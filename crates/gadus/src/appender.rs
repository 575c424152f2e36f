//! Bulk loads of Arrow batches.
//!
//! - Batches gather until they fill segments, which are then encoded by several threads; memory
//!   stays bounded however much is appended.
//! - Nothing is visible to others before a commit: [`Appender::flush`], [`Appender::finish`], or
//!   the connection's own when the appender joined its transaction.

use crate::runtime;
use arrow::array::{Array, ArrayRef, RecordBatch};
use gadus_engine::{Result, SEGMENT_ROWS_MAX};
use gadus_sql::Session;
use std::sync::Arc;

/// Segments that are handed on together: enough to keep several cores busy, few enough that their
/// rows fit memory and progress is seen.
const SEGMENTS_TOGETHER: usize = 4;
const ROWS_TOGETHER: usize = SEGMENTS_TOGETHER * SEGMENT_ROWS_MAX as usize;

/// Large values are not to gather until there are so many rows.
const BYTES_TOGETHER: usize = 256 << 20;

/// Takes batches whose columns are the table's, by position, or those that were named; values are cast as
/// by INSERT.
///
/// An appender that is dropped before [`Appender::finish`] rolls back what it has not flushed.
#[derive(Debug)]
pub struct Appender {
    session: Arc<Session>,
    table: String,
    columns: Vec<String>,
    /// Whether the session, and so the transaction, is the appender's own.
    alone: bool,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
    rows: u64,
}

impl Appender {
    /// In a transaction of its own.
    pub(crate) fn alone(
        session: Arc<Session>,
        table: String,
        columns: Vec<String>,
    ) -> Result<Self> {
        runtime::wait(session.execute("BEGIN", &[]))?;
        Ok(Self { alone: true, ..Self::joining(session, table, columns) })
    }

    /// In the open transaction of a session.
    pub(crate) fn joining(session: Arc<Session>, table: String, columns: Vec<String>) -> Self {
        let (waiting, waiting_rows, waiting_bytes, rows) = Default::default();
        Self { session, table, columns, alone: false, waiting, waiting_rows, waiting_bytes, rows }
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `NotFound` when there is no such table; `Input`, `OutOfRange`, `UniqueViolation` or
    /// `NotNullViolation` when the rows do not fit it; possibly for rows of an earlier batch.
    pub fn append(&mut self, mut batch: RecordBatch) -> Result<()> {
        while self.waiting_rows + batch.num_rows() >= ROWS_TOGETHER {
            let taken = ROWS_TOGETHER - self.waiting_rows;
            self.waiting.push(batch.slice(0, taken));
            batch = batch.slice(taken, batch.num_rows() - taken);
            self.hand_on()?;
        }
        if batch.num_rows() > 0 {
            self.waiting_rows += batch.num_rows();
            // Of slices, what they show of their buffers.
            let bytes = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
            self.waiting_bytes += batch.columns().iter().map(bytes).sum::<usize>();
            self.waiting.push(batch);
        }
        if self.waiting_bytes >= BYTES_TOGETHER {
            self.hand_on()?;
        }
        Ok(())
    }

    /// Writes what waits, and commits unless the appender joined a transaction; returns all rows
    /// appended so far.
    ///
    /// # Errors
    /// As [`Appender::append`], and those of a commit.
    pub fn flush(&mut self) -> Result<u64> {
        self.hand_on()?;
        if self.alone {
            runtime::wait(self.session.execute("COMMIT", &[]))?;
            runtime::wait(self.session.execute("BEGIN", &[]))?;
        }
        Ok(self.rows)
    }

    /// Writes what waits, and commits unless the appender joined a transaction; returns all rows
    /// appended.
    ///
    /// # Errors
    /// As [`Appender::flush`].
    pub fn finish(mut self) -> Result<u64> {
        self.hand_on()?;
        if self.alone {
            runtime::wait(self.session.execute("COMMIT", &[]))?;
        }
        Ok(self.rows)
    }

    fn hand_on(&mut self) -> Result<()> {
        let batches = std::mem::take(&mut self.waiting);
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        if !batches.is_empty() {
            self.rows += runtime::wait(self.session.append(&self.table, &self.columns, batches))?;
        }
        Ok(())
    }
}
