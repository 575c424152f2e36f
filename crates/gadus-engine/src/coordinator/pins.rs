//! Pins: commits that somebody reads, here and, through the store, before all other instances.
//!
//! - A pin may be given up where it keeps too much from being used again. Then what is read there may
//!   be gone, which a reader finds out afterwards: bytes that are not what they were are refused.

use super::Coordinator;
use crate::error::{Error, ErrorKind, Result};
use crate::version::DatabaseVersion;
use gadus_base::CommitNumber;
use gadus_storage::ExtentRef;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A commit that is read.
#[derive(Debug)]
pub(super) struct Pinned {
    readers: usize,
    version: Arc<DatabaseVersion>,
}

/// Keeps a commit readable until it is dropped.
#[derive(Debug)]
pub(crate) struct Pin {
    coordinator: Arc<Coordinator>,
    commit: CommitNumber,
    /// Something was read.
    was_read: AtomicBool,
}

impl Coordinator {
    /// Pins the newest visible version.
    pub(crate) fn pin(self: &Arc<Self>) -> Result<(Arc<DatabaseVersion>, Pin)> {
        self.check_usable()?;
        loop {
            self.refresh()?;
            let mut pins = self.pins.lock();
            let version = self.visible();
            if version.commit < self.store().readable_from() {
                // Given up since the refresh: there is a newer one by now.
                continue;
            }
            if pins.is_empty() && !self.pin_in_store(&version) {
                drop(pins);
                // Behind what the log still has, although a moment ago it was the newest.
                let mut head = self.head.lock();
                self.catch_up(&mut head)?;
                continue;
            }
            let pinned = pins.entry(version.commit);
            let new = || Pinned { readers: 0, version: version.clone() };
            pinned.or_insert_with(new).readers += 1;
            let pin = Pin {
                coordinator: self.clone(),
                commit: version.commit,
                was_read: AtomicBool::new(false),
            };
            return Ok((version, pin));
        }
    }

    fn pin_in_store(&self, version: &DatabaseVersion) -> bool {
        !self.store().is_shared() || self.store().pin(version.commit, version.end.position())
    }

    /// The oldest commit that somebody here reads; the visible one when nobody does.
    pub(crate) fn oldest_pin(&self) -> CommitNumber {
        let pins = self.pins.lock();
        let visible = self.visible.load().commit;
        pins.keys().next().copied().unwrap_or(visible).min(visible)
    }
}

impl Coordinator {
    /// Calls with the extents of all versions from a commit on that are held here. Meanwhile none comes
    /// into use.
    pub(crate) fn with_extents_from<T>(
        &self,
        commit: CommitNumber,
        call: impl FnOnce(HashSet<ExtentRef>) -> T,
    ) -> T {
        let head = self.head.lock();
        let pending = self.pending.lock();
        let pins = self.pins.lock();
        let visible = self.visible();
        let versions = [&head.version, &visible].into_iter();
        let versions = versions.chain(pending.iter().map(|pending| &pending.version));
        let versions = versions.chain(pins.values().map(|pinned| &pinned.version));
        let read = versions.filter(|version| version.commit >= commit);
        call(read.flat_map(|version| version.extents()).collect())
    }
}

impl Pin {
    /// What was read at this commit, unless that may be gone.
    pub(crate) fn checked<T>(&self, read: Result<T>) -> Result<T> {
        self.check()?;
        self.mark_read();
        read
    }

    /// Something is read at this commit.
    pub(crate) fn mark_read(&self) {
        // Looked at first: many threads read.
        if !self.was_read() {
            self.was_read.store(true, Ordering::Relaxed);
        }
    }

    /// Whether something was read at this commit.
    pub(crate) fn was_read(&self) -> bool {
        self.was_read.load(Ordering::Relaxed)
    }

    /// Refuses where the snapshot is given up.
    pub(crate) fn check(&self) -> Result<()> {
        if self.commit >= self.coordinator.store().readable_from() {
            return Ok(());
        }
        let message = format!(
            "{}: the snapshot of {} is given up: it kept more of the log and of deleted rows from being \
             used again than gadus.snapshot_space_max allows; begin again, or raise that setting",
            self.coordinator.store().describe(),
            self.commit
        );
        Err(Error::new(ErrorKind::SnapshotTooOld, message))
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        if !self.coordinator.store().process().is_here() {
            // Of the parent, which still reads.
            return;
        }
        // Dropped after the lock: it may be the last that names some extents.
        let unpinned;
        let mut pins = self.coordinator.pins.lock();
        let Some(pinned) = pins.get_mut(&self.commit) else { return };
        pinned.readers -= 1;
        if pinned.readers > 0 {
            return;
        }
        let was_oldest = pins.keys().next() == Some(&self.commit);
        unpinned = pins.remove(&self.commit);
        if was_oldest && self.coordinator.store().is_shared() {
            match pins.iter().next() {
                Some((&commit, pinned)) => {
                    self.coordinator.store().move_pin(commit, pinned.version.end.position());
                }
                None => self.coordinator.store().unpin(),
            }
        }
        drop(pins);
        drop(unpinned);
    }
}
