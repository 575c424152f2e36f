//! An open database.
//!
//! - Closed, with a checkpoint, when the last handle, connection, statement and result is gone.

use crate::connection::Connection;
use crate::options::{LOCK_FOLDER, Options};
use gadus_block::Folder;
use gadus_engine::{BackedUp, Engine, Result, Statistics, place};
use gadus_sql::{SessionOptions, Sql};
use std::path::Path;
use std::sync::Arc;

/// One open database; clones are handles of the same one.
#[derive(Debug, Clone)]
pub struct Database {
    sql: Sql,
    warning: Option<Arc<str>>,
}

impl Database {
    /// Opens the database in the file at `path`, or creates it where the options allow.
    ///
    /// # Errors
    /// `InUse` when another process or handle excludes others, or shares it by means that this one
    /// does not reach; `NotFound` when there is no such folder
    /// or file, `Corrupt` when the file is no database or damaged.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let (folder, name) = place(path.as_ref())?;
        let slowed = options.slowed(folder.clone());
        let (options, warning) = options.for_folder(&folder)?;
        let engine = Engine::open(slowed, &name, options)?;
        Ok(Self { sql: Sql::new(engine), warning: warning.map(Arc::from) })
    }

    /// A new database in memory, gone when its last handle is.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn open_in_memory(options: Options) -> Result<Self> {
        Ok(Self { sql: Sql::new(Engine::in_memory(options.into_engine())?), warning: None })
    }

    /// Removes the database in the file at `path`, with its log, and what processes that were killed
    /// have left of it in memory.
    ///
    /// # Errors
    /// `InUse` when somebody has it open, `NotFound` when it is not there.
    pub fn remove(path: impl AsRef<Path>) -> Result<()> {
        let (folder, name) = place(path.as_ref())?;
        let folder: Arc<dyn Folder> = Arc::new(folder);
        Engine::remove(&folder, &name, Some(Path::new(LOCK_FOLDER)))
    }

    /// A new connection.
    #[must_use]
    pub fn connect(&self) -> Connection {
        self.connect_with(SessionOptions::default())
    }

    /// A new connection that begins so.
    #[must_use]
    pub fn connect_with(&self, options: SessionOptions) -> Connection {
        Connection::new(self.sql.clone(), options)
    }

    /// Why other processes cannot share the database, where that is not what was asked for.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Writes a checkpoint now, so that the next opening has no log to replay.
    ///
    /// # Errors
    /// `NoSpace` or `Io` when the file cannot be written; the database stays as it is.
    pub fn checkpoint(&self) -> Result<()> {
        self.engine().checkpoint()
    }

    /// Copies the database as it is now to a new one, in the file at `path`, while others go on reading and writing;
    /// calls `progress` with (rows copied, rows in all). The copy is a database: to restore it, copy it back.
    ///
    /// # Errors
    /// `AlreadyExists` where there is a file at `path`, `SnapshotTooOld` where others change more meanwhile than
    /// `gadus.snapshot_space_max` lets snapshots keep. What is left of a copy that failed is removed.
    pub fn back_up(
        &self,
        path: impl AsRef<Path>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<BackedUp> {
        self.engine().back_up_to(path.as_ref(), |rows, all| {
            progress(rows, all);
            Ok(())
        })
    }

    /// Counters and sizes; syncs are those of all who have the database open.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.engine().statistics()
    }

    /// Calls once when a failed sync, here or in another process, has left unknown what of the last commits is
    /// durable; at once where that is so. Nothing is written any more then, in no process: all of them have to close
    /// the database, and the first that opens it again recovers every acknowledged commit. What is called, from a
    /// thread of the database, must not wait for it to be closed.
    pub fn when_poisoned(&self, call: impl FnOnce() + Send + 'static) {
        self.engine().when_poisoned(call);
    }

    /// Refuses a database that has to be closed and opened again: see [`Database::when_poisoned`].
    ///
    /// # Errors
    /// `Poisoned`, with what failed.
    pub fn check_poison(&self) -> Result<()> {
        self.engine().check_poison()
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.sql.engine()
    }
}
