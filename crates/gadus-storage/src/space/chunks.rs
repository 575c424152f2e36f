//! Space that is given to instances: chunks of the data file, in shared memory.
//!
//! The state of a chunk:
//!
//! | bits | content |
//! |---|---|
//! | 0..8 | 0 no chunk, 1 free, 2 reserved |
//! | 32..64 | code of the owner ([`Owner::code`]) |
//!
//! - What is reserved belongs to its owner: extents in it may be written and named by nothing yet.
//! - Chunks are found, cut and freed under the space latch, each by stores of which the last is its
//!   state: what a dead holder leaves behind is at worst space that nobody knows to be free, until
//!   the next checkpoint looks.

use super::reserve::CheckpointState;
use gadus_locks::{Owner, shared_struct};
use std::sync::atomic::{AtomicU64, Ordering};

/// Free and reserved chunks that are known at a time; the smallest are forgotten beyond it.
const CHUNKS: usize = 8192;

const NONE: u64 = 0;
const FREE: u64 = 1;
const RESERVED: u64 = 2;

shared_struct! {
    struct Chunk {
        offset: AtomicU64,
        bytes: AtomicU64,
        state: AtomicU64,
    }
}

shared_struct! {
    /// Shared state of the data file's space.
    pub(crate) struct SpaceState {
        /// One past the last byte that was ever given.
        pub(crate) end: AtomicU64,
        /// Blocks are allocated up to here, as far as is known; see [`super::reserve`].
        pub(crate) allocated: AtomicU64,
        /// Space that the next checkpoint needs.
        pub(super) for_checkpoint: CheckpointState,
        pub(crate) next_id: AtomicU64,
        /// The newest checkpoint that has begun.
        pub(crate) checkpoint_begun: AtomicU64,
        chunks: [Chunk; CHUNKS],
    }
}

/// A chunk that this instance has reserved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reserved {
    index: usize,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// Everything below holds the space latch, but for [`SpaceState::give_up`].
impl SpaceState {
    /// Reserves `wanted` bytes of the smallest free chunk that has at least `bytes`, or all of it
    /// where it has less. None when no chunk suffices, or too many are known.
    pub(super) fn take_free(&self, bytes: u64, wanted: u64, me: Owner) -> Option<Reserved> {
        let fitting =
            self.of_state(FREE).filter(|(_, chunk)| chunk.bytes.load(Ordering::Relaxed) >= bytes);
        let (index, chunk) =
            fitting.min_by_key(|(_, chunk)| chunk.bytes.load(Ordering::Relaxed))?;
        let (offset, length) =
            (chunk.offset.load(Ordering::Relaxed), chunk.bytes.load(Ordering::Relaxed));
        let bytes = wanted.min(length);
        let rest = if length > bytes { Some(self.find_empty()?) } else { None };
        chunk.state.store(NONE, Ordering::Release);
        self.set(index, offset, bytes, reserved_by(me));
        if let Some(rest) = rest {
            self.set(rest, offset + bytes, length - bytes, FREE);
        }
        Some(Reserved { index, offset, bytes })
    }

    /// Reserves bytes behind the end of the file. None when it would be too long, or too much is
    /// reserved.
    pub(super) fn take_end(&self, bytes: u64, me: Owner) -> Option<Reserved> {
        let index = self.find_empty()?;
        let offset = self.end.load(Ordering::Acquire);
        let end = end_after(offset, bytes)?;
        self.set(index, offset, bytes, reserved_by(me));
        self.end.store(end, Ordering::Release);
        Some(Reserved { index, offset, bytes })
    }

    /// Whether the file ends with this chunk.
    pub(super) fn is_last(&self, reserved: &Reserved) -> bool {
        reserved.offset + reserved.bytes == self.end.load(Ordering::Acquire)
    }

    /// Makes the chunk with which the file ends longer.
    pub(super) fn extend(&self, reserved: &mut Reserved, bytes: u64) -> Option<()> {
        let end = end_after(self.end.load(Ordering::Acquire), bytes)?;
        reserved.bytes += bytes;
        self.chunks[reserved.index].bytes.store(reserved.bytes, Ordering::Release);
        self.end.store(end, Ordering::Release);
        Some(())
    }

    /// Ends a reservation: what of it is named is found where it is named.
    pub(super) fn end_reservation(&self, reserved: Reserved) {
        self.chunks[reserved.index].state.store(NONE, Ordering::Release);
    }

    /// Forgets what is free; it is to be found again.
    pub(super) fn forget_free(&self) {
        self.of_state(FREE).for_each(|(_, chunk)| chunk.state.store(NONE, Ordering::Release));
    }

    /// Makes a range free, unless too many are.
    pub(super) fn add_free(&self, offset: u64, bytes: u64) {
        if bytes > 0
            && let Some(index) = self.find_empty()
        {
            self.set(index, offset, bytes, FREE);
        }
    }

    /// Free ranges or, when `free` is not set, reserved ones: offset and length.
    pub(super) fn ranges(&self, free: bool) -> Vec<(u64, u64)> {
        let wanted = if free { FREE } else { RESERVED };
        let ranges = self.of_state(wanted).map(|(_, chunk)| {
            (chunk.offset.load(Ordering::Relaxed), chunk.bytes.load(Ordering::Relaxed))
        });
        ranges.filter(|(offset, bytes)| offset.checked_add(*bytes).is_some()).collect()
    }

    /// Ends all reservations of an instance that is gone.
    pub(crate) fn give_up(&self, owner: Owner) {
        for chunk in &self.chunks {
            let state = chunk.state.load(Ordering::Acquire);
            if state == reserved_by(owner) {
                // Only cleaners get here, of whom there is one.
                chunk.state.store(NONE, Ordering::Release);
            }
        }
    }

    fn set(&self, index: usize, offset: u64, bytes: u64, state: u64) {
        let chunk = &self.chunks[index];
        chunk.offset.store(offset, Ordering::Relaxed);
        chunk.bytes.store(bytes, Ordering::Relaxed);
        chunk.state.store(state, Ordering::Release);
    }

    fn find_empty(&self) -> Option<usize> {
        self.chunks.iter().position(|chunk| chunk.state.load(Ordering::Acquire) == NONE)
    }

    fn of_state(&self, wanted: u64) -> impl Iterator<Item = (usize, &Chunk)> {
        let is_wanted = move |chunk: &Chunk| chunk.state.load(Ordering::Acquire) & 0xFF == wanted;
        self.chunks.iter().enumerate().filter(move |(_, chunk)| is_wanted(chunk))
    }
}

/// Offsets beyond the signed range cannot be written.
fn end_after(offset: u64, bytes: u64) -> Option<u64> {
    offset.checked_add(bytes).filter(|end| i64::try_from(*end).is_ok())
}

fn reserved_by(owner: Owner) -> u64 {
    (u64::from(owner.code()) << 32) | RESERVED
}
