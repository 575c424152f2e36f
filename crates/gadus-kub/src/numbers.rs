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

/// The nanoseconds of a time.
pub(crate) fn duration(nanoseconds: f64) -> Duration {
    Duration::try_from_secs_f64(nanoseconds / 1e9).unwrap_or_default()
}
