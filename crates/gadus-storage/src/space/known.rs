//! What one instance knows of the data file's space: extents in use, extents dropped, chunks of its
//! own.
//!
//! - Guarded by the space's lock, which is taken after the space latch, never before.

use super::chunks::Reserved;
use super::{Extent, Misplaced, Pending, Space};
use crate::blob::{EXTENT_UNIT_BYTES, ExtentRef};
use crate::header::DATA_START;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Weak};

/// Extents and chunks as this instance knows them.
#[derive(Debug)]
pub(super) struct State {
    pub(super) live: BTreeMap<u64, (ExtentRef, Weak<Extent>)>,
    pub(super) pending: BTreeMap<u64, Pending>,
    pub(super) reserved: Vec<OwnChunk>,
    /// While recovering: where the file ends.
    pub(super) recovering: Option<u64>,
}

/// A chunk that extents are cut from.
#[derive(Debug)]
pub(super) struct OwnChunk {
    pub(super) reserved: Reserved,
    pub(super) used: u64,
    /// Offsets of extents that nothing names yet, as far as is known.
    pub(super) unnamed: BTreeSet<u64>,
}

impl OwnChunk {
    pub(super) fn new(reserved: Reserved) -> Self {
        Self { reserved, used: 0, unnamed: BTreeSet::new() }
    }

    pub(super) fn left(&self) -> u64 {
        self.reserved.bytes - self.used
    }
}

impl State {
    /// Knows nothing yet, of a file that ends at `end`.
    pub(super) fn recovering(end: u64) -> Self {
        Self {
            live: BTreeMap::new(),
            pending: BTreeMap::new(),
            reserved: Vec::new(),
            recovering: Some(end),
        }
    }

    pub(super) fn may_adopt(&self, extent: ExtentRef, end: u64) -> Result<(), Misplaced> {
        let aligned = extent.offset.is_multiple_of(EXTENT_UNIT_BYTES)
            && extent.bytes.is_multiple_of(EXTENT_UNIT_BYTES);
        if !aligned || extent.bytes == 0 || extent.id == 0 || extent.offset < DATA_START {
            return Err(Misplaced::Malformed);
        }
        if extent.end() > end || extent.id > u64::MAX / 2 {
            return Err(Misplaced::PastEnd);
        }
        if self.recovering.is_none() {
            return Ok(());
        }
        let reaches = |other: ExtentRef| other.end() > extent.offset;
        let live = self.live.range(..extent.end()).next_back();
        if live.is_some_and(|(_, (other, _))| reaches(*other)) {
            return Err(Misplaced::Overlapping);
        }
        Ok(())
    }

    /// The range is used again: what was there is read by nobody.
    pub(super) fn forget_overlapped(&mut self, extent: ExtentRef) {
        let overlaps = |other: ExtentRef| other != extent && extent.offset < other.end();
        // Those that begin before its end, from the last one back to the first that ends before it.
        while let Some((&offset, _)) =
            self.live.range(..extent.end()).next_back().filter(|(_, (other, _))| overlaps(*other))
        {
            self.live.remove(&offset);
        }
        while let Some((&offset, _)) =
            self.pending.range(..extent.end()).next_back().filter(|(_, p)| overlaps(p.extent))
        {
            self.pending.remove(&offset);
        }
    }

    pub(super) fn track(&mut self, reference: ExtentRef, space: &Arc<Space>) -> Arc<Extent> {
        let extent = Arc::new(Extent { reference, space: Arc::clone(space) });
        self.live.insert(reference.offset, (reference, Arc::downgrade(&extent)));
        extent
    }

    /// The most that one chunk has left.
    pub(super) fn left_in_chunks(&self) -> u64 {
        self.reserved.iter().map(OwnChunk::left).max().unwrap_or(0)
    }

    /// Offset and length of extents in use, as the caller says, and of those that are pending.
    pub(super) fn ranges(&self, is_used: impl Fn(&ExtentRef) -> bool) -> Vec<(u64, u64)> {
        let live = self.live.values().map(|(extent, _)| extent).filter(|extent| is_used(extent));
        let pending = self.pending.values().map(|pending| &pending.extent);
        live.chain(pending).map(|extent| (extent.offset, extent.bytes)).collect()
    }

    /// Makes pending what is neither in use nor still to be named; gives what that is.
    pub(super) fn disown(
        &mut self,
        in_use: &HashSet<ExtentRef>,
        dropped_after: u64,
    ) -> Vec<ExtentRef> {
        let unnamed = self.reserved.iter().flat_map(|chunk| chunk.unnamed.iter().copied());
        let unnamed = unnamed.collect::<HashSet<_>>();
        let is_used =
            |extent: &ExtentRef| in_use.contains(extent) || unnamed.contains(&extent.offset);
        let disowned = self.live.extract_if(.., |_, (extent, _)| !is_used(extent));
        let disowned = disowned.map(|(_, (extent, _))| extent).collect::<Vec<_>>();
        for &extent in &disowned {
            self.pending.insert(extent.offset, Pending { extent, dropped_after });
        }
        disowned
    }

    pub(super) fn settle(&mut self, offset: u64) {
        let holds = |chunk: &&mut OwnChunk| {
            (chunk.reserved.offset..chunk.reserved.offset + chunk.used).contains(&offset)
        };
        if let Some(chunk) = self.reserved.iter_mut().find(holds) {
            chunk.unnamed.remove(&offset);
        }
    }
}
