//! Julian days, and weeks of ISO 8601, of any year, also of months and days out of their range.

/// The Julian day of 1970-01-01.
pub(crate) const UNIX_EPOCH_JULIAN: i32 = 2_440_588;

/// Returns the Julian day of a date; the year 0 is 1 BC.
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

/// Returns year, month and day of a Julian day.
pub(crate) fn date_of_julian(day: i32) -> (i32, i32, i32) {
    let shifted = day.cast_unsigned().wrapping_add(32_044);
    let mut quad = shifted / 146_097;
    let extra = (shifted - quad * 146_097) * 4 + 3;
    let mut rest = shifted.wrapping_add(60 + quad * 3 + extra / 146_097);
    quad = rest / 1461;
    rest -= quad * 1461;
    let year = rest * 4 / 1461;
    rest = if year != 0 { (rest + 305) % 365 } else { (rest + 306) % 366 } + 123;
    let month = rest * 2141 / 65_536;
    let of_month = rest - 7834 * month / 256;
    let year = (year + quad * 4).cast_signed() - 4800;
    (year, ((month + 10) % 12 + 1).cast_signed(), of_month.cast_signed())
}

/// Returns the day of the week, from 0 of Sunday.
pub(crate) fn weekday(day: i32) -> i32 {
    day.wrapping_add(1).rem_euclid(7)
}

/// Returns the Julian day of the Monday of a week.
pub(crate) fn julian_of_iso_week(year: i32, week: i32) -> i32 {
    let fourth = julian(year, 1, 4);
    let monday = fourth.wrapping_sub(weekday(fourth.wrapping_sub(1)));
    week.wrapping_sub(1).wrapping_mul(7).wrapping_add(monday)
}

/// Returns the week of a date.
pub(crate) fn iso_week(year: i32, month: i32, day: i32) -> i32 {
    iso(year, month, day).1
}

/// Returns the year that the week of a date belongs to.
pub(crate) fn iso_year(year: i32, month: i32, day: i32) -> i32 {
    iso(year, month, day).0
}

/// Returns the number of a date within the year that its week belongs to.
pub(crate) fn iso_day_of_year(year: i32, month: i32, day: i32) -> i32 {
    let first = julian_of_iso_week(iso_year(year, month, day), 1);
    julian(year, month, day).wrapping_sub(first) + 1
}

fn iso(year: i32, month: i32, day: i32) -> (i32, i32) {
    let date = julian(year, month, day);
    let mut year = year;
    let mut monday = julian_of_iso_week(year, 1);
    if date < monday {
        year -= 1;
        monday = julian_of_iso_week(year, 1);
    }
    let week = (date - monday) / 7 + 1;
    if week >= 52 {
        let next = julian_of_iso_week(year + 1, 1);
        if date >= next {
            return (year + 1, (date - next) / 7 + 1);
        }
    }
    (year, week)
}
