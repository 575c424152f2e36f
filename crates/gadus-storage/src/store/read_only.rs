//! Opening for reading only, where others may write.
//!
//! - A process that may write the files takes part in the shared memory as any instance: its pins keep what it
//!   reads, it follows the log, and it ends with the locks that it has on the files. It refuses to change
//!   anything. The first of those who share recovers, whether or not it only reads: a writer that joins later
//!   relies on that.
//! - A process that may not write the files, the lock file or the lock folder proves nothing to others: nobody
//!   could tell what it still reads. It has the files alone, or with others like it, and replays the log in its
//!   own memory. As long as it does, writers are refused; as long as others take part, it is.

use super::files::{Files, holder_name};
use super::{Recovered, Store};
use crate::error::{ErrorKind, StorageError};
use crate::holder;
use crate::openers_turn::described_holders;
use crate::options::Options;
use crate::peers::Peers;
use gadus_block::{Folder, OpenMode};
use std::path::Path;
use std::sync::Arc;

impl Store {
    /// Opens for reading, beside others if this process may take part, else without them.
    pub(super) fn open_to_read(
        folder: Arc<dyn Folder>,
        name: &str,
        options: Options,
        memory: &Path,
    ) -> Result<(Self, Recovered), StorageError> {
        let joined = Files::open(folder.clone(), name)
            .and_then(|files| Self::open_shared(files, name, options.clone(), memory));
        let barred = match joined {
            Err(error) if is_barred(&error) => error,
            opened => return opened,
        };
        Self::read_alone(folder.clone(), name, options).map_err(|error| match error.kind {
            ErrorKind::InUse => cannot_join(&*folder, name, &barred),
            _ => error,
        })
    }

    /// Opens for reading, with nobody but others who do so.
    pub(super) fn read_alone(
        folder: Arc<dyn Folder>,
        name: &str,
        options: Options,
    ) -> Result<(Self, Recovered), StorageError> {
        let files = Files::open_owned(folder, name, &options, None)?;
        let peers = Peers::alone(&files.data_described)?;
        Self::recover(None, files, options, Arc::new(peers))
    }
}

/// True if the process may not do what those do who share a database.
fn is_barred(error: &StorageError) -> bool {
    matches!(error.kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnly)
}

/// Says of a database that may not be written that it may be read, if that is so.
pub(super) fn advise(folder: &dyn Folder, name: &str, error: StorageError) -> StorageError {
    let is_readable = || folder.open(name, OpenMode::Read).is_ok();
    if !is_barred(&error) || folder.open(name, OpenMode::ReadWrite).is_ok() || !is_readable() {
        return error;
    }
    StorageError {
        message: format!("{}; it can be opened for reading only", error.message),
        ..error
    }
}

/// Processes that may not take part read the files, which excludes writers.
pub(super) fn excluded_by_readers(files: &Files) -> StorageError {
    let mut message =
        "it is open elsewhere for reading only, which excludes writers; close it there first"
            .to_owned();
    if let Some(holders) = described_holders(&*files.data) {
        message.push_str(&format!("; open in {holders}"));
    }
    StorageError::new(ErrorKind::InUse, &files.data_described, message)
}

/// Others have the database open who share it.
fn cannot_join(folder: &dyn Folder, name: &str, barred: &StorageError) -> StorageError {
    let opener = holder::describe(folder, &holder_name(name));
    let opener = opener.map_or_else(String::new, |opener| format!(", first by {opener}"));
    let message = format!(
        "it is open in processes that may write it{opener}; reading beside them takes the right to write its \
         files and the memory that they share, which this process lacks ({}); close it there, or give it that right",
        barred.message
    );
    StorageError::new(ErrorKind::InUse, &folder.describe(name), message)
}
