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
mod tests {
    use super::*;

    /// Takes what the script allows, and remembers what arrived.
    fn run(script: &[Result<usize, Errno>], pieces: &[&[u8]]) -> (Result<(), Errno>, Vec<u8>) {
        let mut script = script.iter();
        let mut medium = [0; 32];
        let slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        let result = write_whole(4, &slices, |pieces, offset| {
            let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.iter().copied()).collect();
            let allowed = script.next().copied().unwrap_or(Ok(bytes.len()))?.min(bytes.len());
            let at = usize::try_from(offset).unwrap();
            medium[at..at + allowed].copy_from_slice(&bytes[..allowed]);
            Ok(allowed)
        });
        (result, medium[4..12].to_vec())
    }

    #[test]
    fn short_interrupted_and_refused_writes_are_finished() {
        let script = [Err(Errno::INTR), Ok(1), Err(Errno::AGAIN), Ok(3), Err(Errno::INTR)];
        let (result, medium) = run(&script, &[b"ab", b"", b"cdef", b"gh"]);
        assert_eq!(result, Ok(()));
        assert_eq!(medium, b"abcdefgh");
    }

    #[test]
    fn a_write_without_progress_is_no_space() {
        assert_eq!(run(&[Ok(3), Ok(0)], &[b"abcdefgh"]).0, Err(Errno::NOSPC));
    }

    #[test]
    fn an_error_ends_the_write() {
        assert_eq!(run(&[Ok(3), Err(Errno::IO)], &[b"abcdefgh"]).0, Err(Errno::IO));
    }

    #[test]
    fn more_pieces_than_the_kernel_takes_are_split() {
        let byte = [7_u8];
        let pieces: Vec<_> = (0..PIECES_MAX + 5).map(|_| IoSlice::new(&byte)).collect();
        let mut sizes = Vec::new();
        let result = write_whole(0, &pieces, |pieces, _| {
            sizes.push(pieces.len());
            Ok(pieces.len())
        });
        assert_eq!(result, Ok(()));
        assert_eq!(sizes, [PIECES_MAX, 5]);
    }

    #[test]
    fn short_reads_are_finished_and_the_end_is_told() {
        let mut into = [0; 5];
        let mut next = 1;
        let mut read = |into: &mut [u8], _| {
            into[0] = next;
            next += 1;
            Ok(usize::from(next <= 5))
        };
        assert_eq!(read_whole(0, &mut into, &mut read), Ok(false));
        assert_eq!(into[..4], [1, 2, 3, 4]);
    }
}
