//! Changes of a segment's rows since its base was written.
//!
//! - The next version shares all that this one has ([`changes`](super::changes)).
//! - Each change names its commit, for write-write conflicts and for folding: a fold up to commit X
//!   drops what was changed at or before X. What is read from a file was changed before all.
//!
//! Byte table of an overlay blob (version 1): version u8 | deleted words u32, then (word index u32,
//! bits u64) each | patched columns u32, then for each: column u32, patches u32, then (position u32,
//! value) each.

use super::changes::{Changes, Entry, Kept, Lineage, Shown};
use super::{Patches, SEGMENT_ROWS_MAX, Source};
use crate::types::{Datum, TableSchema};
use gadus_base::{ByteReader, ByteWriter, CommitNumber, DecodeError};
use imbl::OrdMap;
use std::sync::Arc;

const VERSION: u8 = 1;

/// Patches and deletes of a segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overlay {
    changes: Changes,
    /// Position / 64 → a bit for each deleted position.
    deleted: OrdMap<u32, u64>,
    deleted_count: u32,
}

impl Overlay {
    /// Gives rows of a column new values.
    pub(crate) fn patch(
        &mut self,
        column: u32,
        patches: &Arc<Patches>,
        at: CommitNumber,
        lineage: Lineage,
    ) {
        self.changes.push_all(column, patches, (at, lineage));
    }

    /// Deletes a row; false when it was deleted before.
    pub(crate) fn delete(&mut self, position: u32, at: CommitNumber, lineage: Lineage) -> bool {
        let word = self.deleted.entry(position / 64).or_insert(0);
        let bit = 1_u64 << (position % 64);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.deleted_count += 1;
        self.changes.push(Entry { position, at, patch: None }, lineage);
        true
    }

    pub(crate) fn is_deleted(&self, position: u32) -> bool {
        self.deleted.get(&(position / 64)).is_some_and(|word| word & (1 << (position % 64)) != 0)
    }

    pub(crate) fn deleted_count(&self) -> u32 {
        self.deleted_count
    }

    /// The value that a patch gives a row's column.
    pub(crate) fn patched(&self, column: u32, position: u32) -> Option<&Datum> {
        if self.has_patches(column) { self.changes.patched(position, column) } else { None }
    }

    /// Patches of a column within positions, in order.
    pub(crate) fn patches_within(
        &self,
        column: u32,
        positions: std::ops::Range<u32>,
    ) -> impl Iterator<Item = (u32, &Datum)> {
        let positions = if self.has_patches(column) { positions } else { 0..0 };
        self.changes
            .rows_within(positions)
            .filter_map(move |position| Some((position, self.changes.patched(position, column)?)))
    }

    pub(crate) fn has_patches(&self, column: u32) -> bool {
        self.changes.columns().contains(&column)
    }

    /// Patches of all columns.
    pub(crate) fn patch_count(&self) -> usize {
        self.changes.patch_count() as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.deleted_count == 0 && self.changes.patch_count() == 0
    }

    /// Deleted positions of the 64 beginning at `word` × 64.
    pub(crate) fn deleted_word(&self, word: u32) -> u64 {
        self.deleted.get(&word).copied().unwrap_or(0)
    }

    /// The commit that last changed a row, when that is known.
    pub(crate) fn changed_at(&self, position: u32) -> Option<CommitNumber> {
        self.changes.of_row(position).next().map(|shown| shown.at)
    }

    /// Rows that were changed after a commit, in order.
    pub(crate) fn changed_after(&self, since: CommitNumber) -> impl Iterator<Item = u32> {
        let is_newer =
            move |position: &u32| self.changed_at(*position).is_some_and(|at| at > since);
        self.changes.rows_within(0..SEGMENT_ROWS_MAX).filter(is_newer)
    }

    /// What remains when all changes up to `folded` have entered the base.
    ///
    /// Deletes stay: positions are holes for ever. Commit numbers of changes stay as long as a
    /// transaction that began before them may ask.
    pub(crate) fn after_fold(&self, folded: CommitNumber, oldest_snapshot: CommitNumber) -> Self {
        let forget = folded.min(oldest_snapshot);
        let keep = |newest: &Shown<'_>| match newest.at {
            at if at > folded => Kept::Current,
            at if at > forget => Kept::Mark,
            _ => Kept::Nothing,
        };
        let changes = self.changes.copied(Lineage::Head, keep);
        Self { changes, deleted: self.deleted.clone(), deleted_count: self.deleted_count }
    }

    /// The same changes where columns come from these sources; of those that are dropped it is known that they
    /// were changed.
    pub(crate) fn relaid(&self, sources: &[Source]) -> Self {
        let place = |column: u32| {
            let is_it = |source: &Source| *source == Source::Kept(column);
            sources.iter().position(is_it).map(super::column_number)
        };
        let changes = self.changes.renumbered(place);
        Self { changes, deleted: self.deleted.clone(), deleted_count: self.deleted_count }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let count = |length: usize| u32::try_from(length).expect("bounded by the segment");
        let mut to = ByteWriter::new();
        to.u8(VERSION);
        to.u32(count(self.deleted.len()));
        for (&word, &bits) in &self.deleted {
            to.u32(word);
            to.u64(bits);
        }
        let mut columns = self.changes.columns().to_vec();
        columns.sort_unstable();
        to.u32(count(columns.len()));
        for column in columns {
            let patches = self.patches_within(column, 0..SEGMENT_ROWS_MAX).collect::<Vec<_>>();
            to.u32(column);
            to.u32(count(patches.len()));
            for (position, value) in patches {
                to.u32(position);
                value.encode(&mut to);
            }
        }
        to.finish()
    }

    /// Reads an overlay of a segment with `rows` positions of a table.
    pub(crate) fn decode(
        bytes: &[u8],
        rows: u32,
        schema: &TableSchema,
    ) -> Result<Self, DecodeError> {
        let mut from = ByteReader::new(bytes);
        if from.u8()? != VERSION {
            return Err(DecodeError { offset: 0, expected: "an overlay of version 1" });
        }
        let mut overlay = Self::default();
        for _ in 0..from.count(12)? {
            let offset = from.offset();
            let (word, bits) = (from.u32()?, from.u64()?);
            let top = bits.checked_ilog2().unwrap_or(0);
            let last = word.checked_mul(64).and_then(|first| first.checked_add(top));
            if last.is_none_or(|last| last >= rows) || overlay.deleted.insert(word, bits).is_some()
            {
                return Err(DecodeError { offset, expected: "a position within the segment" });
            }
            overlay.deleted_count += bits.count_ones();
        }
        for _ in 0..from.count(8)? {
            let offset = from.offset();
            let column = from.u32()?;
            let mut patches = Vec::new();
            for _ in 0..from.count(5)? {
                let position = from.u32()?;
                let value = Datum::decode(&mut from)?;
                let fits = schema
                    .columns
                    .get(column as usize)
                    .is_some_and(|column| column.column_type.admits(&value));
                if position >= rows || !fits {
                    return Err(DecodeError { offset, expected: "a value within the segment" });
                }
                patches.push((position, value));
            }
            overlay.patch(column, &Patches::new(patches), CommitNumber(0), Lineage::Head);
        }
        from.end()?;
        Ok(overlay)
    }
}
