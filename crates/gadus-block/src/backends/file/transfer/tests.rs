//! Facts about finishing transfers.

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
