//! Values in PostgreSQL's binary forms.

use super::types::{plain, type_of_elements};
use super::{Type, Writer, is_null, known, numeric, put_behind_length, text_writer};
use crate::error::Failure;
use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int16Type,
    Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use bytes::{BufMut, BytesMut};
use gadus::{INTERVAL, Interval, TextSettings};
use std::sync::Arc;

/// Days from 1970-01-01 to 2000-01-01, where PostgreSQL's time begins.
pub(super) const EPOCH_DAYS: i32 = 10_957;
/// The same in microseconds.
pub(super) const EPOCH_MICROSECONDS: i64 = EPOCH_DAYS as i64 * MICROSECONDS_A_DAY;

pub(super) const MICROSECONDS_A_DAY: i64 = 86_400_000_000;

/// What writes values of a column in binary.
///
/// # Errors
/// `0A000` for a type that has neither a binary form nor a text.
pub(crate) fn binary_writer<'a>(
    column: &'a dyn Array,
    times: &Arc<TextSettings>,
) -> Result<Writer<'a>, Failure> {
    if let Some(plain) = plain(column.data_type()) {
        let column = cast(column, &plain).map_err(gadus::Error::from)?;
        return owned(column, times);
    }
    Ok(match column.data_type() {
        DataType::Boolean => {
            let values = known(column.as_boolean_opt())?;
            Box::new(|row, body| body.put_u8(values.value(row).into()))
        }
        DataType::Int16 => {
            let values = known(column.as_primitive_opt::<Int16Type>())?;
            Box::new(|row, body| body.put_i16(values.value(row)))
        }
        DataType::Int32 => {
            let values = known(column.as_primitive_opt::<Int32Type>())?;
            Box::new(|row, body| body.put_i32(values.value(row)))
        }
        DataType::Int64 => {
            let values = known(column.as_primitive_opt::<Int64Type>())?;
            Box::new(|row, body| body.put_i64(values.value(row)))
        }
        DataType::Float32 => {
            let values = known(column.as_primitive_opt::<Float32Type>())?;
            Box::new(|row, body| body.put_f32(values.value(row)))
        }
        DataType::Float64 => {
            let values = known(column.as_primitive_opt::<Float64Type>())?;
            Box::new(|row, body| body.put_f64(values.value(row)))
        }
        DataType::Decimal128(_, scale) => {
            let values = known(column.as_primitive_opt::<Decimal128Type>())?;
            Box::new(|row, body| numeric::put_binary(body, values.value(row), *scale))
        }
        DataType::Decimal256(_, scale) => {
            let values = known(column.as_primitive_opt::<Decimal256Type>())?;
            Box::new(|row, body| {
                numeric::put_wide_binary(body, &values.value(row).to_string(), *scale);
            })
        }
        DataType::BinaryView => {
            let values = known(column.as_binary_view_opt())?;
            Box::new(|row, body| body.put_slice(values.value(row)))
        }
        DataType::Date32 => {
            let values = known(column.as_primitive_opt::<Date32Type>())?;
            Box::new(|row, body| body.put_i32(since_2000(values.value(row))))
        }
        DataType::Time64(_) => {
            let values = known(column.as_primitive_opt::<Time64MicrosecondType>())?;
            Box::new(|row, body| body.put_i64(values.value(row)))
        }
        DataType::Timestamp(..) => {
            let values = known(column.as_primitive_opt::<TimestampMicrosecondType>())?;
            Box::new(|row, body| {
                body.put_i64(match values.value(row) {
                    infinity @ (i64::MIN | i64::MAX) => infinity,
                    value => value.saturating_sub(EPOCH_MICROSECONDS),
                });
            })
        }
        DataType::Interval(_) | DataType::Duration(_) => interval_writer(column, times)?,
        DataType::List(_) => list_writer(known(column.as_list_opt::<i32>())?, times)?,
        // Text is the same in both.
        _ => text_writer(column, times)?,
    })
}

fn interval_writer<'a>(
    column: &'a dyn Array,
    times: &Arc<TextSettings>,
) -> Result<Writer<'a>, Failure> {
    if *column.data_type() != INTERVAL {
        return owned(cast(column, &INTERVAL).map_err(gadus::Error::from)?, times);
    }
    let values = known(column.as_primitive_opt::<IntervalMonthDayNanoType>())?;
    Ok(Box::new(move |row, body| {
        let value = Interval::from_arrow(values.value(row));
        body.put_i64(value.microseconds);
        body.put_i32(value.days);
        body.put_i32(value.months);
    }))
}

/// A writer that keeps its column.
fn owned(column: ArrayRef, times: &Arc<TextSettings>) -> Result<Writer<'static>, Failure> {
    super::kept(column, |column| binary_writer(column, times))
}

/// Returns the days since 2000 of days since 1970; the least and the greatest are the infinities.
fn since_2000(days: i32) -> i32 {
    match days {
        infinity @ (i32::MIN | i32::MAX) => infinity,
        days => days.saturating_sub(EPOCH_DAYS),
    }
}

/// Number of dimensions, where NULLs may be, the elements' type, for each dimension its length and the first index, and the
/// elements in their order. An array without elements has no dimension.
fn list_writer<'a>(lists: &'a ListArray, times: &Arc<TextSettings>) -> Result<Writer<'a>, Failure> {
    let mut levels = vec![lists];
    let mut values = lists.values();
    while let Some(inner) = values.as_list_opt::<i32>() {
        levels.push(inner);
        values = inner.values();
    }
    let element = match levels.last().map(|innermost| innermost.data_type()) {
        Some(DataType::List(field)) => type_of_elements(field),
        _ => Type::Text,
    };
    let write: Writer<'a> = match (element, values.as_string_view_opt()) {
        (Type::Numeric, Some(texts)) => {
            Box::new(|row, body| numeric::put_binary_of_text(body, texts.value(row)))
        }
        _ => binary_writer(&**values, times)?,
    };
    Ok(Box::new(move |row, body| {
        let (mut start, mut end, mut lengths) = (row, row + 1, Vec::with_capacity(levels.len()));
        for level in &levels {
            let bound = |at: usize| usize::try_from(level.value_offsets()[at]).unwrap_or(0);
            lengths.push(if start < end { bound(start + 1) - bound(start) } else { 0 });
            (start, end) = (bound(start), bound(end));
        }
        let has_nulls = (start..end).any(|index| is_null(&**values, index));
        let integer = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        body.put_i32(if start == end { 0 } else { integer(levels.len()) });
        body.put_i32(has_nulls.into());
        body.put_u32(element.oid());
        if start == end {
            return;
        }
        for length in lengths {
            body.put_i32(integer(length));
            body.put_i32(1);
        }
        for index in start..end {
            match is_null(&**values, index) {
                true => body.put_i32(-1),
                false => put_element(body, index, &write),
            }
        }
    }))
}

fn put_element(body: &mut BytesMut, index: usize, write: &Writer<'_>) {
    put_behind_length(body, |body| write(index, body));
}
