//! Order of intervals and of times with zones, and of dates and timestamps among each other.
//!
//! - An interval is compared by its length, at 30 days a month and 24 hours a day: `1 mon` equals `30 days`.
//! - A `timetz` is compared by its point in UTC, and by its zone if that is equal.

use super::{Date, Interval, TimeTz, Timestamp, TimestampTz};
use crate::calendar::{DAY, MONTH_DAYS, SECOND};
use crate::settings::Settings;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

impl Interval {
    /// Returns the length in microseconds, at 30 days a month and 24 hours a day.
    #[must_use]
    pub fn length(self) -> i128 {
        let days = i64::from(self.months) * i64::from(MONTH_DAYS) + i64::from(self.days);
        i128::from(days) * i128::from(DAY) + i128::from(self.microseconds)
    }
}

impl PartialEq for Interval {
    fn eq(&self, other: &Self) -> bool {
        self.length() == other.length()
    }
}

impl Eq for Interval {}

impl PartialOrd for Interval {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Interval {
    fn cmp(&self, other: &Self) -> Ordering {
        self.length().cmp(&other.length())
    }
}

impl Hash for Interval {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.length().hash(state);
    }
}

impl PartialOrd for TimeTz {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TimeTz {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |value: &Self| (value.time.0 + i64::from(value.west) * SECOND, value.west);
        key(self).cmp(&key(other))
    }
}

impl Date {
    /// Compares with a timestamp; a date beyond the timestamps is after all finite ones.
    #[must_use]
    pub fn compare_timestamp(self, other: Timestamp) -> Ordering {
        match self.to_timestamp() {
            Ok(this) => this.cmp(&other),
            Err(_) if other == Timestamp::INFINITY => Ordering::Less,
            Err(_) => Ordering::Greater,
        }
    }

    /// Compares with a point in time, in the zone of the session.
    #[must_use]
    pub fn compare_timestamptz(self, other: TimestampTz, settings: &Settings) -> Ordering {
        match self.to_timestamptz(settings) {
            Ok(this) => this.cmp(&other),
            Err(_) => beyond(self.0 > 0, other),
        }
    }
}

impl Timestamp {
    /// Compares with a point in time, in the zone of the session.
    #[must_use]
    pub fn compare_timestamptz(self, other: TimestampTz, settings: &Settings) -> Ordering {
        match self.to_timestamptz(settings) {
            Ok(this) => this.cmp(&other),
            Err(_) => beyond(self.0 > 0, other),
        }
    }
}

/// Compares a finite time, before or after all timestamps, with one.
fn beyond(is_after: bool, other: TimestampTz) -> Ordering {
    match is_after {
        true if other == TimestampTz::INFINITY => Ordering::Less,
        true => Ordering::Greater,
        false if other == TimestampTz::NEGATIVE_INFINITY => Ordering::Greater,
        false => Ordering::Less,
    }
}
