//! The engine: one open database.
//!
//! - Opening recovers; dropping the last handle writes a checkpoint and closes.
//! - Every change of the database goes through `commit`: evaluated against the appended head under
//!   the commit lock, appended to the log, applied, and acknowledged when it is visible.

mod asking;
mod backup;
mod cache_size;
mod change_check;
mod checkpoint;
mod compaction;
mod decided;
mod fold;
mod gatherers;
mod maintenance;
mod open_transactions;
mod options;
mod place;
mod placement;
mod point;
pub(crate) mod recovery;
mod sequences;
mod sessions;
#[cfg(test)]
pub(crate) mod test_tables;
mod threads;
mod vacuum;
mod verify;
mod watch;

pub use backup::BackedUp;
use change_check::ChangeCheck;
pub use change_check::CheckChanges;
pub use gatherers::Gatherers;
pub(crate) use open_transactions::{Entered, OpenTransactions};
pub use options::{CacheScope, Options, Statistics, measured_for};
pub use place::place;
pub use placement::PlacedThread;
pub use point::{Autocommit, RowChange};
pub(crate) use point::{
    append_changes, check_keys, check_length, check_row, check_value, duplicate_key, inserts,
    not_null, same_shape, too_long,
};
pub use sessions::{NamedLock, SessionView};
pub use verify::{Problem, Verification, VerifiedTable};

use crate::blobs::Blobs;
use crate::coordinator::{Coordinator, Locked};
use crate::error::{Error, ErrorKind, Result};
use crate::locks::Locker;
use crate::shared::Clock;
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;
use crate::types::TableSchema;
use crate::version::{Change, DatabaseVersion, encode_commit};
use cache_size::CacheSize;
use checkpoint::Checkpointer;
use decided::Decided;
use gadus_base::{ByteCount, CommitNumber, LogPosition};
use gadus_block::{Folder, MemoryFolder};
use gadus_locks::LockTable;
use gadus_storage::{Durability, Terms};
use maintenance::Maintenance;
use parking_lot::Mutex;
use std::io::IoSlice;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use threads::Threads;
pub(crate) use watch::Watched;

/// Schema versions of commits stay below this one.
const PRIVATE_SCHEMAS: u64 = 1 << 63;

/// An open database; clones are handles of the same one.
#[derive(Debug, Clone)]
pub struct Engine {
    handle: Arc<Handle>,
    /// What the handle reads through: all handles' cache, or a connection's own.
    blobs: Arc<Blobs>,
}

/// Closes the database when the last handle goes.
#[derive(Debug)]
struct Handle {
    inner: Arc<Inner>,
}

/// What handles, transactions and the maintenance thread share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) blobs: Arc<Blobs>,
    pub(crate) coordinator: Arc<Coordinator>,
    pub(crate) options: Options,
    /// Also held by folds and compaction: see `fold`.
    checkpointer: Mutex<Checkpointer>,
    maintenance: Maintenance,
    pub(crate) transactions: Arc<OpenTransactions>,
    pub(crate) watched: Arc<Watched>,
    /// What recovery found wrong and mended.
    warnings: Vec<String>,
    decided: Arc<Decided>,
    cache_size: Arc<CacheSize>,
    pub(crate) change_check: ChangeCheck,
    private_schemas: AtomicU64,
    /// See [`Options::snapshot_space_max`].
    snapshot_space_max: AtomicU64,
    clock: Arc<Clock>,
    pub(crate) threads: Arc<Threads>,
}

impl Engine {
    /// Opens the database `name` in a folder, or creates it where the options say so.
    pub fn open(folder: Arc<dyn Folder>, name: &str, mut options: Options) -> Result<Self> {
        let (decided, followed, why) = Decided::complete(&mut options);
        let decided = Arc::new(decided);
        let opened = recovery::open(folder, name, &options, followed)?;
        let cache_size = CacheSize::new(opened.blobs.clone(), decided.clone(), followed.cache, why);
        let coordinator = Arc::new(Coordinator::new(opened.blobs.clone(), opened.version));
        let clock = Clock::new(coordinator.clone(), opened.blobs.clone(), options.threads);
        let inner = Arc::new(Inner {
            coordinator,
            clock,
            blobs: opened.blobs,
            checkpointer: Mutex::new(opened.checkpointer),
            maintenance: Maintenance::default(),
            transactions: Arc::default(),
            watched: Arc::default(),
            warnings: opened.warnings,
            decided,
            cache_size: Arc::new(cache_size),
            change_check: ChangeCheck::default(),
            private_schemas: AtomicU64::new(PRIVATE_SCHEMAS),
            snapshot_space_max: AtomicU64::new(options.snapshot_space_max.0),
            options,
            threads: Arc::default(),
        });
        let handle = Handle { inner: inner.clone() };
        inner.threads.add([watch::start(&inner)?]);
        if !inner.options.read_only {
            inner.threads.add([maintenance::start(&inner)?]);
        }
        Ok(Self { blobs: inner.blobs.clone(), handle: Arc::new(handle) })
    }

    /// A handle for a connection: with a cache of its own, where that is the scope of caches.
    #[must_use]
    pub fn for_connection(&self) -> Self {
        let inner = self.inner();
        let blobs = match inner.options.cache_scope {
            CacheScope::Process => inner.blobs.clone(),
            CacheScope::Connection => {
                let limit = inner.options.connection_cache;
                Arc::new(inner.blobs.for_another(limit))
            }
        };
        Self { handle: self.handle.clone(), blobs }
    }

    /// Refuses every change of a database that was opened for reading.
    ///
    /// # Errors
    /// `ReadOnly`.
    pub fn refuse_read_only(&self) -> Result<()> {
        self.inner().refuse_read_only()
    }

    /// Refuses a child that was forked after the database was opened, and a process whose shared memory is lost.
    ///
    /// # Errors
    /// `Forked`, `Corrupt`.
    pub fn check_usable(&self) -> Result<()> {
        self.inner().coordinator.check_usable()
    }

    /// Refuses a statement where the memory that the processes share was cut off or overwritten from outside.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn check_memory(&self) -> Result<()> {
        Ok(self.inner().blobs.store().check_memory()?)
    }

    /// A statement of the handle's connection has ended: its cache keeps what its limit allows.
    pub fn end_statement(&self) {
        self.blobs.trim();
    }

    /// Removes a database that nobody has open.
    pub fn remove(folder: &Arc<dyn Folder>, name: &str, lock_folder: Option<&Path>) -> Result<()> {
        Ok(gadus_storage::Store::remove(folder, name, lock_folder)?)
    }

    /// A new database in memory.
    pub fn in_memory(options: Options) -> Result<Self> {
        Self::open(Arc::new(MemoryFolder::new()), "memory", Options { create: true, ..options })
    }

    /// The newest visible version, pinned.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let (version, pin) = self.inner().coordinator.pin()?;
        Ok(Snapshot::new(version, self.blobs.clone(), Arc::new(pin), None))
    }

    /// Begins a transaction on the newest visible version.
    pub fn begin(&self) -> Result<Transaction> {
        Transaction::new(self.handle.inner.clone(), self.blobs.clone(), None)
    }

    /// Begins a transaction whose locks are those of a connection; they are released at its end.
    pub fn begin_as(&self, locker: &Arc<Locker>) -> Result<Transaction> {
        let locker = Some(locker.clone());
        Transaction::new(self.handle.inner.clone(), self.blobs.clone(), locker)
    }

    /// Registers a connection with the lock table.
    pub fn locker(&self) -> Result<Arc<Locker>> {
        Locker::new(self.handle.inner.clone())
    }

    /// Writes a checkpoint now: the log can then be recycled.
    pub fn checkpoint(&self) -> Result<()> {
        self.refuse_read_only()?;
        self.inner().checkpoint()
    }

    /// Folds all overlays and full open segments into encoded segments now.
    pub fn fold(&self) -> Result<()> {
        self.refuse_read_only()?;
        self.inner().fold_all()
    }

    /// Moves the rows of sparse and small segments into fuller ones now, and drops empty segments.
    pub fn compact(&self) -> Result<()> {
        self.refuse_read_only()?;
        self.inner().compact_all()
    }

    /// Compacts one table, or all of them, and gives space back to the file system; `check` is asked
    /// between steps, and its error ends it.
    pub fn vacuum(
        &self,
        table: Option<&TableSchema>,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        self.refuse_read_only()?;
        self.inner().vacuum(table.map(|table| table.id), check)
    }

    /// What snapshots may keep from being used again: see [`Options::snapshot_space_max`].
    #[must_use]
    pub fn snapshot_space_max(&self) -> ByteCount {
        ByteCount(self.inner().snapshot_space_max.load(Ordering::Relaxed))
    }

    /// Changes what snapshots may keep, as of the next checkpoint that this instance writes.
    pub fn set_snapshot_space_max(&self, limit: ByteCount) {
        self.inner().snapshot_space_max.store(limit.0, Ordering::Relaxed);
    }

    /// What the engine has done and holds.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let store = self.inner().blobs.store();
        let (caught_up_commits, caught_up_time) = self.inner().coordinator.caught_up();
        Statistics {
            caught_up_commits,
            caught_up_time,
            clock: self.inner().clock.statistics(),
            store: store.statistics(),
            locks: store.locks().statistics(),
            cached: self.blobs.cached(),
            cache: self.cache_size(),
            commit: self.inner().coordinator.visible().commit,
            maintenance_error: self.inner().maintenance.last_error(),
            warnings: self.inner().warnings.clone(),
        }
    }

    /// The options that the database was opened with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.inner().options
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.handle.inner
    }
}

impl Inner {
    pub(crate) fn locks(&self) -> &Arc<LockTable> {
        self.blobs.store().locks()
    }

    fn refuse_read_only(&self) -> Result<()> {
        if !self.options.read_only {
            return Ok(());
        }
        let message = format!("{} was opened for reading only", self.blobs.store().describe());
        Err(Error::new(ErrorKind::ReadOnly, message))
    }

    /// A schema version for a transaction's own view: no commit has it, and no other view, so that
    /// a plan made in one transaction is never taken for another's.
    pub(crate) fn private_schema_version(&self) -> u64 {
        self.private_schemas.fetch_add(1, Ordering::Relaxed)
    }

    /// Commits what `build` makes of the appended head; returns once it is visible.
    ///
    /// An empty list of changes commits nothing.
    pub(crate) fn commit(
        &self,
        durability: Durability,
        build: impl FnOnce(&DatabaseVersion) -> Result<Vec<Change>>,
    ) -> Result<Option<CommitNumber>> {
        self.refuse_read_only()?;
        let (commit, needs) = {
            let mut head = self.coordinator.lock()?;
            let changes = match build(&head.version) {
                Ok(changes) => changes,
                refused => {
                    drop(head);
                    return self.coordinator.once_visible(refused).map(|_| None);
                }
            };
            if changes.is_empty() {
                return Ok(None);
            }
            let appended = self.append(&mut head, &changes, durability)?;
            drop(head);
            let mut named = changes.iter().flat_map(Change::extents).peekable();
            if named.peek().is_some() {
                self.blobs.store().named(named);
            }
            appended
        };
        self.coordinator.wait_visible(commit, needs)?;
        self.maintenance.after_commit(self, durability);
        Ok(Some(commit))
    }

    /// Appends a commit and makes it the head.
    fn append(
        &self,
        head: &mut Locked<'_>,
        changes: &[Change],
        durability: Durability,
    ) -> Result<(CommitNumber, LogPosition)> {
        let commit = head.version.commit.next();
        let mut version = DatabaseVersion::clone(&head.version);
        // Applied before it is appended: what does not fit must not reach the log.
        let applied = changes.iter().try_for_each(|change| version.apply(change, commit));
        version.commit = commit;
        let will_wait = durability == Durability::Sync;
        let appended = match applied {
            Ok(()) => encode_commit(changes, will_wait, &version).and_then(|(payload, unsaved)| {
                let remaining = changes.iter().map(Change::remaining).min().unwrap_or_default();
                let terms = Terms { will_wait, unsaved, remaining };
                let pieces = [IoSlice::new(&payload)];
                Ok(self.blobs.store().append_record(&head.turn, commit, &pieces, terms)?)
            }),
            Err(what) => Err(Error::internal(format!("a commit {what}; nothing was changed"))),
        };
        if appended.is_err() {
            // Slots behind the head's rows are filled: the head goes on with slots of its own.
            head.version = Arc::new(head.version.with_own_open_rows());
        }
        let end = appended?;
        version.end = self.blobs.store().log_end();
        if will_wait {
            head.sync_end = end;
        }
        let needs = head.sync_end;
        self.maintenance.note(&version, changes);
        self.coordinator.advance(head, Arc::new(version), needs);
        Ok((commit, needs))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.inner.blobs.store().process().is_here() {
            // The threads run in the parent, which closes the database.
            self.inner.threads.forget();
            self.inner.clock.forget_threads();
            return;
        }
        // Where it is gone, nothing may access it before it is replaced.
        let _ = self.inner.blobs.store().check_memory();
        self.inner.clock.stop();
        self.inner.maintenance.stop();
        self.inner.watched.stop(self.inner.locks());
        self.inner.threads.join();
        if !self.inner.options.read_only && !self.inner.blobs.store().is_poisoned() {
            // What fails here is in the log, which the next opening replays.
            // While others have the database open, one of them writes it.
            let is_last = self.inner.blobs.store().instances().len() <= 1;
            let _ = is_last.then(|| self.inner.checkpoint_unless_clean());
        }
    }
}
