//! Owner slots of a file, and the turn, as byte locks of the open file description.
//!
//! - Slot `n` is the byte at 2^62 + n, which no file reaches; the turn is the byte behind the last.
//! - The kernel frees the bytes when the last descriptor of the description is closed *and* the
//!   last transfer through it is over, also one that was in flight when its process was killed: a
//!   free byte therefore means that the holder is dead and quiet. A lock on another description,
//!   a process id or a robust mutex would be free earlier. It frees all bytes in one step.
//! - This is the only module of the crate with unsafe code: no safe wrapper offers these locks.

#![allow(unsafe_code)]

use crate::device::{OWNER_SLOTS_MAX, Turn};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

const FIRST_BYTE: i64 = 1 << 62;

/// The owner slots of one open file description.
pub(super) struct OwnerLock<'a> {
    descriptor: BorrowedFd<'a>,
}

impl<'a> OwnerLock<'a> {
    pub(super) fn new(descriptor: BorrowedFd<'a>) -> Self {
        Self { descriptor }
    }

    pub(super) fn try_own_all(&self) -> Result<bool, Errno> {
        self.try_lock(libc::F_WRLCK, 0, OWNER_SLOTS_MAX)
    }

    pub(super) fn try_share_all(&self) -> Result<bool, Errno> {
        self.try_lock(libc::F_RDLCK, 0, OWNER_SLOTS_MAX)
    }

    pub(super) fn try_own(&self, slot: u32) -> Result<bool, Errno> {
        self.try_lock(libc::F_WRLCK, slot, 1)
    }

    pub(super) fn take_turn(&self) -> Result<(), Errno> {
        let mut lock = bytes(libc::F_WRLCK, OWNER_SLOTS_MAX, 1)?;
        loop {
            match self.control(libc::F_OFD_SETLKW, &mut lock) {
                Err(Errno::INTR) => {}
                done => return done,
            }
        }
    }

    pub(super) fn try_turn(&self) -> Result<Turn, Errno> {
        let mut lock = bytes(libc::F_WRLCK, OWNER_SLOTS_MAX, 1)?;
        match self.control(libc::F_OFD_SETLK, &mut lock) {
            Ok(()) => return Ok(Turn::Taken),
            Err(Errno::AGAIN | Errno::ACCESS) => {}
            Err(errno) => return Err(errno),
        }
        let mut lock = bytes(libc::F_WRLCK, OWNER_SLOTS_MAX, 1)?;
        self.control(libc::F_OFD_GETLK, &mut lock)?;
        match i32::from(lock.l_type) {
            libc::F_RDLCK => Ok(Turn::LockedForReading),
            // Free again by now counts as held: the caller tries again.
            _ => Ok(Turn::Held),
        }
    }

    pub(super) fn end_turn(&self) -> Result<(), Errno> {
        self.control(libc::F_OFD_SETLK, &mut bytes(libc::F_UNLCK, OWNER_SLOTS_MAX, 1)?)
    }

    pub(super) fn keep(&self, slot: u32) -> Result<(), Errno> {
        for (first, count) in [(0, slot), (slot + 1, OWNER_SLOTS_MAX - slot - 1)] {
            if count > 0 {
                let mut lock = slots(libc::F_UNLCK, first, count)?;
                self.control(libc::F_OFD_SETLK, &mut lock)?;
            }
        }
        Ok(())
    }

    pub(super) fn give_up(&self) -> Result<(), Errno> {
        let mut lock = slots(libc::F_UNLCK, 0, OWNER_SLOTS_MAX)?;
        self.control(libc::F_OFD_SETLK, &mut lock)
    }

    pub(super) fn is_held_elsewhere(&self, slot: u32) -> Result<bool, Errno> {
        let mut lock = slots(libc::F_WRLCK, slot, 1)?;
        self.control(libc::F_OFD_GETLK, &mut lock)?;
        Ok(i32::from(lock.l_type) != libc::F_UNLCK)
    }

    fn try_lock(&self, kind: i32, first: u32, count: u32) -> Result<bool, Errno> {
        let mut lock = slots(kind, first, count)?;
        match self.control(libc::F_OFD_SETLK, &mut lock) {
            Ok(()) => Ok(true),
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    fn control(&self, command: i32, lock: &mut libc::flock) -> Result<(), Errno> {
        // SAFETY: the descriptor is borrowed, hence open, and both commands read and write exactly
        // one `flock`, which `lock` points to for the whole call.
        let answer = unsafe { libc::fcntl(self.descriptor.as_raw_fd(), command, lock) };
        if answer == -1 {
            return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
        Ok(())
    }
}

fn slots(kind: i32, first: u32, count: u32) -> Result<libc::flock, Errno> {
    if first.checked_add(count).is_none_or(|end| end > OWNER_SLOTS_MAX) {
        return Err(Errno::INVAL);
    }
    bytes(kind, first, count)
}

fn bytes(kind: i32, first: u32, count: u32) -> Result<libc::flock, Errno> {
    Ok(libc::flock {
        l_type: i16::try_from(kind).map_err(|_| Errno::INVAL)?,
        l_whence: i16::try_from(libc::SEEK_SET).map_err(|_| Errno::INVAL)?,
        l_start: FIRST_BYTE + i64::from(first),
        l_len: i64::from(count),
        l_pid: 0, // the kernel demands it for these commands
    })
}
