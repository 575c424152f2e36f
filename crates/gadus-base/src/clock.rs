//! Time: one monotonic clock for waiting and measuring, one wall clock for showing.
//!
//! - Nothing durable and nothing that decides visibility depends on the wall clock.

#![allow(clippy::disallowed_methods)] // the one place that may ask the system for the time

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(std::time::Instant);

/// Seconds and nanoseconds since 1970, UTC, for people to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub Duration);

/// The system's clocks.
#[derive(Debug, Clone, Copy)]
pub struct Clock;

/// The clock of this process.
#[must_use]
pub fn clock() -> Clock {
    Clock
}

impl Clock {
    /// Now, on the monotonic clock.
    #[must_use]
    pub fn now(self) -> Instant {
        Instant(std::time::Instant::now())
    }

    /// Processor time that this thread has had; zero where the system does not tell.
    #[must_use]
    #[allow(unsafe_code)] // one call that writes what it is given
    pub fn thread_time(self) -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the system writes a time there.
        if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0 {
            return Duration::ZERO;
        }
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
    }

    /// Now, on the wall clock.
    #[must_use]
    pub fn wall_time(self) -> WallTime {
        WallTime(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }
}

impl Instant {
    /// Time passed since this point.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Time from `earlier` to this point; zero when `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// The point `duration` later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}
