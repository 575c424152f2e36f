//! The order of commits: who may append, what is visible, what is still read.
//!
//! - One holder of the commit lock at a time evaluates against the appended head, appends, and
//!   makes the next head; he has caught up with what other instances appended before.
//! - Writers build on the appended head; readers see what is durable: a version becomes visible
//!   when the log is durable up to what it needs, and versions become visible in commit order.
//! - Before it reads, a statement compares what is visible here with what is appended: one atomic
//!   load when nothing changed. Otherwise the records in between are applied, and shown when they
//!   are durable.
//! - A pin names a commit that somebody still reads; nothing newer than the oldest pin is forgotten,
//!   here or, through the store, by others.

mod pins;

pub(crate) use pins::Pin;

use crate::blobs::Blobs;
use crate::engine::recovery;
use crate::error::{Error, ErrorKind, Result};
use crate::version::{DatabaseVersion, decode_changes};
use arc_swap::ArcSwap;
use gadus_base::{CommitNumber, LogPosition, clock};
use gadus_storage::{LogEnd, LogRecord, Store, Turn};
use parking_lot::{Mutex, MutexGuard};
use pins::Pinned;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Nobody appends for so long whose process runs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who has waited so long for another thread of its process looks for itself.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Orders the commits of one database.
#[derive(Debug)]
pub(crate) struct Coordinator {
    blobs: Arc<Blobs>,
    /// Taken before the right to append: so that whoever only reads waits for no other process.
    appending: Mutex<()>,
    head: Mutex<Head>,
    /// Where the head ends, readable without its lock.
    known_end: AtomicU64,
    visible: ArcSwap<DatabaseVersion>,
    pending: Mutex<VecDeque<Pending>>,
    pins: Mutex<BTreeMap<CommitNumber, Pinned>>,
    caught_up: CaughtUp,
}

/// The appended head, as this instance knows it.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) version: Arc<DatabaseVersion>,
    /// End of the last record whose commit asked to be durable.
    pub(crate) sync_end: LogPosition,
}

/// The commit lock, held: the head is the newest there is.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    head: MutexGuard<'a, Head>,
    pub(crate) turn: Turn<'a>,
    _appending: MutexGuard<'a, ()>,
}

/// An appended version that is not visible yet.
#[derive(Debug)]
struct Pending {
    version: Arc<DatabaseVersion>,
    /// The log must be durable up to here.
    needs: LogPosition,
}

/// What following other instances has cost.
#[derive(Debug, Default)]
struct CaughtUp {
    records: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Coordinator {
    /// Begins with a version that is durable.
    pub(crate) fn new(blobs: Arc<Blobs>, version: DatabaseVersion) -> Self {
        let (version, end) = (Arc::new(version.clone()), version.end);
        let sync_end = end.position();
        Self {
            blobs,
            appending: Mutex::default(),
            head: Mutex::new(Head { version: version.clone(), sync_end }),
            known_end: AtomicU64::new(end.position().0),
            visible: ArcSwap::new(version),
            pending: Mutex::default(),
            pins: Mutex::default(),
            caught_up: CaughtUp::default(),
        }
    }

    fn store(&self) -> &Store {
        self.blobs.store()
    }

    /// Refuses a child that was forked after the database was opened, which has no part in it, and a process whose
    /// shared memory is gone.
    pub(crate) fn check_usable(&self) -> Result<()> {
        if self.store().process().is_here() {
            return Ok(self.store().check_memory_cached()?);
        }
        let message = format!(
            "{}: this process was forked after the database had been opened; open it here, too",
            self.store().describe()
        );
        Err(Error::new(ErrorKind::Forked, message))
    }

    /// Takes the commit lock.
    pub(crate) fn lock(&self) -> Result<Locked<'_>> {
        self.check_usable()?;
        let appending = loop {
            match self.appending.try_lock_for(PATIENCE) {
                Some(appending) => break appending,
                // Another thread waits: for somebody who does not go on, or it is nearly through.
                None => drop(self.store().turn_within(LAST_LOOK)?),
            }
        };
        let turn = self.store().turn_within(PATIENCE)?;
        let mut head = self.head.lock();
        self.catch_up(&mut head)?;
        Ok(Locked { head, turn, _appending: appending })
    }

    /// The newest appended version, and the end of its record.
    pub(crate) fn newest(&self) -> Result<(Arc<DatabaseVersion>, LogEnd)> {
        self.check_usable()?;
        let mut head = self.head.lock();
        self.catch_up(&mut head)?;
        Ok((head.version.clone(), head.version.end))
    }

    /// The newest version known here that readers may see.
    pub(crate) fn visible(&self) -> Arc<DatabaseVersion> {
        self.visible.load_full()
    }

    /// Makes an appended version the head; it becomes visible once the log is durable up to `needs`.
    pub(crate) fn advance(
        &self,
        head: &mut Head,
        version: Arc<DatabaseVersion>,
        needs: LogPosition,
    ) {
        self.move_head(head, version.clone());
        self.pending.lock().push_back(Pending { version, needs });
    }

    /// Applies what other instances have appended.
    ///
    /// Records that will become durable together make one version: the next sync covers all that is
    /// appended by now, but for what the running one covers. Where that guess is wrong,
    /// [`show_exactly`](Self::show_exactly) makes the version in between.
    fn catch_up(&self, head: &mut Head) -> Result<()> {
        let store = self.store();
        if !store.is_shared() || store.appended() <= head.version.end.position() {
            return Ok(());
        }
        let begun = clock().now();
        let (durable, target) = (store.durable(), store.sync_target());
        let Some((records, _)) = store.records_after(&head.version.end)? else {
            return self.read_again(head);
        };
        let oldest_pin = self.oldest_pin();
        let mut version = DatabaseVersion::clone(&head.version);
        let mut waits_for = None;
        for record in &records {
            let applied = self.apply_next(&mut version, record, oldest_pin, |version, is_sync| {
                let needs = if is_sync { record.position } else { head.sync_end };
                let group = (needs > durable, needs > target);
                if waits_for.replace(group).is_some_and(|before| before != group) {
                    self.add_pending(version, head.sync_end);
                }
                head.sync_end = needs;
            });
            if let Err(error) = applied {
                store.end_reading();
                // Slots behind the head's rows are filled: it goes on with slots of its own.
                head.version = Arc::new(head.version.with_own_open_rows());
                return Err(error);
            }
        }
        store.end_reading();
        self.add_pending(&version, head.sync_end);
        self.move_head(head, Arc::new(version));
        self.caught_up.records.fetch_add(records.len() as u64, Ordering::Relaxed);
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.caught_up.nanoseconds.fetch_add(took, Ordering::Relaxed);
        Ok(())
    }

    /// Records of other instances that were applied here, and how long that took.
    pub(crate) fn caught_up(&self) -> (u64, Duration) {
        let CaughtUp { records, nanoseconds } = &self.caught_up;
        let took = Duration::from_nanos(nanoseconds.load(Ordering::Relaxed));
        (records.load(Ordering::Relaxed), took)
    }

    /// Applies a record; `before` is called with the version before it, and whether its commit asked
    /// to be durable.
    fn apply_next(
        &self,
        version: &mut DatabaseVersion,
        record: &LogRecord,
        oldest_pin: CommitNumber,
        before: impl FnOnce(&DatabaseVersion, bool),
    ) -> Result<()> {
        let (is_sync, changes) = decode_changes(&record.payload, &self.blobs)?;
        before(version, is_sync);
        recovery::apply(version, record, changes, &self.blobs, oldest_pin)
    }

    fn add_pending(&self, version: &DatabaseVersion, needs: LogPosition) {
        let version = Arc::new(version.clone());
        self.pending.lock().push_back(Pending { version, needs });
    }

    fn move_head(&self, head: &mut Head, version: Arc<DatabaseVersion>) {
        self.known_end.store(version.end.position().0, Ordering::Release);
        head.version = version;
    }

    /// Begins anew from the newest checkpoint: the log in between is recycled. Nothing is pinned
    /// here, or it would not be.
    fn read_again(&self, head: &mut Head) -> Result<()> {
        let recovered = self.store().read_again()?;
        let replayed = recovery::replay(&self.blobs, &recovered);
        self.store().end_reading();
        let (version, end) = (Arc::new(replayed?), recovered.end);
        self.store().wait_durable(end.position())?;
        let mut pending = self.pending.lock();
        pending.clear();
        self.visible.store(version.clone());
        drop(pending);
        head.sync_end = end.position();
        self.move_head(head, version);
        Ok(())
    }

    /// Waits until a commit with these needs is visible.
    pub(crate) fn wait_visible(&self, commit: CommitNumber, needs: LogPosition) -> Result<()> {
        self.store().wait_durable(needs)?;
        if self.visible.load().commit < commit {
            self.show_durable();
        }
        Ok(())
    }

    /// What was found in the head. Where that refuses because of others, waits until what they have
    /// appended is visible, so that whoever tries again finds it: its writer may have died before it
    /// was durable, and nobody else need ever make it so.
    pub(crate) fn once_visible<T>(&self, found: Result<T>) -> Result<T> {
        if found.as_ref().is_err_and(Error::is_because_of_others) {
            let (commit, needs) = {
                let head = self.head.lock();
                (head.version.commit, head.sync_end)
            };
            self.wait_visible(commit, needs)?;
        }
        found
    }

    /// Makes visible what is durable and known here.
    fn show_durable(&self) {
        let durable = self.store().durable();
        // Dropped when the lock is released: what they alone have takes time, and others wait for it.
        let mut shown = Vec::new();
        let mut pending = self.pending.lock();
        while let Some(next) = pending.pop_front_if(|next| next.needs <= durable) {
            shown.push(next.version);
        }
        let is_newer = |next: &&Arc<DatabaseVersion>| next.commit > self.visible.load().commit;
        if let Some(newest) = shown.last().filter(is_newer) {
            // Under the lock on `pending`, so that an older version never replaces a newer one.
            shown.push(self.visible.swap(newest.clone()));
        }
        drop(pending);
    }

    /// Makes visible here what is durable anywhere.
    pub(crate) fn refresh(&self) -> Result<()> {
        if !self.store().is_shared() {
            return Ok(());
        }
        // Also what is not durable may be visible: commits that do not wait for that.
        let appended = self.store().appended();
        if self.visible.load().end.position() >= appended {
            return Ok(());
        }
        if self.known_end.load(Ordering::Acquire) < appended.0 {
            self.catch_up(&mut self.head.lock())?;
        }
        // Before what is durable is looked at: all of that is to be shown.
        let durable = self.store().durable();
        self.show_durable();
        if self.visible.load().end.position() < durable {
            self.show_exactly(durable)?;
        }
        Ok(())
    }

    /// Makes visible what is durable, where versions end elsewhere.
    fn show_exactly(&self, durable: LogPosition) -> Result<()> {
        let mut head = self.head.lock();
        let visible = self.visible();
        if visible.end.position() >= durable {
            return Ok(());
        }
        let Some((records, _)) = self.store().records_after(&visible.end)? else {
            return self.read_again(&mut head);
        };
        // The head has filled the slots behind this version's rows.
        let mut version = visible.with_own_open_rows();
        let oldest_pin = self.oldest_pin();
        let applied = self.apply_durable(&mut version, &records, durable, oldest_pin);
        self.store().end_reading();
        applied?;
        // Under the lock on `pending`, so that an older version never replaces a newer one.
        let _pending = self.pending.lock();
        if self.visible.load().commit < version.commit {
            self.visible.store(Arc::new(version));
        }
        Ok(())
    }

    /// Applies the records that are visible once the log is durable up to `durable`.
    fn apply_durable(
        &self,
        version: &mut DatabaseVersion,
        records: &[LogRecord],
        durable: LogPosition,
        oldest_pin: CommitNumber,
    ) -> Result<()> {
        let mut needs = LogPosition(0);
        for record in records {
            let (is_sync, changes) = decode_changes(&record.payload, &self.blobs)?;
            if is_sync {
                needs = record.position;
            }
            if needs > durable {
                break;
            }
            recovery::apply(version, record, changes, &self.blobs, oldest_pin)?;
        }
        Ok(())
    }
}

impl Deref for Locked<'_> {
    type Target = Head;
    fn deref(&self) -> &Head {
        &self.head
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Head {
        &mut self.head
    }
}
