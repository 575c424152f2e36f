//! Timestamps and intervals.

use crate::calendar::{Civil, date_of_julian};
use crate::error::{OUT_OF_RANGE, Result, TimesError};
use crate::settings::Settings;
use crate::values::{Interval, Timestamp, TimestampTz};
use crate::zone::TimeZone;

impl Timestamp {
    /// Adds an interval; an infinity stays one.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn add_interval(self, interval: Interval) -> Result<Self> {
        if !self.is_finite() {
            return Ok(self);
        }
        let mut value = self;
        if interval.months != 0 {
            let mut civil = value.civil()?;
            civil.add_months(interval.months).ok_or_else(TimesError::timestamp_range)?;
            value = Self::checked(civil.to_microseconds(0))?;
        }
        if interval.days != 0 {
            let mut civil = value.civil()?;
            add_days(&mut civil, interval.days, 0)?;
            value = Self::checked(civil.to_microseconds(0))?;
        }
        Self::checked(value.0.checked_add(interval.microseconds))
    }

    /// Subtracts an interval; an infinity stays one.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn subtract_interval(self, interval: Interval) -> Result<Self> {
        self.add_interval(wrapping_negated(interval))
    }

    /// Returns the time from another timestamp to this one, in days and a time below a day.
    ///
    /// # Errors
    /// 22008 for infinities.
    pub fn subtract(self, other: Self) -> Result<Interval> {
        difference(self.0, self.is_finite() && other.is_finite(), other.0)
    }
}

impl TimestampTz {
    /// Adds an interval in the zone of the session; an infinity stays one.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn add_interval(self, interval: Interval, settings: &Settings) -> Result<Self> {
        if !self.is_finite() {
            return Ok(self);
        }
        let zone = &settings.time_zone;
        let mut value = self;
        if interval.months != 0 {
            let (mut civil, _) = value.civil(zone)?;
            civil.add_months(interval.months).ok_or_else(TimesError::timestamp_range)?;
            value = from_local(&civil, zone)?;
        }
        if interval.days != 0 {
            let (mut civil, _) = value.civil(zone)?;
            // Local time may begin a day before the first timestamp.
            add_days(&mut civil, interval.days, -1)?;
            value = from_local(&civil, zone)?;
        }
        Self::checked(value.0.checked_add(interval.microseconds))
    }

    /// Subtracts an interval in the zone of the session; an infinity stays one.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn subtract_interval(self, interval: Interval, settings: &Settings) -> Result<Self> {
        self.add_interval(wrapping_negated(interval), settings)
    }

    /// Returns the time from another point in time to this one, in days of 24 hours and a time below a day.
    ///
    /// # Errors
    /// 22008 for infinities.
    pub fn subtract(self, other: Self) -> Result<Interval> {
        difference(self.0, self.is_finite() && other.is_finite(), other.0)
    }
}

/// Returns the point in time of local time in a zone.
pub(crate) fn from_local(civil: &Civil, zone: &TimeZone) -> Result<TimestampTz> {
    TimestampTz::checked(civil.to_microseconds(-zone.offset_of_local(civil)))
}

fn add_days(civil: &mut Civil, days: i32, julian_min: i32) -> Result<()> {
    let julian = civil.julian().checked_add(days).filter(|julian| *julian >= julian_min);
    civil.set_date(date_of_julian(julian.ok_or_else(TimesError::timestamp_range)?));
    Ok(())
}

fn difference(value: i64, is_finite: bool, other: i64) -> Result<Interval> {
    if !is_finite {
        return Err(TimesError::new(OUT_OF_RANGE, "cannot subtract infinite timestamps"));
    }
    Interval::new(0, 0, value.wrapping_sub(other)).justify_hours()
}

/// Negates the parts; the least integer stays as it is, as in PostgreSQL.
fn wrapping_negated(interval: Interval) -> Interval {
    Interval {
        months: interval.months.wrapping_neg(),
        days: interval.days.wrapping_neg(),
        microseconds: interval.microseconds.wrapping_neg(),
    }
}
