//! What is between two points in time by the calendar: years, months and days, as PostgreSQL's `age` counts them.

use super::arithmetic::{Computed, DAY};
use gadus_base::civil;
use gadus_engine::{Interval, IntervalError};

/// Days of a month.
fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What is between two points in time. A month that is not whole has the days of the earlier one's month.
pub(super) fn age(later: i64, earlier: i64) -> Computed {
    if later < earlier {
        let Interval { months, days, microseconds } = age(earlier, later)?;
        return Ok(Interval { months: -months, days: -days, microseconds: -microseconds });
    }
    let ((year, month, day), earlier_day) = (civil(later.div_euclid(DAY)), earlier.div_euclid(DAY));
    let (earlier_year, earlier_month, day_of_earlier) = civil(earlier_day);
    let mut months = (year - earlier_year) * 12 + month - earlier_month;
    let mut days = day - day_of_earlier;
    let mut microseconds = later.rem_euclid(DAY) - earlier.rem_euclid(DAY);
    if microseconds < 0 {
        (days, microseconds) = (days - 1, microseconds + DAY);
    }
    while days < 0 {
        (months, days) = (months - 1, days + days_of(earlier_year, earlier_month));
    }
    let narrow = |part: i64| i32::try_from(part).map_err(|_| IntervalError::Range);
    Ok(Interval { months: narrow(months)?, days: narrow(days)?, microseconds })
}
