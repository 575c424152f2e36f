//! Which parts of the data file are in use, by whom, and when the rest may be used again.
//!
//! - Space is given from chunks that an instance has reserved ([`chunks`]); a reservation ends when
//!   nothing in it is left that is neither named by a record or header nor dropped.
//! - Free space is derived: what nothing names and nobody has reserved. It is looked for at recovery
//!   and after each checkpoint.
//! - A dropped extent is *pending* until two checkpoints that began after the drop are complete:
//!   until then a header slot, or a log record behind one, may name it.
//! - Extents never overlap; during recovery an adopted one that would is a damaged reference. Later,
//!   what it overlaps was dropped by all who can still read it; a pending one was so before.

mod chunks;
mod free;
mod known;
mod reserve;

pub(crate) use chunks::SpaceState;
pub(crate) use reserve::DataFile;
pub use reserve::{Remaining, ReserveUse, Rewritten, Unsaved};

use crate::blob::{EXTENT_UNIT_BYTES, ExtentRef};
use crate::error::{ErrorKind, StorageError};
use crate::header::DATA_START;
use crate::peers::{Held, Peers, Stage};
use known::{OwnChunk, State};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// What is reserved at least, unless less is free in one piece: small extents, as a checkpoint
/// writes them, then seldom go through shared memory.
const RESERVED_BYTES_MIN: u64 = 64 << 10;

/// A range of the data file in use. When the last handle drops, the range becomes reusable after
/// two further checkpoints.
#[derive(Debug)]
pub struct Extent {
    reference: ExtentRef,
    space: Arc<Space>,
}

/// The space of one data file.
#[derive(Debug)]
pub(crate) struct Space {
    peers: Arc<Peers>,
    file: DataFile,
    state: Mutex<State>,
    listener: OnceLock<Listener>,
}

/// Hears of extents that nobody here holds any more.
struct Listener(Box<DroppedExtent>);

type DroppedExtent = dyn Fn(ExtentRef) + Send + Sync;

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// A dropped extent, and the newest checkpoint that had begun then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) extent: ExtentRef,
    pub(crate) dropped_after: u64,
}

/// Why a reference cannot be adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misplaced {
    Malformed,
    PastEnd,
    Overlapping,
}

/// Figures for statistics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpaceFigures {
    pub(crate) end: u64,
    pub(crate) free: u64,
    pub(crate) pending: u64,
    pub(crate) extents: usize,
}

impl Extent {
    /// The reference to store where the extent is named.
    #[must_use]
    pub fn reference(&self) -> ExtentRef {
        self.reference
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        self.space.release(self.reference);
    }
}

impl Pending {
    /// Whether a header or a log record may name it once checkpoint `sequence` is complete.
    pub(crate) fn is_kept_at(&self, sequence: u64) -> bool {
        self.dropped_after.saturating_add(2) > sequence
    }
}

impl Space {
    /// The space of a file of `file_bytes`, known to nobody yet, in which nothing is adopted.
    pub(crate) fn recovering(
        peers: Arc<Peers>,
        file: DataFile,
        file_bytes: u64,
        next_id: u64,
        checkpoint: u64,
    ) -> Arc<Self> {
        let space = Self::opened(peers, file, file_bytes);
        let shared = space.shared();
        let end = space.state.lock().recovering.unwrap_or(DATA_START);
        shared.end.store(end, Ordering::Release);
        shared.allocated.store(0, Ordering::Release);
        shared.next_id.store(next_id.max(1), Ordering::Release);
        shared.checkpoint_begun.store(checkpoint, Ordering::Release);
        space
    }

    /// The space of a file that others have open, in which this instance has adopted nothing.
    pub(crate) fn opened(peers: Arc<Peers>, file: DataFile, file_bytes: u64) -> Arc<Self> {
        // Extents are written whole: a unit that the file ends within holds the end of none.
        let end = (file_bytes - file_bytes % EXTENT_UNIT_BYTES).max(DATA_START);
        let (state, listener) = (Mutex::new(State::recovering(end)), OnceLock::new());
        Arc::new(Self { peers, file, state, listener })
    }

    /// Has somebody hear of each extent whose last handle here is dropped; said once.
    pub(crate) fn listen(&self, listener: impl Fn(ExtentRef) + Send + Sync + 'static) {
        let _ = self.listener.set(Listener(Box::new(listener)));
    }

    fn shared(&self) -> &SpaceState {
        &self.peers.state().space
    }

    fn hold(&self) -> Held<'_> {
        self.peers.hold(&self.peers.state().space_latch, |_| Stage::Space)
    }

    /// Marks a range as used; the same reference gives the same handle.
    pub(crate) fn adopt(self: &Arc<Self>, extent: ExtentRef) -> Result<Arc<Extent>, Misplaced> {
        let mut state = self.state.lock();
        let known = state.live.get(&extent.offset).filter(|(known, _)| *known == extent);
        if let Some(handle) = known.and_then(|(_, handle)| handle.upgrade()) {
            return Ok(handle);
        }
        // Named again after its last handle was dropped: by a record replayed after another one.
        let dropped = state.pending.get(&extent.offset).is_some_and(|p| p.extent == extent);
        if known.is_none() && !dropped {
            state.may_adopt(extent, self.end())?;
        }
        state.forget_overlapped(extent);
        state.pending.remove(&extent.offset);
        self.shared().next_id.fetch_max(extent.ids_end(), Ordering::AcqRel);
        Ok(state.track(extent, self))
    }

    /// Keeps a range from reuse as when it was dropped before, unless it is in use again or the file
    /// ends before it: the instance that wrote this down may have dropped it later than others.
    pub(crate) fn adopt_pending(&self, pending: Pending) -> Result<(), Misplaced> {
        let mut state = self.state.lock();
        match state.may_adopt(pending.extent, self.end()) {
            Err(Misplaced::Overlapping | Misplaced::PastEnd) => return Ok(()),
            adopted => adopted?,
        }
        self.shared().next_id.fetch_max(pending.extent.ids_end(), Ordering::AcqRel);
        state.pending.insert(pending.extent.offset, pending);
        Ok(())
    }

    /// Now what nobody adopted is free, where this instance is the first; else others know.
    pub(crate) fn finish_recovery(&self, is_first: bool) {
        let before = self.state.lock().recovering.take();
        assert!(before.is_some(), "recovery ends once");
        if is_first {
            self.find_free(|| true);
        }
    }

    pub(crate) fn is_recovering(&self) -> bool {
        self.state.lock().recovering.is_some()
    }

    /// A range of at least `bytes`, with ids for as many blobs as it can hold.
    pub(crate) fn allocate(self: &Arc<Self>, bytes: u64) -> Result<Arc<Extent>, StorageError> {
        let bytes = bytes.checked_next_multiple_of(EXTENT_UNIT_BYTES);
        let bytes = bytes.ok_or_else(|| self.too_long())?.max(EXTENT_UNIT_BYTES);
        let ids = 1 + bytes / crate::blob::BLOB_ALIGNMENT_BYTES;
        let id = self.shared().next_id.fetch_add(ids, Ordering::AcqRel);
        let mut state = self.state.lock();
        assert!(state.recovering.is_none(), "allocation begins after recovery");
        if state.left_in_chunks() < bytes {
            drop(state);
            // The latch comes before the lock, here and everywhere.
            let _held = self.hold();
            state = self.state.lock();
            if state.left_in_chunks() < bytes {
                self.reserve(&mut state, bytes)?;
            }
        }
        let fitting = state.reserved.iter_mut().filter(|chunk| chunk.left() >= bytes);
        let best = fitting.min_by_key(|chunk| chunk.left()).expect("there is one by now");
        let offset = best.reserved.offset + best.used;
        best.used += bytes;
        best.unnamed.insert(offset);
        let extent = ExtentRef { offset, bytes, id };
        state.forget_overlapped(extent);
        Ok(state.track(extent, self))
    }

    fn too_long(&self) -> StorageError {
        let message = "the data file has reached the largest size that files can have";
        StorageError::new(ErrorKind::Limit, &self.file.described, message)
    }

    /// Makes a chunk of this instance have so much left; under the latch.
    fn reserve(&self, state: &mut State, bytes: u64) -> Result<(), StorageError> {
        let wanted = bytes.max(RESERVED_BYTES_MIN);
        let shared = self.shared();
        let me = self.peers.me();
        let reserved = match shared.take_free(bytes, wanted, me) {
            Some(reserved) => reserved,
            None => {
                self.file.extend(shared, wanted, Unsaved::default(), Remaining::Whole)?;
                // Long loads take the end again and again: in one chunk, of which there are few.
                let mut own = state.reserved.iter_mut();
                if let Some(last) = own.find(|chunk| shared.is_last(&chunk.reserved)) {
                    let extended = shared.extend(&mut last.reserved, wanted);
                    return extended.ok_or_else(|| self.too_long());
                }
                shared.take_end(wanted, me).ok_or_else(|| self.too_long())?
            }
        };
        state.reserved.push(OwnChunk::new(reserved));
        Ok(())
    }

    /// Gives back what was allocated and never named.
    pub(crate) fn cancel(&self, extent: Arc<Extent>) {
        let reference = extent.reference;
        drop(extent);
        let mut state = self.state.lock();
        let pending = state.pending.get(&reference.offset);
        if pending.is_none_or(|pending| pending.extent != reference) {
            return;
        }
        state.pending.remove(&reference.offset);
        let last = |chunk: &&mut OwnChunk| {
            chunk.reserved.offset + chunk.used == reference.end() && chunk.used >= reference.bytes
        };
        // Anything else is found by the next search.
        if let Some(chunk) = state.reserved.iter_mut().find(last) {
            chunk.used -= reference.bytes;
        }
    }

    /// A durable record or header names these extents: they are no longer this instance's business.
    pub(crate) fn named(&self, extents: impl IntoIterator<Item = ExtentRef>) {
        let ends = |chunk: &OwnChunk| chunk.unnamed.is_empty() && chunk.left() < EXTENT_UNIT_BYTES;
        let some_end = {
            let mut state = self.state.lock();
            extents.into_iter().for_each(|extent| state.settle(extent.offset));
            state.reserved.iter().any(ends)
        };
        if some_end {
            let _held = self.hold();
            self.end_reservations(ends);
        }
    }

    /// Under the latch.
    fn end_reservations(&self, ends: impl Fn(&OwnChunk) -> bool) {
        let mut state = self.state.lock();
        let ended = state.reserved.extract_if(.., |chunk| ends(chunk));
        ended.for_each(|chunk| self.shared().end_reservation(chunk.reserved));
    }

    /// A checkpoint begins: what is dropped from now on is not named by older roots only.
    pub(crate) fn checkpoint_begins(&self, sequence: u64) {
        self.shared().checkpoint_begun.fetch_max(sequence, Ordering::AcqRel);
    }

    /// What must stay unused until the checkpoint after `sequence` is complete.
    pub(crate) fn pending_at(&self, sequence: u64) -> Vec<Pending> {
        let state = self.state.lock();
        state.pending.values().filter(|p| p.is_kept_at(sequence)).copied().collect()
    }

    /// A checkpoint is complete: forgets what no header can name any more.
    pub(crate) fn checkpoint_completes(&self, sequence: u64) {
        self.state.lock().pending.retain(|_, pending| pending.is_kept_at(sequence));
    }

    /// Drops what is neither in use nor still to be named, whoever holds it here.
    pub(crate) fn disown(&self, in_use: &HashSet<ExtentRef>) {
        let dropped_after = self.shared().checkpoint_begun.load(Ordering::Acquire);
        let disowned = self.state.lock().disown(in_use, dropped_after);
        disowned.into_iter().for_each(|extent| self.tell_listener(extent));
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.shared().next_id.load(Ordering::Acquire)
    }

    pub(crate) fn end(&self) -> u64 {
        self.shared().end.load(Ordering::Acquire)
    }

    pub(crate) fn figures(&self) -> SpaceFigures {
        let free = self.shared().ranges(true).iter().map(|(_, bytes)| bytes).sum::<u64>();
        let state = self.state.lock();
        SpaceFigures {
            end: self.end(),
            free: free + state.reserved.iter().map(OwnChunk::left).sum::<u64>(),
            pending: state.pending.values().map(|p| p.extent.bytes).sum(),
            extents: state.live.len(),
        }
    }

    fn release(&self, extent: ExtentRef) {
        let mut state = self.state.lock();
        // A newer handle for the same range exists when it was adopted while the old one dropped.
        let is_last = state
            .live
            .get(&extent.offset)
            .is_some_and(|(known, handle)| *known == extent && handle.strong_count() == 0);
        if is_last {
            state.live.remove(&extent.offset);
            state.settle(extent.offset);
            let dropped_after = self.shared().checkpoint_begun.load(Ordering::Acquire);
            state.pending.insert(extent.offset, Pending { extent, dropped_after });
            drop(state);
            self.tell_listener(extent);
        }
    }

    fn tell_listener(&self, extent: ExtentRef) {
        if let Some(Listener(listener)) = self.listener.get() {
            listener(extent);
        }
    }
}

#[cfg(test)]
mod tests;
