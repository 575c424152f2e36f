//! Values that come with a statement: parameters and literals.
//!
//! - A value becomes a datum of a column only when the column can hold it exactly, or by an
//!   assignment cast that fails rather than change it beyond rounding.

mod wrong;

use crate::checked::{floats_of_texts, narrowed_array, rounded_for, seconds_for};
use crate::error::from_datafusion;
use crate::lists::assign_nested;
use crate::{byte_strings, characters, enums, intervals, json, numerics, times, uuids};
use arrow::array::{Array, ArrayRef, new_empty_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::DataType;
use arrow::util::display::FormatOptions;
use datafusion::common::ScalarValue;
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::logical_expr::type_coercion::binary::type_union_resolution;
use gadus_engine::{Characters, ColumnType, Datum, Interval, Result, datum_from_array};
use wrong::wrong_value;

/// A parameter or literal of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// True or false.
    Boolean(bool),
    /// A 64-bit integer.
    Integer(i64),
    /// A double.
    Float(f64),
    /// An exact decimal: unscaled value and digits behind the point.
    Decimal(i128, i8),
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01 00:00, without a time zone.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 00:00 UTC.
    TimestampUtc(i64),
    /// Months, days and microseconds.
    Interval(Interval),
    /// The elements of a list, of one type.
    List(ArrayRef),
}

macro_rules! value_from {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

value_from!(bool => Boolean, i16 => Integer, i32 => Integer, i64 => Integer, u32 => Integer,
    f32 => Float, f64 => Float, &str => Text, String => Text, Vec<u8> => Binary, &[u8] => Binary);

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Value {
    /// A list of values, each as this type.
    ///
    /// # Errors
    /// When a value is none of the type.
    pub fn list(of: &DataType, values: impl IntoIterator<Item = Self>) -> Result<Self> {
        let cast = |value: Self| value.to_scalar().cast_to(of);
        let scalars = values.into_iter().map(cast).collect::<datafusion::common::Result<Vec<_>>>();
        let scalars = scalars.map_err(from_datafusion)?;
        if scalars.is_empty() {
            return Ok(Self::List(new_empty_array(of)));
        }
        ScalarValue::iter_to_array(scalars).map(Self::List).map_err(crate::error::from_datafusion)
    }

    /// A list of values, as the type that all of them have, or can be; NULLs have any.
    ///
    /// # Errors
    /// When there is no such type.
    pub fn list_of(values: Vec<Self>) -> Result<Self> {
        let types = values.iter().map(|value| value.to_scalar().data_type());
        let mut types = types.filter(|of| !of.is_null()).collect::<Vec<_>>();
        types.dedup();
        let of = match types.as_slice() {
            [] => DataType::Null,
            [of] => of.clone(),
            several => type_union_resolution(several)
                .ok_or_else(|| crate::error::input("the values of a list have no common type"))?,
        };
        Self::list(&of, values)
    }

    /// The value as DataFusion wants it.
    pub(crate) fn to_scalar(&self) -> ScalarValue {
        match self {
            Self::Null => ScalarValue::Null,
            Self::Boolean(value) => ScalarValue::Boolean(Some(*value)),
            Self::Integer(value) => ScalarValue::Int64(Some(*value)),
            Self::Float(value) => ScalarValue::Float64(Some(*value)),
            Self::Decimal(value, scale) => ScalarValue::Decimal128(Some(*value), 38, *scale),
            Self::Text(value) => ScalarValue::Utf8(Some(value.clone())),
            Self::Binary(value) => ScalarValue::Binary(Some(value.clone())),
            Self::Date(value) => ScalarValue::Date32(Some(*value)),
            Self::Time(value) => ScalarValue::Time64Microsecond(Some(*value)),
            Self::Timestamp(value) => ScalarValue::TimestampMicrosecond(Some(*value), None),
            Self::TimestampUtc(value) => {
                ScalarValue::TimestampMicrosecond(Some(*value), Some("UTC".into()))
            }
            Self::Interval(value) => ScalarValue::IntervalMonthDayNano(Some(value.to_arrow())),
            Self::List(values) => {
                SingleRowListArrayBuilder::new(values.clone()).build_list_scalar()
            }
        }
    }

    /// The datum that compares with a column's values as the value does, if there is an exact one.
    pub(crate) fn exact(&self, column_type: ColumnType) -> Option<Datum> {
        match (self, column_type) {
            (Self::Null, _) => None,
            (Self::Boolean(value), ColumnType::Boolean) => Some(Datum::Integer(i64::from(*value))),
            (
                Self::Integer(value),
                ColumnType::Int8
                | ColumnType::Int16
                | ColumnType::Int32
                | ColumnType::Int64
                | ColumnType::UInt8
                | ColumnType::UInt16
                | ColumnType::UInt32,
            ) => Some(Datum::Integer(*value)),
            (Self::Integer(value), ColumnType::UInt64) => {
                Some(Datum::Wide(Box::new(i128::from(*value))))
            }
            (Self::Integer(value), ColumnType::Decimal { scale, .. }) => {
                decimal(i128::from(*value), 0, scale, column_type)
            }
            (Self::Decimal(value, from), ColumnType::Decimal { scale, .. }) => {
                decimal(*value, *from, scale, column_type)
            }
            (Self::Text(text), ColumnType::Text) => Some(Datum::text(text)),
            (Self::Text(text), ColumnType::Characters(of)) => match of {
                Characters::Char(_) => Some(Datum::text(text.trim_end_matches(' '))),
                Characters::Byte => None,
                Characters::Varchar(_) | Characters::Name => Some(Datum::text(text)),
            },
            // What is no label is told by whoever plans the statement.
            (Self::Text(text), ColumnType::Enum(of)) => {
                of.place(text).is_some().then(|| Datum::text(text))
            }
            (_, ColumnType::Float64) => self.double().map(Datum::Float),
            (Self::Binary(bytes), ColumnType::Binary) => {
                Some(Datum::Bytes(bytes.as_slice().into()))
            }
            (Self::Date(days), ColumnType::Date) => Some(Datum::Integer(i64::from(*days))),
            (Self::Time(value), ColumnType::Time)
            | (Self::Timestamp(value), ColumnType::Timestamp)
            | (Self::TimestampUtc(value), ColumnType::TimestampUtc) => Some(Datum::Integer(*value)),
            // A string literal beside a date, a time or an identifier is read as one, as everywhere in SQL.
            (
                Self::Text(_),
                ColumnType::Date
                | ColumnType::Time
                | ColumnType::Timestamp
                | ColumnType::TimestampUtc
                | ColumnType::Uuid,
            ) => self.assign(column_type).ok(),
            _ => None,
        }
    }

    /// The double that a number is beside a double; none where it is not certain what others make of it:
    /// zeros have signs for some and not for others, and so has NaN.
    #[allow(clippy::cast_precision_loss)] // whole numbers of up to 53 bits are doubles
    fn double(&self) -> Option<f64> {
        const EXACT: u64 = 1 << 53;
        /// Powers of ten that are doubles.
        const SCALE_MAX: i8 = 22;
        let value = match *self {
            Self::Float(value) => value,
            Self::Integer(value) if value.unsigned_abs() <= EXACT => value as f64,
            Self::Decimal(value, scale)
                if value.unsigned_abs() <= u128::from(EXACT)
                    && (0..=SCALE_MAX).contains(&scale) =>
            {
                value as f64 / 10_f64.powi(i32::from(scale))
            }
            _ => return None,
        };
        (value != 0.0 && !value.is_nan()).then_some(value)
    }

    /// The datum that an assignment to a column stores.
    pub(crate) fn assign(&self, column_type: ColumnType) -> Result<Datum> {
        match (self, column_type) {
            (Self::Null, _) => return Ok(Datum::Null),
            (Self::Integer(value), ColumnType::Int64) => return Ok(Datum::Integer(*value)),
            (Self::Integer(value), ColumnType::Int32) if i32::try_from(*value).is_ok() => {
                return Ok(Datum::Integer(*value));
            }
            (Self::Float(value), ColumnType::Float64) => return Ok(Datum::Float(*value)),
            (Self::Text(text), ColumnType::Text) => return Ok(Datum::text(text)),
            (Self::Binary(bytes), ColumnType::Binary) => {
                return Ok(Datum::Bytes(bytes.as_slice().into()));
            }
            _ => {}
        }
        let array = self.to_scalar().to_array().map_err(from_datafusion)?;
        datum_from_array(column_type, &assign_array(&array, column_type)?, 0)
    }
}

/// An array in the canonical Arrow type of a column, by an assignment cast.
pub(crate) fn assign_array(array: &ArrayRef, column_type: ColumnType) -> Result<ArrayRef> {
    let target = column_type.arrow();
    match column_type {
        ColumnType::Json => return json::checked(array),
        ColumnType::Jsonb => return json::normalized(array),
        _ => {}
    }
    if let ColumnType::Numeric(digits) = column_type {
        return numerics::assigned(array, digits);
    }
    if let ColumnType::Enum(of) = column_type
        && (is_text(array.data_type()) || array.data_type().is_null())
    {
        return enums::labels(array, of, false);
    }
    if let ColumnType::Characters(of) = column_type {
        return characters::assigned(&assign_array(array, ColumnType::Text)?, of);
    }
    if array.data_type() == &target {
        return Ok(array.clone());
    }
    if let ColumnType::Nested(nested) = column_type {
        return assign_nested(array, nested);
    }
    if let Some(converted) = uuids::converted(array, &target)? {
        return Ok(converted);
    }
    if let Some(converted) = times::cast_array(array, &target) {
        return converted;
    }
    if let Some(converted) = intervals::converted(array, &target)? {
        return Ok(converted);
    }
    if let (DataType::Decimal128(..), DataType::Float32 | DataType::Float64) =
        (array.data_type(), &target)
    {
        return numerics::nearest(array, &target);
    }
    if is_text(array.data_type()) && matches!(target, DataType::Float32 | DataType::Float64) {
        return floats_of_texts(array, &target).map_err(from_datafusion);
    }
    if let (DataType::Float64, DataType::Float32) = (array.data_type(), &target) {
        return narrowed_array(array, &target).map_err(from_datafusion);
    }
    let options = CastOptions { safe: false, format_options: FormatOptions::default() };
    let bytes = match column_type == ColumnType::Binary && is_text(array.data_type()) {
        true => Some(byte_strings::bytes_of(array, false)?),
        false => None,
    };
    let rounded = match seconds_for(array, &target)? {
        Some(whole) => whole,
        None => rounded_for(array, &target)?,
    };
    cast_with_options(bytes.as_ref().unwrap_or(&rounded), &target, &options)
        .map_err(|error| wrong_value(array, column_type, &error))
}

/// Whether a type is one of Arrow's texts.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// A decimal in a column's scale, when no digit is lost.
fn decimal(value: i128, from: i8, to: i8, column_type: ColumnType) -> Option<Datum> {
    let shift = 10_i128.checked_pow(u32::from(from.abs_diff(to)))?;
    let scaled = if from <= to {
        value.checked_mul(shift)?
    } else if value % shift == 0 {
        value / shift
    } else {
        return None;
    };
    match column_type.storage() {
        gadus_engine::StorageClass::Wide => Some(Datum::Wide(Box::new(scaled))),
        // A constant beyond 64 bits is beyond every value of the column; let DataFusion say so.
        _ => i64::try_from(scaled).ok().map(Datum::Integer),
    }
}
