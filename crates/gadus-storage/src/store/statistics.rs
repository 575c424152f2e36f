//! What a store has done, and how large it is.

use super::Store;
use crate::peers::Takeovers;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the store was opened, and sizes now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreStatistics {
    /// Appended records.
    pub commits: u64,
    /// Syncs of the log on behalf of commits.
    pub log_syncs: u64,
    /// Syncs of the data file.
    pub data_syncs: u64,
    /// Completed checkpoints.
    pub checkpoints: u64,
    /// Bytes that opening would read from the log now.
    pub log_bytes: u64,
    /// Size of the log file.
    pub log_file_bytes: u64,
    /// Bytes of the data file up to the last extent.
    pub data_file_bytes: u64,
    /// Bytes of the data file that may be used at once.
    pub free_bytes: u64,
    /// Bytes of the data file that wait for two checkpoints.
    pub pending_bytes: u64,
    /// Extents in use.
    pub extents: u64,
    /// How often somebody took over from an instance that had died, since the first of those who
    /// share the database opened it.
    pub takeovers: Takeovers,
}

impl Store {
    /// Counts and sizes.
    #[must_use]
    pub fn statistics(&self) -> StoreStatistics {
        let shared = &self.shared;
        let space = shared.space.figures();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        StoreStatistics {
            commits: count(&shared.commits),
            log_syncs: shared.log.group.syncs(),
            data_syncs: count(&shared.data_syncs),
            checkpoints: count(&shared.checkpoints),
            log_bytes: self.log_bytes_since_checkpoint(),
            log_file_bytes: shared.log.file_bytes(),
            data_file_bytes: space.end,
            free_bytes: space.free,
            pending_bytes: space.pending,
            extents: space.extents as u64,
            takeovers: shared.peers.takeovers(),
        }
    }
}
