//! How intervals are computed with: PostgreSQL's rules, step by step, so that the last digit is the same.
//!
//! - Fractions go down, from months to days of which a month has 30, and from days to the time, never up.

use gadus_engine::{Interval, IntervalError};

pub(super) type Computed = std::result::Result<Interval, IntervalError>;

pub(super) const SECOND: i64 = 1_000_000;
pub(super) const DAY: i64 = 86_400 * SECOND;
pub(super) const DAYS_A_MONTH: i32 = 30;
const SECONDS_A_DAY: f64 = 86_400.0;
const OUT: IntervalError = IntervalError::Range;

pub(super) fn sum(left: Interval, right: Interval) -> Computed {
    Interval {
        months: left.months.checked_add(right.months).ok_or(OUT)?,
        days: left.days.checked_add(right.days).ok_or(OUT)?,
        microseconds: left.microseconds.checked_add(right.microseconds).ok_or(OUT)?,
    }
    .within_range()
}

pub(super) fn difference(left: Interval, right: Interval) -> Computed {
    Interval {
        months: left.months.checked_sub(right.months).ok_or(OUT)?,
        days: left.days.checked_sub(right.days).ok_or(OUT)?,
        microseconds: left.microseconds.checked_sub(right.microseconds).ok_or(OUT)?,
    }
    .within_range()
}

/// An interval some times.
pub(super) fn product(interval: Interval, factor: f64) -> Computed {
    scaled(interval, |value| value * factor)
}

/// A part of an interval; by zero there is none.
pub(super) fn quotient(interval: Interval, divisor: f64) -> Computed {
    scaled(interval, |value| value / divisor)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)] // checked, or fractions
fn scaled(interval: Interval, scale: impl Fn(f64) -> f64) -> Computed {
    // Sums and products of fractions are rounded to microseconds, as PostgreSQL does.
    let rounded = |value: f64| (value * 1e6).round_ties_even() / 1e6;
    let narrow = |value: f64| match value {
        value if (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value) => Ok(value as i32),
        _ => Err(OUT),
    };
    let (all_months, all_days) = (scale(interval.months.into()), scale(interval.days.into()));
    let (months, mut days) = (narrow(all_months)?, narrow(all_days)?);
    let of_months = rounded((all_months - f64::from(months)) * f64::from(DAYS_A_MONTH));
    let of_days = all_days - f64::from(days) + of_months - of_months.trunc();
    let mut seconds = rounded(of_days * SECONDS_A_DAY);
    if seconds.abs() >= SECONDS_A_DAY {
        let whole = (seconds / SECONDS_A_DAY).trunc();
        days = days.checked_add(whole as i32).ok_or(OUT)?;
        seconds -= whole * SECONDS_A_DAY;
    }
    let days = days.checked_add(of_months as i32).ok_or(OUT)?;
    let microseconds = scale(interval.microseconds as f64) + seconds * SECOND as f64;
    // What is beyond 64 bits becomes their limit, which is out of range.
    let microseconds = match microseconds.is_nan() {
        true => return Err(OUT),
        false => microseconds.round_ties_even() as i64,
    };
    Interval { months, days, microseconds }.within_range()
}

/// Whole days of 24 hours become days, and both have one sign.
pub(super) fn justify_hours(interval: Interval) -> Computed {
    let Interval { months, days, microseconds } = interval;
    let whole = i32::try_from(microseconds / DAY).map_err(|_| OUT)?;
    let days = days.checked_add(whole).ok_or(OUT)?;
    let (days, microseconds) = with_sign_of_days(days, microseconds % DAY);
    Interval { months, days, microseconds }.within_range()
}

/// Whole months of 30 days become months, and both have one sign.
pub(super) fn justify_days(interval: Interval) -> Computed {
    let Interval { months, days, microseconds } = with_whole_months(interval)?;
    let (months, days) = match (months.signum(), days.signum()) {
        (1, -1) => (months - 1, days + DAYS_A_MONTH),
        (-1, 1) => (months + 1, days - DAYS_A_MONTH),
        _ => (months, days),
    };
    Interval { months, days, microseconds }.within_range()
}

/// Both, and all have one sign.
pub(super) fn justify_interval(interval: Interval) -> Computed {
    let (days, time) = (interval.days, interval.microseconds);
    let have_one_sign = (days > 0 && time > 0) || (days < 0 && time < 0);
    // That days of the time do not go beyond the range.
    let interval = if have_one_sign { with_whole_months(interval)? } else { interval };
    let whole = i32::try_from(interval.microseconds / DAY).map_err(|_| OUT)?;
    let days = interval.days.checked_add(whole).ok_or(OUT)?;
    let microseconds = interval.microseconds % DAY;
    let Interval { mut months, mut days, .. } = with_whole_months(Interval { days, ..interval })?;
    if months > 0 && (days < 0 || (days == 0 && microseconds < 0)) {
        (months, days) = (months - 1, days + DAYS_A_MONTH);
    } else if months < 0 && (days > 0 || (days == 0 && microseconds > 0)) {
        (months, days) = (months + 1, days - DAYS_A_MONTH);
    }
    let (days, microseconds) = with_sign_of_days(days, microseconds);
    Interval { months, days, microseconds }.within_range()
}

fn with_whole_months(interval: Interval) -> Computed {
    let months = interval.months.checked_add(interval.days / DAYS_A_MONTH).ok_or(OUT)?;
    Ok(Interval { months, days: interval.days % DAYS_A_MONTH, ..interval })
}

/// A time below a day with the sign of the days.
fn with_sign_of_days(days: i32, microseconds: i64) -> (i32, i64) {
    match (days.signum(), microseconds.signum()) {
        (1, -1) => (days - 1, microseconds + DAY),
        (-1, 1) => (days + 1, microseconds - DAY),
        _ => (days, microseconds),
    }
}

/// What is between two points in time, in days and the time.
pub(super) fn between(later: i64, earlier: i64) -> Computed {
    let microseconds = later.checked_sub(earlier).ok_or(OUT)?;
    // Days have room for all of it, even where the time has not.
    justify_hours(Interval { months: 0, days: 0, microseconds })
}

/// Microseconds of seconds.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // checked, or fractions
pub(super) fn of_seconds(seconds: f64) -> std::result::Result<i64, IntervalError> {
    let microseconds = (seconds * SECOND as f64).round_ties_even();
    if microseconds.is_nan() || microseconds.abs() >= i64::MAX as f64 {
        return Err(OUT);
    }
    Ok(microseconds as i64)
}
