//! Which parts of the data file are in use, by whom, and when the rest may be used again.
//!
//! - Free space is derived: at recovery everything is free that nobody adopts.
//! - A dropped extent is *pending* until two checkpoints that began after the drop are complete:
//!   until then a header slot, or a log record behind one, may name it.
//! - Extents never overlap; an adopted extent that would is a damaged reference.
//! - A free range is split from its front and merged with both neighbours.

use crate::blob::{EXTENT_UNIT_BYTES, ExtentRef};
use crate::header::DATA_START;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

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
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    live: BTreeMap<u64, (ExtentRef, Weak<Extent>)>,
    pending: BTreeMap<u64, Pending>,
    free_by_offset: BTreeMap<u64, u64>,
    free_by_size: BTreeSet<(u64, u64)>,
    end: u64,
    next_id: u64,
    checkpoint_begun: u64,
    recovering: bool,
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
    /// The space of a file of `file_bytes` in which nothing is adopted yet.
    pub(crate) fn recovering(file_bytes: u64, next_id: u64, checkpoint: u64) -> Arc<Self> {
        // Extents are written whole: a unit that the file ends within holds the end of none.
        let end = (file_bytes - file_bytes % EXTENT_UNIT_BYTES).max(DATA_START);
        let state = State {
            live: BTreeMap::new(),
            pending: BTreeMap::new(),
            free_by_offset: BTreeMap::new(),
            free_by_size: BTreeSet::new(),
            end,
            next_id: next_id.max(1),
            checkpoint_begun: checkpoint,
            recovering: true,
        };
        Arc::new(Self { state: Mutex::new(state) })
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
            state.may_adopt(extent)?;
        }
        state.pending.remove(&extent.offset);
        state.next_id = state.next_id.max(extent.ids_end());
        Ok(state.track(extent, self))
    }

    /// Keeps a range from reuse as when it was dropped before.
    pub(crate) fn adopt_pending(&self, pending: Pending) -> Result<(), Misplaced> {
        let mut state = self.state.lock();
        state.may_adopt(pending.extent)?;
        state.next_id = state.next_id.max(pending.extent.ids_end());
        state.pending.insert(pending.extent.offset, pending);
        Ok(())
    }

    /// Now what nobody adopted is free.
    pub(crate) fn finish_recovery(&self) {
        let mut state = self.state.lock();
        assert!(state.recovering, "recovery ends once");
        state.recovering = false;
        let mut used: Vec<(u64, u64)> =
            state.live.values().map(|(extent, _)| (extent.offset, extent.end())).collect();
        used.extend(state.pending.values().map(|p| (p.extent.offset, p.extent.end())));
        used.sort_unstable();
        let mut at = DATA_START;
        for (start, end) in used {
            state.add_free(at, start - at);
            at = end;
        }
        // What lies behind the last extent is not kept as a free range: the end moves back.
        state.end = at;
    }

    pub(crate) fn is_recovering(&self) -> bool {
        self.state.lock().recovering
    }

    /// A range of at least `bytes`, with ids for `blobs` blobs: the first of them, too.
    pub(crate) fn allocate(self: &Arc<Self>, bytes: u64) -> Option<Arc<Extent>> {
        let bytes = bytes.checked_next_multiple_of(EXTENT_UNIT_BYTES)?.max(EXTENT_UNIT_BYTES);
        let mut state = self.state.lock();
        assert!(!state.recovering, "allocation begins after recovery");
        let offset = state.take_range(bytes)?;
        let extent = ExtentRef { offset, bytes, id: state.next_id };
        state.next_id = extent.ids_end();
        Some(state.track(extent, self))
    }

    /// Gives back what was allocated and never named.
    pub(crate) fn cancel(&self, extent: Arc<Extent>) {
        let reference = extent.reference;
        drop(extent);
        let mut state = self.state.lock();
        if state.pending.get(&reference.offset).is_some_and(|p| p.extent == reference) {
            state.pending.remove(&reference.offset);
            state.add_free(reference.offset, reference.bytes);
        }
    }

    /// A checkpoint begins: what is dropped from now on is not named by older roots only.
    pub(crate) fn checkpoint_begins(&self, sequence: u64) {
        self.state.lock().checkpoint_begun = sequence;
    }

    /// What must stay unused until the checkpoint after `sequence` is complete.
    pub(crate) fn pending_at(&self, sequence: u64) -> Vec<Pending> {
        let state = self.state.lock();
        state.pending.values().filter(|p| p.is_kept_at(sequence)).copied().collect()
    }

    /// A checkpoint is complete: frees what no header can name any more.
    pub(crate) fn checkpoint_completes(&self, sequence: u64) {
        let mut state = self.state.lock();
        let (freed, kept) = std::mem::take(&mut state.pending)
            .into_iter()
            .partition(|(_, p)| !p.is_kept_at(sequence));
        let freed: BTreeMap<u64, Pending> = freed;
        state.pending = kept;
        for p in freed.values() {
            state.add_free(p.extent.offset, p.extent.bytes);
        }
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.state.lock().next_id
    }

    pub(crate) fn end(&self) -> u64 {
        self.state.lock().end
    }

    pub(crate) fn figures(&self) -> SpaceFigures {
        let state = self.state.lock();
        SpaceFigures {
            end: state.end,
            free: state.free_by_offset.values().sum(),
            pending: state.pending.values().map(|p| p.extent.bytes).sum(),
            extents: state.live.len(),
        }
    }

    fn release(&self, extent: ExtentRef) {
        let mut state = self.state.lock();
        // A newer handle for the same range exists when it was adopted while the old one dropped.
        let is_last =
            state.live.get(&extent.offset).is_some_and(|(_, handle)| handle.strong_count() == 0);
        if is_last {
            state.live.remove(&extent.offset);
            let dropped_after = state.checkpoint_begun;
            state.pending.insert(extent.offset, Pending { extent, dropped_after });
        }
    }
}

impl State {
    fn may_adopt(&self, extent: ExtentRef) -> Result<(), Misplaced> {
        let aligned = extent.offset.is_multiple_of(EXTENT_UNIT_BYTES)
            && extent.bytes.is_multiple_of(EXTENT_UNIT_BYTES);
        if !aligned || extent.bytes == 0 || extent.id == 0 || extent.offset < DATA_START {
            return Err(Misplaced::Malformed);
        }
        if extent.end() > self.end || extent.id > u64::MAX / 2 {
            return Err(Misplaced::PastEnd);
        }
        let reaches = |other: ExtentRef| other.end() > extent.offset;
        let live = self.live.range(..extent.end()).next_back();
        let pending = self.pending.range(..extent.end()).next_back();
        if live.is_some_and(|(_, (other, _))| reaches(*other))
            || pending.is_some_and(|(_, p)| reaches(p.extent))
        {
            return Err(Misplaced::Overlapping);
        }
        Ok(())
    }

    fn track(&mut self, reference: ExtentRef, space: &Arc<Space>) -> Arc<Extent> {
        let extent = Arc::new(Extent { reference, space: Arc::clone(space) });
        self.live.insert(reference.offset, (reference, Arc::downgrade(&extent)));
        extent
    }

    /// The smallest range that suffices; the end of the file otherwise.
    fn take_range(&mut self, bytes: u64) -> Option<u64> {
        if let Some((size, offset)) = self.free_by_size.range((bytes, 0)..).next().copied() {
            self.free_by_size.remove(&(size, offset));
            self.free_by_offset.remove(&offset);
            self.insert_free(offset + bytes, size - bytes);
            return Some(offset);
        }
        let offset = self.end;
        // Offsets beyond the signed range cannot be written.
        self.end = offset.checked_add(bytes).filter(|end| *end <= i64::MAX as u64)?;
        Some(offset)
    }

    fn add_free(&mut self, offset: u64, bytes: u64) {
        let (mut start, mut end) = (offset, offset + bytes);
        if let Some((before, size)) = self.free_by_offset.range(..offset).next_back()
            && before + size == start
        {
            start = *before;
        }
        if let Some(size) = self.free_by_offset.get(&end) {
            end += size;
        }
        for joined in [start, offset + bytes] {
            if let Some(size) = self.free_by_offset.remove(&joined) {
                self.free_by_size.remove(&(size, joined));
            }
        }
        self.insert_free(start, end - start);
    }

    fn insert_free(&mut self, offset: u64, bytes: u64) {
        if bytes > 0 {
            self.free_by_offset.insert(offset, bytes);
            self.free_by_size.insert((bytes, offset));
        }
    }
}

#[cfg(test)]
mod tests;
