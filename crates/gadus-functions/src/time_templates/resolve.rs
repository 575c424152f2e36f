//! Points in time and dates, made of the fields that were read.

use super::keys::Convention;
use super::read::{Fields, INVALID_DATETIME, read};
use crate::error::{DATETIME_OVERFLOW, FunctionError, Result};
use crate::times::julian::{date_of_julian, julian, julian_of_iso_week};
use crate::times::{
    MICROSECONDS_PER_DAY, UNIX_EPOCH_JULIAN, days_in_month, is_julian, is_timestamp,
};

/// SQLSTATE of a zone beyond its range.
const ZONE_OVERFLOW: &str = "22009";

/// Largest hour of a zone.
const ZONE_HOUR_MAX: i32 = 15;

/// Microseconds from 1970 to 2000, where PostgreSQL counts from.
const EPOCH_2000: i64 = 946_684_800_000_000;

/// Date and time of a text.
#[derive(Debug)]
struct Resolved {
    year: i32,
    month: i32,
    day: i32,
    microseconds: i64,
    zone_minutes: i64,
    has_offset: bool,
    fraction_digits: usize,
}

/// Date that is being made, and which of its parts are known.
#[derive(Debug)]
struct Date {
    year: i32,
    month: i32,
    day: i32,
    has_year: bool,
    has_month: bool,
    has_day: bool,
}

/// Returns the time that a text is by a template, in microseconds since 1970, and true if the text has an offset: then it is
/// in UTC, else it is local time.
///
/// # Errors
/// 22007 and 22008 of texts that do not fit, 0A000 of fields that are only written.
pub fn to_timestamp(text: &str, template: &str) -> Result<(i64, bool)> {
    let resolved = resolved(text, template)?;
    let refused = || FunctionError::new(DATETIME_OVERFLOW, "timestamp out of range");
    if !is_julian(resolved.year, resolved.month) {
        return Err(refused());
    }
    let days = i64::from(julian(resolved.year, resolved.month, resolved.day) - UNIX_EPOCH_JULIAN);
    let point = days.checked_mul(MICROSECONDS_PER_DAY);
    let point = point.and_then(|point| point.checked_add(resolved.microseconds));
    let point = point.and_then(|point| point.checked_sub(resolved.zone_minutes * 60_000_000));
    let point = point.filter(|point| is_timestamp(*point)).ok_or_else(refused)?;
    Ok((rounded(point, resolved.fraction_digits), resolved.has_offset))
}

/// Returns the date that a text is by a template, in days since 1970.
///
/// # Errors
/// 22007 and 22008 of texts that do not fit, 0A000 of fields that are only written.
pub fn to_date(text: &str, template: &str) -> Result<i32> {
    let resolved = resolved(text, template)?;
    let day = julian(resolved.year, resolved.month, resolved.day);
    let is_date = is_julian(resolved.year, resolved.month) && (0..2_147_483_494).contains(&day);
    if !is_date {
        let message = format!("date out of range: \"{text}\"");
        return Err(FunctionError::new(DATETIME_OVERFLOW, message));
    }
    Ok(day - UNIX_EPOCH_JULIAN)
}

fn resolved(text: &str, template: &str) -> Result<Resolved> {
    let fields = read(text, template)?;
    let (hour, minute, second) = time(&fields)?;
    let date = date(&fields)?;
    let out_of_range = || {
        let message = format!("date/time field value out of range: \"{text}\"");
        FunctionError::new(DATETIME_OVERFLOW, message)
    };
    if !date.is_valid() {
        return Err(out_of_range());
    }
    let fraction = i64::from(fields.millisecond) * 1000 + i64::from(fields.microsecond);
    let is_time = (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second)
        && (0..1_000_000).contains(&fraction);
    if !is_time {
        return Err(out_of_range());
    }
    let is_zone =
        (0..=ZONE_HOUR_MAX).contains(&fields.zone_hour) && (0..60).contains(&fields.zone_minute);
    if fields.zone_sign != 0 && !is_zone {
        let message = format!("time zone displacement out of range: \"{text}\"");
        return Err(FunctionError::new(ZONE_OVERFLOW, message));
    }
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    let zone = i64::from(fields.zone_hour) * 60 + i64::from(fields.zone_minute);
    Ok(Resolved {
        year: date.year,
        month: date.month,
        day: date.day,
        microseconds: seconds * 1_000_000 + fraction,
        zone_minutes: i64::from(fields.zone_sign) * zone,
        has_offset: fields.zone_sign != 0,
        fraction_digits: fields.fraction_digits,
    })
}

fn time(fields: &Fields) -> Result<(i32, i32, i32)> {
    let seconds = fields.second_of_day;
    let or = |field: i32, otherwise: i32| if field != 0 { field } else { otherwise };
    let mut hour = or(fields.hour, seconds / 3600);
    let minute = or(fields.minute, seconds % 3600 / 60);
    let second = or(fields.second, seconds % 60);
    if fields.has_12_hours {
        if !(1..=12).contains(&hour) {
            let message = format!("hour \"{hour}\" is invalid for the 12-hour clock");
            let hint = "Use the 24-hour clock, or give an hour between 1 and 12.";
            return Err(FunctionError::new(INVALID_DATETIME, message).hint(hint));
        }
        hour = hour % 12 + if fields.is_after_noon != 0 { 12 } else { 0 };
    }
    Ok((hour, minute, second))
}

fn date(fields: &Fields) -> Result<Date> {
    let mut date =
        Date { year: 0, month: 1, day: 1, has_year: false, has_month: false, has_day: false };
    if fields.year != 0 || fields.century != 0 {
        date.year = year(fields);
        date.has_year = true;
    }
    if fields.julian != 0 {
        date.set_julian(fields.julian);
    }
    let mut day_of_year = fields.day_of_year;
    let is_iso = fields.convention == Some(Convention::IsoWeek);
    if fields.week != 0 && is_iso {
        let monday = julian_of_iso_week(date.year, fields.week);
        date.set_julian(match fields.weekday {
            0 => monday,
            weekday @ 2.. => monday.wrapping_add(weekday - 2),
            _ => monday.wrapping_add(6),
        });
    } else if fields.week != 0 {
        day_of_year = fields.week.wrapping_sub(1).wrapping_mul(7).wrapping_add(1);
    }
    let day = match fields.week_of_month {
        0 => fields.day,
        week => week.wrapping_sub(1).wrapping_mul(7).wrapping_add(1),
    };
    if day != 0 {
        (date.day, date.has_day) = (day, true);
    }
    if fields.month != 0 {
        (date.month, date.has_month) = (fields.month, true);
    }
    if day_of_year != 0 && (date.month <= 1 || date.day <= 1) {
        if date.year == 0 && fields.is_before_christ == 0 {
            let message = "cannot calculate day of year without year information";
            return Err(FunctionError::new(INVALID_DATETIME, message));
        }
        match is_iso {
            true => {
                let first = julian_of_iso_week(date.year, 1);
                date.set_julian(first.wrapping_sub(1).wrapping_add(day_of_year));
            }
            false => date.set_day_of_year(day_of_year),
        }
    }
    Ok(date)
}

/// Returns the year; that of two digits is within the century, if there is one.
fn year(fields: &Fields) -> i32 {
    let is_before_christ = fields.is_before_christ != 0;
    let century = if is_before_christ { fields.century.wrapping_neg() } else { fields.century };
    if fields.year == 0 {
        let shift = if century >= 0 { century.wrapping_sub(1) } else { century };
        return shift.wrapping_mul(100).wrapping_add(1);
    }
    if fields.century == 0 || fields.year_digits > 2 {
        let year = if is_before_christ { fields.year.wrapping_neg() } else { fields.year };
        return if year < 0 { year + 1 } else { year };
    }
    match (fields.year % 100, century >= 0) {
        (0, true) => century.wrapping_mul(100),
        (0, false) => century.wrapping_mul(100).wrapping_add(1),
        (year, true) => century.wrapping_sub(1).wrapping_mul(100).wrapping_add(year),
        (year, false) => century.wrapping_add(1).wrapping_mul(100).wrapping_sub(year - 1),
    }
}

impl Date {
    fn set_julian(&mut self, day: i32) {
        (self.year, self.month, self.day) = date_of_julian(day);
        (self.has_year, self.has_month, self.has_day) = (true, true, true);
    }

    /// Sets month and day, unless they are there.
    fn set_day_of_year(&mut self, day_of_year: i32) {
        let (mut month, mut before) = (1, 0);
        while month <= 12 && day_of_year > before + days_in_month(self.year, month) {
            before += days_in_month(self.year, month);
            month += 1;
        }
        if self.month <= 1 {
            self.month = month;
        }
        if self.day <= 1 {
            self.day = day_of_year.wrapping_sub(before);
        }
        (self.has_month, self.has_day) = (true, true);
    }

    fn is_valid(&self) -> bool {
        let is_complete = self.has_year && self.has_month && self.has_day;
        (!self.has_month || (1..=12).contains(&self.month))
            && (!self.has_day || (1..=31).contains(&self.day))
            && (!is_complete || self.day <= days_in_month(self.year, self.month))
    }
}

/// Rounds to the digits of `FF1` to `FF6`, as PostgreSQL counts: from 2000.
fn rounded(point: i64, digits: usize) -> i64 {
    if !(1..6).contains(&digits) {
        return point;
    }
    let unit = 10_i64.pow(u32::try_from(6 - digits).unwrap_or(0));
    let since_2000 = point - EPOCH_2000;
    let magnitude = (since_2000.abs() + unit / 2) / unit * unit;
    EPOCH_2000 + magnitude * since_2000.signum()
}
