//! Rows appended in memory behind a segment's base.
//!
//! - Append-only: the slot of a position is filled once, by the holder of the commit lock, before
//!   any version that shows it exists; readers look only at positions that their version shows.
//!
//! Byte table of rows, as records and blobs hold them: row count u32 | columns u32 | values, row by
//! row.
//! Byte table of a blob of open rows (version 1): version u8 | rows.

use super::SEGMENT_ROWS_MAX;
use crate::error::Result;
use crate::interrupt_check::InterruptCheck;
use crate::types::{Datum, TableSchema};
use gadus_base::{ByteReader, ByteWriter, DecodeError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

const VERSION: u8 = 1;

/// One row: a datum for each column.
pub(crate) type Row = Arc<[Datum]>;

/// Rows of a chunk: its slots take 24 KiB, allocated when its first row comes.
const CHUNK_ROWS: u32 = 1_024;
const CHUNKS: usize = (SEGMENT_ROWS_MAX / CHUNK_ROWS) as usize;

/// Slots for the rows of one segment that are not encoded yet.
pub(crate) struct OpenRows {
    /// The first position kept here.
    first: u32,
    chunks: [OnceLock<Box<[OnceLock<Row>]>>; CHUNKS],
    /// What the values of all rows so far hold, beside their slots.
    bytes: AtomicU64,
}

impl OpenRows {
    pub(crate) fn new(first: u32) -> Self {
        let chunks = [const { OnceLock::new() }; CHUNKS];
        Self { first, chunks, bytes: AtomicU64::new(0) }
    }

    /// Fills the slot of a position.
    pub(crate) fn put(&self, position: u32, row: Row) {
        let (chunk, slot) = self.place(position);
        self.bytes.fetch_add(row_bytes(&row), Ordering::Relaxed);
        let chunk =
            self.chunks[chunk].get_or_init(|| (0..CHUNK_ROWS).map(|_| OnceLock::new()).collect());
        assert!(chunk[slot].set(row).is_ok(), "a position is filled once");
    }

    /// About what the rows of a version hold: rows that newer ones show count, too.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The row at a position that a version shows.
    pub(crate) fn row(&self, position: u32) -> &[Datum] {
        self.slot(position)
    }

    /// The same row, shared.
    pub(crate) fn shared_row(&self, position: u32) -> Row {
        self.slot(position).clone()
    }

    fn slot(&self, position: u32) -> &Row {
        let (chunk, slot) = self.place(position);
        self.chunks[chunk]
            .get()
            .and_then(|chunk| chunk[slot].get())
            .expect("a version shows filled positions only")
    }

    fn place(&self, position: u32) -> (usize, usize) {
        let index = position - self.first;
        ((index / CHUNK_ROWS) as usize, (index % CHUNK_ROWS) as usize)
    }
}

/// What the values of a row hold beside their slots.
pub(crate) fn row_bytes(row: &[Datum]) -> u64 {
    row.iter().map(|value| value.heap_bytes() as u64).sum()
}

pub(crate) fn encode_rows(rows: &[Row], to: &mut ByteWriter) {
    encode_counts(rows, to);
    rows.iter().for_each(|row| encode_row(row, to));
}

/// Encodes rows unless the statement that this thread works for is to end.
pub(crate) fn encode_rows_interruptibly(rows: &[Row], to: &mut ByteWriter) -> Result<()> {
    encode_counts(rows, to);
    let mut check = InterruptCheck::default();
    rows.iter().try_for_each(|row| {
        let before = to.len();
        encode_row(row, to);
        check.row_of(to.len() - before)
    })
}

/// Encodes how many rows there are, of how many values, and makes room for the long ones.
fn encode_counts(rows: &[Row], to: &mut ByteWriter) {
    let count = |length: usize| u32::try_from(length).expect("a segment's rows and columns");
    to.u32(count(rows.len()));
    to.u32(count(rows.first().map_or(0, |row| row.len())));
    let bytes = rows.iter().map(|row| row_bytes(row)).sum::<u64>();
    to.reserve(usize::try_from(bytes).expect("rows in memory"));
}

fn encode_row(row: &Row, to: &mut ByteWriter) {
    row.iter().for_each(|value| value.encode(to));
}

pub(crate) fn decode_rows(from: &mut ByteReader<'_>) -> std::result::Result<Vec<Row>, DecodeError> {
    let offset = from.offset();
    let (count, columns) = (from.u32()? as usize, from.u32()? as usize);
    // A value takes at least a byte.
    if columns == 0 || count.saturating_mul(columns) > from.remaining() {
        return Err(DecodeError { offset, expected: "a count that fits the bytes" });
    }
    let mut rows = Vec::with_capacity(count);
    for _ in 0..count {
        let row: Vec<Datum> =
            (0..columns).map(|_| Datum::decode(from)).collect::<Result<_, _>>()?;
        rows.push(Arc::from(row));
    }
    Ok(rows)
}

/// True if a blob holds two rows as the same bytes, also where no value equals itself.
pub(super) fn are_same_bytes(row: &Row, other: &Row) -> bool {
    let bytes = |row: &Row| {
        let mut to = ByteWriter::new();
        row.iter().for_each(|value| value.encode(&mut to));
        to.finish()
    };
    row.len() == other.len() && bytes(row) == bytes(other)
}

/// The blob that holds some rows.
pub(super) fn encode_blob(rows: &[Row]) -> Vec<u8> {
    let mut to = ByteWriter::new();
    to.u8(VERSION);
    encode_rows(rows, &mut to);
    to.finish()
}

/// Reads a blob of at most `rows_max` rows of a table.
pub(super) fn decode_blob(
    bytes: &[u8],
    schema: &TableSchema,
    rows_max: u32,
) -> std::result::Result<Vec<Row>, DecodeError> {
    let mut from = ByteReader::new(bytes);
    if from.u8()? != VERSION {
        return Err(DecodeError { offset: 0, expected: "open rows of version 1" });
    }
    let offset = from.offset();
    let rows = decode_rows(&mut from)?;
    if rows.len() > rows_max as usize || !rows.iter().all(|row| schema.admits(row)) {
        return Err(DecodeError { offset, expected: "rows that their segment can hold" });
    }
    from.end()?;
    Ok(rows)
}

impl std::fmt::Debug for OpenRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenRows").field("first", &self.first).finish_non_exhaustive()
    }
}
