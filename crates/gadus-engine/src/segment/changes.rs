//! Changes of rows in the order in which they were made, found by row.
//!
//! - A log is append-only and shared by the versions that it made: each shows its first so many
//!   entries. The next version fills the next slot, which is filled once. Making it costs one entry,
//!   however many changes there are, and nothing that others read is copied.
//! - The entries of a row are chained, the newest first; who shows fewer skips the later ones.
//! - Who finds the next slot filled, or the log another lineage's, goes on in a layer of its own
//!   above it.
//! - Many values that come at once are a layer as they are: whoever shows them shares them.
//! - Layers are few: beyond [`LAYERS_MAX`], and when most entries have newer ones, what is shown is
//!   copied.

mod layer;

use super::SEGMENT_ROWS_MAX;
use super::patches::Patches;
use crate::types::Datum;
use gadus_base::CommitNumber;
use layer::{BLOCK_ROWS, Batch, Entries, Layer, Log, WORDS};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

pub(super) use layer::Shown;

/// Layers that a look-up goes through at most.
const LAYERS_MAX: u32 = 4;

/// Steps between the earliest and the latest time at which a process copies what it shows.
const LAGS: u32 = 16;

/// Entries that have newer ones are let be until they outnumber the others by this,
const STALE_MIN: u32 = 1_024;

/// take more memory than this,
const STALE_BYTES_MAX: usize = 1 << 20;

/// or are so many of one row: whoever looks for a value of another column passes them.
const CHAIN_MAX: usize = 1_024;

/// Fewer values than one to so many entries are put into the log: else copies, which layers lead to, would cost more
/// than layers save.
const BATCH_SHARE: u32 = 8;

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
    top: Option<Arc<Layer>>,
    /// Entries of the top layer.
    shown: u32,
    /// Entries of all layers.
    total: u32,
    /// Those of them that have no newer one of the same row and column.
    current: u32,
    /// The current ones that are patches.
    patches: u32,
    /// What the others take.
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

impl Changes {
    /// Adds a change, the newest of all.
    pub(super) fn push(&mut self, entry: Entry, lineage: Lineage) {
        if self.is_stale() || self.chain(entry.position) > CHAIN_MAX.max(2 * self.columns.len()) {
            *self = self.copied(lineage, |_| Kept::Current);
        }
        let column = entry.column();
        let is_new = match self.find(entry.position, column) {
            Some(Shown { patch, .. }) => {
                let value = patch.map_or(0, |(_, value)| value.heap_bytes());
                self.stale_bytes += Log::ENTRY_BYTES + value;
                false
            }
            None => true,
        };
        self.append(entry, lineage);
        self.count(column, u32::from(is_new));
    }

    /// Gives many rows of a column new values, the newest of all.
    pub(super) fn push_all(
        &mut self,
        column: u32,
        patches: &Arc<Patches>,
        (at, lineage): (CommitNumber, Lineage),
    ) {
        if !patches.is_indexed() || patches.len() < self.total / BATCH_SHARE {
            for (position, value) in patches.rows() {
                let patch = Some((column, value.clone()));
                self.push(Entry { position: *position, at, patch }, lineage);
            }
            return;
        }
        let is_full = self.depth() == LAYERS_MAX && self.covered(column, patches).is_none();
        if self.is_stale() || is_full {
            *self = self.copied(lineage, |_| Kept::Current);
        }
        let covered = self.covered(column, patches);
        if let Some(covered) = &covered {
            self.take_layer(covered);
        }
        let mut old = covered.as_ref().map_or(0, |covered| covered.len());
        if old < patches.len() && self.columns.contains(&column) {
            let is_covered = |row| covered.as_ref().is_some_and(|covered| covered.has(row));
            for row in patches.positions().filter(|row| !is_covered(*row)) {
                let Some(value) = self.patched(row, column) else { continue };
                (old, self.stale_bytes) =
                    (old + 1, self.stale_bytes + Log::ENTRY_BYTES + value.heap_bytes());
            }
        }
        self.put_layer(Entries::Batch(Batch { column, at, patches: patches.clone() }));
        self.shown = patches.len();
        self.total += patches.len();
        self.count(Some(column), patches.len() - old);
    }

    /// The newest layer, where it is of this column and of rows that all get newer values.
    fn covered(&self, column: u32, patches: &Patches) -> Option<Arc<Patches>> {
        match &self.top.as_ref()?.entries {
            Entries::Batch(batch) if batch.column == column && patches.covers(&batch.patches) => {
                Some(batch.patches.clone())
            }
            _ => None,
        }
    }

    /// Takes the newest layer away: newer values of the same rows and column are about to come.
    fn take_layer(&mut self, patches: &Patches) {
        self.total -= patches.len();
        let below = self.top.as_ref().and_then(|layer| layer.below.clone());
        (self.top, self.shown) = below.map_or((None, 0), |(below, shown)| (Some(below), shown));
    }

    fn is_stale(&self) -> bool {
        let lag = process_lag();
        self.total > 2 * self.current + STALE_MIN + self.current / LAGS * lag
            || self.stale_bytes > STALE_BYTES_MAX - STALE_BYTES_MAX / 32 * lag as usize
    }

    /// Counts entries that no other of the same row and column was before.
    fn count(&mut self, column: Option<u32>, new: u32) {
        self.current += new;
        let Some(column) = column.filter(|_| new > 0) else { return };
        self.patches += new;
        if !self.columns.contains(&column) {
            self.columns = self.columns.iter().copied().chain([column]).collect();
        }
    }

    /// Puts an entry into the log, or into a new layer.
    fn append(&mut self, entry: Entry, lineage: Lineage) {
        let mut entry = entry;
        if let Some(Entries::Log(log)) = self.top.as_ref().map(|layer| &layer.entries)
            && log.lineage == lineage
        {
            match log.fill(self.shown, entry) {
                Ok(()) => {
                    self.shown += 1;
                    self.total += 1;
                    return;
                }
                Err(back) => entry = back,
            }
        }
        if self.depth() == LAYERS_MAX {
            *self = self.copied(lineage, |_| Kept::Current);
            self.append(entry, lineage);
            return;
        }
        let log = Log::new(lineage);
        assert!(log.fill(0, entry).is_ok(), "a new log's first slot is free");
        self.put_layer(Entries::Log(log));
        self.shown = 1;
        self.total += 1;
    }

    fn depth(&self) -> u32 {
        self.top.as_ref().map_or(0, |layer| layer.depth + 1)
    }

    fn put_layer(&mut self, entries: Entries) {
        let (depth, shown) = (self.depth(), self.shown);
        let below = self.top.take().map(|layer| (layer, shown));
        self.top = Some(Arc::new(Layer { depth, below, entries }));
    }

    /// What `keep` says of each row, given its newest entry, in a log of its own.
    pub(super) fn copied(&self, lineage: Lineage, keep: impl Fn(&Shown<'_>) -> Kept) -> Self {
        let mut copy = Self::default();
        let mut current: Vec<Shown<'_>> = Vec::new();
        for position in self.rows_within(0..SEGMENT_ROWS_MAX) {
            let Some(newest) = self.of_row(position).next() else { continue };
            current.clear();
            match keep(&newest) {
                Kept::Nothing => {}
                Kept::Mark => current.push(Shown { patch: None, ..newest }),
                Kept::Current => {
                    for shown in self.of_row(position) {
                        if current.iter().all(|newer| newer.column() != shown.column()) {
                            current.push(shown);
                        }
                    }
                }
            }
            for shown in current.iter().rev() {
                copy.append(shown.to_entry(position), lineage);
                copy.count(shown.column(), 1);
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
            let entries = current.of_row(position).map(|shown| shown.to_entry(position));
            for Entry { at, patch, .. } in entries.collect::<Vec<_>>().into_iter().rev() {
                let patch = patch.and_then(|(column, value)| Some((place(column)?, value)));
                copy.push(Entry { position, at, patch }, Lineage::Head);
            }
        }
        copy
    }

    /// How many entries of a row the top layer shows.
    fn chain(&self, position: u32) -> usize {
        let Some(layer) = &self.top else { return 0 };
        let mut next = layer.newest(position);
        while next > self.shown {
            next = layer.link(next - 1).previous;
        }
        next.checked_sub(1).map_or(0, |index| layer.link(index).count as usize)
    }

    /// Changes of a row, the newest first.
    pub(super) fn of_row(&self, position: u32) -> OfRow<'_> {
        let layer = self.top.as_deref();
        let next = layer.map_or(0, |layer| layer.newest(position));
        OfRow { layer, shown: self.shown, next, position }
    }

    /// The newest change of a row in a column, or in none.
    fn find(&self, position: u32, column: Option<u32>) -> Option<Shown<'_>> {
        self.of_row(position).find(|shown| shown.column() == column)
    }

    /// The newest value of a row's column.
    pub(super) fn patched(&self, position: u32, column: u32) -> Option<&Datum> {
        self.find(position, Some(column))?.patch.map(|(_, value)| value)
    }

    /// Positions that may have changes, in order.
    pub(super) fn rows_within(&self, range: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let blocks = range.start / BLOCK_ROWS..range.end.div_ceil(BLOCK_ROWS);
        let words = blocks.flat_map(move |block| {
            let count = if self.layers().any(|layer| layer.has_block(block)) { WORDS } else { 0 };
            (0..count).map(move |word| block * WORDS + word)
        });
        words
            .flat_map(move |word| {
                let bits = self.layers().fold(0, |bits, layer| bits | layer.word(word));
                Bits(bits).map(move |bit| word * 64 + bit)
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

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        std::iter::successors(self.top.as_deref(), |layer| {
            layer.below.as_ref().map(|(below, _)| &**below)
        })
    }
}

/// From 0 to [`LAGS`], another one in most processes. Those that follow the same commits would all copy at
/// the same one, and commits wait for all of them: with 32 processes that takes tens of milliseconds.
fn process_lag() -> u32 {
    static LAG: LazyLock<u32> = LazyLock::new(|| {
        // Consecutive process numbers come to lie far apart.
        std::process::id().wrapping_mul(0x9E37_79B9) / (u32::MAX / LAGS)
    });
    *LAG
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
    layer: Option<&'a Layer>,
    shown: u32,
    /// One past the index of the next entry.
    next: u32,
    position: u32,
}

impl<'a> Iterator for OfRow<'a> {
    type Item = Shown<'a>;

    fn next(&mut self) -> Option<Shown<'a>> {
        loop {
            let layer = self.layer?;
            while self.next > 0 {
                let (index, link) = (self.next - 1, layer.link(self.next - 1));
                self.next = link.previous;
                if index < self.shown {
                    return Some(link.shown);
                }
            }
            let below = layer.below.as_ref().map(|(below, shown)| (&**below, *shown));
            self.next = below.map_or(0, |(below, _)| below.newest(self.position));
            self.layer = below.map(|(below, _)| below);
            self.shown = below.map_or(0, |(_, shown)| shown);
        }
    }
}

#[cfg(test)]
mod tests;
