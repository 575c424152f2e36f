//! The function `age`: the time between two timestamps in years, months and days.

use crate::calendar::{Civil, DAY, SECOND, days_in_month};
use crate::error::{Result, TimesError};
use crate::settings::Settings;
use crate::values::{Interval, IntervalFields, Timestamp, TimestampTz};

impl Timestamp {
    /// Returns the years, months, days and time from another timestamp to this one.
    ///
    /// Infinity counts as the greatest integer of microseconds, as in PostgreSQL 15.
    ///
    /// # Errors
    /// 22008 for negative infinity.
    pub fn age(self, other: Self) -> Result<Interval> {
        age(civil(self.0, 0)?, civil(other.0, 0)?, self < other)
    }

    /// Returns the age at the midnight at which the day of the transaction began.
    ///
    /// # Errors
    /// 22008 for negative infinity.
    pub fn age_now(self, settings: &Settings) -> Result<Interval> {
        today(settings)?.to_timestamp()?.age(self)
    }
}

impl TimestampTz {
    /// Returns the years, months, days and time from another point in time to this one, in the zone of the session.
    ///
    /// # Errors
    /// 22008 for negative infinity.
    pub fn age(self, other: Self, settings: &Settings) -> Result<Interval> {
        let offset = |at: Self| settings.time_zone.offset_at(at.unix_seconds());
        let (this, that) = (civil(self.0, offset(self))?, civil(other.0, offset(other))?);
        age(this, that, self < other)
    }

    /// Returns the age at the midnight at which the day of the transaction began, in the zone of the session.
    ///
    /// # Errors
    /// 22008 for negative infinity.
    pub fn age_now(self, settings: &Settings) -> Result<Interval> {
        today(settings)?.to_timestamptz(settings)?.age(self, settings)
    }
}

fn today(settings: &Settings) -> Result<crate::values::Date> {
    settings.now.to_date(settings)
}

/// Returns the fields of microseconds since 2000 at an offset, also of those of infinity.
fn civil(microseconds: i64, east: i32) -> Result<Civil> {
    /// Years after which the calendar repeats.
    const YEARS: i32 = 400;
    const DAYS: i64 = 146_097;
    if microseconds != i64::MAX {
        return TimestampTz(microseconds).civil_at(east);
    }
    let earlier = microseconds - DAYS * DAY + i64::from(east) * SECOND;
    let mut civil = Civil::from_microseconds(earlier).ok_or_else(TimesError::timestamp_range)?;
    civil.year += YEARS;
    Ok(civil)
}

/// Subtracts field by field, and borrows from the next one. Days are borrowed from the month of the earlier date.
fn age(this: Civil, that: Civil, is_negative: bool) -> Result<Interval> {
    let (late, early) = if is_negative { (that, this) } else { (this, that) };
    let mut microsecond = late.microsecond - early.microsecond;
    let mut second = late.second - early.second;
    let mut minute = late.minute - early.minute;
    let mut hour = late.hour - early.hour;
    let mut day = late.day - early.day;
    let mut month = late.month - early.month;
    let mut year = late.year - early.year;
    borrow(&mut microsecond, &mut second, 1_000_000);
    borrow(&mut second, &mut minute, 60);
    borrow(&mut minute, &mut hour, 60);
    borrow(&mut hour, &mut day, 24);
    borrow(&mut day, &mut month, days_in_month(early.year, early.month));
    borrow(&mut month, &mut year, 12);
    let sign = if is_negative { -1 } else { 1 };
    let fields = IntervalFields {
        year: year * sign,
        month: month * sign,
        day: day * sign,
        hour: i64::from(hour * sign),
        minute: minute * sign,
        second: second * sign,
        microsecond: microsecond * sign,
    };
    fields.interval()
}

fn borrow(value: &mut i32, next: &mut i32, size: i32) {
    while *value < 0 {
        *value += size;
        *next -= 1;
    }
}
