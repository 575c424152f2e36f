//! `date_bin`: the beginning of the stride of a fixed length that a timestamp is in.

use crate::calendar::DAY;
use crate::error::{NOT_SUPPORTED, OUT_OF_RANGE, Result, TimesError};
use crate::values::{Interval, Timestamp, TimestampTz};

impl Timestamp {
    /// Returns the beginning of a stride, counted from an origin; an infinity stays one.
    ///
    /// # Errors
    /// 22008 for a stride that is not positive, an infinite origin or a result beyond the range, 0A000 for months.
    pub fn bin(self, stride: Interval, origin: Self) -> Result<Self> {
        match self.is_finite() {
            true => bin(stride, self.0, origin.is_finite(), origin.0).map(Self),
            false => Ok(self),
        }
    }
}

impl TimestampTz {
    /// Returns the beginning of a stride, counted from an origin; days have 24 hours. An infinity stays one.
    ///
    /// # Errors
    /// 22008 for a stride that is not positive, an infinite origin or a result beyond the range, 0A000 for months.
    pub fn bin(self, stride: Interval, origin: Self) -> Result<Self> {
        match self.is_finite() {
            true => bin(stride, self.0, origin.is_finite(), origin.0).map(Self),
            false => Ok(self),
        }
    }
}

fn bin(stride: Interval, value: i64, has_origin: bool, origin: i64) -> Result<i64> {
    let refused = |message| Err(TimesError::new(OUT_OF_RANGE, message));
    if !has_origin {
        return refused("origin out of range");
    }
    if stride.months != 0 {
        let message = "timestamps cannot be binned into intervals containing months or years";
        return Err(TimesError::new(NOT_SUPPORTED, message));
    }
    let days = i64::from(stride.days).checked_mul(DAY);
    let stride = days.and_then(|days| days.checked_add(stride.microseconds));
    let stride = stride.ok_or_else(TimesError::interval_range)?;
    if stride <= 0 {
        return refused("stride must be greater than zero");
    }
    let difference = value.checked_sub(origin).ok_or_else(TimesError::interval_range)?;
    let rest = difference % stride;
    let result = origin + (difference - rest);
    match rest < 0 {
        true => Ok(Timestamp::checked(result.checked_sub(stride))?.0),
        false => Ok(result),
    }
}
