//! Changes of rows in the order in which they were made, found by row.
//!
//! - A log is append-only and shared by the versions that it made: each shows its first so many
//!   entries. The next version fills the next slot, which is filled once. Making it costs one entry,
//!   however many changes there are, and nothing that others read is copied.
//! - The entries of a row are chained, the newest first; who shows fewer skips the later ones.
//! - Who finds the next slot filled, or the log another lineage's, goes on in a layer of its own
//!   above it. Layers are few: beyond [`LAYERS_MAX`], and when most entries have newer ones, what is
//!   shown is copied.

use super::SEGMENT_ROWS_MAX;
use crate::types::Datum;
use gadus_base::CommitNumber;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Layers that a look-up goes through at most.
const LAYERS_MAX: u32 = 4;

/// Entries that have newer ones are let be until they outnumber the others by this,
const STALE_MIN: u32 = 1_024;

/// take more memory than this,
const STALE_BYTES_MAX: usize = 1 << 20;

/// or are so many of one row: whoever looks for a value of another column passes them.
const CHAIN_MAX: usize = 1_024;

/// Rows of a block: a kibibyte, allocated when one of them is changed.
const BLOCK_ROWS: u32 = 256;
const BLOCKS: usize = (SEGMENT_ROWS_MAX / BLOCK_ROWS) as usize;
const WORDS: u32 = BLOCK_ROWS / 64;

/// Entries of the first chunk; each further one has twice as many as the one before.
const CHUNK_ENTRIES: u32 = 16;
const CHUNKS: usize = 28;

/// Who makes the next version: the commits of the database, or a transaction for its own eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lineage {
    Head,
    Private,
}

/// One change of a row.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) position: u32,
    pub(super) at: CommitNumber,
    /// None where the row was changed in a way that is kept elsewhere.
    pub(super) patch: Option<(u32, Datum)>,
}

impl Entry {
    fn column(&self) -> Option<u32> {
        self.patch.as_ref().map(|(column, _)| *column)
    }
}

/// The changes that a version of a segment shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    log: Option<Arc<Log>>,
    /// Entries of the log's own layer.
    shown: u32,
    /// Entries of all layers.
    total: u32,
    /// Those of them that have no newer one of the same row and column.
    current: u32,
    /// The current ones that are patches.
    patches: u32,
    /// What the values of the others take beside their entries.
    stale_bytes: usize,
    /// Columns with patches.
    columns: Arc<[u32]>,
}

/// What a copy keeps of a row.
pub(super) enum Kept {
    /// The current entries.
    Current,
    /// That it was changed, and when.
    Mark,
    Nothing,
}

struct Log {
    lineage: Lineage,
    layer: u32,
    below: Option<(Arc<Log>, u32)>,
    chunks: [OnceLock<Box<[OnceLock<Linked>]>>; CHUNKS],
    blocks: [OnceLock<Box<Block>>; BLOCKS],
}

/// An entry, and the one before it of the same row.
struct Linked {
    entry: Entry,
    previous: u32,
    /// Entries of the row in this layer, up to this one.
    count: u32,
}

/// Where the newest entries of some rows are.
struct Block {
    /// Rows that have any.
    rows: [AtomicU64; WORDS as usize],
    /// One past the index of the newest entry.
    newest: [AtomicU32; BLOCK_ROWS as usize],
}

impl Changes {
    /// Adds a change, the newest of all.
    pub(super) fn push(&mut self, entry: Entry, lineage: Lineage) {
        if self.total > 2 * self.current + STALE_MIN
            || self.stale_bytes > STALE_BYTES_MAX
            || self.chain(entry.position) > CHAIN_MAX.max(2 * self.columns.len())
        {
            *self = self.copied(lineage, |_| Kept::Current);
        }
        let column = entry.column();
        if let Some(old) = column.and_then(|column| self.patched(entry.position, column)) {
            self.stale_bytes += size_of::<Linked>() + old.heap_bytes();
        }
        let is_current = self.of_row(entry.position).all(|other| other.column() != column);
        self.append(entry, lineage);
        self.current += u32::from(is_current);
        if let Some(column) = column.filter(|_| is_current) {
            self.patches += 1;
            if !self.columns.contains(&column) {
                self.columns = self.columns.iter().copied().chain([column]).collect();
            }
        }
    }

    /// Puts an entry into the log, or into a new layer.
    fn append(&mut self, entry: Entry, lineage: Lineage) {
        let mut entry = entry;
        if let Some(log) = self.log.as_ref().filter(|log| log.lineage == lineage) {
            match log.fill(self.shown, entry) {
                Ok(()) => {
                    self.shown += 1;
                    self.total += 1;
                    return;
                }
                Err(back) => entry = back,
            }
        }
        let layer = self.log.as_ref().map_or(0, |log| log.layer + 1);
        if layer == LAYERS_MAX {
            *self = self.copied(lineage, |_| Kept::Current);
            self.append(entry, lineage);
            return;
        }
        let below = self.log.take().map(|log| (log, self.shown));
        let log = Log::new(lineage, layer, below);
        assert!(log.fill(0, entry).is_ok(), "a new log's first slot is free");
        (self.log, self.shown) = (Some(Arc::new(log)), 1);
        self.total += 1;
    }

    /// What `keep` says of each row, given its newest entry, in a log of its own.
    pub(super) fn copied(&self, lineage: Lineage, keep: impl Fn(&Entry) -> Kept) -> Self {
        let mut copy = Self::default();
        for position in self.rows_within(0..SEGMENT_ROWS_MAX) {
            let Some(newest) = self.of_row(position).next() else { continue };
            match keep(newest) {
                Kept::Nothing => {}
                Kept::Mark => copy.push(Entry { patch: None, ..newest.clone() }, lineage),
                Kept::Current => {
                    let mut current: Vec<&Entry> = Vec::new();
                    for entry in self.of_row(position) {
                        if current.iter().all(|newer| newer.column() != entry.column()) {
                            current.push(entry);
                        }
                    }
                    current.into_iter().rev().for_each(|entry| copy.push(entry.clone(), lineage));
                }
            }
        }
        copy
    }

    /// The current entries with their columns at other places, or without a value where a column has none, in a
    /// log of its own.
    pub(super) fn renumbered(&self, place: impl Fn(u32) -> Option<u32>) -> Self {
        let mut copy = Self::default();
        let current = self.copied(Lineage::Head, |_| Kept::Current);
        for position in current.rows_within(0..SEGMENT_ROWS_MAX) {
            let mut entries = current.of_row(position).cloned().collect::<Vec<_>>();
            while let Some(Entry { position, at, patch }) = entries.pop() {
                let patch = patch.and_then(|(column, value)| Some((place(column)?, value)));
                copy.push(Entry { position, at, patch }, Lineage::Head);
            }
        }
        copy
    }

    /// How many entries of a row the log's own layer shows.
    fn chain(&self, position: u32) -> usize {
        let Some(log) = &self.log else { return 0 };
        let mut next = log.newest(position);
        while next > self.shown {
            next = log.linked(next - 1).previous;
        }
        next.checked_sub(1).map_or(0, |index| log.linked(index).count as usize)
    }

    /// Changes of a row, the newest first.
    pub(super) fn of_row(&self, position: u32) -> OfRow<'_> {
        let log = self.log.as_deref();
        OfRow { log, shown: self.shown, next: log.map_or(0, |log| log.newest(position)), position }
    }

    /// The newest value of a row's column.
    pub(super) fn patched(&self, position: u32, column: u32) -> Option<&Datum> {
        let mut patches = self.of_row(position).filter_map(|entry| entry.patch.as_ref());
        patches.find(|(of, _)| *of == column).map(|(_, value)| value)
    }

    /// Positions that may have changes, in order.
    pub(super) fn rows_within(&self, range: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let blocks = range.start / BLOCK_ROWS..range.end.div_ceil(BLOCK_ROWS);
        let words = blocks.flat_map(move |block| {
            let of_block = self.layers().any(|log| log.blocks[block as usize].get().is_some());
            let count = if of_block { WORDS } else { 0 };
            (0..count).map(move |word| (block, word))
        });
        words
            .flat_map(move |(block, word)| {
                let first = block * BLOCK_ROWS + word * 64;
                let of_layer = |log: &Log| {
                    let block = log.blocks[block as usize].get();
                    block.map_or(0, |block| block.rows[word as usize].load(Ordering::Acquire))
                };
                let bits = self.layers().map(of_layer).fold(0, |all, bits| all | bits);
                Bits(bits).map(move |bit| first + bit)
            })
            .filter(move |position| range.contains(position))
    }

    /// Patches that have no newer one.
    pub(super) fn patch_count(&self) -> u32 {
        self.patches
    }

    /// Columns with patches, in no order.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    fn layers(&self) -> impl Iterator<Item = &Log> {
        std::iter::successors(self.log.as_deref(), |log| log.below.as_ref().map(|(log, _)| &**log))
    }
}

/// The numbers of the bits that are set.
struct Bits(u64);

impl Iterator for Bits {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// See [`Changes::of_row`].
pub(super) struct OfRow<'a> {
    log: Option<&'a Log>,
    shown: u32,
    /// One past the index of the next entry.
    next: u32,
    position: u32,
}

impl<'a> Iterator for OfRow<'a> {
    type Item = &'a Entry;

    fn next(&mut self) -> Option<&'a Entry> {
        loop {
            let log = self.log?;
            while self.next > 0 {
                let (index, linked) = (self.next - 1, log.linked(self.next - 1));
                self.next = linked.previous;
                if index < self.shown {
                    return Some(&linked.entry);
                }
            }
            let (below, shown) = match &log.below {
                Some((below, shown)) => (Some(&**below), *shown),
                None => (None, 0),
            };
            self.next = below.map_or(0, |log| log.newest(self.position));
            (self.log, self.shown) = (below, shown);
        }
    }
}

impl Log {
    fn new(lineage: Lineage, layer: u32, below: Option<(Arc<Self>, u32)>) -> Self {
        Self {
            lineage,
            layer,
            below,
            chunks: [const { OnceLock::new() }; CHUNKS],
            blocks: [const { OnceLock::new() }; BLOCKS],
        }
    }

    /// Fills a slot, unless it is filled: then the entry comes back.
    fn fill(&self, index: u32, entry: Entry) -> Result<(), Entry> {
        let (chunk, slot) = place(index);
        let chunk = self.chunks[chunk].get_or_init(|| {
            let entries = CHUNK_ENTRIES << chunk;
            (0..entries).map(|_| OnceLock::new()).collect()
        });
        let (block, row) = (entry.position / BLOCK_ROWS, (entry.position % BLOCK_ROWS) as usize);
        let block = self.blocks[block as usize].get_or_init(Block::new);
        // Whoever fills a slot has seen all before it: nobody changes this meanwhile and succeeds.
        let previous = block.newest[row].load(Ordering::Acquire);
        let before = previous.checked_sub(1).map_or(0, |index| self.linked(index).count);
        let linked = Linked { entry, previous, count: before + 1 };
        chunk[slot].set(linked).map_err(|linked| linked.entry)?;
        block.newest[row].store(index + 1, Ordering::Release);
        block.rows[row / 64].fetch_or(1 << (row % 64), Ordering::Release);
        Ok(())
    }

    /// One past the index of a row's newest entry, zero when it has none.
    fn newest(&self, position: u32) -> u32 {
        let block = self.blocks[(position / BLOCK_ROWS) as usize].get();
        block.map_or(0, |block| {
            block.newest[(position % BLOCK_ROWS) as usize].load(Ordering::Acquire)
        })
    }

    fn linked(&self, index: u32) -> &Linked {
        let (chunk, slot) = place(index);
        let linked = self.chunks[chunk].get().and_then(|chunk| chunk[slot].get());
        linked.expect("a chain leads to filled slots")
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("lineage", &self.lineage).finish_non_exhaustive()
    }
}

impl Block {
    fn new() -> Box<Self> {
        Box::new(Self {
            rows: [const { AtomicU64::new(0) }; WORDS as usize],
            newest: [const { AtomicU32::new(0) }; BLOCK_ROWS as usize],
        })
    }
}

/// The chunk of an entry, and its slot there.
fn place(index: u32) -> (usize, usize) {
    let chunk = (index / CHUNK_ENTRIES + 1).ilog2();
    (chunk as usize, (index - CHUNK_ENTRIES * ((1 << chunk) - 1)) as usize)
}

#[cfg(test)]
mod tests;
