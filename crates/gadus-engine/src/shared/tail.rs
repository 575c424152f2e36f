//! Who leaves the last segments of a pass to others.
//!
//! - A thread whose processor is busy with something else needs longer for a segment. One that it takes last
//!   keeps all waiting for whom the pass is made: where the others would have done all that is left before it,
//!   it leaves that to them.
//! - The fastest never leaves, so that there is always somebody.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long each thread of a pass, by its number, takes for a segment.
#[derive(Debug)]
pub(super) struct SegmentTimes(Vec<Own>);

/// What a thread has done of a pass; nothing when it is not at it.
#[derive(Debug, Default)]
struct Own {
    segments: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Own {
    /// Nanoseconds of a segment, on average: where a processor is shared, the last one tells little.
    #[allow(clippy::cast_precision_loss)] // an estimate
    fn segment(&self) -> Option<f64> {
        let segments = Some(self.segments.load(Ordering::Relaxed)).filter(|own| *own > 0)?;
        Some(self.nanoseconds.load(Ordering::Relaxed) as f64 / segments as f64)
    }
}

impl SegmentTimes {
    pub(super) fn of(threads: usize) -> Self {
        Self(std::iter::repeat_with(Own::default).take(threads).collect())
    }

    /// A thread has done a segment.
    pub(super) fn note(&self, number: usize, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(1);
        if let Some(own) = self.0.get(number) {
            own.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
            own.segments.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A thread is no longer at it.
    pub(super) fn leave(&self, number: usize) {
        if let Some(own) = self.0.get(number) {
            own.segments.store(0, Ordering::Relaxed);
            own.nanoseconds.store(0, Ordering::Relaxed);
        }
    }

    /// Whether the others have done so many segments, and those that they are at, before a thread does one.
    #[allow(clippy::cast_precision_loss)] // an estimate
    pub(super) fn others_are_sooner(&self, number: usize, segments: usize) -> bool {
        let Some(own) = self.0.get(number).and_then(Own::segment) else { return false };
        let others = self.0.iter().enumerate().filter(|(other, _)| *other != number);
        let others = others.filter_map(|(_, other)| other.segment()).collect::<Vec<_>>();
        let a_nanosecond = others.iter().map(|other| 1.0 / other).sum::<f64>();
        let fastest = others.iter().copied().fold(f64::INFINITY, f64::min);
        segments as f64 / a_nanosecond + fastest < own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_slow_leaves_the_last_segments_and_who_is_fastest_does_not() {
        let times = SegmentTimes::of(3);
        assert!(!times.others_are_sooner(0, 1), "nothing is known of it");
        times.note(0, Duration::from_millis(38));
        times.note(0, Duration::from_millis(2));
        assert!(!times.others_are_sooner(0, 1), "nobody else is at it");
        times.note(1, Duration::from_millis(4));
        assert!(times.others_are_sooner(0, 3) && !times.others_are_sooner(0, 4));
        times.note(2, Duration::from_millis(4));
        assert!(times.others_are_sooner(0, 7) && !times.others_are_sooner(0, 8));
        assert!(!times.others_are_sooner(1, 0) && !times.others_are_sooner(7, 0));
        times.leave(1);
        times.leave(2);
        assert!(!times.others_are_sooner(0, 1));
    }
}
