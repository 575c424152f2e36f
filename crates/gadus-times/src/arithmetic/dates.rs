//! Dates and numbers of days.

use crate::error::{OUT_OF_RANGE, Result, TimesError};
use crate::values::{Date, Interval, Timestamp};

impl Date {
    /// Adds days; an infinity stays one.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn add_days(self, days: i32) -> Result<Self> {
        match self.is_finite() {
            true => Self::from_days(i64::from(self.0) + i64::from(days)),
            false => Ok(self),
        }
    }

    /// Subtracts days; an infinity stays one.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn subtract_days(self, days: i32) -> Result<Self> {
        match self.is_finite() {
            true => Self::from_days(i64::from(self.0) - i64::from(days)),
            false => Ok(self),
        }
    }

    /// Returns the days from another date to this one.
    ///
    /// # Errors
    /// 22008 for infinities.
    pub fn subtract(self, other: Self) -> Result<i32> {
        if !self.is_finite() || !other.is_finite() {
            return Err(TimesError::new(OUT_OF_RANGE, "cannot subtract infinite dates"));
        }
        Ok(self.0.wrapping_sub(other.0))
    }

    /// Adds an interval to the midnight at which the date begins.
    ///
    /// # Errors
    /// 22008 beyond the range of timestamps.
    pub fn add_interval(self, interval: Interval) -> Result<Timestamp> {
        self.to_timestamp()?.add_interval(interval)
    }

    /// Subtracts an interval from the midnight at which the date begins.
    ///
    /// # Errors
    /// 22008 beyond the range of timestamps.
    pub fn subtract_interval(self, interval: Interval) -> Result<Timestamp> {
        self.to_timestamp()?.subtract_interval(interval)
    }
}
