//! Finishes what the system leaves half done: interrupted, short and refused-for-now transfers.
//!
//! - The first attempt passes the caller's pieces on as they are: no copy, one system call.
//! - Refusals for now are retried a bounded number of times; a write that makes no progress is
//!   "no space", never an endless loop.

use rustix::io::Errno;
use std::io::IoSlice;

/// The kernel takes at most this many pieces in one call (`UIO_MAXIOV`).
const PIECES_MAX: usize = 1024;

/// A regular file never answers "try again"; a network file system that does gets this many
/// chances.
const REFUSALS_MAX: u32 = 100;

/// Repeats a call that a signal interrupts.
pub(super) fn uninterrupted(mut call: impl FnMut() -> Result<(), Errno>) -> Result<(), Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

/// Fills `into`; `false` when the file ends before.
pub(super) fn read_whole(
    mut offset: u64,
    mut into: &mut [u8],
    mut read: impl FnMut(&mut [u8], u64) -> Result<usize, Errno>,
) -> Result<bool, Errno> {
    let mut refusals = 0;
    while !into.is_empty() {
        match read(into, offset) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                offset += count as u64;
                into = into.split_at_mut(count).1;
            }
            Err(errno) => retry_or_fail(errno, &mut refusals)?,
        }
    }
    Ok(true)
}

/// Writes every piece.
pub(super) fn write_whole(
    offset: u64,
    pieces: &[IoSlice<'_>],
    mut write: impl FnMut(&[IoSlice<'_>], u64) -> Result<usize, Errno>,
) -> Result<(), Errno> {
    let mut refusals = 0;
    let total: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut written = 0;
    if pieces.len() <= PIECES_MAX && total > 0 {
        match write(pieces, offset) {
            Ok(count) if count == total => return Ok(()),
            Ok(0) => return Err(Errno::NOSPC),
            Ok(count) => written = count,
            Err(errno) => retry_or_fail(errno, &mut refusals)?,
        }
    }
    let mut copied = pieces.to_vec();
    let mut rest = copied.as_mut_slice();
    IoSlice::advance_slices(&mut rest, written);
    while written < total {
        let batch = rest.get(..PIECES_MAX).unwrap_or(rest);
        match write(batch, offset + written as u64) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(count) => {
                written += count;
                IoSlice::advance_slices(&mut rest, count);
            }
            Err(errno) => retry_or_fail(errno, &mut refusals)?,
        }
    }
    Ok(())
}

fn retry_or_fail(errno: Errno, refusals: &mut u32) -> Result<(), Errno> {
    match errno {
        Errno::INTR => Ok(()),
        Errno::AGAIN if *refusals < REFUSALS_MAX => {
            *refusals += 1;
            std::thread::yield_now();
            Ok(())
        }
        errno => Err(errno),
    }
}

#[cfg(test)]
mod tests;
