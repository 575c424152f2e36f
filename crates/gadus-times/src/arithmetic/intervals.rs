//! Sums of intervals.

use crate::error::{Result, TimesError};
use crate::values::Interval;

impl Interval {
    /// Adds month to month, day to day and time to time.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn add_interval(self, other: Self) -> Result<Self> {
        made(
            self.months.checked_add(other.months),
            self.days.checked_add(other.days),
            self.microseconds.checked_add(other.microseconds),
        )
    }

    /// Subtracts month from month, day from day and time from time.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn subtract_interval(self, other: Self) -> Result<Self> {
        made(
            self.months.checked_sub(other.months),
            self.days.checked_sub(other.days),
            self.microseconds.checked_sub(other.microseconds),
        )
    }

    /// Negates months, days and time.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn negate(self) -> Result<Self> {
        made(self.months.checked_neg(), self.days.checked_neg(), self.microseconds.checked_neg())
    }
}

fn made(months: Option<i32>, days: Option<i32>, microseconds: Option<i64>) -> Result<Interval> {
    match (months, days, microseconds) {
        (Some(months), Some(days), Some(microseconds)) => {
            Ok(Interval { months, days, microseconds })
        }
        _ => Err(TimesError::interval_range()),
    }
}
