//! One pass over the table: chunks of rows, column after column.
//!
//! - A chunk's hashes and the filter that they are held against stay in the nearest cache. Nothing is
//!   allocated for a row.
//! - Threads take pieces of many chunks, and add up what they found at the end.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::index::{BITS, BYTES, Filter, Index, Probe, first_hash, next_hash};
use super::shapes::KEYS;
use super::table::{Table, Values};

/// Rows of a chunk: 4 KiB of hashes, and as much again of the rows that pass a filter.
pub(super) const CHUNK_ROWS: usize = 1024;
/// Chunks that a thread takes at a time.
const CHUNKS_AT_A_TIME: usize = 16;

/// What was found for a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) count: u64,
    pub(super) sum: i64,
}

/// What a thread works with.
struct Chunk {
    hashes: [u32; CHUNK_ROWS],
    passed: [u32; CHUNK_ROWS],
}

/// What the distinct statements of an index find.
pub(super) fn pass(table: &Table, index: &Index, threads: usize) -> Vec<Total> {
    let next = AtomicUsize::new(0);
    let piece_rows = CHUNK_ROWS * CHUNKS_AT_A_TIME;
    let work = || {
        let mut totals = vec![Total::default(); index.distinct];
        let mut chunk = Chunk { hashes: [0; CHUNK_ROWS], passed: [0; CHUNK_ROWS] };
        loop {
            let begin = next.fetch_add(piece_rows, Ordering::Relaxed);
            let end = table.rows.min(begin + piece_rows);
            for first in (begin..end).step_by(CHUNK_ROWS) {
                let rows = CHUNK_ROWS.min(end - first);
                for probe in &index.probes {
                    chunk.probe(table, probe, first, rows, &mut totals);
                }
            }
            if end == table.rows {
                return totals;
            }
        }
    };
    let others = threads.min(table.rows.div_ceil(piece_rows)).saturating_sub(1);
    std::thread::scope(|scope| {
        let others = (0..others).map(|_| scope.spawn(work)).collect::<Vec<_>>();
        let mut totals = work();
        for other in others {
            let found = other.join().expect("a pass does not break off");
            for (total, more) in totals.iter_mut().zip(found) {
                total.count += more.count;
                total.sum += more.sum;
            }
        }
        totals
    })
}

impl Chunk {
    /// Looks up one kind of key for some rows.
    fn probe(
        &mut self,
        table: &Table,
        probe: &Probe,
        first: usize,
        rows: usize,
        totals: &mut [Total],
    ) {
        for (place, part) in KEYS[probe.key].iter().enumerate() {
            let hashes = &mut self.hashes[..rows];
            match table.column(part.column) {
                Values::Short(values) => hash(hashes, &values[first..], part.shift, place),
                Values::Middle(values) => hash(hashes, &values[first..], part.shift, place),
                Values::Long(values) => hash(hashes, &values[first..], part.shift, place),
            }
        }
        let hashes = &self.hashes[..rows];
        let passed = probe.filter.select(hashes, &mut self.passed);
        for &row in &self.passed[..passed] {
            probe.add(table, first + row as usize, hashes[row as usize], totals);
        }
    }
}

impl Filter {
    /// The rows whose hashes it has, and a few others; gives how many.
    pub(super) fn select(&self, hashes: &[u32], passed: &mut [u32; CHUNK_ROWS]) -> usize {
        match self {
            Self::Bytes(bytes) => {
                select(hashes, passed, |hash| bytes[(hash >> (u32::BITS - BYTES)) as usize] != 0)
            }
            Self::Bits(words) => select(hashes, passed, |hash| {
                let bit = hash >> (u32::BITS - BITS);
                (words[(bit >> 6) as usize] >> (bit & 63)) & 1 == 1
            }),
        }
    }
}

/// A value of a column.
trait Value: Copy {
    /// What is left without the lowest bits: as much as a hash takes.
    fn above(self, shift: u32) -> u32;
}

macro_rules! value {
    ($kind:ty, $wide:ty) => {
        impl Value for $kind {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as in `low_bits`
            fn above(self, shift: u32) -> u32 {
                (<$wide>::from(self) >> shift) as u32
            }
        }
    };
}

value!(i16, i32);
value!(i32, i32);
value!(i64, i64);

/// Hashes of a key's first part, or with one more part.
fn hash<V: Value>(hashes: &mut [u32], values: &[V], shift: u32, place: usize) {
    let both = hashes.iter_mut().zip(values);
    match (place, shift) {
        (0, _) => both.for_each(|(hash, value)| *hash = first_hash(value.above(shift))),
        (_, 0) => both.for_each(|(hash, value)| *hash = next_hash(*hash, value.above(0))),
        _ => both.for_each(|(hash, value)| *hash = next_hash(*hash, value.above(shift))),
    }
}

/// The rows that pass, without a branch; gives how many.
fn select(hashes: &[u32], passed: &mut [u32; CHUNK_ROWS], passes: impl Fn(u32) -> bool) -> usize {
    let mut count = 0;
    for (row, &hash) in (0_u32..).zip(hashes) {
        // The mask only tells the compiler what holds anyhow: no more pass than there are.
        passed[count & (CHUNK_ROWS - 1)] = row;
        count += usize::from(passes(hash));
    }
    count
}
