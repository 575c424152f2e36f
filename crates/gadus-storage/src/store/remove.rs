//! Removing a database.
//!
//! - Only one that nobody has open; the log goes last but one, so that what is left of an interrupted
//!   removal is a log that no new database overwrites, or nothing.

use super::Store;
use super::files::{holder_name, in_use, log_name};
use crate::error::StorageError;
use crate::holder::OpenersTurn;
use gadus_block::{ErrorKind as BlockErrorKind, Folder, OpenMode};
use std::path::Path;
use std::sync::Arc;

impl Store {
    /// Ending of the log's name, behind that of the data file.
    pub const LOG_ENDING: &'static str = "-wal";

    /// Removes a database's files, and from the lock folder the memory that was shared, if all its users were
    /// killed.
    ///
    /// # Errors
    /// `NotFound`, `InUse`, or a failure.
    pub fn remove(
        folder: &Arc<dyn Folder>,
        name: &str,
        lock_folder: Option<&Path>,
    ) -> Result<(), StorageError> {
        let data = folder.open(name, OpenMode::ReadWrite)?;
        let mut turn = OpenersTurn::take(&**folder, &holder_name(name), false)?;
        turn.cover(&data)?;
        if !data.try_own()? {
            return Err(in_use(&**folder, name));
        }
        if let (Some(record), Some(lock_folder)) = (turn.read(), lock_folder) {
            record.sharing.remove_memory(lock_folder, data.identity());
        }
        for name in [name.to_owned(), log_name(name), holder_name(name)] {
            match folder.remove(&name) {
                Err(error) if error.kind != BlockErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(folder.sync()?)
    }
}
