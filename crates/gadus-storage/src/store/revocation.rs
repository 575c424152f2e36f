//! Giving up old snapshots: what they keep from being used again has a limit.
//!
//! - Decided by whoever writes a checkpoint, in its turn: nothing older than the older header is kept
//!   but for snapshots, hence all of those that are older are given up at once.
//! - The words that say so are raised before the horizon of the log is, and before pins are looked at.
//!   A reader looks at them after it has what it read: it may have read the space of others by then.
//! - Who opens the database, or catches up, keeps what it reads whatever the limit: that is soon over.

use super::Store;
use crate::blob::ExtentRef;
use gadus_base::CommitNumber;
use std::collections::HashSet;

impl Store {
    /// The oldest commit whose snapshot is not given up.
    #[must_use]
    pub fn readable_from(&self) -> CommitNumber {
        self.shared.peers.readable_from()
    }

    /// Gives up the snapshots older than the older header, where they keep more than `bytes_max` of
    /// the log and the data file from being used again, or half of what the log can have: a full log
    /// would stop all writers. Says whether it did.
    ///
    /// The caller has the turn of checkpoints. `oldest_here` is the oldest commit read through this
    /// instance, and `in_use` gives the extents that commits name from a given one on.
    pub fn limit_snapshots(
        &self,
        bytes_max: u64,
        oldest_here: CommitNumber,
        in_use: impl FnOnce(CommitNumber) -> HashSet<ExtentRef>,
    ) -> bool {
        let peers = &self.shared.peers;
        let Some(older) = self.shared.headers.lock().older else { return false };
        let is_old = oldest_here.max(peers.readable_from()) < older.commit;
        if !is_old && peers.others_read_from(older.commit, older.replay_from) {
            return false;
        }
        let log = older.replay_from.0.saturating_sub(peers.oldest_snapshot());
        let kept = log + self.shared.space.unused_bytes(self.with_headers(in_use(older.commit)));
        if kept <= bytes_max && log <= self.shared.log.capacity_bytes() / 2 {
            return false;
        }
        peers.revoke_before(older.commit, older.replay_from);
        self.shared.log.recycle_before(older.replay_from);
        true
    }

    /// Drops the extents that nothing in use names: snapshots that are given up hold them still.
    /// None may come into use meanwhile.
    pub fn disown(&self, in_use: HashSet<ExtentRef>) {
        self.shared.space.disown(&self.with_headers(in_use));
    }

    fn with_headers(&self, mut in_use: HashSet<ExtentRef>) -> HashSet<ExtentRef> {
        let headers = self.shared.headers.lock();
        let extents = [&headers.newest_extent, &headers.older_extent];
        in_use.extend(extents.into_iter().flatten().map(|extent| extent.reference()));
        in_use
    }
}
