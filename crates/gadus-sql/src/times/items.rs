//! Single values of arguments and results.

use gadus_engine::{INTERVAL, Interval as ArrowInterval};
use gadus_times::{Date, FieldValue, Interval, Time, Timestamp, TimestampTz};

use arrow::datatypes::{DataType, TimeUnit};

/// Value of an argument or a result.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'a> {
    Date(Date),
    Time(Time),
    Timestamp(Timestamp),
    TimestampTz(TimestampTz),
    Interval(Interval),
    Text(&'a str),
    Integer(i32),
    Float(f64),
    Boolean(bool),
    Field(FieldValue),
}

/// Type of an argument or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Interval,
    Text,
    Integer,
    Float,
    Boolean,
    /// Numeric of any digits.
    Numeric,
    /// Numeric of so many digits after the decimal point.
    Decimal(i8),
}

/// Digits of the decimals that fields are.
pub(super) const FIELD_DIGITS: u8 = 27;

impl Kind {
    /// Returns the kind of values of an Arrow type.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Date32 => Self::Date,
            DataType::Time64(_) => Self::Time,
            DataType::Timestamp(_, None) => Self::Timestamp,
            DataType::Timestamp(_, Some(_)) => Self::TimestampTz,
            DataType::Interval(_) => Self::Interval,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Int16 | DataType::Int32 => Self::Integer,
            DataType::Float32 | DataType::Float64 => Self::Float,
            DataType::Boolean => Self::Boolean,
            DataType::LargeBinary => Self::Numeric,
            _ => return None,
        })
    }

    /// Returns the Arrow type of results.
    pub(super) fn arrow(self) -> DataType {
        match self {
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampTz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Interval => INTERVAL,
            Self::Text => DataType::Utf8View,
            Self::Integer => DataType::Int32,
            Self::Float => DataType::Float64,
            Self::Boolean => DataType::Boolean,
            Self::Numeric => crate::numerics::NUMERIC,
            Self::Decimal(scale) => DataType::Decimal128(FIELD_DIGITS, scale),
        }
    }

    /// Returns true for a date, a time, a timestamp or an interval.
    pub(super) fn is_time(self) -> bool {
        matches!(
            self,
            Self::Date | Self::Time | Self::Timestamp | Self::TimestampTz | Self::Interval
        )
    }
}

/// Returns an interval as the engine has it.
pub(super) fn engine_interval(value: Interval) -> ArrowInterval {
    let Interval { months, days, microseconds } = value;
    ArrowInterval { months, days, microseconds }
}

/// Returns an interval of the engine.
pub(super) fn interval_of(value: ArrowInterval) -> Interval {
    Interval::new(value.months, value.days, value.microseconds)
}
