//! Rows of the batches that leave a scan: as many as kernels like to get, or fewer where they are wide.
//!
//! - How wide values of text and binary columns are is known once some have been read, so the first batches of such
//!   columns are small. What has been learned holds for all segments of a scan; one with wider rows gives batches
//!   too large until it has been learned anew, but a segment of large rows has no more than 16 MiB.
//! - Wide values are copied out of their segment: a few of them would hold all of it in memory, as long as a client
//!   takes to read them.

#[cfg(test)]
mod tests;

use crate::types::{StorageClass, TableSchema, bytes_of};
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::DataType;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows of a batch at most: what `DataFusion` and Arrow kernels like to get.
const ROWS_MAX: usize = 8_192;

/// Rows of the first batch, whose width is not known.
const ROWS_FIRST: usize = 64;

/// A batch has this many times the rows of the one before it at most.
const GROWTH: usize = 16;

/// Bytes of a batch at most, as far as they can be known before.
const BYTES_MAX: usize = 4 << 20;

/// How many rows the next batch of a scan has.
#[derive(Debug)]
pub(super) struct BatchRows {
    rows: AtomicUsize,
    /// True if a column is of variable width.
    learns: bool,
}

impl BatchRows {
    /// Creates the batch size of a scan with these columns.
    pub(super) fn of(shape: &TableSchema, projection: &[usize]) -> Self {
        let is_wide =
            |&column: &usize| shape.columns[column].column_type.storage() == StorageClass::Bytes;
        let learns = projection.iter().any(is_wide);
        Self { rows: AtomicUsize::new(if learns { ROWS_FIRST } else { ROWS_MAX }), learns }
    }

    pub(super) fn next(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    /// Learns how wide rows are; `columns` are some, of as many rows. Wide values become their own.
    pub(super) fn learn(&self, columns: &mut [ArrayRef], rows: usize) {
        if !self.learns || rows == 0 {
            return;
        }
        let bytes = columns.iter().map(|column| bytes_of(column)).sum::<usize>();
        let fitting = BYTES_MAX * rows / bytes.max(1);
        if fitting < ROWS_MAX {
            columns.iter_mut().for_each(|column| *column = copied(column));
        }
        let next = fitting.clamp(1, ROWS_MAX).min(self.next() * GROWTH);
        self.rows.store(next, Ordering::Relaxed);
    }
}

/// Texts and binary values in memory of their own.
fn copied(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8View => Arc::new(array.as_string_view().gc()),
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        _ => array.clone(),
    }
}
