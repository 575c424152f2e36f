//! Julian days of any year, also of months and days out of their range.
//!
//! - Integers wrap around: hostile years give wrong days, which the range checks refuse, and never a panic.

use super::civil::DateFields;

/// Returns the Julian day of a date.
pub(crate) fn julian(year: i32, month: i32, day: i32) -> i32 {
    let (year, month) = match month > 2 {
        true => (year.wrapping_add(4800), month + 1),
        false => (year.wrapping_add(4799), month + 13),
    };
    let century = year / 100;
    let days = year.wrapping_mul(365).wrapping_sub(32_167);
    let days = days.wrapping_add(year / 4 - century + century / 4);
    days.wrapping_add(7834 * month / 256).wrapping_add(day)
}

/// Returns the date of a Julian day.
pub(crate) fn date_of_julian(day: i32) -> DateFields {
    let shifted = day.cast_unsigned().wrapping_add(32_044);
    let quad = shifted / 146_097;
    let extra = (shifted - quad * 146_097) * 4 + 3;
    let rest = shifted.wrapping_add(60 + quad * 3 + extra / 146_097);
    let quad = rest / 1461;
    let rest = rest - quad * 1461;
    let year = rest * 4 / 1461;
    let rest = if year != 0 { (rest + 305) % 365 } else { (rest + 306) % 366 } + 123;
    let month = rest * 2141 / 65_536;
    DateFields {
        year: (year + quad * 4).cast_signed() - 4800,
        month: ((month + 10) % 12 + 1).cast_signed(),
        day: (rest - 7834 * month / 256).cast_signed(),
    }
}

/// Returns the day of the week of a Julian day: 0 is Sunday.
pub(crate) fn weekday(day: i32) -> i32 {
    (i64::from(day) + 1).rem_euclid(7).try_into().unwrap_or(0)
}

/// Returns true for a month in which the conversions hold.
pub(crate) fn is_julian(year: i32, month: i32) -> bool {
    (year > -4713 || (year == -4713 && month >= 11))
        && (year < 5_874_898 || (year == 5_874_898 && month < 6))
}
