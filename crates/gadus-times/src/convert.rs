//! Conversions between the types.

use crate::calendar::{
    Civil, DATE_MIN, DAY, DAY_SECONDS, DAYS_1970_TO_2000, JULIAN_2000, MICROSECONDS_1970_TO_2000,
    SECOND, TIMESTAMP_END_DAY,
};
use crate::error::{OUT_OF_RANGE, Result, TimesError};
use crate::integers::{float, small, truncated};
use crate::settings::Settings;
use crate::values::{Date, Interval, Time, TimeTz, Timestamp, TimestampTz};

impl Date {
    /// Returns the midnight at which the date begins.
    ///
    /// # Errors
    /// 22008 for a date after the last timestamp.
    pub fn to_timestamp(self) -> Result<Timestamp> {
        match self {
            Self::NEGATIVE_INFINITY => Ok(Timestamp::NEGATIVE_INFINITY),
            Self::INFINITY => Ok(Timestamp::INFINITY),
            Self(days) if days >= TIMESTAMP_END_DAY => Err(beyond_timestamps()),
            Self(days) => Ok(Timestamp(i64::from(days) * DAY)),
        }
    }

    /// Returns the midnight at which the date begins in the zone of the session.
    ///
    /// # Errors
    /// 22008 for a date beyond the timestamps.
    pub fn to_timestamptz(self, settings: &Settings) -> Result<TimestampTz> {
        let local = self.to_timestamp()?;
        local.to_timestamptz(settings).map_err(|_| beyond_timestamps())
    }

    /// Returns the date at a time of day.
    ///
    /// # Errors
    /// 22008 for a date beyond the timestamps.
    pub fn at(self, time: Time) -> Result<Timestamp> {
        let midnight = self.to_timestamp()?;
        match midnight.is_finite() {
            true => Timestamp::checked(midnight.0.checked_add(time.0)),
            false => Ok(midnight),
        }
    }

    /// Returns the date at a time of day with an offset.
    ///
    /// # Errors
    /// 22008 for a date beyond the timestamps.
    pub fn at_timetz(self, time: TimeTz) -> Result<TimestampTz> {
        let midnight = self.to_timestamp()?;
        if !midnight.is_finite() {
            return Ok(TimestampTz(midnight.0));
        }
        let shift = time.time.0 + i64::from(time.west) * SECOND;
        TimestampTz::checked(midnight.0.checked_add(shift)).map_err(|_| beyond_timestamps())
    }
}

impl Time {
    /// Returns the time at the offset that the session's zone has on the date of the transaction.
    ///
    /// # Errors
    /// 22008 if the transaction started at an infinity.
    pub fn to_timetz(self, settings: &Settings) -> Result<TimeTz> {
        let (mut local, _) = settings.now.civil(&settings.time_zone)?;
        local.set_clock(self.0);
        Ok(TimeTz { time: self, west: -settings.time_zone.offset_of_local(&local) })
    }

    /// Returns the time since midnight.
    #[must_use]
    pub const fn to_interval(self) -> Interval {
        Interval::new(0, 0, self.0)
    }
}

impl Interval {
    /// Returns the time of day after the interval from midnight, without its months and days.
    #[must_use]
    pub const fn to_time(self) -> Time {
        Time(self.microseconds.rem_euclid(DAY))
    }
}

impl Timestamp {
    /// Returns the date.
    #[must_use]
    pub fn to_date(self) -> Date {
        date_of(self.0)
    }

    /// Returns the time of day; `None` for an infinity.
    #[must_use]
    pub fn to_time(self) -> Option<Time> {
        self.is_finite().then_some(Time(self.0.rem_euclid(DAY)))
    }

    /// Returns the point in time in the zone of the session.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn to_timestamptz(self, settings: &Settings) -> Result<TimestampTz> {
        if !self.is_finite() {
            return Ok(TimestampTz(self.0));
        }
        let offset = settings.time_zone.offset_of_local(&self.civil()?);
        TimestampTz::checked(self.0.checked_sub(i64::from(offset) * SECOND))
    }
}

impl TimestampTz {
    /// Returns local time in the zone of the session.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn to_timestamp(self, settings: &Settings) -> Result<Timestamp> {
        self.local(settings.time_zone.offset_at(self.unix_seconds()))
    }

    /// Returns the date in the zone of the session.
    ///
    /// # Errors
    /// 22008 before the first date.
    pub fn to_date(self, settings: &Settings) -> Result<Date> {
        if !self.is_finite() {
            return Ok(date_of(self.0));
        }
        let (civil, _) = self.civil(&settings.time_zone)?;
        Date::from_days(i64::from(civil.julian()) - i64::from(JULIAN_2000))
    }

    /// Returns the time of day in the zone of the session; `None` for an infinity.
    ///
    /// # Errors
    /// None for timestamps within the range.
    pub fn to_time(self, settings: &Settings) -> Result<Option<Time>> {
        Ok(self.to_timetz(settings)?.map(TimeTz::time))
    }

    /// Returns the time of day in the zone of the session with its offset; `None` for an infinity.
    ///
    /// # Errors
    /// None for timestamps within the range.
    pub fn to_timetz(self, settings: &Settings) -> Result<Option<TimeTz>> {
        if !self.is_finite() {
            return Ok(None);
        }
        let (civil, east) = self.civil(&settings.time_zone)?;
        Ok(Some(TimeTz { time: Time(Civil::clock(civil)), west: -east }))
    }

    /// Returns the point in time of seconds since 1970: the function `to_timestamp`.
    ///
    /// # Errors
    /// 22008 for NaN and beyond the range of the type.
    pub fn from_unix_seconds(seconds: f64) -> Result<Self> {
        if seconds.is_nan() {
            return Err(TimesError::new(OUT_OF_RANGE, "timestamp cannot be NaN"));
        }
        if seconds.is_infinite() {
            return Ok(if seconds < 0.0 { Self::NEGATIVE_INFINITY } else { Self::INFINITY });
        }
        let bound =
            |days: i32| float((i64::from(days) + i64::from(DAYS_1970_TO_2000)) * DAY_SECONDS);
        let is_valid = seconds >= bound(DATE_MIN) && seconds < bound(TIMESTAMP_END_DAY);
        let since_2000 = seconds - float(MICROSECONDS_1970_TO_2000 / SECOND);
        let microseconds = truncated((since_2000 * float(SECOND)).round_ties_even());
        Self::checked(is_valid.then_some(microseconds)).map_err(|_| {
            let number = crate::make::general(seconds);
            TimesError::new(OUT_OF_RANGE, format!("timestamp out of range: \"{number}\""))
        })
    }

    /// Returns local time at an offset in seconds east of UTC; an infinity stays one.
    pub(crate) fn local(self, east: i32) -> Result<Timestamp> {
        match self.is_finite() {
            true => Timestamp::checked(self.0.checked_add(i64::from(east) * SECOND)),
            false => Ok(Timestamp(self.0)),
        }
    }
}

fn date_of(microseconds: i64) -> Date {
    match microseconds {
        i64::MIN => Date::NEGATIVE_INFINITY,
        i64::MAX => Date::INFINITY,
        _ => Date(small(microseconds.div_euclid(DAY))),
    }
}

fn beyond_timestamps() -> TimesError {
    TimesError::new(OUT_OF_RANGE, "date out of range for timestamp")
}
