//! Rows of the batches that leave a scan: as many as kernels like to get, or fewer where they are wide.
//!
//! - How wide values of text and binary columns are is known once some have been read, so the first batches of such
//!   columns are small. What has been learned holds for all segments of a scan; rows that are wider are cut to
//!   pieces: all rows may have one value of a dictionary, of which expressions make a value for each row.
//! - Wide values are copied out of their segment where they are few of it: they would hold all of it in memory, as
//!   long as a client takes to read them. A reader that keeps several batches copies each one when it is due
//!   ([`ScannedBatch`]).

#[cfg(test)]
mod tests;

use crate::types::{StorageClass, TableSchema, bytes_of};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::buffer::Buffer;
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
pub(crate) struct BatchRows {
    rows: AtomicUsize,
    /// True if a column is of variable width.
    learns: bool,
}

impl BatchRows {
    /// Creates the batch size of a scan with these columns.
    pub(crate) fn of(shape: &TableSchema, projection: &[usize]) -> Self {
        let is_wide =
            |&column: &usize| shape.columns[column].column_type.storage() == StorageClass::Bytes;
        let learns = projection.iter().any(is_wide);
        Self { rows: AtomicUsize::new(if learns { ROWS_FIRST } else { ROWS_MAX }), learns }
    }

    pub(crate) fn next(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    /// Learns how wide rows are, and cuts them to batches of [`BYTES_MAX`], or of one row that is wider.
    pub(crate) fn pieces(&self, rows: RecordBatch) -> impl Iterator<Item = ScannedBatch> {
        let (count, mut first, mut fitting) = (rows.num_rows(), 0, usize::MAX);
        let mut fits = true;
        if self.learns && count > 0 {
            let bytes = bytes_of_rows(&rows);
            fits = bytes <= BYTES_MAX;
            fitting = BYTES_MAX * count / bytes.max(1);
            let next = fitting.clamp(1, ROWS_MAX).min(self.next() * GROWTH);
            self.rows.store(next, Ordering::Relaxed);
        }
        std::iter::from_fn(move || {
            let left = rows.slice(first, count - first);
            let taken = if fits { count - first } else { fitting_rows(&left) };
            first += taken;
            let rows = left.slice(0, taken);
            (taken > 0).then_some(ScannedBatch { rows, is_wide: fitting < ROWS_MAX })
        })
    }
}

/// A batch of a scan that may still hold all of its segment.
#[derive(Debug)]
pub struct ScannedBatch {
    rows: RecordBatch,
    is_wide: bool,
}

impl ScannedBatch {
    /// Returns the number of its rows.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }

    /// Returns the buffers of texts and binary values that it holds if its rows are wide, each by its address and size.
    pub fn wide_buffers(&self) -> impl Iterator<Item = (usize, usize)> {
        let columns = self.rows.columns().iter().filter(|_| self.is_wide);
        let buffers = columns.flat_map(|column| match column.data_type() {
            DataType::Utf8View => column.as_string_view().data_buffers(),
            DataType::BinaryView => column.as_binary_view().data_buffers(),
            _ => &[],
        });
        buffers.map(|buffer| (buffer.as_ptr().addr(), buffer.len()))
    }

    /// Returns the rows with values of their own, where they are wide and few of their segment.
    #[must_use]
    pub fn into_own(self) -> RecordBatch {
        if self.is_wide { with_own_values(&self.rows) } else { self.rows }
    }
}

/// How many of the first rows fit a batch: one at least.
fn fitting_rows(rows: &RecordBatch) -> usize {
    let mut bytes = 0;
    for row in 0..rows.num_rows() {
        let columns = rows.columns().iter();
        bytes += columns.map(|column| bytes_of(&column.slice(row, 1))).sum::<usize>();
        if bytes > BYTES_MAX && row > 0 {
            return row;
        }
    }
    rows.num_rows()
}

fn bytes_of_rows(rows: &RecordBatch) -> usize {
    rows.columns().iter().map(|column| bytes_of(column)).sum()
}

fn with_own_values(rows: &RecordBatch) -> RecordBatch {
    let columns = rows.columns().iter().map(copied).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    let copied = RecordBatch::try_new_with_options(rows.schema(), columns, &options);
    copied.expect("values keep their types")
}

/// Texts and binary values in memory of their own, unless what holds them holds little else.
fn copied(array: &ArrayRef) -> ArrayRef {
    let wastes =
        |buffers: &[Buffer]| buffers.iter().map(Buffer::len).sum::<usize>() > bytes_of(array);
    match array.data_type() {
        DataType::Utf8View if wastes(array.as_string_view().data_buffers()) => {
            Arc::new(array.as_string_view().gc())
        }
        DataType::BinaryView if wastes(array.as_binary_view().data_buffers()) => {
            Arc::new(array.as_binary_view().gc())
        }
        _ => array.clone(),
    }
}
