//! A folder with a database that instances share, of this process or of several.

use crate::ledger::{NAME, options};
use gadus_base::LogPosition;
use gadus_block::{FileFolder, Folder};
use gadus_storage::{LogEnd, LogRecord, Options, Recovered, Sharing, StorageError, Store, Terms};
use std::io::IoSlice;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) struct Place {
    path: PathBuf,
    pub(crate) folder: Arc<dyn Folder>,
    /// Until the one that made it is gone.
    _root: Option<TempDir>,
}

impl Place {
    /// A new database, which nobody has open.
    pub(crate) fn new() -> Self {
        let place = Self::empty();
        Store::make(place.folder.clone(), NAME, &place.options()).unwrap();
        place
    }

    /// A folder without one.
    pub(crate) fn empty() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("memory")).unwrap();
        let place = Self::at(root.path());
        Self { _root: Some(root), ..place }
    }

    /// The one that somebody else has made.
    pub(crate) fn at(path: &Path) -> Self {
        let folder: Arc<dyn Folder> = Arc::new(FileFolder::new(path));
        Self { path: path.to_owned(), folder, _root: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.path.join("memory")
    }

    pub(crate) fn options(&self) -> Options {
        Options { sharing: Sharing::Shared { memory: self.memory() }, ..options() }
    }

    pub(crate) fn open(&self) -> (Store, Recovered) {
        self.open_through(self.folder.clone()).unwrap()
    }

    /// Opens through a folder that this one lies behind.
    pub(crate) fn open_through(
        &self,
        folder: Arc<dyn Folder>,
    ) -> Result<(Store, Recovered), StorageError> {
        let (store, recovered) = Store::open(folder, NAME, self.options())?;
        store.finish_recovery()?;
        Ok((store, recovered))
    }

    /// Until somebody waits for a lock on a file, which the kernel shows, or will not.
    pub(crate) fn until_somebody_waits(&self, file: &str, will_not: impl Fn() -> bool) {
        let inode = std::fs::metadata(self.path.join(file)).unwrap().ino();
        let waits = |line: &str| line.contains("->") && line.contains(&format!(":{inode} "));
        while !will_not() && !std::fs::read_to_string("/proc/locks").unwrap().lines().any(waits) {
            std::thread::yield_now();
        }
    }

    pub(crate) fn memories(&self) -> usize {
        std::fs::read_dir(self.memory()).unwrap().count()
    }
}

pub(crate) fn append(store: &Store, payload: &[u8]) -> LogPosition {
    try_append(store, payload).unwrap()
}

pub(crate) fn try_append(store: &Store, payload: &[u8]) -> Result<LogPosition, StorageError> {
    let turn = store.turn();
    let commit = store.log_end().commit().next();
    store.append_record(
        &turn,
        commit,
        &[IoSlice::new(payload)],
        Terms { will_wait: true, ..Terms::default() },
    )
}

pub(crate) fn follow(store: &Store, from: &mut LogEnd) -> Vec<LogRecord> {
    let (records, end) = store.records_after(from).unwrap().unwrap();
    *from = end;
    records
}
