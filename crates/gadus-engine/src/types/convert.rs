//! Between Arrow arrays, plain vectors of a storage class, and datums.
//!
//! - Arrays that enter have the canonical Arrow type of their column (`ColumnType::arrow`).
//! - Slots of NULLs hold zero in vectors; validity travels beside them.

use super::intervals::{intervals_from_wides, wides_from_intervals};
use super::nested_values::{bytes_from_nested, nested_from_bytes};
use super::texts::with_texts;
use super::uuids::{uuids_from_wides, wides_from_uuids};
use super::{ColumnType, Datum, Nested, StorageClass};
use crate::error::{Error, ErrorKind, Result};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, BooleanArray, Decimal128Array,
    PrimitiveArray, StringViewBuilder,
};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow::util::display::array_value_to_string;
use std::sync::Arc;

/// The value at `row` of an array of the column's canonical Arrow type.
pub fn datum_from_array(column_type: ColumnType, array: &dyn Array, row: usize) -> Result<Datum> {
    if array.data_type() != &column_type.arrow() {
        return Err(Error::internal(format!(
            "an array of {} where {column_type} was expected",
            array.data_type()
        )));
    }
    if array.is_null(row) {
        return Ok(Datum::Null);
    }
    let one = array.slice(row, 1);
    if let ColumnType::Nested(nested) = column_type {
        return Ok(Datum::Bytes(bytes_from_nested(nested, &one).value(0).into()));
    }
    Ok(match column_type.storage() {
        StorageClass::Integer => Datum::Integer(integers_from_array(&one)[0]),
        StorageClass::Wide => Datum::Wide(Box::new(wides_from_array(&one)[0])),
        StorageClass::Float => Datum::Float(floats_from_array(&one)[0]),
        StorageClass::Bytes => Datum::Bytes(Arc::from(match column_type {
            text if text.is_text() => one.as_string_view().value(0).as_bytes(),
            _ => one.as_binary_view().value(0),
        })),
    })
}

/// An array of the column's canonical Arrow type that holds the given values.
pub fn array_from_datums<'a>(
    column_type: ColumnType,
    datums: impl Iterator<Item = &'a Datum>,
) -> Result<ArrayRef> {
    let mut valid = Vec::new();
    let wrong = || Error::internal(format!("a value of another class in a {column_type} column"));
    match column_type.storage() {
        StorageClass::Bytes => bytes_from_datums(column_type, datums),
        StorageClass::Integer => {
            let mut values = Vec::new();
            for datum in datums {
                valid.push(!datum.is_null());
                values.push(match datum {
                    Datum::Null => 0,
                    Datum::Integer(value) => *value,
                    _ => return Err(wrong()),
                });
            }
            Ok(array_from_integers(column_type, values, nulls(&valid)))
        }
        StorageClass::Wide => {
            let mut values = Vec::new();
            for datum in datums {
                valid.push(!datum.is_null());
                values.push(match datum {
                    Datum::Null => 0,
                    Datum::Wide(value) => **value,
                    _ => return Err(wrong()),
                });
            }
            Ok(array_from_wides(column_type, values, nulls(&valid)))
        }
        StorageClass::Float => {
            let mut values = Vec::new();
            for datum in datums {
                valid.push(!datum.is_null());
                values.push(match datum {
                    Datum::Null => 0.0,
                    Datum::Float(value) => *value,
                    _ => return Err(wrong()),
                });
            }
            Ok(array_from_floats(column_type, values, nulls(&valid)))
        }
    }
}

/// The text of a column's value, for people.
pub fn value_text(column_type: ColumnType, value: &Datum) -> Result<String> {
    let array = array_from_datums(column_type, std::iter::once(value))?;
    Ok(array_value_to_string(&with_texts(&array)?, 0)?)
}

fn nulls(valid: &[bool]) -> Option<NullBuffer> {
    valid.contains(&false).then(|| NullBuffer::from(valid))
}

fn bytes_from_datums<'a>(
    column_type: ColumnType,
    datums: impl Iterator<Item = &'a Datum>,
) -> Result<ArrayRef> {
    let wrong = || Error::internal(format!("a value of another class in a {column_type} column"));
    if column_type.is_text() {
        let mut builder = StringViewBuilder::new();
        for datum in datums {
            match datum {
                Datum::Null => builder.append_null(),
                Datum::Bytes(bytes) => {
                    builder.append_value(std::str::from_utf8(bytes).map_err(|_| wrong())?);
                }
                _ => return Err(wrong()),
            }
        }
        return Ok(Arc::new(builder.finish()));
    }
    let mut builder = BinaryViewBuilder::new();
    for datum in datums {
        match datum {
            Datum::Null => builder.append_null(),
            Datum::Bytes(bytes) => builder.append_value(bytes),
            _ => return Err(wrong()),
        }
    }
    let bytes = builder.finish();
    match column_type {
        ColumnType::Nested(nested) => nested_array(nested, &bytes),
        _ => Ok(Arc::new(bytes)),
    }
}

/// Values that are made of others, from the bytes that they are kept as.
pub(crate) fn nested_array(nested: &'static Nested, bytes: &BinaryViewArray) -> Result<ArrayRef> {
    nested_from_bytes(nested, bytes.iter()).map_err(|error| {
        let message = format!("a value of the type {nested} is damaged: {error} of the value; run `gadus check` and restore the file from a backup");
        Error::new(ErrorKind::Corrupt, message).caused_by(error)
    })
}

/// The values of an array of an `Integer` column.
pub(crate) fn integers_from_array(array: &dyn Array) -> Vec<i64> {
    use arrow::datatypes::DataType;
    fn widen<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array) -> Vec<i64> {
        array.as_primitive::<T>().values().iter().map(|&value| value.into()).collect()
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().values().iter().map(i64::from).collect(),
        DataType::Int8 => widen::<Int8Type>(array),
        DataType::Int16 => widen::<Int16Type>(array),
        DataType::Int32 => widen::<Int32Type>(array),
        DataType::UInt8 => widen::<UInt8Type>(array),
        DataType::UInt16 => widen::<UInt16Type>(array),
        DataType::UInt32 => widen::<UInt32Type>(array),
        DataType::Date32 => widen::<Date32Type>(array),
        DataType::Time64(_) => widen::<Time64MicrosecondType>(array),
        DataType::Timestamp(..) => widen::<TimestampMicrosecondType>(array),
        DataType::Int64 => widen::<Int64Type>(array),
        DataType::Decimal128(..) => narrow_decimals(array.as_primitive()),
        other => unreachable!("no integer column has the Arrow type {other}"),
    }
}

fn narrow_decimals(array: &Decimal128Array) -> Vec<i64> {
    // A decimal of at most 18 digits fits; slots of NULLs may hold anything.
    array.values().iter().map(|&value| i64::try_from(value).unwrap_or_default()).collect()
}

/// The values of an array of a `Wide` column.
pub(crate) fn wides_from_array(array: &dyn Array) -> Vec<i128> {
    if let Some(uuids) = array.as_fixed_size_binary_opt() {
        return wides_from_uuids(uuids);
    }
    if let Some(intervals) = array.as_primitive_opt() {
        return wides_from_intervals(intervals);
    }
    match array.as_primitive_opt::<UInt64Type>() {
        Some(unsigned) => unsigned.values().iter().map(|&value| i128::from(value)).collect(),
        None => array.as_primitive::<arrow::datatypes::Decimal128Type>().values().to_vec(),
    }
}

/// The values of an array of a `Float` column.
pub(crate) fn floats_from_array(array: &dyn Array) -> Vec<f64> {
    match array.as_primitive_opt::<Float32Type>() {
        Some(single) => single.values().iter().map(|&value| f64::from(value)).collect(),
        None => array.as_primitive::<Float64Type>().values().to_vec(),
    }
}

/// An `Integer` column's array.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the column's type bounds them
pub(crate) fn array_from_integers(
    column_type: ColumnType,
    values: Vec<i64>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    fn collect<T: ArrowPrimitiveType>(
        values: &[i64],
        nulls: Option<NullBuffer>,
        narrow: impl Fn(i64) -> T::Native,
    ) -> PrimitiveArray<T> {
        let values = values.iter().map(|&value| narrow(value)).collect::<Vec<_>>();
        PrimitiveArray::new(values.into(), nulls)
    }
    match column_type {
        ColumnType::Boolean => {
            let bits = BooleanBuffer::collect_bool(values.len(), |row| values[row] != 0);
            Arc::new(BooleanArray::new(bits, nulls))
        }
        ColumnType::Int8 => Arc::new(collect::<Int8Type>(&values, nulls, |value| value as i8)),
        ColumnType::Int16 => Arc::new(collect::<Int16Type>(&values, nulls, |value| value as i16)),
        ColumnType::Int32 => Arc::new(collect::<Int32Type>(&values, nulls, |value| value as i32)),
        ColumnType::UInt8 => Arc::new(collect::<UInt8Type>(&values, nulls, |value| value as u8)),
        ColumnType::UInt16 => Arc::new(collect::<UInt16Type>(&values, nulls, |value| value as u16)),
        ColumnType::UInt32 => Arc::new(collect::<UInt32Type>(&values, nulls, |value| value as u32)),
        ColumnType::Date => Arc::new(collect::<Date32Type>(&values, nulls, |value| value as i32)),
        ColumnType::Int64 => Arc::new(PrimitiveArray::<Int64Type>::new(values.into(), nulls)),
        ColumnType::Time => {
            Arc::new(PrimitiveArray::<Time64MicrosecondType>::new(values.into(), nulls))
        }
        ColumnType::Timestamp => {
            Arc::new(PrimitiveArray::<TimestampMicrosecondType>::new(values.into(), nulls))
        }
        ColumnType::TimestampUtc => Arc::new(
            PrimitiveArray::<TimestampMicrosecondType>::new(values.into(), nulls)
                .with_timezone("UTC"),
        ),
        ColumnType::Decimal { precision, scale } => {
            let values = values.iter().map(|&value| i128::from(value)).collect::<Vec<_>>();
            Arc::new(
                Decimal128Array::new(values.into(), nulls)
                    .with_data_type(arrow::datatypes::DataType::Decimal128(precision, scale)),
            )
        }
        other => unreachable!("{other} is not kept as integers"),
    }
}

/// A `Wide` column's array.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the column's type bounds them
pub(crate) fn array_from_wides(
    column_type: ColumnType,
    values: Vec<i128>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    if column_type == ColumnType::Uuid {
        return Arc::new(uuids_from_wides(&values, nulls));
    }
    if column_type == ColumnType::Interval {
        return intervals_from_wides(&values, nulls);
    }
    if column_type == ColumnType::UInt64 {
        let values = values.iter().map(|&value| value as u64).collect::<Vec<_>>();
        return Arc::new(PrimitiveArray::<UInt64Type>::new(values.into(), nulls));
    }
    Arc::new(Decimal128Array::new(values.into(), nulls).with_data_type(column_type.arrow()))
}

/// A `Float` column's array. Its NaNs are positive ones: what else computes with them takes negative ones
/// for less than all numbers.
#[allow(clippy::cast_possible_truncation)] // a single-precision column holds such values only
pub(crate) fn array_from_floats(
    column_type: ColumnType,
    mut values: Vec<f64>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = f64::NAN);
    if column_type == ColumnType::Float32 {
        let values = values.iter().map(|&value| value as f32).collect::<Vec<_>>();
        return Arc::new(PrimitiveArray::<Float32Type>::new(values.into(), nulls));
    }
    Arc::new(PrimitiveArray::<Float64Type>::new(values.into(), nulls))
}
