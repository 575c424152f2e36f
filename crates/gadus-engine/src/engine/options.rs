//! How a database is opened, and what it tells of itself.

use crate::shared::ClockStatistics;
use gadus_base::{ByteCount, CommitNumber};
use gadus_locks::LockStatistics;
use gadus_machine::{Facts, Identity, KeptFacts};
use gadus_storage::{Durability, Sharing, StoreStatistics};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How to open a database.
#[derive(Debug, Clone)]
pub struct Options {
    /// Create the database when it does not exist.
    pub create: bool,
    /// Refuse every change.
    pub read_only: bool,
    /// What a commit waits for unless its transaction says otherwise.
    pub durability: Durability,
    /// Whose the cache of blobs is.
    pub cache_scope: CacheScope,
    /// Memory for the blobs that all threads share, in process scope, where memory is not short; none for as much
    /// as the machine gives the process, which those of an open database say.
    pub cache: Option<ByteCount>,
    /// Memory for the blobs of each connection, in connection scope, while it runs nothing.
    pub connection_cache: ByteCount,
    /// Log bytes after which a checkpoint is written in the background. 64 MiB replay in well under
    /// a second.
    pub checkpoint_log: ByteCount,
    /// Bytes of the log and of the data file that snapshots may keep from being used again. Beyond it,
    /// those that are older than the last two checkpoints are given up.
    pub snapshot_space_max: ByteCount,
    /// Bytes of a log zone; small ones are for tests.
    pub log_zone: ByteCount,
    /// Who else may have the database open.
    pub sharing: Sharing,
    /// Threads that one statement may use; 0 for as many as the machine gives the process, which those of an
    /// open database say.
    pub threads: usize,
    /// Where statements write what they hold beyond their memory, in files without names; none for the system's
    /// folder for such files.
    pub spill_folder: Option<PathBuf>,
    /// What was measured of this machine's kernel, and of the file system and device of the database; where nothing
    /// was, what would be decided by it is assumed. See [`measured_for`].
    pub measured: Arc<Facts>,
}

/// What `gadus kub` has measured and kept for this user of the machine, with files in a folder. What cannot be read
/// is nothing; `gadus.facts` shows why.
#[must_use]
pub fn measured_for(folder: &Path) -> Arc<Facts> {
    let kept = KeptFacts::of_this_user().filter(|kept| !kept.is_empty());
    let known = kept.and_then(|kept| kept.load(&Identity::of_this_machine(folder)).ok());
    Arc::new(known.unwrap_or_default())
}

/// Who shares cached blobs. What statements see is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheScope {
    /// All threads of a process: least memory for connections that read the same.
    #[default]
    Process,
    /// Nobody: each connection has its own. They never meet, and what they cost is known.
    Connection,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: true,
            read_only: false,
            durability: Durability::Sync,
            cache_scope: CacheScope::Process,
            cache: None,
            connection_cache: ByteCount::kib(75),
            checkpoint_log: ByteCount::mib(64),
            snapshot_space_max: ByteCount::gib(16),
            log_zone: ByteCount::mib(1),
            sharing: Sharing::Exclusive,
            threads: 0,
            spill_folder: None,
            measured: Arc::default(),
        }
    }
}

/// What an open database has done and holds.
#[derive(Debug, Clone)]
pub struct Statistics {
    /// Counters of the file and the log.
    pub store: StoreStatistics,
    /// Counters of the lock table, of all who have the database open.
    pub locks: LockStatistics,
    /// Commits of other instances that were applied here, and how long that took.
    pub caught_up_commits: u64,
    /// See `caught_up_commits`.
    pub caught_up_time: Duration,
    /// What shared scans have done here.
    pub clock: ClockStatistics,
    /// Bytes of cached blobs.
    pub cached: ByteCount,
    /// Bytes that they may take now.
    pub cache: ByteCount,
    /// The newest visible commit.
    pub commit: CommitNumber,
    /// Why background work last failed, if it did.
    pub maintenance_error: Option<String>,
    /// What opening found wrong and could mend, in words for people.
    pub warnings: Vec<String>,
}
