//! Sum of an interval's amounts, with fractions carried down to lower units.

use super::fault::Fault;
use super::mask::Mask;
use super::vocabulary::Unit;
use crate::calendar::{DAY, HOUR, MINUTE, MONTH_DAYS, SECOND, YEAR_MONTHS};
use crate::error::{Result as TimesResult, TimesError};
use crate::integers::{float, truncated, truncated_i32};
use crate::values::Interval;

/// Sum of amounts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Amounts {
    pub(super) years: i32,
    pub(super) months: i32,
    pub(super) days: i32,
    pub(super) microseconds: i64,
}

impl Amounts {
    /// Adds an amount of a unit; returns the fields that it set.
    ///
    /// # Errors
    /// A field fault beyond the range, a format fault for a unit that no interval has.
    pub(super) fn add(&mut self, unit: Unit, value: i64, fraction: f64) -> Result<Mask, Fault> {
        let mask = match unit {
            Unit::Microsecond => self.clock(value, fraction, 1, Mask::MICROSECOND),
            Unit::Millisecond => self.clock(value, fraction, 1000, Mask::MILLISECOND),
            Unit::Second if fraction != 0.0 => self.clock(value, fraction, SECOND, Mask::SECONDS),
            Unit::Second => self.clock(value, fraction, SECOND, Mask::SECOND),
            Unit::Minute => self.clock(value, fraction, MINUTE, Mask::MINUTE),
            Unit::Hour => self.clock(value, fraction, HOUR, Mask::HOUR),
            Unit::Day => self.add_days(value, fraction).map(|()| Mask::DAY),
            Unit::Week => self.add_weeks(value, fraction).map(|()| Mask::WEEK),
            Unit::Month => self.add_months(value, fraction).map(|()| Mask::MONTH),
            Unit::Year => self.add_years(value, fraction, 1).map(|()| Mask::YEAR),
            Unit::Decade => self.add_years(value, fraction, 10).map(|()| Mask::DECADE),
            Unit::Century => self.add_years(value, fraction, 100).map(|()| Mask::CENTURY),
            Unit::Millennium => self.add_years(value, fraction, 1000).map(|()| Mask::MILLENNIUM),
            _ => return Err(Fault::Format),
        };
        mask.ok_or(Fault::Field)
    }

    fn clock(&mut self, value: i64, fraction: f64, scale: i64, mask: Mask) -> Option<Mask> {
        self.add_clock(value, fraction, scale).map(|()| mask)
    }

    /// Adds a number of units of `scale` microseconds.
    pub(super) fn add_clock(&mut self, value: i64, fraction: f64, scale: i64) -> Option<()> {
        let product = value.checked_mul(scale)?;
        self.microseconds = self.microseconds.checked_add(product)?;
        self.add_clock_fraction(fraction, scale)
    }

    /// Adds a fraction of a unit of `scale` microseconds, which rounds half towards zero.
    pub(super) fn add_clock_fraction(&mut self, fraction: f64, scale: i64) -> Option<()> {
        if fraction == 0.0 {
            return Some(());
        }
        let scaled = fraction * float(scale);
        let whole = truncated(scaled);
        let rest = scaled - float(whole);
        let whole = whole + i64::from(rest > 0.5) - i64::from(rest < -0.5);
        self.microseconds = self.microseconds.checked_add(whole)?;
        Some(())
    }

    pub(super) fn add_days(&mut self, value: i64, fraction: f64) -> Option<()> {
        self.days = self.days.checked_add(i32::try_from(value).ok()?)?;
        self.add_clock_fraction(fraction, DAY)
    }

    pub(super) fn add_weeks(&mut self, value: i64, fraction: f64) -> Option<()> {
        let days = i32::try_from(value).ok()?.checked_mul(7)?;
        self.days = self.days.checked_add(days)?;
        self.add_day_fraction(fraction, 7)
    }

    pub(super) fn add_months(&mut self, value: i64, fraction: f64) -> Option<()> {
        self.months = self.months.checked_add(i32::try_from(value).ok()?)?;
        self.add_day_fraction(fraction, MONTH_DAYS)
    }

    /// Adds a number of units of `scale` years; a fraction rounds to months.
    pub(super) fn add_years(&mut self, value: i64, fraction: f64, scale: i32) -> Option<()> {
        let years = i32::try_from(value).ok()?.checked_mul(scale)?;
        self.years = self.years.checked_add(years)?;
        let months = fraction * f64::from(scale) * f64::from(YEAR_MONTHS);
        self.months = self.months.checked_add(truncated_i32(months.round_ties_even()))?;
        Some(())
    }

    /// Adds a fraction of a unit of `scale` days.
    fn add_day_fraction(&mut self, fraction: f64, scale: i32) -> Option<()> {
        if fraction == 0.0 {
            return Some(());
        }
        let scaled = fraction * f64::from(scale);
        let days = truncated_i32(scaled);
        self.days = self.days.checked_add(days)?;
        self.add_clock_fraction(scaled - f64::from(days), DAY)
    }

    /// Returns the negative sum; `None` beyond the range.
    pub(super) fn negated(self) -> Option<Self> {
        Some(Self {
            years: self.years.checked_neg()?,
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            microseconds: self.microseconds.checked_neg()?,
        })
    }

    /// Returns the interval.
    ///
    /// # Errors
    /// 22008 for more months than 32 bits.
    pub(super) fn interval(self) -> TimesResult<Interval> {
        let months = i64::from(self.years) * i64::from(YEAR_MONTHS) + i64::from(self.months);
        let months = i32::try_from(months).map_err(|_| TimesError::interval_range())?;
        Ok(Interval::new(months, self.days, self.microseconds))
    }
}
