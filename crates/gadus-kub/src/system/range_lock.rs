//! Locks of a range of bytes of a file.

use super::last_error;
use crate::error::{KubError, Refused};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

const WHAT: &str = "a lock of a file's range";

/// Whose a lock is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeLockKind {
    /// The process's: POSIX.
    Process,
    /// The open file description's.
    Description,
}

/// Locks ranges of an open file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RangeLock<'a> {
    file: BorrowedFd<'a>,
    kind: RangeLockKind,
}

impl<'a> RangeLock<'a> {
    pub(crate) fn new(file: BorrowedFd<'a>, kind: RangeLockKind) -> Self {
        Self { file, kind }
    }

    /// Locks a range as soon as nobody else has it in a mode that excludes this one.
    pub(crate) fn lock(self, first: i64, count: i64, exclusive: bool) -> Result<(), KubError> {
        let mode = if exclusive { libc::F_WRLCK } else { libc::F_RDLCK };
        self.set(mode, first, count).or_refused(WHAT)
    }

    /// The same of a byte to have it alone; says whether it was granted, or refused because the two would wait for
    /// each other.
    pub(crate) fn lock_unless_deadlocked(self, byte: i64) -> Result<bool, KubError> {
        match self.set(libc::F_WRLCK, byte, 1) {
            Err(Errno::DEADLK) => Ok(false),
            done => done.or_refused(WHAT).map(|()| true),
        }
    }

    pub(crate) fn unlock(self, first: i64, count: i64) -> Result<(), KubError> {
        self.set(libc::F_UNLCK, first, count).or_refused(WHAT)
    }

    /// Whether another open file has no lock of a byte; only of locks of descriptions.
    pub(crate) fn is_free(self, byte: i64) -> Result<bool, KubError> {
        let mut lock = of(libc::F_WRLCK, byte, 1);
        // SAFETY: the descriptor is borrowed, hence open; the kernel reads and writes one `flock`.
        let asked = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
        match asked {
            0 => Ok(i32::from(lock.l_type) == libc::F_UNLCK),
            _ => Err(last_error()).or_refused(WHAT),
        }
    }

    fn set(self, mode: i32, first: i64, count: i64) -> Result<(), Errno> {
        let lock = of(mode, first, count);
        let command = match self.kind {
            RangeLockKind::Process => libc::F_SETLKW,
            RangeLockKind::Description => libc::F_OFD_SETLKW,
        };
        loop {
            // SAFETY: the descriptor is borrowed, hence open; the kernel reads one `flock`.
            let done = unsafe { libc::fcntl(self.file.as_raw_fd(), command, &raw const lock) };
            if done == 0 {
                return Ok(());
            }
            match last_error() {
                Errno::INTR => {}
                error => return Err(error),
            }
        }
    }
}

fn of(mode: i32, first: i64, count: i64) -> libc::flock {
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = i16::try_from(mode).unwrap_or(0);
    lock.l_whence = i16::try_from(libc::SEEK_SET).unwrap_or(0);
    (lock.l_start, lock.l_len) = (first, count);
    lock
}
