//! The Gregorian calendar, also before it was introduced; the year 0 is 1 BC.

/// Microseconds of a day.
pub(crate) const MICROSECONDS_PER_DAY: i64 = 86_400_000_000;

/// The earliest point in time, 4714-11-24 BC. The last one is that of 64 bits, in 294247.
const TIMESTAMP_MIN: i64 = -210_866_803_200_000_000;

/// Returns the days from 1970-01-01 to a date.
pub(crate) fn days_since_1970(year: i32, month: i32, day: i32) -> i64 {
    // The year begins in March, so that the leap day comes last.
    let (year, month) = (i64::from(year) - i64::from(month <= 2), i64::from(month));
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns true of a month that dates may be in: from -4713-11 to 5874898-05.
pub(crate) fn is_julian(year: i32, month: i32) -> bool {
    let month = i64::from(year) * 12 + i64::from(month);
    (-4713 * 12 + 11..5_874_898 * 12 + 6).contains(&month)
}

/// Returns the days of a month.
pub(crate) fn days_in_month(year: i32, month: i32) -> i32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns true of microseconds since 1970 that are a point in time.
pub(crate) fn is_timestamp(microseconds: i64) -> bool {
    microseconds >= TIMESTAMP_MIN
}
