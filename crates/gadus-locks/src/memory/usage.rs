//! Whether anybody uses a memory's file, and the removal of files that nobody uses.
//!
//! - Whoever opens or makes a memory's file locks it, shared, before it maps anything, and a maker before
//!   there is anything in it. The kernel frees the lock when the last descriptor *and* the last mapping
//!   of that open file are gone, so also when its process was killed: a file that is not empty and can be
//!   locked alone is used by nobody.
//! - Who removes a file has it locked alone meanwhile. Who opens it at that moment is told that it is not
//!   there, as it would be a moment later. Nobody waits for anybody here.
//! - An empty file is left for a while: its maker may be about to lock it. It takes no memory. A maker that
//!   was stopped just there, and for longer, finds its file removed, and fails.
//! - A forked child that executes nothing has a mapping of its parent's open file, and so keeps the
//!   lock, though it reaches nobody.
//! - A file system without such locks lets nobody have one: there all is used.

use super::{Memory, failed};
use crate::error::{MemoryError, MemoryErrorKind};
use gadus_base::clock;
use rustix::fs::{self, FileType, FlockOperation, Mode, OFlags};
use rustix::io::{self, Errno};
use rustix::process::geteuid;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Duration;

/// For how long a file may be empty: its maker locks it with its next system call, and then fills it.
const EMPTY_FOR: Duration = Duration::from_secs(60);

impl Memory {
    /// Removes the file of a memory if nobody uses it, and `is_dead` says of its first bytes that nobody
    /// will; gives whether it did. `is_dead` is asked again when nobody can begin to use the file. What
    /// is empty, belongs to another user, or cannot be told, stays.
    ///
    /// The caller knows by the path that it is the file of a memory, and that no file is ever made there
    /// again.
    pub fn remove_unused<const BYTES: usize>(
        path: &Path,
        is_dead: impl Fn(&[u8; BYTES]) -> bool,
    ) -> bool {
        // Without NONBLOCK, opening a pipe would wait for its other end.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let Ok(descriptor) = fs::open(path, flags, Mode::empty()) else { return false };
        let seems_dead = || match found(descriptor.as_fd()) {
            Found::Filled => first_bytes(descriptor.as_fd()).is_some_and(|bytes| is_dead(&bytes)),
            Found::EmptyForLong => true,
            Found::Other => false,
        };
        // Without the lock at first: what is in use is not disturbed by so much as a look.
        if !seems_dead()
            || fs::flock(&descriptor, FlockOperation::NonBlockingLockExclusive).is_err()
        {
            return false;
        }
        let removed = seems_dead() && fs::unlink(path).is_ok();
        // A child that another thread is just forking has a copy of the descriptor, and would keep the lock.
        let _ = fs::flock(&descriptor, FlockOperation::Unlock);
        removed
    }
}

impl Memory {
    /// Removes the file of a memory whose users the caller knows to be dead, if it is a file of this user with one
    /// name, and `is_meant` says so of its first bytes; none where it has not so many. Unlike
    /// [`Memory::remove_unused`] it does not wait until the kernel has unmapped it everywhere.
    pub fn remove_of_dead<const BYTES: usize>(
        path: &Path,
        is_meant: impl Fn(Option<&[u8; BYTES]>) -> bool,
    ) {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let Ok(descriptor) = fs::open(path, flags, Mode::empty()) else { return };
        let Ok(facts) = fs::fstat(&descriptor) else { return };
        let is_own_file = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile
            && facts.st_uid == geteuid().as_raw()
            && facts.st_nlink == 1;
        let is_there =
            |there: fs::Stat| (there.st_dev, there.st_ino) == (facts.st_dev, facts.st_ino);
        if is_own_file
            && is_meant(first_bytes(descriptor.as_fd()).as_ref())
            && fs::lstat(path).is_ok_and(is_there)
        {
            // What cannot be removed costs memory until the next start of the system.
            let _ = fs::unlink(path);
        }
    }
}

/// Says that this open file is in use, until the last of its descriptors and mappings is gone.
pub(super) fn mark(descriptor: BorrowedFd<'_>, path: &Path) -> Result<(), MemoryError> {
    let being_removed = || {
        let message = format!("{} is being removed", path.display());
        MemoryError::new(MemoryErrorKind::Unreachable, message)
    };
    match fs::flock(descriptor, FlockOperation::NonBlockingLockShared) {
        // Nor can anybody lock it alone.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
        Err(Errno::AGAIN) => return Err(being_removed()),
        Err(errno) => return Err(failed("cannot lock", path, errno)),
    }
    let facts = fs::fstat(descriptor).map_err(|errno| failed("cannot look at", path, errno))?;
    // It was found by its path before the lock was taken.
    if facts.st_nlink == 0 { Err(being_removed()) } else { Ok(()) }
}

/// What a path has led to.
enum Found {
    /// It may be a memory of this user.
    Filled,
    /// Of which nothing has become for long.
    EmptyForLong,
    Other,
}

fn found(descriptor: BorrowedFd<'_>) -> Found {
    let Ok(facts) = fs::fstat(descriptor) else { return Found::Other };
    let is_own_file = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile
        && facts.st_uid == geteuid().as_raw()
        && facts.st_nlink == 1;
    let changed = Duration::from_secs(u64::try_from(facts.st_mtime).unwrap_or(0));
    let is_old = clock().wall_time().0.saturating_sub(changed) > EMPTY_FOR;
    match (is_own_file, facts.st_size) {
        (true, 1..) => Found::Filled,
        (true, 0) if is_old => Found::EmptyForLong,
        _ => Found::Other,
    }
}

fn first_bytes<const BYTES: usize>(descriptor: BorrowedFd<'_>) -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    // A file in memory is read whole.
    (io::pread(descriptor, &mut bytes, 0) == Ok(BYTES)).then_some(bytes)
}
