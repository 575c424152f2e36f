//! How a database is opened.

use gadus_base::ByteCount;
use gadus_block::{Delays, FileFolder, Folder, ThrottledFolder};
use gadus_engine::{CacheScope, Durability, Error, ErrorKind, Result, Sharing};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a database is opened: `Options::new().read_only(true)`.
#[derive(Debug, Clone, Default)]
pub struct Options {
    engine: gadus_engine::Options,
    sync_delay: Duration,
    excludes_others: bool,
    lock_folder: Option<PathBuf>,
}

/// Where processes share memory unless told otherwise: every Linux has it, in memory.
pub(crate) const LOCK_FOLDER: &str = "/dev/shm";

impl Options {
    /// For reading and writing, beside other processes; created where it does not exist; commits
    /// survive a power cut; one statement may use every core; up to a gibibyte of cached data.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether to create the database when it does not exist.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.engine.create = create;
        self
    }

    /// Whether to refuse every change. Others may write meanwhile, and what they commit is seen, where this
    /// process may write the files and the lock folder, too. Where it may not, the file is shared with others that
    /// only read, and writers are refused as long.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.engine.read_only = read_only;
        self
    }

    /// Whether to refuse other processes, and other handles of this one, while the database is open.
    /// Opened for reading only, it is shared with others that only read.
    #[must_use]
    pub fn exclusive(mut self, exclusive: bool) -> Self {
        self.excludes_others = exclusive;
        self
    }

    /// The folder of the memory that processes share: one on a file system in memory, the same for
    /// all of them, `/dev/shm` by default. Containers that share a database share this folder, too.
    #[must_use]
    pub fn lock_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.lock_folder = Some(folder.into());
        self
    }

    /// What a commit waits for; a session changes its own by `SET gadus.durability`.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.engine.durability = durability;
        self
    }

    /// Memory for data read from the file and kept, where the process shares it; less where memory is short. It
    /// is an eighth of what the machine and its control group give unless this, or `SET gadus.cache`, says
    /// another. What a running statement needs comes on top.
    #[must_use]
    pub fn cache(mut self, limit: ByteCount) -> Self {
        self.engine.cache = Some(limit);
        self
    }

    /// Who shares data read from the file: all connections of the process, unless this says that each
    /// has its own.
    #[must_use]
    pub fn cache_scope(mut self, scope: CacheScope) -> Self {
        self.engine.cache_scope = scope;
        self
    }

    /// Memory for data that a connection has read and keeps between statements, where each has its
    /// own: 75 KiB by default, so that thousands of connections are cheap.
    #[must_use]
    pub fn connection_cache(mut self, limit: ByteCount) -> Self {
        self.engine.connection_cache = limit;
        self
    }

    /// How many threads one statement may use, at least 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.engine.threads = threads.max(1);
        self
    }

    /// The folder for what statements hold beyond `gadus.memory_limit`, in files without names: that of the
    /// database, unless this says another; for a database in memory, the system's for such files.
    #[must_use]
    pub fn spill_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.engine.spill_folder = Some(folder.into());
        self
    }

    /// Bytes of log after which a checkpoint is written in the background: what opening after a
    /// crash has to read at most, about.
    #[must_use]
    pub fn checkpoint_log(mut self, limit: ByteCount) -> Self {
        self.engine.checkpoint_log = limit;
        self
    }

    /// What snapshots may keep of the log and of deleted rows from being used again, 16 GiB by default.
    /// Where that is more, or more of the log than half of what it can have, those that are older than the last two checkpoints are given up, of whatever
    /// process: reading them fails with `SnapshotTooOld`. Each process applies its own limit to the
    /// checkpoints that it writes; `SET gadus.snapshot_space_max` changes it.
    #[must_use]
    pub fn snapshot_space_max(mut self, limit: ByteCount) -> Self {
        self.engine.snapshot_space_max = limit;
        self
    }

    /// Lets each sync take this much longer: to see how a program behaves on a slower disk.
    /// Without effect in memory.
    #[must_use]
    pub fn sync_delay(mut self, delay: Duration) -> Self {
        self.sync_delay = delay;
        self
    }

    /// The folder as these options want it.
    pub(crate) fn slowed(&self, folder: FileFolder) -> Arc<dyn Folder> {
        let folder = Arc::new(folder);
        if self.sync_delay.is_zero() {
            return folder;
        }
        let delays = Delays { sync: self.sync_delay, ..Delays::default() };
        Arc::new(ThrottledFolder::new(folder, delays))
    }

    /// The engine's options for a database in memory.
    pub(crate) fn into_engine(self) -> gadus_engine::Options {
        self.engine
    }

    /// The engine's options for a database in a folder, and why it is not shared although that was
    /// not forbidden.
    pub(crate) fn for_folder(
        self,
        folder: &FileFolder,
    ) -> Result<(gadus_engine::Options, Option<String>)> {
        let mut engine = self.engine;
        engine.sharing = Sharing::Exclusive;
        engine.spill_folder.get_or_insert_with(|| folder.path().to_path_buf());
        engine.measured = gadus_engine::measured_for(folder.path());
        if self.excludes_others {
            return Ok((engine, None));
        }
        let file_system = folder.file_system().map_err(storage_error)?;
        if !file_system.shares && engine.read_only {
            // Shared with others that only read.
            return Ok((engine, None));
        }
        if !file_system.shares {
            let warning = format!(
                "{} lies on {}, where memory and locks of several processes are not known to agree: \
                 only this process can have a database open there",
                folder.path().display(),
                file_system.name
            );
            return Ok((engine, Some(warning)));
        }
        let memory = self.lock_folder.unwrap_or_else(|| PathBuf::from(LOCK_FOLDER));
        engine.sharing = Sharing::Shared { memory };
        Ok((engine, None))
    }
}

fn storage_error(error: gadus_block::BlockError) -> Error {
    let kind = match error.kind {
        gadus_block::ErrorKind::NotFound | gadus_block::ErrorKind::NotAFolder => {
            ErrorKind::NotFound
        }
        gadus_block::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        _ => ErrorKind::Io,
    };
    Error::new(kind, error.to_string())
}
