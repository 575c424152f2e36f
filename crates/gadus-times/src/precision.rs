//! Type modifiers: the precision of seconds, and the fields of an interval.

use crate::calendar::{HOUR, MINUTE, YEAR_MONTHS};
use crate::error::{INVALID_PARAMETER, Result, TimesError};
use crate::input::Unit;
use crate::values::{Interval, Time, TimeTz, Timestamp, TimestampTz};

/// Digits after the decimal point of seconds at most.
pub const PRECISION_MAX: u8 = 6;

/// Bits of the fields in PostgreSQL's packed form.
const FULL_RANGE: i32 = 0x7fff;
const FULL_PRECISION: i32 = 0xffff;
const MONTH: i32 = 1 << 1;
const YEAR: i32 = 1 << 2;
const DAY: i32 = 1 << 3;
const HOURS: i32 = 1 << 10;
const MINUTES: i32 = 1 << 11;
const SECONDS: i32 = 1 << 12;

/// Fields of an interval type, such as `DAY TO SECOND`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is its name
pub enum IntervalFieldsRange {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    YearToMonth,
    DayToHour,
    DayToMinute,
    DayToSecond,
    HourToMinute,
    HourToSecond,
    MinuteToSecond,
}

/// Type modifier of an interval: the fields it has, and the precision of its seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct IntervalModifier {
    /// Fields; all of them if none are named.
    pub fields: Option<IntervalFieldsRange>,
    /// Digits after the decimal point of seconds, up to [`PRECISION_MAX`].
    pub precision: Option<u8>,
}

impl IntervalFieldsRange {
    const ALL: [(Self, i32); 13] = [
        (Self::Year, YEAR),
        (Self::Month, MONTH),
        (Self::Day, DAY),
        (Self::Hour, HOURS),
        (Self::Minute, MINUTES),
        (Self::Second, SECONDS),
        (Self::YearToMonth, YEAR | MONTH),
        (Self::DayToHour, DAY | HOURS),
        (Self::DayToMinute, DAY | HOURS | MINUTES),
        (Self::DayToSecond, DAY | HOURS | MINUTES | SECONDS),
        (Self::HourToMinute, HOURS | MINUTES),
        (Self::HourToSecond, HOURS | MINUTES | SECONDS),
        (Self::MinuteToSecond, MINUTES | SECONDS),
    ];

    /// Returns the unit of a number without one.
    pub(crate) fn last_unit(self) -> Unit {
        match self {
            Self::Year => Unit::Year,
            Self::Month | Self::YearToMonth => Unit::Month,
            Self::Day => Unit::Day,
            Self::Hour | Self::DayToHour => Unit::Hour,
            Self::Minute | Self::DayToMinute | Self::HourToMinute => Unit::Minute,
            Self::Second | Self::DayToSecond | Self::HourToSecond | Self::MinuteToSecond => {
                Unit::Second
            }
        }
    }
}

impl IntervalModifier {
    /// Returns the modifier of the integer that PostgreSQL's catalogs store; `None` for a type without a modifier.
    ///
    /// # Errors
    /// 22023 for an integer that no type has.
    pub fn from_packed(packed: i32) -> Result<Option<Self>> {
        if packed < 0 {
            return Ok(None);
        }
        let (range, precision) = (packed >> 16 & FULL_RANGE, packed & FULL_PRECISION);
        let fields = match range {
            FULL_RANGE => None,
            _ => Some(IntervalFieldsRange::ALL.iter().find(|(_, bits)| *bits == range)),
        };
        let precision = match precision {
            FULL_PRECISION => None,
            _ => Some(u8::try_from(precision).ok().filter(|digits| *digits <= PRECISION_MAX)),
        };
        if fields == Some(None) || precision == Some(None) {
            return Err(TimesError::new(INVALID_PARAMETER, "invalid INTERVAL type modifier"));
        }
        let fields = fields.flatten().map(|(fields, _)| *fields);
        Ok(Some(Self { fields, precision: precision.flatten() }))
    }

    /// Returns the integer that PostgreSQL's catalogs store.
    #[must_use]
    pub fn packed(self) -> i32 {
        let same = |(fields, _): &&(IntervalFieldsRange, i32)| Some(*fields) == self.fields;
        let range =
            IntervalFieldsRange::ALL.iter().find(same).map_or(FULL_RANGE, |(_, bits)| *bits);
        range << 16 | self.precision.map_or(FULL_PRECISION, i32::from)
    }

    /// Cuts the fields below the last one of the type, and rounds the seconds.
    #[must_use]
    pub fn apply(self, value: Interval) -> Interval {
        use IntervalFieldsRange::{
            Day, DayToHour, DayToMinute, Hour, HourToMinute, Minute, Month, Year, YearToMonth,
        };
        let Interval { mut months, mut days, mut microseconds } = value;
        match self.fields {
            Some(Year) => (months, days, microseconds) = (months / YEAR_MONTHS * YEAR_MONTHS, 0, 0),
            Some(Month | YearToMonth) => (days, microseconds) = (0, 0),
            Some(Day) => microseconds = 0,
            Some(Hour | DayToHour) => microseconds = microseconds / HOUR * HOUR,
            Some(Minute | DayToMinute | HourToMinute) => {
                microseconds = microseconds / MINUTE * MINUTE;
            }
            _ => {}
        }
        if let Some(precision) = self.precision {
            microseconds = rounded(microseconds, precision);
        }
        Interval { months, days, microseconds }
    }
}

impl Timestamp {
    /// Rounds the seconds to a precision, half away from zero; a precision above the greatest does nothing.
    ///
    /// The last half second rounds to the first one after the range, as in PostgreSQL.
    #[must_use]
    pub fn with_precision(self, precision: u8) -> Self {
        if self.is_finite() { Self(rounded(self.0, precision)) } else { self }
    }
}

impl TimestampTz {
    /// Rounds the seconds to a precision, half away from zero; a precision above the greatest does nothing.
    ///
    /// The last half second rounds to the first one after the range, as in PostgreSQL.
    #[must_use]
    pub fn with_precision(self, precision: u8) -> Self {
        if self.is_finite() { Self(rounded(self.0, precision)) } else { self }
    }
}

impl Time {
    /// Rounds the seconds to a precision, half up; a precision above the greatest does nothing.
    #[must_use]
    pub fn with_precision(self, precision: u8) -> Self {
        Self(rounded(self.0, precision))
    }
}

impl TimeTz {
    /// Rounds the seconds to a precision, half up; a precision above the greatest does nothing.
    #[must_use]
    pub fn with_precision(self, precision: u8) -> Self {
        Self { time: self.time.with_precision(precision), ..self }
    }
}

/// Rounds microseconds half away from zero; wraps at the end of 64 bits, as PostgreSQL does.
fn rounded(microseconds: i64, precision: u8) -> i64 {
    if precision >= PRECISION_MAX {
        return microseconds;
    }
    let scale = 10_i64.pow(u32::from(PRECISION_MAX - precision));
    let round = |value: i64| (value.wrapping_add(scale / 2) / scale).wrapping_mul(scale);
    match microseconds >= 0 {
        true => round(microseconds),
        false => round(microseconds.wrapping_neg()).wrapping_neg(),
    }
}
