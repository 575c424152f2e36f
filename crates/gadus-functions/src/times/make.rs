//! `make_timestamp`.

use super::calendar::{
    MICROSECONDS_PER_DAY, days_in_month, days_since_1970, is_julian, is_timestamp,
};
use crate::error::{DATETIME_OVERFLOW, FunctionError, Result};
use crate::numbers::general;

/// Time from 1970 to 2000, where PostgreSQL counts from.
const SECONDS_TO_2000: f64 = 946_684_800.0;
const MICROSECONDS_TO_2000: i64 = 946_684_800_000_000;

/// Returns a point in time, in microseconds since 1970; negative years are BC.
///
/// # Errors
/// 22008 of parts out of their range.
pub fn make_timestamp(
    year: i32,
    month: i32,
    day: i32,
    hour: i32,
    minute: i32,
    second: f64,
) -> Result<i64> {
    let refused = |what: String| FunctionError::new(DATETIME_OVERFLOW, what);
    let calendar_year = if year < 0 { year.saturating_add(1) } else { year };
    let is_date = !matches!(year, 0 | i32::MIN)
        && (1..=12).contains(&month)
        && (1..=days_in_month(calendar_year, month)).contains(&day);
    if !is_date {
        let message = format!("date field value out of range: {year}-{month:02}-{day:02}");
        return Err(refused(message));
    }
    if !is_julian(calendar_year, month) {
        return Err(refused(format!("date out of range: {year}-{month:02}-{day:02}")));
    }
    let text_of_second = match second.is_finite() {
        true => padded(&general(second)),
        false if second.is_nan() => "NaN".to_owned(),
        false => format!("{}Infinity", if second < 0.0 { "-" } else { "" }),
    };
    let time = time_of_day(hour, minute, second).ok_or_else(|| {
        refused(format!("time field value out of range: {hour}:{minute:02}:{text_of_second}"))
    })?;
    let days = days_since_1970(calendar_year, month, day);
    let point = days.checked_mul(MICROSECONDS_PER_DAY).and_then(|date| date.checked_add(time));
    point.filter(|point| is_timestamp(*point)).ok_or_else(|| {
        let date = format!("{year}-{month:02}-{day:02}");
        refused(format!("timestamp out of range: {date} {hour}:{minute:02}:{text_of_second}"))
    })
}

/// Returns the point in time so many seconds after 1970, in microseconds.
///
/// # Errors
/// 22008 of what is no number, and beyond the range.
pub fn timestamp_of_seconds(seconds: f64) -> Result<i64> {
    if seconds.is_nan() {
        return Err(FunctionError::new(DATETIME_OVERFLOW, "timestamp cannot be NaN"));
    }
    // PostgreSQL rounds the distance from 2000.
    let microseconds = ((seconds - SECONDS_TO_2000) * 1e6).round_ties_even();
    #[expect(clippy::cast_possible_truncation)] // the range is checked
    let point = match microseconds.abs() < 9.2e18 {
        true => (microseconds as i64).checked_add(MICROSECONDS_TO_2000),
        false => None,
    };
    point.filter(|point| is_timestamp(*point)).ok_or_else(|| {
        let message = format!("timestamp out of range: \"{}\"", general(seconds));
        FunctionError::new(DATETIME_OVERFLOW, message)
    })
}

/// Returns microseconds since midnight; 24:00:00 is a time, and so is a second of 60.
fn time_of_day(hour: i32, minute: i32, second: f64) -> Option<i64> {
    if !(0..=24).contains(&hour) || !(0..60).contains(&minute) || second.is_nan() {
        return None;
    }
    let microseconds = (second * 1e6).round_ties_even();
    if !(0.0..=60e6).contains(&microseconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation)] // it is at most 60 million
    let microseconds = microseconds as i64;
    let time = i64::from(hour * 60 + minute) * 60_000_000 + microseconds;
    (time <= MICROSECONDS_PER_DAY).then_some(time)
}

/// Pads a number to two characters by zeros.
fn padded(number: &str) -> String {
    match number.starts_with('-') {
        true => number.to_owned(),
        false => format!("{number:0>2}"),
    }
}
