//! What the kernel has yet to write of a file, and having it begin to.

use super::last_error;
use crate::error::{KubError, Refused};
use std::os::fd::{AsRawFd, BorrowedFd};

/// The same number on all processors; the C library has no name for it yet.
const CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct Cached {
    cached: u64,
    dirty: u64,
    writing: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Pages of a file that are not on its device yet.
pub(crate) fn unwritten_pages(file: BorrowedFd<'_>) -> Result<u64, KubError> {
    let (range, mut cached) = (Range { offset: 0, length: 0 }, Cached::default());
    // SAFETY: the kernel reads one range, and writes one answer.
    let done =
        unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut cached, 0) };
    match done {
        0 => Ok(cached.dirty + cached.writing),
        _ => Err(last_error()).or_refused("cachestat"),
    }
}

/// Has the kernel write a range out, and waits until it has. Nothing says that the device keeps it, nor the file
/// its length.
pub(crate) fn write_out(file: BorrowedFd<'_>, first: u64, bytes: u64) -> Result<(), KubError> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    let (first, bytes) = (i64::try_from(first).unwrap_or(0), i64::try_from(bytes).unwrap_or(0));
    // SAFETY: passes numbers only, and an open descriptor.
    let done = unsafe { libc::sync_file_range(file.as_raw_fd(), first, bytes, flags) };
    if done == 0 { Ok(()) } else { Err(last_error()).or_refused("sync_file_range") }
}
