//! Counts, sizes and times as figures, and back.

use std::time::Duration;

/// A count as a figure: those here are far below 2^53.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn figure(count: u64) -> f64 {
    count as f64
}

/// The same for what is in memory.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn figure_of(count: usize) -> f64 {
    count as f64
}

/// The whole part; zero for what is no count.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
pub(crate) fn whole(figure: f64) -> u64 {
    figure as u64
}

/// A size that fits memory.
pub(crate) fn size(bytes: u64) -> usize {
    usize::try_from(bytes).expect("sizes here fit the address space")
}

/// A time in nanoseconds.
pub(crate) fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// 1, 2, 4 and so on, and the last one itself.
pub(crate) fn powers_of_two(last: usize) -> Vec<usize> {
    let mut all = std::iter::successors(Some(1_usize), |one| one.checked_mul(2))
        .take_while(|one| *one < last)
        .collect::<Vec<_>>();
    all.push(last);
    all
}

/// Adds the words of a chunk.
#[inline]
pub(crate) fn sum_of(chunk: &[u8]) -> u64 {
    let words = chunk.chunks_exact(8).map(|word| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        u64::from_ne_bytes(bytes)
    });
    words.fold(0, u64::wrapping_add)
}
