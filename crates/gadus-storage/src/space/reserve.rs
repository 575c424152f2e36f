//! The reserve of a data file: blocks behind its end that only what gives space back may use.
//!
//! - On a full disk rows can be deleted, but their space comes back only after a checkpoint, which
//!   itself writes: the reserve is what it writes to, and VACUUM.
//! - It holds what the next checkpoint writes: again what the last one wrote of rows in memory, and
//!   what commits have added since, as they say themselves. Beside that, an eighth of the file is for
//!   moves of rows, which leave the checkpoint's part alone: without a checkpoint nothing that they
//!   replace is free.
//! - Others extend the file or the log only where the whole reserve remains; they fail with `NoSpace`
//!   otherwise, before anything is written.
//! - Where the file system cannot allocate blocks ahead of writes there is no reserve.

use super::chunks::SpaceState;
use crate::error::{ErrorKind, StorageError};
use gadus_block::{Device, ErrorKind as BlockErrorKind};
use gadus_locks::shared_struct;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{AddAssign, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limits of what moves of rows may use, which is an eighth of the file between them.
const RESERVE_BYTES_MIN: u64 = 256 << 10;
const RESERVE_BYTES_MAX: u64 = 64 << 20;

/// Beside what a checkpoint writes: what chunks leave unused.
const CHECKPOINT_MARGIN: u64 = 64 << 10;

/// Smaller free ranges are no reserve: what a checkpoint writes in one piece may not fit.
const FREE_RANGE_MIN: u64 = 64 << 10;

/// Part of the reserve that must remain when something has been written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remaining {
    /// All of it.
    #[default]
    Whole,
    /// Space for the next checkpoint: for moves, which give space back once there has been one.
    ForCheckpoint,
    /// None of it: for the checkpoint itself, and for deleting rows.
    Nothing,
}

thread_local! {
    /// Part that the writes of this thread must leave.
    static REMAINING: Cell<Remaining> = const { Cell::new(Remaining::Whole) };
}

/// Lets this thread write to the reserve until it is dropped.
#[derive(Debug)]
pub struct ReserveUse {
    before: Remaining,
    _of_thread: PhantomData<*const ()>,
}

impl ReserveUse {
    pub(crate) fn begin(remaining: Remaining) -> Self {
        Self { before: REMAINING.replace(remaining), _of_thread: PhantomData }
    }
}

impl Drop for ReserveUse {
    fn drop(&mut self) {
        REMAINING.set(self.before);
    }
}

/// Bytes that commits since the last checkpoint add to the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unsaved {
    /// Bytes of the pieces that they add, or make longer.
    pub bytes: u64,
    /// Bytes of new rows and their keys among them.
    pub of_rows: u64,
}

impl AddAssign for Unsaved {
    fn add_assign(&mut self, more: Self) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.of_rows = self.of_rows.saturating_add(more.of_rows);
    }
}

/// Sizes of the pieces of the last checkpoint that the next one may write again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Bytes of what any change replaces.
    pub always: u64,
    /// Bytes of rows and keys, which stay as they are where none were added since.
    pub of_rows: u64,
    /// Bytes of the largest piece of all.
    pub largest: u64,
}

shared_struct! {
    /// Shared state: space that the next checkpoint needs.
    pub(super) struct CheckpointState {
        rewritten: AtomicU64,
        rewritten_rows: AtomicU64,
        largest: AtomicU64,
        unsaved: AtomicU64,
        unsaved_rows: AtomicU64,
    }
}

impl CheckpointState {
    pub(super) fn add(&self, unsaved: Unsaved) {
        self.unsaved.fetch_add(unsaved.bytes, Ordering::Relaxed);
        self.unsaved_rows.fetch_add(unsaved.of_rows, Ordering::Relaxed);
    }

    pub(super) fn unsaved(&self) -> Unsaved {
        let of = |bytes: &AtomicU64| bytes.load(Ordering::Relaxed);
        Unsaved { bytes: of(&self.unsaved), of_rows: of(&self.unsaved_rows) }
    }

    /// A checkpoint has saved that much; in its turn.
    pub(super) fn saved(&self, saved: Unsaved, rewritten: Rewritten) {
        self.rewritten.store(rewritten.always, Ordering::Relaxed);
        self.rewritten_rows.store(rewritten.of_rows, Ordering::Relaxed);
        self.largest.store(rewritten.largest, Ordering::Relaxed);
        // Commits go on adding.
        self.unsaved.fetch_sub(saved.bytes, Ordering::Relaxed);
        self.unsaved_rows.fetch_sub(saved.of_rows, Ordering::Relaxed);
    }

    /// Bytes that the next checkpoint writes at most, and those of its largest piece.
    fn needed(&self, more: Unsaved, remaining: Remaining) -> (u64, u64) {
        let mut unsaved = self.unsaved();
        unsaved += more;
        let Unsaved { bytes, of_rows } = unsaved;
        let always = self.rewritten.load(Ordering::Relaxed);
        let rows = match remaining {
            // On a full disk pieces without new rows are named again as they are.
            Remaining::ForCheckpoint if of_rows == 0 => 0,
            _ => self.rewritten_rows.load(Ordering::Relaxed),
        };
        let largest = self.largest.load(Ordering::Relaxed).saturating_add(of_rows);
        (always.saturating_add(rows).saturating_add(bytes), largest)
    }
}

/// The data file, of which blocks are allocated ahead of writes.
#[derive(Debug)]
pub(crate) struct DataFile {
    pub(crate) device: Arc<dyn Device>,
    pub(crate) described: String,
}

impl DataFile {
    /// Allocates blocks for another `taken` bytes behind the end, and for what must remain behind
    /// them beside a checkpoint that has `more` to write: `remaining`, or less where this thread may
    /// use the reserve.
    pub(super) fn extend(
        &self,
        shared: &SpaceState,
        taken: u64,
        more: Unsaved,
        remaining: Remaining,
    ) -> Result<(), StorageError> {
        let remaining = remaining.max(REMAINING.get());
        if remaining == Remaining::Nothing {
            return Ok(());
        }
        let (for_checkpoint, largest) = shared.for_checkpoint.needed(more, remaining);
        loop {
            let known = shared.allocated.load(Ordering::Acquire);
            let end = shared.end.load(Ordering::Acquire);
            let end_after = end.saturating_add(taken);
            let for_moves = bytes_for_moves(end_after);
            let beside = if remaining == Remaining::Whole { for_moves } else { CHECKPOINT_MARGIN };
            let wanted = end_after.saturating_add(beside).saturating_add(for_checkpoint);
            if wanted <= known || i64::try_from(wanted).is_err() {
                return Ok(());
            }
            let reached = match self.allocate(known.max(end), wanted, for_moves) {
                Ok(reached) => reached,
                Err(error) if error.kind == ErrorKind::NoSpace => {
                    return self.keep_inside(shared, end_after..wanted, largest, error);
                }
                Err(error) => return Err(error),
            };
            // Unless somebody has cut the file or allocated more meanwhile.
            let known = shared.allocated.compare_exchange(
                known,
                reached,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if known.is_ok() {
                return Ok(());
            }
        }
    }

    /// Allocates blocks up to `wanted`, and `ahead` more where there are as many, so that few
    /// extensions ask the file system; says how far.
    fn allocate(&self, from: u64, wanted: u64, ahead: u64) -> Result<u64, StorageError> {
        let further = wanted.saturating_add(ahead).min(i64::MAX.unsigned_abs());
        match self.device.reserve(from..further) {
            Ok(()) => Ok(further),
            Err(error) if error.kind == BlockErrorKind::NoSpace => {
                self.device.reserve(from..wanted)?;
                Ok(wanted)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Allocates blocks up to the start of the reserve, where free ranges within the file are enough
    /// instead of it and none is too small for the largest piece.
    fn keep_inside(
        &self,
        shared: &SpaceState,
        reserve: Range<u64>,
        largest: u64,
        full: StorageError,
    ) -> Result<(), StorageError> {
        let allocated = shared.allocated.load(Ordering::Acquire);
        let free = shared.ranges(true).into_iter().map(|(_, bytes)| bytes);
        let range_min = largest.max(FREE_RANGE_MIN);
        let free = free.filter(|bytes| *bytes >= range_min).sum::<u64>();
        let there = allocated.saturating_sub(reserve.start).saturating_add(free);
        if there < reserve.end - reserve.start {
            return Err(self.is_full(full));
        }
        let end = shared.end.load(Ordering::Acquire);
        if reserve.start > allocated.max(end) {
            self.device
                .reserve(allocated.max(end)..reserve.start)
                .map_err(|error| self.is_full(error.into()))?;
        }
        Ok(())
    }

    /// Gives space behind the end and its reserve back to the file system, where that is at least so
    /// much. The caller has the space latch.
    pub(super) fn cut(&self, shared: &SpaceState, bytes_min: u64) -> Result<(), StorageError> {
        let end = shared.end.load(Ordering::Acquire);
        let (needed, _) = shared.for_checkpoint.needed(Unsaved::default(), Remaining::Whole);
        let kept = end.saturating_add(bytes_for_moves(end)).saturating_add(needed);
        let length = self.device.length()?;
        let allocated = shared.allocated.load(Ordering::Acquire).max(length);
        if allocated.saturating_sub(kept) < bytes_min {
            return Ok(());
        }
        // Setting a length frees the blocks behind it. The file becomes no longer than what is in use, and what others
        // write before the end stays.
        let cut = length.max(end).min(kept);
        self.device.set_length(cut)?;
        shared.allocated.store(cut, Ordering::Release);
        if cut < kept && self.device.reserve(cut..kept).is_ok() {
            // Where others have taken the space meanwhile, the next extension asks for it.
            shared.allocated.store(kept, Ordering::Release);
        }
        Ok(())
    }

    fn is_full(&self, error: StorageError) -> StorageError {
        match error.kind {
            ErrorKind::NoSpace => {
                let message = "the file system is full, and the last of the space is kept for \
                               DELETE, CHECKPOINT and VACUUM; free some space and try again";
                StorageError {
                    source: error.source,
                    ..StorageError::new(ErrorKind::NoSpace, &self.described, message)
                }
            }
            _ => error,
        }
    }
}

/// What of the reserve of a file with this end is for moves of rows.
fn bytes_for_moves(end: u64) -> u64 {
    (end / 8).clamp(RESERVE_BYTES_MIN, RESERVE_BYTES_MAX)
}
