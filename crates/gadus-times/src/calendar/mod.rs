//! Calendar: proleptic Gregorian dates, Julian days and weeks of ISO 8601.
//!
//! - The year 0 is 1 BC, -1 is 2 BC. Only texts and fields have years BC.
//! - Dates count from 2000-01-01, as PostgreSQL counts: its limits and its roundings are then the same numbers.

mod civil;
mod julian;
#[cfg(test)]
mod tests;
mod weeks;
mod years;

pub(crate) use civil::{Civil, DateFields, days_in_month, is_leap};
pub(crate) use julian::{date_of_julian, is_julian, julian, weekday};
pub(crate) use weeks::{iso_week, iso_year, julian_of_iso_week};
pub(crate) use years::{bc_year, century, decade, millennium};

/// Microseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000;
/// Microseconds of a minute.
pub(crate) const MINUTE: i64 = 60 * SECOND;
/// Microseconds of an hour.
pub(crate) const HOUR: i64 = 60 * MINUTE;
/// Microseconds of a day.
pub(crate) const DAY: i64 = 24 * HOUR;
/// Seconds of a day.
pub(crate) const DAY_SECONDS: i64 = 86_400;
/// Months of a year.
pub(crate) const YEAR_MONTHS: i32 = 12;
/// Days of a month of an interval.
pub(crate) const MONTH_DAYS: i32 = 30;
/// Julian day of 2000-01-01.
pub(crate) const JULIAN_2000: i32 = 2_451_545;
/// Julian day of 1970-01-01.
pub(crate) const JULIAN_1970: i32 = 2_440_588;
/// Days from 1970-01-01 to 2000-01-01.
pub(crate) const DAYS_1970_TO_2000: i32 = JULIAN_2000 - JULIAN_1970;
/// Seconds from 1970-01-01 to 2000-01-01.
pub(crate) const SECONDS_1970_TO_2000: i64 = 946_684_800;
/// Microseconds from 1970-01-01 to 2000-01-01.
pub(crate) const MICROSECONDS_1970_TO_2000: i64 = SECONDS_1970_TO_2000 * SECOND;
/// First day of the type `date`, 4714-11-24 BC, from 2000-01-01.
pub(crate) const DATE_MIN: i32 = -JULIAN_2000;
/// Day after the last of the type `date`, 5874898-01-01.
pub(crate) const DATE_END: i32 = 2_147_483_494 - JULIAN_2000;
/// Day after the last of the timestamps, 294277-01-01.
pub(crate) const TIMESTAMP_END_DAY: i32 = 109_203_528 - JULIAN_2000;
/// First microsecond of the timestamps.
pub(crate) const TIMESTAMP_MIN: i64 = DATE_MIN as i64 * DAY;
/// Microsecond after the last of the timestamps.
pub(crate) const TIMESTAMP_END: i64 = TIMESTAMP_END_DAY as i64 * DAY;
