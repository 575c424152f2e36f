//! Times of day and intervals: months and days have no effect, and midnight wraps around.

use crate::calendar::DAY;
use crate::values::{Interval, Time, TimeTz};

impl Time {
    /// Adds an interval.
    #[must_use]
    pub const fn add_interval(self, interval: Interval) -> Self {
        Self(self.0.wrapping_add(interval.microseconds).rem_euclid(DAY))
    }

    /// Subtracts an interval.
    #[must_use]
    pub const fn subtract_interval(self, interval: Interval) -> Self {
        Self(self.0.wrapping_sub(interval.microseconds).rem_euclid(DAY))
    }

    /// Returns the time from another time of the day to this one.
    #[must_use]
    pub const fn subtract(self, other: Self) -> Interval {
        Interval::new(0, 0, self.0 - other.0)
    }
}

impl TimeTz {
    /// Adds an interval; the offset stays.
    #[must_use]
    pub const fn add_interval(self, interval: Interval) -> Self {
        Self { time: self.time.add_interval(interval), west: self.west }
    }

    /// Subtracts an interval; the offset stays.
    #[must_use]
    pub const fn subtract_interval(self, interval: Interval) -> Self {
        Self { time: self.time.subtract_interval(interval), west: self.west }
    }
}
