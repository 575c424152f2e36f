//! Products and quotients of intervals: fractions are carried down, never up.

use crate::calendar::{DAY_SECONDS, MONTH_DAYS};
use crate::error::{DIVISION_BY_ZERO, Result, TimesError};
use crate::integers::{float, truncated, truncated_i32};
use crate::values::Interval;

impl Interval {
    /// Multiplies by a number: a fraction of a month becomes days, a fraction of a day becomes time.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn multiply(self, factor: f64) -> Result<Self> {
        self.scaled(|part| part * factor)
    }

    /// Divides by a number: a fraction of a month becomes days, a fraction of a day becomes time.
    ///
    /// # Errors
    /// 22012 for zero, 22008 beyond the range of the type.
    pub fn divide(self, divisor: f64) -> Result<Self> {
        if divisor == 0.0 {
            return Err(TimesError::new(DIVISION_BY_ZERO, "division by zero"));
        }
        self.scaled(|part| part / divisor)
    }

    /// Scales each part, in PostgreSQL's order of operations, so that roundings are its own.
    fn scaled(self, scale: impl Fn(f64) -> f64) -> Result<Self> {
        self.try_scaled(scale).ok_or_else(TimesError::interval_range)
    }

    fn try_scaled(self, scale: impl Fn(f64) -> f64) -> Option<Self> {
        let (month_product, day_product) =
            (scale(f64::from(self.months)), scale(f64::from(self.days)));
        let months = integer(month_product)?;
        let mut days = integer(day_product)?;
        let day_seconds = float(DAY_SECONDS);
        let month_rest = (month_product - f64::from(months)) * f64::from(MONTH_DAYS);
        let month_rest = to_microseconds(month_rest);
        let month_days = truncated_i32(month_rest);
        let seconds =
            (day_product - f64::from(days) + month_rest - f64::from(month_days)) * day_seconds;
        let mut seconds = to_microseconds(seconds);
        if seconds.abs() >= day_seconds {
            let whole = truncated_i32(seconds / day_seconds);
            days = days.checked_add(whole)?;
            seconds -= f64::from(whole) * day_seconds;
        }
        days = days.checked_add(month_days)?;
        let time = (scale(float(self.microseconds)) + seconds * 1_000_000.0).round_ties_even();
        // The greatest integer is not a number of this type; the least one is.
        let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&time);
        fits.then(|| Self { months, days, microseconds: truncated(time) })
    }
}

/// Returns the integral part if it fits 32 bits.
fn integer(value: f64) -> Option<i32> {
    let fits = (-2_147_483_648.0..2_147_483_648.0).contains(&value);
    fits.then(|| truncated_i32(value))
}

/// Rounds to six digits.
fn to_microseconds(value: f64) -> f64 {
    (value * 1_000_000.0).round_ties_even() / 1_000_000.0
}
