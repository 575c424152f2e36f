//! A device whose blocks are a file's: a loop device.
//!
//! - It is detached by the kernel when nobody has it open any more, also where its maker was killed.
//! - It reads and writes past the kernel's cache where the file's own file system can: else what lies on it would be
//!   cached twice.

use super::last_error;
use crate::error::{KubError, Refused};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// As the kernel's loop.h has them.
const CONFIGURE: libc::c_ulong = 0x4C0A;
const GET_FREE: libc::c_ulong = 0x4C82;
const AUTOMATIC_CLEAR: u32 = 4;
const DIRECT: u32 = 16;

/// Somebody else may take the free one that we were told of.
const TRIES: u32 = 16;

/// `struct loop_config` with what it holds; zeros where nothing is asked for.
#[repr(C)]
struct Configuration {
    file: u32,
    block_bytes: u32,
    places: [u64; 5],
    number: u32,
    encryption: u32,
    key_bytes: u32,
    flags: u32,
    names: [u64; 16],
    key: [u64; 4],
    rest: [u64; 10],
}

// As long as the kernel's: it reads as much.
const _: () = assert!(size_of::<Configuration>() == 304);

/// A loop device that is open.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    path: PathBuf,
    /// Without it the device is gone.
    _open: OwnedFd,
}

impl LoopDevice {
    /// Makes a device of a file.
    pub(crate) fn of_file(file: BorrowedFd<'_>) -> Result<Self, KubError> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let control = open("/dev/loop-control", flags, Mode::empty());
        let control = control.or_refused("loop devices (/dev/loop-control)")?;
        for _ in 0..TRIES {
            // SAFETY: passes no memory.
            let number = unsafe { libc::ioctl(control.as_raw_fd(), GET_FREE) };
            if number < 0 {
                return Err(last_error()).or_refused("a free loop device");
            }
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let device = open(&path, flags, Mode::empty());
            let device = device.or_refused(&format!("the loop device {}", path.display()))?;
            match configure(&device, file) {
                Ok(()) => return Ok(Self { path, _open: device }),
                Err(Errno::BUSY) => {}
                Err(error) => return Err(error).or_refused("a loop device of a file"),
            }
        }
        Err(KubError::unavailable("somebody else takes every free loop device"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn configure(device: &OwnedFd, file: BorrowedFd<'_>) -> Result<(), Errno> {
    let configuration = Configuration {
        file: file.as_raw_fd().unsigned_abs(),
        block_bytes: 0,
        places: [0; 5],
        number: 0,
        encryption: 0,
        key_bytes: 0,
        flags: AUTOMATIC_CLEAR | DIRECT,
        names: [0; 16],
        key: [0; 4],
        rest: [0; 10],
    };
    // SAFETY: the kernel reads one configuration, whose length is the kernel's; both descriptors are open.
    match unsafe { libc::ioctl(device.as_raw_fd(), CONFIGURE, &raw const configuration) } {
        0 => Ok(()),
        _ => Err(last_error()),
    }
}
