//! Weeks of ISO 8601: Monday is the first day, and the first week has a Thursday of the year.

use super::julian::{julian, weekday};

/// Returns the Julian day of the Monday of a week.
pub(crate) fn julian_of_iso_week(year: i32, week: i32) -> i32 {
    let fourth = julian(year, 1, 4);
    let monday = fourth.wrapping_sub(weekday(fourth.wrapping_sub(1)));
    week.wrapping_sub(1).wrapping_mul(7).wrapping_add(monday)
}

/// Returns the week of a date.
pub(crate) fn iso_week(year: i32, month: i32, day: i32) -> i32 {
    year_and_week(year, month, day).1
}

/// Returns the year that the week of a date belongs to.
pub(crate) fn iso_year(year: i32, month: i32, day: i32) -> i32 {
    year_and_week(year, month, day).0
}

fn year_and_week(year: i32, month: i32, day: i32) -> (i32, i32) {
    let date = julian(year, month, day);
    let mut year = year;
    let mut monday = julian_of_iso_week(year, 1);
    if date < monday {
        year -= 1;
        monday = julian_of_iso_week(year, 1);
    }
    let week = date.wrapping_sub(monday) / 7 + 1;
    if week >= 52 {
        let next = julian_of_iso_week(year + 1, 1);
        if date >= next {
            return (year + 1, date.wrapping_sub(next) / 7 + 1);
        }
    }
    (year, week)
}
