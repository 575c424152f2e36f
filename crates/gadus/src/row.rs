//! A single row, and its values as Rust values.
//!
//! - A value is handed out as a type only when the type can hold it; nothing is rounded or cut.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalMonthDayNanoType, Schema, Time64MicrosecondType, TimestampMicrosecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use gadus_engine::{ColumnType, Error, ErrorKind, INTERVAL, Interval, Result, uuid_text};
use gadus_sql::{Value, json_texts};
use std::sync::Arc;

/// One row of a result.
#[derive(Debug, Clone)]
pub struct Row {
    batch: Arc<RecordBatch>,
    index: usize,
}

/// Names a column: by its position from 0, or by its name.
pub trait ColumnIndex {
    /// The position in a schema; none when there is no such column.
    fn position(&self, schema: &Schema) -> Option<usize>;
    /// The column's name or number, for messages.
    fn describe(&self) -> String;
}

/// A Rust type that values can become.
pub trait FromValue: Sized {
    /// The value, when this type can hold it.
    fn from_value(value: Value) -> Option<Self>;
}

impl Row {
    pub(crate) fn new(batch: Arc<RecordBatch>, index: usize) -> Self {
        Self { batch, index }
    }

    /// The value of a column as a Rust type; `Option` for what may be NULL.
    ///
    /// # Errors
    /// `NotFound` when there is no such column, `Input` when the type cannot hold the value.
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T> {
        let value = self.value(&column)?;
        T::from_value(value.clone()).ok_or_else(|| {
            let wanted = std::any::type_name::<T>();
            let message = format!("{} is {value:?}, which no {wanted} holds", column.describe());
            Error::new(ErrorKind::Input, message)
        })
    }

    /// The value of a column.
    ///
    /// # Errors
    /// `NotFound` when there is no such column.
    pub fn value(&self, column: impl ColumnIndex) -> Result<Value> {
        let position = column.position(self.batch.schema_ref()).ok_or_else(|| {
            let message = format!("the result has no {}", column.describe());
            Error::new(ErrorKind::NotFound, message)
        })?;
        value_at(self.batch.column(position), self.index)
    }

    /// How many columns there are.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.batch.num_columns()
    }
}

impl ColumnIndex for usize {
    fn position(&self, schema: &Schema) -> Option<usize> {
        (*self < schema.fields().len()).then_some(*self)
    }

    fn describe(&self) -> String {
        format!("column {self}")
    }
}

impl ColumnIndex for str {
    fn position(&self, schema: &Schema) -> Option<usize> {
        schema.index_of(self).ok()
    }

    fn describe(&self) -> String {
        format!("column \"{self}\"")
    }
}

impl<T: ColumnIndex + ?Sized> ColumnIndex for &T {
    fn position(&self, schema: &Schema) -> Option<usize> {
        (**self).position(schema)
    }

    fn describe(&self) -> String {
        (**self).describe()
    }
}

impl FromValue for Value {
    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

macro_rules! from_integer {
    ($($type:ty),*) => {$(
        impl FromValue for $type {
            fn from_value(value: Value) -> Option<Self> {
                match value {
                    Value::Integer(value) => value.try_into().ok(),
                    Value::Decimal(value, 0) => value.try_into().ok(),
                    _ => None,
                }
            }
        }
    )*};
}

from_integer!(i8, i16, i32, i64, i128, u8, u16, u32, u64, usize);

macro_rules! from_variant {
    ($($type:ty: $variant:ident),*) => {$(
        impl FromValue for $type {
            fn from_value(value: Value) -> Option<Self> {
                match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }
        }
    )*};
}

from_variant!(bool: Boolean, f64: Float, String: Text, Vec<u8>: Binary, Interval: Interval);

/// The value of one cell.
fn value_at(array: &ArrayRef, row: usize) -> Result<Value> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    macro_rules! number {
        ($type:ty) => {
            array.as_primitive::<$type>().value(row)
        };
    }
    Ok(match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        DataType::Int8 => Value::Integer(number!(Int8Type).into()),
        DataType::Int16 => Value::Integer(number!(Int16Type).into()),
        DataType::Int32 => Value::Integer(number!(Int32Type).into()),
        DataType::Int64 => Value::Integer(number!(Int64Type)),
        DataType::UInt8 => Value::Integer(number!(UInt8Type).into()),
        DataType::UInt16 => Value::Integer(number!(UInt16Type).into()),
        DataType::UInt32 => Value::Integer(number!(UInt32Type).into()),
        DataType::UInt64 => {
            let value = number!(UInt64Type);
            i64::try_from(value).map_or(Value::Decimal(value.into(), 0), Value::Integer)
        }
        DataType::Float32 => Value::Float(number!(Float32Type).into()),
        DataType::Float64 => Value::Float(number!(Float64Type)),
        DataType::Decimal128(_, scale) => Value::Decimal(number!(Decimal128Type), *scale),
        DataType::Utf8View => Value::Text(array.as_string_view().value(row).to_owned()),
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).to_owned()),
        DataType::LargeUtf8 => Value::Text(array.as_string::<i64>().value(row).to_owned()),
        DataType::BinaryView => Value::Binary(array.as_binary_view().value(row).to_vec()),
        DataType::Binary => Value::Binary(array.as_binary::<i32>().value(row).to_vec()),
        DataType::LargeBinary => Value::Binary(array.as_binary::<i64>().value(row).to_vec()),
        DataType::FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary().value(row);
            uuid_text(bytes).map_or_else(|| Value::Binary(bytes.to_vec()), Value::Text)
        }
        DataType::Date32 => Value::Date(number!(Date32Type)),
        data_type if *data_type == ColumnType::Time.arrow() => {
            Value::Time(number!(Time64MicrosecondType))
        }
        data_type if *data_type == ColumnType::Timestamp.arrow() => {
            Value::Timestamp(number!(TimestampMicrosecondType))
        }
        DataType::Timestamp(unit, Some(_)) if *unit == arrow::datatypes::TimeUnit::Microsecond => {
            Value::TimestampUtc(number!(TimestampMicrosecondType))
        }
        data_type if *data_type == INTERVAL => {
            Value::Interval(Interval::from_arrow(number!(IntervalMonthDayNanoType)))
        }
        data_type => return other_value_at(array, data_type, row),
    })
}

/// A cell of another type: lists, structures and maps as JSON, others as the column type nearest to it, else as text.
fn other_value_at(array: &ArrayRef, data_type: &DataType, row: usize) -> Result<Value> {
    let cell = array.slice(row, 1);
    if data_type.is_nested() {
        return value_at(&json_texts(&cell)?, 0);
    }
    match ColumnType::from_arrow(data_type).map(ColumnType::arrow) {
        Some(canonical) if canonical != *data_type => value_at(&cast(&cell, &canonical)?, 0),
        _ => {
            let options = FormatOptions::default();
            let text = ArrayFormatter::try_new(&cell, &options)?.value(0).try_to_string()?;
            Ok(Value::Text(text))
        }
    }
}
