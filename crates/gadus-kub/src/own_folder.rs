//! A run's folder, in the one that its user has named: nothing of it is left when the run is over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder for files of this run; removed with all in it.
pub(crate) struct OwnFolder {
    path: PathBuf,
    pub(crate) made: io::Result<()>,
}

impl OwnFolder {
    pub(crate) fn make(parent: &Path) -> Self {
        let path = parent.join(format!("gadus-kub-{}-{}", std::process::id(), number_of_run()));
        let made = fs::create_dir(&path);
        Self { path, made }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// One in it for the files of a task; where none can be made, the task finds that out.
    pub(crate) fn folder_for(&self, task: usize) -> PathBuf {
        let folder = self.path.join(task.to_string());
        if self.made.is_ok() {
            let _ = fs::create_dir(&folder);
        }
        folder
    }

    /// Removes it; what is left of it goes with the whole.
    pub(crate) fn remove(&self, folder: &Path) {
        let _ = fs::remove_dir_all(folder);
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if self.made.is_ok() {
            // What cannot be removed is the user's to see: the folder has the program's name.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Tells runs of one process apart.
fn number_of_run() -> u64 {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    RUNS.fetch_add(1, Ordering::Relaxed)
}
