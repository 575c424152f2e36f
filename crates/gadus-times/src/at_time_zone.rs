//! The operator `AT TIME ZONE`, with a zone or an interval as the offset.

use crate::calendar::{DAY, SECOND};
use crate::error::{INVALID_PARAMETER, Result, TimesError};
use crate::integers::low_bits;
use crate::output::write_interval;
use crate::settings::Settings;
use crate::values::{Interval, Time, TimeTz, Timestamp, TimestampTz};
use crate::zone::ZoneArgument;

impl Timestamp {
    /// Returns the point in time of local time in a zone; an infinity stays one.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn at_zone(self, zone: &ZoneArgument) -> Result<TimestampTz> {
        if !self.is_finite() {
            return Ok(TimestampTz(self.0));
        }
        let offset = zone.offset_of_local(&self.civil()?);
        TimestampTz::checked(self.0.checked_sub(i64::from(offset) * SECOND))
    }

    /// Returns the point in time of local time at an offset; an infinity stays one.
    ///
    /// # Errors
    /// 22023 for an interval with months or days, 22008 beyond the range of the type.
    pub fn at_offset(self, offset: Interval, settings: &Settings) -> Result<TimestampTz> {
        if !self.is_finite() {
            return Ok(TimestampTz(self.0));
        }
        let east = offset_seconds(offset, settings)?;
        TimestampTz::checked(self.0.checked_sub(i64::from(east) * SECOND))
    }
}

impl TimestampTz {
    /// Returns local time in a zone; an infinity stays one.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn at_zone(self, zone: &ZoneArgument) -> Result<Timestamp> {
        self.local(zone.offset_at(self.unix_seconds()))
    }

    /// Returns local time at an offset; an infinity stays one.
    ///
    /// # Errors
    /// 22023 for an interval with months or days, 22008 beyond the range of the type.
    pub fn at_offset(self, offset: Interval, settings: &Settings) -> Result<Timestamp> {
        match self.is_finite() {
            true => self.local(offset_seconds(offset, settings)?),
            false => Ok(Timestamp(self.0)),
        }
    }
}

impl TimeTz {
    /// Returns the time at the offset that a zone has at the start of the transaction.
    #[must_use]
    pub fn at_zone(self, zone: &ZoneArgument, settings: &Settings) -> Self {
        self.with_west(-zone.offset_at(settings.now.unix_seconds()))
    }

    /// Returns the time at an offset.
    ///
    /// # Errors
    /// 22023 for an interval with months or days.
    pub fn at_offset(self, offset: Interval, settings: &Settings) -> Result<Self> {
        Ok(self.with_west(offset_seconds(offset, settings)?.wrapping_neg()))
    }

    /// Returns the time of the same point in UTC at another offset.
    fn with_west(self, west: i32) -> Self {
        let shift = i64::from(self.west.wrapping_sub(west)) * SECOND;
        Self { time: Time((self.time.0 + shift).rem_euclid(DAY)), west }
    }
}

/// Returns the seconds of an interval, the lowest 32 bits of them as PostgreSQL does.
fn offset_seconds(offset: Interval, settings: &Settings) -> Result<i32> {
    if offset.months != 0 || offset.days != 0 {
        let mut shown = String::new();
        write_interval(offset, settings.interval_style, &mut shown);
        let message = format!("interval time zone \"{shown}\" must not include months or days");
        return Err(TimesError::new(INVALID_PARAMETER, message));
    }
    Ok(low_bits(offset.microseconds / SECOND))
}
