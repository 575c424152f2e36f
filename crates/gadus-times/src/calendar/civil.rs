//! Fields of a calendar and a clock.

use super::julian::{date_of_julian, is_julian, julian};
use super::{DAY, HOUR, JULIAN_2000, MINUTE, SECOND, TIMESTAMP_END, TIMESTAMP_MIN};
use crate::integers::{low_bits, small};

/// Year, month and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DateFields {
    pub(crate) year: i32,
    pub(crate) month: i32,
    pub(crate) day: i32,
}

/// Date and time of day as fields; a text may set any of them to any value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Civil {
    pub(crate) year: i32,
    pub(crate) month: i32,
    pub(crate) day: i32,
    pub(crate) hour: i32,
    pub(crate) minute: i32,
    pub(crate) second: i32,
    pub(crate) microsecond: i32,
}

impl Civil {
    /// Returns the fields of microseconds since 2000; `None` before Julian day 0.
    pub(crate) fn from_microseconds(value: i64) -> Option<Self> {
        let days = value.div_euclid(DAY) + i64::from(JULIAN_2000);
        let days = i32::try_from(days).ok().filter(|days| *days >= 0)?;
        let mut civil = Self::default();
        civil.set_date(date_of_julian(days));
        civil.set_clock(value.rem_euclid(DAY));
        Some(civil)
    }

    /// Returns the microseconds since 2000 of the fields, shifted by seconds; `None` beyond the timestamps.
    pub(crate) fn to_microseconds(self, shift_seconds: i32) -> Option<i64> {
        if !is_julian(self.year, self.month) {
            return None;
        }
        let days = i128::from(self.julian()) - i128::from(JULIAN_2000);
        let value = days * i128::from(DAY) + i128::from(self.clock());
        // A clock of many hours may not cross 2000: PostgreSQL takes that for an overflow.
        if (value < 0 && days > 0) || (value > 0 && days < -1) {
            return None;
        }
        let value = value + i128::from(shift_seconds) * i128::from(SECOND);
        i64::try_from(value).ok().filter(|value| (TIMESTAMP_MIN..TIMESTAMP_END).contains(value))
    }

    /// Returns the microseconds of the day.
    pub(crate) fn clock(self) -> i64 {
        i64::from(self.clock_seconds()) * SECOND + i64::from(self.microsecond)
    }

    /// Returns the seconds of the day; hours that a text labels may be any, and wrap as in PostgreSQL.
    pub(crate) fn clock_seconds(self) -> i32 {
        let minutes = self.hour.wrapping_mul(60).wrapping_add(self.minute);
        minutes.wrapping_mul(60).wrapping_add(self.second)
    }

    /// Sets the time of day from microseconds, of any sign and size.
    pub(crate) fn set_clock(&mut self, value: i64) {
        self.hour = low_bits(value / HOUR);
        self.minute = small(value % HOUR / MINUTE);
        self.second = small(value % MINUTE / SECOND);
        self.microsecond = small(value % SECOND);
    }

    /// Sets year, month and day.
    pub(crate) fn set_date(&mut self, date: DateFields) {
        (self.year, self.month, self.day) = (date.year, date.month, date.day);
    }

    /// Returns the Julian day.
    pub(crate) fn julian(self) -> i32 {
        julian(self.year, self.month, self.day)
    }

    /// Adds months; a day that the month does not have becomes its last one. `None` beyond integers.
    pub(crate) fn add_months(&mut self, months: i32) -> Option<()> {
        let month = self.month.checked_add(months)?;
        self.year = self.year.checked_add((month - 1).div_euclid(12))?;
        self.month = (month - 1).rem_euclid(12) + 1;
        self.day = self.day.min(days_in_month(self.year, self.month));
        Some(())
    }
}

/// Returns true for a leap year.
pub(crate) fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Returns the days of a month.
pub(crate) fn days_in_month(year: i32, month: i32) -> i32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
