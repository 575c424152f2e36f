//! Free space: found, counted, kept in reserve, and given back to the file system.

use super::Space;
use super::reserve::{Remaining, Rewritten, Unsaved};
use crate::blob::ExtentRef;
use crate::error::StorageError;
use crate::header::DATA_START;
use std::collections::HashSet;
use std::sync::atomic::Ordering;

/// Free ranges that are offered at a time. The rest is found again when these are used.
const FREE_RANGES_MAX: usize = 4096;

/// The file is cut after a checkpoint where at least this much is not in use behind its reserve, and
/// a quarter of what is.
const CUT_BYTES_MIN: u64 = 1 << 20;

impl Space {
    /// Looks for what nothing names and nobody has reserved. `catch_up` adopts what others have named
    /// by now, or says that it could not; the caller has made sure that no other instance reads
    /// anything older than what the older header names.
    pub(crate) fn find_free(&self, catch_up: impl FnOnce() -> bool) {
        let _held = self.hold();
        self.end_reservations(|chunk| chunk.unnamed.is_empty());
        let shared = self.shared();
        // Whose reservation has ended by now, has named what it kept before: that is caught up with.
        let mut used = shared.ranges(false);
        if !catch_up() {
            // What is named and not known here would be given away.
            return;
        }
        used.extend(self.state.lock().ranges(|_| true));
        let (mut free, end) = between(used);
        shared.forget_free();
        // What lies behind the last extent is not kept as a free range: the end moves back.
        shared.end.store(end, Ordering::Release);
        free.sort_unstable_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        for (offset, bytes) in free.into_iter().take(FREE_RANGES_MAX) {
            shared.add_free(offset, bytes);
        }
        // A file that stays long is no reason to fail what was done.
        let _ = self.file.cut(shared, CUT_BYTES_MIN.max(end / 4));
    }

    /// Keeps of the reserve what must remain once the next checkpoint has that much more to write.
    pub(crate) fn keep_reserve(
        &self,
        unsaved: Unsaved,
        remaining: Remaining,
    ) -> Result<(), StorageError> {
        self.file.extend(self.shared(), 0, unsaved, remaining)
    }

    pub(crate) fn note_unsaved(&self, unsaved: Unsaved) {
        self.shared().for_checkpoint.add(unsaved);
    }

    pub(crate) fn unsaved(&self) -> Unsaved {
        self.shared().for_checkpoint.unsaved()
    }

    pub(crate) fn saved(&self, unsaved: Unsaved, rewritten: Rewritten) {
        self.shared().for_checkpoint.saved(unsaved, rewritten);
    }

    /// Gives space behind the end back to the file system.
    pub(crate) fn cut(&self) -> Result<(), StorageError> {
        let _held = self.hold();
        self.file.cut(self.shared(), 1)
    }

    /// Bytes that are neither free nor reserved nor pending nor in use: that snapshots keep, here or
    /// elsewhere.
    pub(crate) fn unused_bytes(&self, in_use: HashSet<ExtentRef>) -> u64 {
        let _held = self.hold();
        let shared = self.shared();
        let mut used = [shared.ranges(false), shared.ranges(true)].concat();
        used.extend(self.state.lock().ranges(|extent| in_use.contains(extent)));
        let (unused, end) = between(used);
        unused.iter().map(|(_, bytes)| bytes).sum::<u64>() + self.end().saturating_sub(end)
    }
}

/// What lies between ranges, and where the last one ends; as offset and length.
fn between(mut ranges: Vec<(u64, u64)>) -> (Vec<(u64, u64)>, u64) {
    ranges.sort_unstable();
    let (mut at, mut between) = (DATA_START, Vec::new());
    for (offset, bytes) in ranges {
        if offset > at {
            between.push((at, offset - at));
        }
        at = at.max(offset.saturating_add(bytes));
    }
    (between, at)
}
