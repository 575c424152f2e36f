//! The reserve of a data file: blocks behind its end that only what gives space back may use.
//!
//! - On a full disk rows can be deleted, but their space comes back only after a checkpoint, which
//!   itself writes: the reserve is what it writes to, and VACUUM.
//! - It holds what the last checkpoint would write again, and as much as the log has grown since:
//!   what is committed can be checkpointed. Beside that, an eighth of the file is for moves of rows.
//! - Others extend the file or the log only where the reserve remains; they fail with `NoSpace`
//!   otherwise, before anything is written.
//! - Where the file system cannot allocate blocks ahead of writes there is no reserve.

use super::chunks::SpaceState;
use crate::error::{ErrorKind, StorageError};
use crate::peers::Peers;
use gadus_block::{Device, ErrorKind as BlockErrorKind};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Limits of what moves of rows may use, which is an eighth of the file between them.
const RESERVE_BYTES_MIN: u64 = 256 << 10;
const RESERVE_BYTES_MAX: u64 = 64 << 20;

/// Smaller free ranges are no reserve: what a checkpoint writes in one piece may not fit.
const FREE_RANGE_MIN: u64 = 64 << 10;

thread_local! {
    /// How many guards of this thread allow it to use the reserve.
    static ALLOWED: Cell<u32> = const { Cell::new(0) };
}

/// Allows this thread to use the reserve until it is dropped.
#[derive(Debug)]
pub struct ReserveUse(PhantomData<*const ()>);

impl ReserveUse {
    pub(crate) fn begin() -> Self {
        ALLOWED.set(ALLOWED.get() + 1);
        Self(PhantomData)
    }
}

impl Drop for ReserveUse {
    fn drop(&mut self) {
        ALLOWED.set(ALLOWED.get() - 1);
    }
}

/// The data file, of which blocks are allocated ahead of writes.
#[derive(Debug)]
pub(crate) struct DataFile {
    pub(crate) device: Arc<dyn Device>,
    pub(crate) described: String,
}

impl DataFile {
    /// Allocates blocks for another `taken` bytes behind the end, and for the reserve behind them,
    /// which holds `kept` bytes beside what is for moves of rows.
    pub(super) fn extend(
        &self,
        shared: &SpaceState,
        taken: u64,
        kept: u64,
    ) -> Result<(), StorageError> {
        if ALLOWED.get() > 0 {
            return Ok(());
        }
        loop {
            let known = shared.allocated.load(Ordering::Acquire);
            let end = shared.end.load(Ordering::Acquire);
            let end_after = end.saturating_add(taken);
            let for_moves = reserve_bytes(end_after);
            let wanted = end_after.saturating_add(for_moves).saturating_add(kept);
            if wanted <= known || i64::try_from(wanted).is_err() {
                return Ok(());
            }
            let reached = match self.allocate(known.max(end), wanted, for_moves) {
                Ok(reached) => reached,
                Err(error) if error.kind == ErrorKind::NoSpace => {
                    return self.keep_inside(shared, end_after, wanted - end_after, error);
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

    /// Allocates blocks up to `end_after` where free ranges within the file are reserve enough.
    fn keep_inside(
        &self,
        shared: &SpaceState,
        end_after: u64,
        reserve: u64,
        full: StorageError,
    ) -> Result<(), StorageError> {
        let allocated = shared.allocated.load(Ordering::Acquire);
        let free = shared.ranges(true).into_iter().map(|(_, bytes)| bytes);
        let free = free.filter(|bytes| *bytes >= FREE_RANGE_MIN).sum::<u64>();
        if allocated.saturating_sub(end_after).saturating_add(free) < reserve {
            return Err(self.is_full(full));
        }
        let end = shared.end.load(Ordering::Acquire);
        if end_after > allocated.max(end) {
            self.device
                .reserve(allocated.max(end)..end_after)
                .map_err(|error| self.is_full(error.into()))?;
        }
        Ok(())
    }

    /// Gives space behind the end and its reserve back to the file system, where that is at least so
    /// much. The caller has the space latch.
    pub(super) fn cut(
        &self,
        shared: &SpaceState,
        bytes_min: u64,
        peers: &Peers,
    ) -> Result<(), StorageError> {
        let end = shared.end.load(Ordering::Acquire);
        let rewritten = shared.rewritten.load(Ordering::Relaxed);
        let kept = end.saturating_add(reserve_bytes(end)).saturating_add(rewritten);
        let length = self.device.length()?;
        let allocated = shared.allocated.load(Ordering::Acquire).max(length);
        if allocated.saturating_sub(kept) < bytes_min {
            return Ok(());
        }
        // Setting a length frees the blocks behind it. The file becomes no longer than what is in use, and what others
        // write before the end stays.
        let cut = length.max(end).min(kept);
        // The end may be of zeros that have taken the place of lost memory.
        peers.check_memory(&self.described)?;
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
fn reserve_bytes(end: u64) -> u64 {
    (end / 8).clamp(RESERVE_BYTES_MIN, RESERVE_BYTES_MAX)
}
