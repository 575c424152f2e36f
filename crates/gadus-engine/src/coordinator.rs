//! The order of commits: who may append, what is visible, what is still read.
//!
//! - One holder of the commit lock at a time evaluates against the appended head, appends, and
//!   makes the next head.
//! - Writers build on the appended head; readers see what is durable: a version becomes visible
//!   when the log is durable up to what it needs, and versions become visible in commit order.
//! - A pin names a commit that somebody still reads; nothing newer than the oldest pin is forgotten.
//!
//! This is the form for one process, in its memory. Nothing above it knows that.

use crate::error::Result;
use crate::version::DatabaseVersion;
use arc_swap::ArcSwap;
use gadus_base::{CommitNumber, LogPosition};
use gadus_storage::Store;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Orders the commits of one database.
#[derive(Debug)]
pub(crate) struct Coordinator {
    store: Arc<Store>,
    head: Mutex<Head>,
    visible: ArcSwap<DatabaseVersion>,
    pending: Mutex<VecDeque<Pending>>,
    pins: Mutex<BTreeMap<CommitNumber, usize>>,
}

/// The appended head, under the commit lock.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) version: Arc<DatabaseVersion>,
    /// End of the head's record in the log.
    pub(crate) end: LogPosition,
    /// End of the last record whose commit asked to be durable.
    pub(crate) sync_end: LogPosition,
}

/// An appended version that is not visible yet.
#[derive(Debug)]
struct Pending {
    version: Arc<DatabaseVersion>,
    /// The log must be durable up to here.
    needs: LogPosition,
}

/// Keeps a commit readable until it is dropped.
#[derive(Debug)]
pub(crate) struct Pin {
    coordinator: Arc<Coordinator>,
    commit: CommitNumber,
}

impl Coordinator {
    pub(crate) fn new(store: Arc<Store>, version: DatabaseVersion) -> Self {
        let version = Arc::new(version);
        let end = store.appended();
        Self {
            store,
            head: Mutex::new(Head { version: version.clone(), end, sync_end: end }),
            visible: ArcSwap::new(version),
            pending: Mutex::default(),
            pins: Mutex::default(),
        }
    }

    /// Takes the commit lock.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Head> {
        self.head.lock()
    }

    /// The newest version that readers may see.
    pub(crate) fn visible(&self) -> Arc<DatabaseVersion> {
        self.visible.load_full()
    }

    /// Makes an appended version the head; it becomes visible once the log is durable up to `needs`.
    pub(crate) fn advance(
        &self,
        head: &mut Head,
        version: Arc<DatabaseVersion>,
        end: LogPosition,
        needs: LogPosition,
    ) {
        head.version = version.clone();
        head.end = end;
        self.pending.lock().push_back(Pending { version, needs });
    }

    /// Waits until a commit with these needs is visible.
    pub(crate) fn wait_visible(&self, commit: CommitNumber, needs: LogPosition) -> Result<()> {
        self.store.wait_durable(needs)?;
        if self.visible.load().commit >= commit {
            return Ok(());
        }
        let durable = self.store.durable();
        let mut pending = self.pending.lock();
        let mut newest = None;
        while pending.front().is_some_and(|next| next.needs <= durable) {
            newest = pending.pop_front();
        }
        if let Some(newest) = newest {
            // Under the lock on `pending`, so that an older version never replaces a newer one.
            self.visible.store(newest.version);
        }
        Ok(())
    }

    /// Pins the newest visible version.
    pub(crate) fn pin(self: &Arc<Self>) -> (Arc<DatabaseVersion>, Pin) {
        let mut pins = self.pins.lock();
        let version = self.visible();
        *pins.entry(version.commit).or_default() += 1;
        let pin = Pin { coordinator: self.clone(), commit: version.commit };
        (version, pin)
    }

    /// The oldest commit that somebody reads; the visible one when nobody does.
    pub(crate) fn oldest_snapshot(&self) -> CommitNumber {
        let pins = self.pins.lock();
        let visible = self.visible.load().commit;
        pins.keys().next().copied().unwrap_or(visible).min(visible)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut pins = self.coordinator.pins.lock();
        if let Some(count) = pins.get_mut(&self.commit) {
            *count -= 1;
            if *count == 0 {
                pins.remove(&self.commit);
            }
        }
    }
}
