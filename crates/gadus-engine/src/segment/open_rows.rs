//! Rows appended in memory behind a segment's base.
//!
//! - Append-only: the slot of a position is filled once, by the holder of the commit lock, before
//!   any version that shows it exists; readers look only at positions that their version shows.

use super::SEGMENT_ROWS_MAX;
use crate::types::Datum;
use std::sync::{Arc, OnceLock};

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
}

impl OpenRows {
    pub(crate) fn new(first: u32) -> Self {
        Self { first, chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// Fills the slot of a position.
    pub(crate) fn put(&self, position: u32, row: Row) {
        let (chunk, slot) = self.place(position);
        let chunk =
            self.chunks[chunk].get_or_init(|| (0..CHUNK_ROWS).map(|_| OnceLock::new()).collect());
        assert!(chunk[slot].set(row).is_ok(), "a position is filled once");
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

impl std::fmt::Debug for OpenRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenRows").field("first", &self.first).finish_non_exhaustive()
    }
}
