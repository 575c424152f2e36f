//! Whose files may be mapped as shared memory.
//!
//! - The path of a memory's file comes from a record beside the database, which anybody who may write that
//!   folder can forge. Before a byte of the file is changed, it must be a regular file with one name, of this
//!   process's user, the database's owner, or the database's group if that may write the database.
//! - Nobody else may be able to write to it: what lies in shared memory is believed by all who map it.

use super::failed;
use crate::error::{MemoryError, MemoryErrorKind};
use rustix::fs::{self, FileType};
use rustix::process::geteuid;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// The users of a database, as its data file's owner and mode tell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trust {
    /// Owner of the data file.
    pub owner: u32,
    /// Group of the data file.
    pub group: u32,
    /// Permission bits of the data file.
    pub mode: u32,
}

/// Writable by the group, by all.
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

impl Trust {
    /// Trusts the user of this process alone.
    #[must_use]
    pub fn this_user() -> Self {
        Self { owner: geteuid().as_raw(), group: u32::MAX, mode: 0o600 }
    }

    /// Permission bits of a memory's file: whoever may write the database may map it.
    #[must_use]
    pub fn memory_mode(self) -> u32 {
        let may_write = self.mode & (GROUP_WRITES | OTHERS_WRITE);
        // Who maps it reads and writes.
        0o600 | may_write | (may_write << 1)
    }

    /// The group that a memory's file is given; `None` if it does not matter.
    #[must_use]
    pub fn memory_group(self) -> Option<u32> {
        (self.mode & GROUP_WRITES != 0).then_some(self.group)
    }

    pub(super) fn check(self, file: BorrowedFd<'_>, path: &Path) -> Result<(), MemoryError> {
        let facts = fs::fstat(file).map_err(|errno| failed("cannot look at", path, errno))?;
        let refused = |what: &str| {
            let message =
                format!("{} is not the shared memory of a database: {what}", path.display());
            Err(MemoryError::new(MemoryErrorKind::Damaged, message))
        };
        if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
            return refused("it is no regular file");
        }
        if facts.st_nlink > 1 {
            return refused("it has another name, too");
        }
        let by_group = self.mode & GROUP_WRITES != 0 && facts.st_gid == self.group;
        let by_all = self.mode & OTHERS_WRITE != 0;
        let is_own = facts.st_uid == geteuid().as_raw() || facts.st_uid == self.owner;
        if !(is_own || by_group || by_all) {
            return refused("it belongs to another user");
        }
        let more_may_write = facts.st_mode & !self.mode & (GROUP_WRITES | OTHERS_WRITE) != 0;
        let other_group = facts.st_mode & GROUP_WRITES != 0 && facts.st_gid != self.group;
        if more_may_write || other_group {
            return refused("users may write to it who may not write to the database");
        }
        Ok(())
    }
}
