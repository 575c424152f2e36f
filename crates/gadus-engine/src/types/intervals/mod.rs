//! Intervals as PostgreSQL has them: months, days and microseconds, none of which becomes another by itself.
//!
//! - Arrow counts nanoseconds in 64 bits, so that the time within an interval is at most 292 years either way, where
//!   PostgreSQL has 292,000. What does not fit is refused, never wrapped.
//! - They are kept as 128-bit integers. That form tells neither their order nor whether they are equal: a day is 24 hours,
//!   and a month is 30 days, where intervals are compared.

mod fields;
mod iso;
mod read;
mod units;
mod words;

pub use fields::{IntervalField, IntervalFields};
pub use units::IntervalUnit;

use arrow::array::types::{IntervalMonthDayNano, IntervalMonthDayNanoType};
use arrow::array::{Array, ArrayRef, PrimitiveArray, StringViewArray, StringViewBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, IntervalUnit as ArrowUnit};
use std::fmt::{self, Write};
use std::sync::Arc;

/// The Arrow type of intervals.
pub const INTERVAL: DataType = DataType::Interval(ArrowUnit::MonthDayNano);

/// Intervals as Arrow has them.
pub type IntervalArray = PrimitiveArray<IntervalMonthDayNanoType>;

const NANOSECONDS: i64 = 1_000;
pub(super) const SECOND: i64 = 1_000_000;
pub(super) const MINUTE: i64 = 60 * SECOND;
pub(super) const HOUR: i64 = 60 * MINUTE;
pub(super) const DAY: i64 = 24 * HOUR;

/// The most microseconds that Arrow's nanoseconds hold, about 292 years.
pub(super) const MICROSECONDS_MAX: i64 = i64::MAX / NANOSECONDS;

/// A span of time. Two that are as long may differ: compare what they are made of with care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Interval {
    /// Whole months; twelve are a year.
    pub months: i32,
    /// Whole days.
    pub days: i32,
    /// The rest, without the limit of a day.
    pub microseconds: i64,
}

/// Why there is no such interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalError {
    /// The text is none.
    Syntax,
    /// A number in the text is too large.
    Field,
    /// It is beyond what intervals hold.
    Range,
}

impl Interval {
    /// An interval within what Arrow holds.
    ///
    /// # Errors
    /// [`IntervalError::Range`] where it is beyond.
    pub fn within_range(self) -> Result<Self, IntervalError> {
        match self.microseconds.unsigned_abs() <= MICROSECONDS_MAX.unsigned_abs() {
            true => Ok(self),
            false => Err(IntervalError::Range),
        }
    }

    /// The interval of an Arrow value; to the nearest microsecond, as PostgreSQL reads finer ones.
    #[must_use]
    pub fn from_arrow(value: IntervalMonthDayNano) -> Self {
        let IntervalMonthDayNano { months, days, nanoseconds } = value;
        let (whole, rest) = (nanoseconds / NANOSECONDS, nanoseconds % NANOSECONDS);
        let microseconds =
            (whole + rest / (NANOSECONDS / 2)).clamp(-MICROSECONDS_MAX, MICROSECONDS_MAX);
        Self { months, days, microseconds }
    }

    /// The Arrow value of an interval. What is beyond Arrow's range, which nothing that was checked is, becomes its limit.
    #[must_use]
    pub fn to_arrow(self) -> IntervalMonthDayNano {
        let nanoseconds = self.microseconds.saturating_mul(NANOSECONDS);
        IntervalMonthDayNano::new(self.months, self.days, nanoseconds)
    }

    /// As it is kept: the parts after each other, as a sum, so that small ones of either sign are close together. It wraps
    /// where the months are least and the rest is negative, and back again.
    pub(super) fn to_wide(self) -> i128 {
        let days = (i64::from(self.months) << 32).wrapping_add(self.days.into());
        (i128::from(days) << 64).wrapping_add(self.microseconds.into())
    }

    /// The inverse of [`Interval::to_wide`], of any number.
    #[allow(clippy::cast_possible_truncation)] // each part is the lowest bits of what is left
    pub(super) fn from_wide(wide: i128) -> Self {
        let microseconds = wide as i64;
        let wide = (wide.wrapping_sub(microseconds.into()) >> 64) as i64;
        let days = wide as i32;
        let months = (wide.wrapping_sub(days.into()) >> 32) as i32;
        Self { months, days, microseconds }
    }
}

/// As PostgreSQL writes it by default: `1 year 2 mons -3 days +04:05:06.7`. What is positive behind what is negative has
/// its sign.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut is_first, mut is_negative) = (true, false);
        let parts = [(self.months / 12, "year"), (self.months % 12, "mon"), (self.days, "day")];
        for (count, unit) in parts.into_iter().filter(|(count, _)| *count != 0) {
            let space = if is_first { "" } else { " " };
            let sign = if is_negative && count > 0 { "+" } else { "" };
            let ending = if count == 1 { "" } else { "s" };
            write!(f, "{space}{sign}{count} {unit}{ending}")?;
            (is_first, is_negative) = (false, count < 0);
        }
        if self.microseconds == 0 && !is_first {
            return Ok(());
        }
        let space = if is_first { "" } else { " " };
        let sign = match self.microseconds < 0 {
            true => "-",
            false if is_negative => "+",
            false => "",
        };
        let (second, minute) = (SECOND.unsigned_abs(), MINUTE.unsigned_abs());
        let (time, hour) = (self.microseconds.unsigned_abs(), HOUR.unsigned_abs());
        let (hours, minutes, seconds) = (time / hour, time / minute % 60, time / second % 60);
        write!(f, "{space}{sign}{hours:02}:{minutes:02}:{seconds:02}")?;
        match time % second {
            0 => Ok(()),
            rest => f.write_str(format!(".{rest:06}").trim_end_matches('0')),
        }
    }
}

/// The texts of intervals, as PostgreSQL writes them.
#[must_use]
pub fn interval_texts(intervals: &IntervalArray) -> StringViewArray {
    let mut texts = StringViewBuilder::with_capacity(intervals.len());
    let mut text = String::new();
    for interval in intervals {
        let Some(interval) = interval else {
            texts.append_null();
            continue;
        };
        text.clear();
        let _ = write!(text, "{}", Interval::from_arrow(interval));
        texts.append_value(&text);
    }
    texts.finish()
}

/// Intervals as they are kept.
pub(super) fn wides_from_intervals(intervals: &IntervalArray) -> Vec<i128> {
    let wide = |row: usize| match intervals.is_valid(row) {
        true => Interval::from_arrow(intervals.value(row)).to_wide(),
        false => 0,
    };
    (0..intervals.len()).map(wide).collect()
}

/// Whether a number is an interval as they are kept.
pub(super) fn is_interval(wide: i128) -> bool {
    Interval::from_wide(wide).within_range().is_ok()
}

/// The inverse of [`wides_from_intervals`].
pub(super) fn intervals_from_wides(wides: &[i128], nulls: Option<NullBuffer>) -> ArrayRef {
    let values = wides.iter().map(|wide| Interval::from_wide(*wide).to_arrow());
    Arc::new(IntervalArray::new(values.collect(), nulls))
}

#[cfg(test)]
mod tests;
