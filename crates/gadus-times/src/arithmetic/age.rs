//! The function `age`: the time between two timestamps in years, months and days.

use crate::calendar::{Civil, days_in_month};
use crate::error::Result;
use crate::settings::Settings;
use crate::values::{Interval, IntervalFields, Timestamp, TimestampTz};

impl Timestamp {
    /// Returns the years, months, days and time from another timestamp to this one.
    ///
    /// # Errors
    /// 22008 for infinities.
    pub fn age(self, other: Self) -> Result<Interval> {
        age(self.civil()?, other.civil()?, self < other)
    }

    /// Returns the age at the midnight at which the day of the transaction began.
    ///
    /// # Errors
    /// 22008 for infinities.
    pub fn age_now(self, settings: &Settings) -> Result<Interval> {
        today(settings)?.to_timestamp()?.age(self)
    }
}

impl TimestampTz {
    /// Returns the years, months, days and time from another point in time to this one, in the zone of the session.
    ///
    /// # Errors
    /// 22008 for infinities.
    pub fn age(self, other: Self, settings: &Settings) -> Result<Interval> {
        let (this, _) = self.civil(&settings.time_zone)?;
        let (that, _) = other.civil(&settings.time_zone)?;
        age(this, that, self < other)
    }

    /// Returns the age at the midnight at which the day of the transaction began, in the zone of the session.
    ///
    /// # Errors
    /// 22008 for infinities.
    pub fn age_now(self, settings: &Settings) -> Result<Interval> {
        today(settings)?.to_timestamptz(settings)?.age(self, settings)
    }
}

fn today(settings: &Settings) -> Result<crate::values::Date> {
    settings.now.to_date(settings)
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
