//! A layer of changes: a log that goes on, or what one statement changed at once.
//!
//! - Entries are numbered; those of a row are chained, the newest first.

use super::{Entry, Lineage};
use crate::segment::SEGMENT_ROWS_MAX;
use crate::segment::patches::Patches;
use crate::types::Datum;
use gadus_base::CommitNumber;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Rows of a block: a kibibyte, allocated when one of them is changed.
pub(super) const BLOCK_ROWS: u32 = 256;
const BLOCKS: usize = (SEGMENT_ROWS_MAX / BLOCK_ROWS) as usize;
pub(super) const WORDS: u32 = BLOCK_ROWS / 64;

/// Entries of a chunk: some kibibytes. One that was larger would be made by all processes that follow the same
/// commits at the same one, and all of their commits would wait for that.
const CHUNK_ENTRIES: u32 = 32;

/// The first group has one chunk, each further one twice as many as the one before.
const GROUPS: usize = 28;

/// A layer, and how many entries of the one below it are shown.
pub(super) struct Layer {
    /// How many are below.
    pub(super) depth: u32,
    pub(super) below: Option<(Arc<Layer>, u32)>,
    pub(super) entries: Entries,
}

pub(super) enum Entries {
    Log(Box<Log>),
    Batch(Batch),
}

/// A change of a row, where it is kept.
#[derive(Debug, Clone, Copy)]
pub(in crate::segment) struct Shown<'a> {
    pub(in crate::segment) at: CommitNumber,
    /// None where the row was changed in a way that is kept elsewhere.
    pub(in crate::segment) patch: Option<(u32, &'a Datum)>,
}

impl Shown<'_> {
    pub(super) fn column(&self) -> Option<u32> {
        self.patch.map(|(column, _)| column)
    }

    pub(super) fn to_entry(self, position: u32) -> Entry {
        let patch = self.patch.map(|(column, value)| (column, value.clone()));
        Entry { position, at: self.at, patch }
    }
}

/// An entry of a row, and the one before it.
pub(super) struct Link<'a> {
    pub(super) shown: Shown<'a>,
    /// One past its index, zero when there is none.
    pub(super) previous: u32,
    /// Entries of the row in this layer, up to this one.
    pub(super) count: u32,
}

impl Layer {
    /// One past the index of a row's newest entry, zero when it has none.
    pub(super) fn newest(&self, position: u32) -> u32 {
        match &self.entries {
            Entries::Log(log) => log.newest(position),
            Entries::Batch(batch) => batch.patches.place(position).map_or(0, |place| place + 1),
        }
    }

    pub(super) fn link(&self, index: u32) -> Link<'_> {
        match &self.entries {
            Entries::Log(log) => {
                let Linked { entry, previous, count } = log.linked(index);
                let patch = entry.patch.as_ref().map(|(column, value)| (*column, value));
                let shown = Shown { at: entry.at, patch };
                Link { shown, previous: *previous, count: *count }
            }
            Entries::Batch(batch) => {
                let (_, value) = &batch.patches.rows()[index as usize];
                let shown = Shown { at: batch.at, patch: Some((batch.column, value)) };
                Link { shown, previous: 0, count: 1 }
            }
        }
    }

    /// Whether rows of a block may have entries.
    pub(super) fn has_block(&self, block: u32) -> bool {
        match &self.entries {
            Entries::Log(log) => log.blocks[block as usize].get().is_some(),
            Entries::Batch(_) => true,
        }
    }

    /// A bit for each of the 64 positions from `word` × 64 on that may have an entry.
    pub(super) fn word(&self, word: u32) -> u64 {
        match &self.entries {
            Entries::Log(log) => {
                let block = log.blocks[(word / WORDS) as usize].get();
                block.map_or(0, |block| block.word(word % WORDS))
            }
            Entries::Batch(batch) => batch.patches.word(word),
        }
    }
}

/// New values of one column, which came at once.
pub(super) struct Batch {
    pub(super) column: u32,
    pub(super) at: CommitNumber,
    pub(super) patches: Arc<Patches>,
}

/// Entries that come one by one.
pub(super) struct Log {
    pub(super) lineage: Lineage,
    groups: [OnceLock<Box<[Chunk]>>; GROUPS],
    blocks: [OnceLock<Box<Block>>; BLOCKS],
}

/// Made when its first entry comes.
type Chunk = OnceLock<Box<[OnceLock<Linked>]>>;

struct Linked {
    entry: Entry,
    previous: u32,
    count: u32,
}

/// Where the newest entries of some rows are.
struct Block {
    /// Rows that have any.
    rows: [AtomicU64; WORDS as usize],
    /// One past the index of the newest entry.
    newest: [AtomicU32; BLOCK_ROWS as usize],
}

impl Log {
    /// What an entry takes beside its value.
    pub(super) const ENTRY_BYTES: usize = size_of::<Linked>();

    pub(super) fn new(lineage: Lineage) -> Box<Self> {
        Box::new(Self {
            lineage,
            groups: [const { OnceLock::new() }; GROUPS],
            blocks: [const { OnceLock::new() }; BLOCKS],
        })
    }

    /// Fills a slot, unless it is filled: then the entry comes back.
    pub(super) fn fill(&self, index: u32, entry: Entry) -> Result<(), Entry> {
        let Place { group, chunk, slot } = Place::of(index);
        let group = self.groups[group].get_or_init(|| empty_slots(1 << group));
        let chunk = group[chunk].get_or_init(|| empty_slots(CHUNK_ENTRIES as usize));
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

    fn newest(&self, position: u32) -> u32 {
        let block = self.blocks[(position / BLOCK_ROWS) as usize].get();
        block.map_or(0, |block| {
            block.newest[(position % BLOCK_ROWS) as usize].load(Ordering::Acquire)
        })
    }

    fn linked(&self, index: u32) -> &Linked {
        let Place { group, chunk, slot } = Place::of(index);
        let chunk = self.groups[group].get().and_then(|group| group[chunk].get());
        let linked = chunk.and_then(|chunk| chunk[slot].get());
        linked.expect("a chain leads to filled slots")
    }
}

impl std::fmt::Debug for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Layer").field("depth", &self.depth).finish_non_exhaustive()
    }
}

impl Block {
    fn word(&self, word: u32) -> u64 {
        self.rows[word as usize].load(Ordering::Acquire)
    }

    fn new() -> Box<Self> {
        Box::new(Self {
            rows: [const { AtomicU64::new(0) }; WORDS as usize],
            newest: [const { AtomicU32::new(0) }; BLOCK_ROWS as usize],
        })
    }
}

/// Where an entry is kept.
struct Place {
    group: usize,
    /// Within the group.
    chunk: usize,
    /// Within the chunk.
    slot: usize,
}

impl Place {
    fn of(index: u32) -> Self {
        let number = index / CHUNK_ENTRIES + 1;
        let group = number.ilog2();
        let (chunk, slot) = (number - (1 << group), index % CHUNK_ENTRIES);
        Self { group: group as usize, chunk: chunk as usize, slot: slot as usize }
    }
}

fn empty_slots<T>(count: usize) -> Box<[OnceLock<T>]> {
    (0..count).map(|_| OnceLock::new()).collect()
}
