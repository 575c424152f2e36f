//! The primary-key index of a table: key hash → row ids.
//!
//! - Entries are only ever added; the row itself decides. A lookup compares the key of each
//!   candidate row as its own snapshot sees it, so one index serves every snapshot, and an entry
//!   whose row was deleted or moved is passed over. Merging runs drops entries of segments that are
//!   gone.
//! - Recent entries are a persistent map within the table's version; older ones are sorted runs in
//!   the data file, merged in the background. Nothing is rebuilt at opening.
//! - Hashes have 48 bits: ten million keys collide in one lookup of 2^48 / 10^7, about 28 million.

mod page;
mod run;

pub(crate) use page::KeyPage;
pub(crate) use run::{KeyRun, KeyRunImage, merge_runs, write_run};

use crate::blobs::Blobs;
use crate::error::Result;
use crate::types::Datum;
use gadus_base::{ByteWriter, CommitNumber, RowId, SegmentId, checksum};
use imbl::OrdMap;
use std::sync::Arc;

/// Hash bits that the index keeps.
const HASH_BITS: u32 = 48;

/// The hash of a key: equal keys have equal hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct KeyHash(pub(crate) u64);

impl KeyHash {
    /// The hash of the key columns' values, none of them NULL.
    pub(crate) fn of<'a>(key: impl IntoIterator<Item = &'a Datum>) -> Self {
        let mut bytes = ByteWriter::new();
        for datum in key {
            match datum {
                // Values that compare equal must hash equally.
                Datum::Float(value) if *value == 0.0 => Datum::Float(0.0).encode(&mut bytes),
                Datum::Float(value) if value.is_nan() => Datum::Float(f64::NAN).encode(&mut bytes),
                other => other.encode(&mut bytes),
            }
        }
        Self(checksum(0, bytes.as_slice()) >> (64 - HASH_BITS))
    }
}

/// A row id in 48 bits: positions of a segment fit sixteen.
pub(crate) fn row_code(row: RowId) -> u64 {
    (u64::from(row.segment.0) << 16) | u64::from(row.position)
}

/// The inverse of [`row_code`].
pub(crate) fn row_of(code: u64) -> RowId {
    let segment = u32::try_from(code >> 16).unwrap_or(u32::MAX);
    RowId { segment: SegmentId(segment), position: u32::from((code & 0xFFFF) as u16) }
}

/// The index as one snapshot sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyIndex {
    /// (hash, row code) → the commit that added the entry.
    recent: OrdMap<(u64, u64), CommitNumber>,
    runs: Arc<Vec<Arc<KeyRun>>>,
}

impl KeyIndex {
    pub(crate) fn with_runs(runs: Vec<Arc<KeyRun>>) -> Self {
        Self { recent: OrdMap::new(), runs: Arc::new(runs) }
    }

    pub(crate) fn insert(&mut self, hash: KeyHash, row: RowId, at: CommitNumber) {
        self.recent.insert((hash.0, row_code(row)), at);
    }

    pub(crate) fn add_run(&mut self, run: Arc<KeyRun>) {
        let mut runs = self.runs.to_vec();
        runs.push(run);
        self.runs = Arc::new(runs);
    }

    /// Replaces all runs, and drops the recent entries that were added up to `written`.
    pub(crate) fn replace_runs(&mut self, runs: Vec<Arc<KeyRun>>, written: CommitNumber) {
        self.runs = Arc::new(runs);
        self.recent =
            self.recent.iter().filter(|&(_, &at)| at > written).map(|(&k, &at)| (k, at)).collect();
    }

    pub(crate) fn runs(&self) -> &[Arc<KeyRun>] {
        &self.runs
    }

    /// Entries of all runs.
    pub(crate) fn run_entries(&self) -> u64 {
        self.runs.iter().map(|run| run.entries()).sum()
    }

    pub(crate) fn recent_len(&self) -> usize {
        self.recent.len()
    }

    /// Adds recent entries that a page of their own holds: they were added before all others.
    pub(crate) fn add_recent(&mut self, page: &KeyPage) {
        self.recent.extend(page.entries().map(|entry| (entry, CommitNumber(0))));
    }

    /// Recent entries in the order of a run: (hash, row code).
    pub(crate) fn recent_entries(&self) -> Vec<(u64, u64)> {
        self.recent.keys().copied().collect()
    }

    /// Hands every row that may have the key to `visit`, until it returns false.
    pub(crate) fn candidates(
        &self,
        blobs: &Blobs,
        hash: KeyHash,
        mut visit: impl FnMut(RowId) -> Result<bool>,
    ) -> Result<()> {
        for (&(_, code), _) in self.recent.range((hash.0, 0)..=(hash.0, u64::MAX)) {
            if !visit(row_of(code))? {
                return Ok(());
            }
        }
        for run in self.runs.iter().rev() {
            if !run.candidates(blobs, hash, &mut visit)? {
                return Ok(());
            }
        }
        Ok(())
    }
}
