//! Pins: commits that somebody reads, here and, through the store, before all other instances.

use super::Coordinator;
use crate::error::Result;
use crate::version::DatabaseVersion;
use gadus_base::{CommitNumber, LogPosition};
use std::sync::Arc;

/// A commit that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pinned {
    readers: usize,
    end: LogPosition,
}

/// Keeps a commit readable until it is dropped.
#[derive(Debug)]
pub(crate) struct Pin {
    coordinator: Arc<Coordinator>,
    commit: CommitNumber,
}

impl Coordinator {
    /// Pins the newest visible version.
    pub(crate) fn pin(self: &Arc<Self>) -> Result<(Arc<DatabaseVersion>, Pin)> {
        self.check_process()?;
        loop {
            self.refresh()?;
            let mut pins = self.pins.lock();
            let version = self.visible();
            if pins.is_empty() && !self.pin_in_store(&version) {
                drop(pins);
                // Behind what the log still has, although a moment ago it was the newest.
                let mut head = self.head.lock();
                self.catch_up(&mut head)?;
                continue;
            }
            let pinned = pins.entry(version.commit);
            pinned.or_insert(Pinned { readers: 0, end: version.end.position() }).readers += 1;
            let pin = Pin { coordinator: self.clone(), commit: version.commit };
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

impl Drop for Pin {
    fn drop(&mut self) {
        if !self.coordinator.store().process().is_here() {
            // Of the parent, which still reads.
            return;
        }
        let mut pins = self.coordinator.pins.lock();
        let Some(pinned) = pins.get_mut(&self.commit) else { return };
        pinned.readers -= 1;
        if pinned.readers > 0 {
            return;
        }
        let was_oldest = pins.keys().next() == Some(&self.commit);
        pins.remove(&self.commit);
        if was_oldest && self.coordinator.store().is_shared() {
            match pins.iter().next() {
                Some((&commit, pinned)) => self.coordinator.store().move_pin(commit, pinned.end),
                None => self.coordinator.store().unpin(),
            }
        }
    }
}
