//! Values from numbers: the functions `make_date`, `make_time`, `make_timestamp`, `make_timestamptz` and `make_interval`.

use crate::calendar::{
    Civil, DAY, HOUR, JULIAN_2000, MINUTE, SECOND, YEAR_MONTHS, is_julian, julian,
};
use crate::error::{INVALID_PARAMETER, OUT_OF_RANGE, Result, TimesError};
use crate::input::{Fault, parse_offset, validate_date};
use crate::integers::truncated;
use crate::settings::Settings;
use crate::values::{Date, Interval, Time, Timestamp, TimestampTz};
use crate::zone::{NAME_BYTES_MAX, ZoneArgument, clipped};

/// Digits that C's `%g` writes.
const GENERAL_DIGITS: usize = 6;

impl Date {
    /// Returns the date of numbers; negative years are BC.
    ///
    /// # Errors
    /// 22008 for a date that does not exist, and beyond the range of the type.
    pub fn make(year: i32, month: i32, day: i32) -> Result<Self> {
        // PostgreSQL's message has the year of the calendar, in which 0 is 1 BC, unless the year itself is refused.
        let shown = |year: i32| format!("{year}-{month:02}-{day:02}");
        let fields = validate_date(year, month, day).map_err(|_| {
            let year = if matches!(year, 0 | i32::MIN) { year } else { calendar_year(year) };
            TimesError::new(OUT_OF_RANGE, format!("date field value out of range: {}", shown(year)))
        })?;
        let days = i64::from(julian(fields.year, month, day)) - i64::from(JULIAN_2000);
        let found = if is_julian(fields.year, month) { Self::from_days(days).ok() } else { None };
        found.ok_or_else(|| {
            TimesError::new(OUT_OF_RANGE, format!("date out of range: {}", shown(fields.year)))
        })
    }
}

impl Time {
    /// Returns the time of day of numbers.
    ///
    /// # Errors
    /// 22008 for a time that does not exist.
    pub fn make(hour: i32, minute: i32, second: f64) -> Result<Self> {
        let hour_and_minute = i64::from(hour) * HOUR + i64::from(minute) * MINUTE;
        let microseconds = (second * 1_000_000.0).round_ties_even();
        let is_valid = (0..=24).contains(&hour)
            && (0..60).contains(&minute)
            && (0.0..=60_000_000.0).contains(&microseconds);
        let time = hour_and_minute.saturating_add(truncated(microseconds));
        if is_valid && time <= DAY {
            return Ok(Self(time));
        }
        let shown = clock(hour, minute, second);
        Err(TimesError::new(OUT_OF_RANGE, format!("time field value out of range: {shown}")))
    }
}

impl Timestamp {
    /// Returns the timestamp of numbers; negative years are BC.
    ///
    /// # Errors
    /// 22008 for a date or a time that does not exist, and beyond the range of the type.
    pub fn make(
        year: i32,
        month: i32,
        day: i32,
        hour: i32,
        minute: i32,
        second: f64,
    ) -> Result<Self> {
        let shown = || format!("{year}-{month:02}-{day:02}");
        let fields = validate_date(year, month, day).map_err(|_| {
            TimesError::new(OUT_OF_RANGE, format!("date field value out of range: {}", shown()))
        })?;
        if !is_julian(fields.year, month) {
            let message = format!("date out of range: {}", shown());
            return Err(TimesError::new(OUT_OF_RANGE, message));
        }
        let time = Time::make(hour, minute, second)?;
        let days = i64::from(julian(fields.year, month, day)) - i64::from(JULIAN_2000);
        let microseconds = days.checked_mul(DAY).and_then(|days| days.checked_add(time.0));
        Self::checked(microseconds).map_err(|_| {
            let clock = clock(hour, minute, second);
            let message = format!("timestamp out of range: {} {clock}", shown());
            TimesError::new(OUT_OF_RANGE, message)
        })
    }

    /// Returns the point in time of local time in a zone, for the function `make_timestamptz` of seven arguments.
    ///
    /// # Errors
    /// 22023 for a text that is not a zone, 22008 beyond the range of the type.
    pub fn at_made_zone(self, zone: &str) -> Result<TimestampTz> {
        let civil = self.civil()?;
        let west = sane_zone(zone, &civil)?;
        TimestampTz::checked(self.0.checked_add(i64::from(west) * SECOND))
    }
}

impl TimestampTz {
    /// Returns the point in time of numbers in the zone of the session; negative years are BC.
    ///
    /// # Errors
    /// 22008 for a date or a time that does not exist, and beyond the range of the type.
    pub fn make(
        (year, month, day): (i32, i32, i32),
        (hour, minute, second): (i32, i32, f64),
        settings: &Settings,
    ) -> Result<Self> {
        Timestamp::make(year, month, day, hour, minute, second)?.to_timestamptz(settings)
    }
}

impl Interval {
    /// Returns the interval of numbers. Sums of integers wrap around, as PostgreSQL 15's do.
    ///
    /// # Errors
    /// 22008 for seconds that are not finite.
    pub fn make(
        (years, months): (i32, i32),
        (weeks, days): (i32, i32),
        (hours, minutes, seconds): (i32, i32, f64),
    ) -> Result<Self> {
        if !seconds.is_finite() {
            return Err(TimesError::interval_range());
        }
        let seconds = (seconds * 1_000_000.0).round_ties_even();
        // The conversion of C gives the least integer for a number beyond the range.
        let is_valid = (-9.3e18..9.223_372_036_854_775e18).contains(&seconds);
        let seconds = if is_valid { truncated(seconds) } else { i64::MIN };
        let clock = i64::from(hours) * HOUR + i64::from(minutes) * MINUTE;
        Ok(Self {
            months: years.wrapping_mul(YEAR_MONTHS).wrapping_add(months),
            days: weeks.wrapping_mul(7).wrapping_add(days),
            microseconds: clock.wrapping_add(seconds),
        })
    }
}

/// Returns the year in which 0 is 1 BC, of one that is negative before Christ.
fn calendar_year(year: i32) -> i32 {
    if year < 0 { year + 1 } else { year }
}

/// Returns the seconds west of UTC of a zone that may be an offset with a sign.
fn sane_zone(zone: &str, local: &Civil) -> Result<i32> {
    let zone = clipped(zone, NAME_BYTES_MAX);
    if zone.starts_with(|first: char| first.is_ascii_digit()) {
        let message = format!("invalid input syntax for type numeric time zone: \"{zone}\"");
        let hint = "Numeric time zones must have \"-\" or \"+\" as first character.";
        return Err(TimesError::new(INVALID_PARAMETER, message).with_hint(hint));
    }
    match parse_offset(zone.as_bytes()) {
        Ok(west) => Ok(west),
        Err(Fault::Offset) => {
            let message = format!("numeric time zone \"{zone}\" out of range");
            Err(TimesError::new(INVALID_PARAMETER, message))
        }
        Err(_) => Ok(-ZoneArgument::parse(zone)?.offset_of_local(local)),
    }
}

fn clock(hour: i32, minute: i32, second: f64) -> String {
    let second = general(second);
    format!("{hour}:{minute:02}:{second:0>2}")
}

/// Writes a number of six significant digits, as PostgreSQL's `%g`.
pub(crate) fn general(value: f64) -> String {
    if !value.is_finite() {
        let name = if value.is_nan() { "NaN" } else { "Infinity" };
        return if value < 0.0 { format!("-{name}") } else { name.to_owned() };
    }
    let scientific = format!("{value:.*e}", GENERAL_DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    let decimals = i32::try_from(GENERAL_DIGITS).unwrap_or(0) - 1 - exponent;
    match usize::try_from(decimals) {
        Ok(decimals) if exponent >= -4 => trimmed(&format!("{value:.decimals$}")),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
        }
    }
}
