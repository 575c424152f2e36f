//! What the name of a type leaves of an interval: `YEAR TO MONTH`, `SECOND(3)`.

use super::{HOUR, Interval, IntervalError, MINUTE, SECOND};

/// A field of intervals that a type's name may limit them to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntervalField {
    /// `YEAR`.
    Year,
    /// `MONTH`.
    Month,
    /// `DAY`.
    Day,
    /// `HOUR`.
    Hour,
    /// `MINUTE`.
    Minute,
    /// `SECOND`.
    Second,
}

/// Which fields are kept, and how many digits behind the point of a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IntervalFields {
    /// The first and the last field; all where there are none. A number without a unit counts the last.
    pub range: Option<(IntervalField, IntervalField)>,
    /// Digits of a second, 6 where there is none.
    pub digits: Option<u32>,
}

impl IntervalFields {
    /// Digits of microseconds.
    const DIGITS_MAX: u32 = 6;

    /// Whether all intervals are kept as they are.
    #[must_use]
    pub fn keep_all(self) -> bool {
        let last = self.range.map_or(IntervalField::Second, |(_, last)| last);
        last == IntervalField::Second && self.digits.is_none_or(|digits| digits >= Self::DIGITS_MAX)
    }

    /// Whether a time of two numbers is minutes and seconds.
    pub(super) fn is_minute_to_second(self) -> bool {
        self.range == Some((IntervalField::Minute, IntervalField::Second))
    }

    /// The interval with what is left of it. Only what is finer than the last field is dropped, as in PostgreSQL.
    ///
    /// # Errors
    /// [`IntervalError::Range`] where rounding goes beyond it.
    pub fn limit(self, interval: Interval) -> Result<Interval, IntervalError> {
        let Interval { months, days, microseconds } = interval;
        let whole = |unit: i64| Interval { microseconds: microseconds / unit * unit, ..interval };
        let limited = match self.range.map(|(_, last)| last) {
            Some(IntervalField::Year) => {
                Interval { months: months / 12 * 12, ..Interval::default() }
            }
            Some(IntervalField::Month) => Interval { months, ..Interval::default() },
            Some(IntervalField::Day) => Interval { months, days, microseconds: 0 },
            Some(IntervalField::Hour) => whole(HOUR),
            Some(IntervalField::Minute) => whole(MINUTE),
            Some(IntervalField::Second) | None => interval,
        };
        let digits = self.digits.unwrap_or(Self::DIGITS_MAX).min(Self::DIGITS_MAX);
        let unit = SECOND / 10_i64.pow(digits);
        let half = unit / 2 * limited.microseconds.signum();
        let rounded = limited.microseconds.checked_add(half).ok_or(IntervalError::Range)?;
        Interval { microseconds: rounded / unit * unit, ..limited }.within_range()
    }
}
