//! Columns of arguments and results, read and written value by value.

use super::items::{FIELD_DIGITS, Item, Kind, engine_interval, interval_of};
use super::of_times;
use crate::error::{input, to_datafusion};
use arrow::array::types::IntervalMonthDayNanoType;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanBuilder, Date32Builder, Decimal128Builder, Float64Array,
    Float64Builder, Int32Array, Int32Builder, IntervalMonthDayNanoBuilder, LargeBinaryBuilder,
    PrimitiveArray, StringViewArray, StringViewBuilder, Time64MicrosecondBuilder,
    TimestampMicrosecondBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int32Type, Time64MicrosecondType, TimestampMicrosecondType,
};
use datafusion::common::{Result, internal_err};
use datafusion::error::DataFusionError;
use gadus_engine::{Diagnosis, ErrorKind, Interval as EngineInterval, Reason};
use gadus_numeric::Numeric;
use gadus_times::{Date, FieldValue, Time, Timestamp, TimestampTz};
use std::sync::Arc;

/// Column of arguments.
#[derive(Debug)]
pub(crate) enum TimeColumn {
    Date(PrimitiveArray<Date32Type>),
    Time(PrimitiveArray<Time64MicrosecondType>),
    Timestamp(PrimitiveArray<TimestampMicrosecondType>),
    TimestampTz(PrimitiveArray<TimestampMicrosecondType>),
    Interval(PrimitiveArray<IntervalMonthDayNanoType>),
    Text(StringViewArray),
    Integer(Int32Array),
    Float(Float64Array),
    Nulls,
}

impl TimeColumn {
    /// Returns the values of an array.
    pub(super) fn of(array: &ArrayRef) -> Result<Self> {
        let Some(kind) = Kind::of(array.data_type()) else {
            return match array.data_type() {
                DataType::Null => Ok(Self::Nulls),
                other => internal_err!("{other} as an argument of a function of times"),
            };
        };
        // A timestamp of the planner may have nanoseconds.
        let wanted = kind.arrow();
        let plain =
            if *array.data_type() == wanted { array.clone() } else { cast(array, &wanted)? };
        Ok(match kind {
            Kind::Date => Self::Date(plain.as_primitive().clone()),
            Kind::Time => Self::Time(plain.as_primitive().clone()),
            Kind::Timestamp => Self::Timestamp(plain.as_primitive().clone()),
            Kind::TimestampTz => Self::TimestampTz(plain.as_primitive().clone()),
            Kind::Interval => Self::Interval(plain.as_primitive().clone()),
            Kind::Text => Self::Text(plain.as_string_view().clone()),
            Kind::Integer => Self::Integer(plain.as_primitive::<Int32Type>().clone()),
            Kind::Float => Self::Float(plain.as_primitive::<Float64Type>().clone()),
            other => return internal_err!("{other:?} as an argument of a function of times"),
        })
    }

    /// Returns a value; `None` for NULL.
    pub(super) fn get(&self, row: usize) -> Result<Option<Item<'_>>> {
        Ok(match self {
            Self::Date(array) if array.is_valid(row) => {
                Some(Item::Date(Date::from_unix_days(array.value(row)).map_err(of_times)?))
            }
            Self::Time(array) if array.is_valid(row) => {
                Some(Item::Time(Time::from_microseconds(array.value(row)).map_err(of_times)?))
            }
            Self::Timestamp(array) if array.is_valid(row) => {
                let value = Timestamp::from_unix_microseconds(array.value(row));
                Some(Item::Timestamp(value.map_err(of_times)?))
            }
            Self::TimestampTz(array) if array.is_valid(row) => {
                let value = TimestampTz::from_unix_microseconds(array.value(row));
                Some(Item::TimestampTz(value.map_err(of_times)?))
            }
            Self::Interval(array) if array.is_valid(row) => {
                let value = EngineInterval::from_arrow(array.value(row));
                Some(Item::Interval(interval_of(value)))
            }
            Self::Text(array) if array.is_valid(row) => Some(Item::Text(array.value(row))),
            Self::Integer(array) if array.is_valid(row) => Some(Item::Integer(array.value(row))),
            Self::Float(array) if array.is_valid(row) => Some(Item::Float(array.value(row))),
            _ => None,
        })
    }
}

/// Column of results that is written value by value.
#[derive(Debug)]
pub(super) enum Written {
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    TimestampTz(TimestampMicrosecondBuilder),
    Interval(IntervalMonthDayNanoBuilder),
    Text(StringViewBuilder),
    Integer(Int32Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
    Numeric(LargeBinaryBuilder),
    Decimal(Decimal128Builder, i8),
}

impl Written {
    pub(super) fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Date => Self::Date(Date32Builder::with_capacity(rows)),
            Kind::Time => Self::Time(Time64MicrosecondBuilder::with_capacity(rows)),
            Kind::Timestamp => Self::Timestamp(TimestampMicrosecondBuilder::with_capacity(rows)),
            Kind::TimestampTz => {
                Self::TimestampTz(TimestampMicrosecondBuilder::with_capacity(rows))
            }
            Kind::Interval => Self::Interval(IntervalMonthDayNanoBuilder::with_capacity(rows)),
            Kind::Text => Self::Text(StringViewBuilder::with_capacity(rows)),
            Kind::Integer => Self::Integer(Int32Builder::with_capacity(rows)),
            Kind::Float => Self::Float(Float64Builder::with_capacity(rows)),
            Kind::Boolean => Self::Boolean(BooleanBuilder::with_capacity(rows)),
            Kind::Numeric => Self::Numeric(LargeBinaryBuilder::new()),
            Kind::Decimal(scale) => {
                let rows = Decimal128Builder::with_capacity(rows);
                Self::Decimal(rows.with_data_type(DataType::Decimal128(FIELD_DIGITS, scale)), scale)
            }
        }
    }

    pub(super) fn push_null(&mut self) {
        match self {
            Self::Date(rows) => rows.append_null(),
            Self::Time(rows) => rows.append_null(),
            Self::Timestamp(rows) | Self::TimestampTz(rows) => rows.append_null(),
            Self::Interval(rows) => rows.append_null(),
            Self::Text(rows) => rows.append_null(),
            Self::Integer(rows) => rows.append_null(),
            Self::Float(rows) => rows.append_null(),
            Self::Boolean(rows) => rows.append_null(),
            Self::Numeric(rows) => rows.append_null(),
            Self::Decimal(rows, _) => rows.append_null(),
        }
    }

    pub(super) fn push(&mut self, item: Item<'_>) -> Result<()> {
        match (self, item) {
            (Self::Date(rows), Item::Date(value)) => rows.append_value(value.to_unix_days()),
            (Self::Time(rows), Item::Time(value)) => rows.append_value(value.to_microseconds()),
            (Self::Timestamp(rows), Item::Timestamp(value)) => {
                rows.append_value(value.to_unix_microseconds().ok_or_else(beyond_arrow)?);
            }
            (Self::TimestampTz(rows), Item::TimestampTz(value)) => {
                rows.append_value(value.to_unix_microseconds().ok_or_else(beyond_arrow)?);
            }
            (Self::Interval(rows), Item::Interval(value)) => {
                rows.append_value(arrow_interval(engine_interval(value))?);
            }
            (Self::Text(rows), Item::Text(value)) => rows.append_value(value),
            (Self::Integer(rows), Item::Integer(value)) => rows.append_value(value),
            (Self::Float(rows), Item::Float(value)) => rows.append_value(value),
            (Self::Boolean(rows), Item::Boolean(value)) => rows.append_value(value),
            (Self::Numeric(rows), Item::Field(value)) => {
                let mut bytes = Vec::new();
                numeric(value)?.write(&mut bytes);
                rows.append_value(bytes);
            }
            (
                Self::Decimal(rows, scale),
                Item::Field(FieldValue::Decimal { unscaled, scale: given }),
            ) if i16::from(*scale) == i16::from(given) => rows.append_value(unscaled),
            (written, item) => return internal_err!("{item:?} as a result of {written:?}"),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> ArrayRef {
        match self {
            Self::Date(mut rows) => Arc::new(rows.finish()),
            Self::Time(mut rows) => Arc::new(rows.finish()),
            Self::Timestamp(mut rows) => Arc::new(rows.finish()),
            Self::TimestampTz(mut rows) => Arc::new(rows.finish().with_timezone("UTC")),
            Self::Interval(mut rows) => Arc::new(rows.finish()),
            Self::Text(mut rows) => Arc::new(rows.finish()),
            Self::Integer(mut rows) => Arc::new(rows.finish()),
            Self::Float(mut rows) => Arc::new(rows.finish()),
            Self::Boolean(mut rows) => Arc::new(rows.finish()),
            Self::Numeric(mut rows) => Arc::new(rows.finish()),
            Self::Decimal(mut rows, _) => Arc::new(rows.finish()),
        }
    }
}

/// Returns a field as a numeric with just its digits.
fn numeric(value: FieldValue) -> Result<Numeric> {
    match value {
        FieldValue::Decimal { unscaled, scale } => {
            let value = Numeric::from_unscaled(unscaled, scale.into());
            value.or_else(|error| internal_err!("a field as numeric: {error}"))
        }
        FieldValue::Infinity => Ok(Numeric::from(f64::INFINITY)),
        FieldValue::NegativeInfinity => Ok(Numeric::from(f64::NEG_INFINITY)),
    }
}

/// Returns an interval as Arrow has it.
fn arrow_interval(value: EngineInterval) -> Result<arrow::datatypes::IntervalMonthDayNano> {
    let value = value.within_range().map_err(|_| {
        beyond("interval out of range", "The time of an interval is at most 292 years.")
    })?;
    Ok(value.to_arrow())
}

/// Returns the error of a timestamp after those that Arrow has.
pub(super) fn beyond_arrow() -> DataFusionError {
    beyond("timestamp out of range", "Timestamps end on 294247-01-10.")
}

/// Returns the error of a value that PostgreSQL has and Arrow does not.
fn beyond(message: &str, detail: &str) -> DataFusionError {
    let diagnosis = Diagnosis {
        sql_state: Some("22008"),
        detail: Some(detail.to_owned()),
        hint: None,
        position: None,
    };
    let error = input(message).of_kind(ErrorKind::OutOfRange).diagnosed(diagnosis);
    to_datafusion(error.because(Reason::DatetimeOverflow))
}
