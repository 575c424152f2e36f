//! The type `interval`.

use crate::calendar::{HOUR, MINUTE, SECOND, YEAR_MONTHS};
use crate::error::{Result, TimesError};
use crate::integers::small;

/// Span of time: months, days and microseconds, which do not carry over into each other.
///
/// Order and equality are those of the length, at 30 days a month: `1 mon` equals `30 days`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interval {
    /// Months.
    pub months: i32,
    /// Days, of 23 to 25 hours in zones with daylight saving time.
    pub days: i32,
    /// Microseconds.
    pub microseconds: i64,
}

/// Fields of an interval. All of those of the clock have one sign, and so have year and month.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IntervalFields {
    pub(crate) year: i32,
    pub(crate) month: i32,
    pub(crate) day: i32,
    pub(crate) hour: i64,
    pub(crate) minute: i32,
    pub(crate) second: i32,
    pub(crate) microsecond: i32,
}

impl Interval {
    /// Returns an interval.
    #[must_use]
    pub const fn new(months: i32, days: i32, microseconds: i64) -> Self {
        Self { months, days, microseconds }
    }

    pub(crate) fn fields(self) -> IntervalFields {
        let time = self.microseconds;
        IntervalFields {
            year: self.months / YEAR_MONTHS,
            month: self.months % YEAR_MONTHS,
            day: self.days,
            hour: time / HOUR,
            minute: small(time % HOUR / MINUTE),
            second: small(time % MINUTE / SECOND),
            microsecond: small(time % SECOND),
        }
    }
}

impl IntervalFields {
    /// Returns the interval of the fields.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub(crate) fn interval(self) -> Result<Interval> {
        let months = i64::from(self.year) * i64::from(YEAR_MONTHS) + i64::from(self.month);
        let clock = i128::from(self.hour) * i128::from(HOUR)
            + i128::from(self.minute) * i128::from(MINUTE)
            + i128::from(self.second) * i128::from(SECOND)
            + i128::from(self.microsecond);
        match (i32::try_from(months), i64::try_from(clock)) {
            (Ok(months), Ok(microseconds)) => Ok(Interval { months, days: self.day, microseconds }),
            _ => Err(TimesError::interval_range()),
        }
    }
}
