//! Values as text, as PostgreSQL writes them.

use super::binary::MICROSECONDS_A_DAY;
use super::types::plain;
use super::{Writer, is_null, known, numeric};
use crate::error::{Failure, SqlState};
use arrow::array::types::IntervalMonthDayNanoType;
use arrow::array::{Array, ArrayRef, AsArray, ListArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bytes::{BufMut, BytesMut};
use gadus::{
    INTERVAL, Interval, UUID, json_texts, uuid_texts, write_double, write_element, write_real,
};
use gadus_base::civil;
use std::fmt::Write;
use std::sync::Arc;

const SECOND: i64 = 1_000_000;

/// What writes values of a column as text.
///
/// # Errors
/// `0A000` for a type that has no text.
pub(crate) fn text_writer(column: &dyn Array) -> Result<Writer<'_>, Failure> {
    if let Some(plain) = plain_column(column)? {
        return owned(plain);
    }
    Ok(match column.data_type() {
        DataType::Boolean => {
            let values = known(column.as_boolean_opt())?;
            Box::new(|row, body| body.put_u8(if values.value(row) { b't' } else { b'f' }))
        }
        DataType::Int16 => {
            let values = known(column.as_primitive_opt::<Int16Type>())?;
            Box::new(|row, body| shown(body, values.value(row)))
        }
        DataType::Int32 => {
            let values = known(column.as_primitive_opt::<Int32Type>())?;
            Box::new(|row, body| shown(body, values.value(row)))
        }
        DataType::Int64 => {
            let values = known(column.as_primitive_opt::<Int64Type>())?;
            Box::new(|row, body| shown(body, values.value(row)))
        }
        DataType::Float32 => {
            let values = known(column.as_primitive_opt::<Float32Type>())?;
            Box::new(|row, body| {
                let value = values.value(row);
                let _ = write_real(body, value);
            })
        }
        DataType::Float64 => {
            let values = known(column.as_primitive_opt::<Float64Type>())?;
            Box::new(|row, body| {
                let value = values.value(row);
                let _ = write_double(body, value);
            })
        }
        DataType::Decimal128(_, scale) => {
            let values = known(column.as_primitive_opt::<Decimal128Type>())?;
            Box::new(|row, body| numeric::put_text(body, values.value(row), *scale))
        }
        DataType::Utf8View => {
            let values = known(column.as_string_view_opt())?;
            Box::new(|row, body| body.put_slice(values.value(row).as_bytes()))
        }
        DataType::BinaryView => {
            let values = known(column.as_binary_view_opt())?;
            Box::new(|row, body| put_hex(body, values.value(row)))
        }
        DataType::Date32 => {
            let values = known(column.as_primitive_opt::<Date32Type>())?;
            Box::new(|row, body| put_date(body, values.value(row).into(), ""))
        }
        DataType::Time64(_) => {
            let values = known(column.as_primitive_opt::<Time64MicrosecondType>())?;
            Box::new(|row, body| put_time(body, values.value(row)))
        }
        DataType::Timestamp(_, zone) => {
            let values = known(column.as_primitive_opt::<TimestampMicrosecondType>())?;
            let offset = if zone.is_some() { "+00" } else { "" };
            Box::new(move |row, body| put_timestamp(body, values.value(row), offset))
        }
        DataType::Interval(_) | DataType::Duration(_) => interval_writer(column)?,
        DataType::List(_) => {
            let lists = known(column.as_list_opt::<i32>())?;
            list_writer(lists)?
        }
        DataType::Null => Box::new(|_, _| {}),
        _ => return owned(shown_otherwise(column)?),
    })
}

/// The values of a column as those of a more common type; none where it has one.
fn plain_column(column: &dyn Array) -> Result<Option<ArrayRef>, Failure> {
    if *column.data_type() == UUID {
        return Ok(Some(Arc::new(uuid_texts(known(column.as_fixed_size_binary_opt())?))));
    }
    let plain = plain(column.data_type()).map(|plain| cast(column, &plain)).transpose();
    Ok(plain.map_err(gadus::Error::from)?)
}

fn interval_writer(column: &dyn Array) -> Result<Writer<'_>, Failure> {
    if *column.data_type() != INTERVAL {
        return owned(cast(column, &INTERVAL).map_err(gadus::Error::from)?);
    }
    let values = known(column.as_primitive_opt::<IntervalMonthDayNanoType>())?;
    Ok(Box::new(|row, body| shown(body, Interval::from_arrow(values.value(row)))))
}

/// A writer that keeps its column.
fn owned(column: ArrayRef) -> Result<Writer<'static>, Failure> {
    super::kept(column, text_writer)
}

/// The values of a column that has no form of PostgreSQL's: structures and maps as JSON, others as Arrow shows them.
fn shown_otherwise(column: &dyn Array) -> Result<ArrayRef, Failure> {
    if matches!(column.data_type(), DataType::Struct(_) | DataType::Map(..)) {
        let texts = json_texts(&column.slice(0, column.len()));
        return Ok(texts.map_err(gadus::Error::from)?);
    }
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(column, &options);
    let formatter = formatter
        .map_err(|error| Failure::new(SqlState::FEATURE_NOT_SUPPORTED, error.to_string()))?;
    let text = |row| (!is_null(column, row)).then(|| formatter.value(row).to_string());
    Ok(Arc::new((0..column.len()).map(text).collect::<StringArray>()))
}

fn shown(body: &mut BytesMut, value: impl std::fmt::Display) {
    // A buffer takes what it is given.
    let _ = write!(body, "{value}");
}

fn put_hex(body: &mut BytesMut, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    body.put_slice(b"\\x");
    for byte in bytes {
        body.put_u8(DIGITS[usize::from(byte >> 4)]);
        body.put_u8(DIGITS[usize::from(byte & 15)]);
    }
}

/// A date, `rest` behind it, and then whether it is before our era.
fn put_date(body: &mut BytesMut, days: i64, rest: &str) {
    let (year, month, day) = civil(days);
    let (year, era) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    shown(body, format_args!("{year:04}-{month:02}-{day:02}{rest}{era}"));
}

fn put_time(body: &mut BytesMut, microseconds: i64) {
    body.put_slice(clock_text(microseconds).as_bytes());
}

fn clock_text(microseconds: i64) -> String {
    let (seconds, rest) = (microseconds / SECOND, microseconds % SECOND);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    match rest {
        0 => clock,
        rest => format!("{clock}.{rest:06}").trim_end_matches('0').to_owned(),
    }
}

fn put_timestamp(body: &mut BytesMut, microseconds: i64, offset: &str) {
    let (days, rest) =
        (microseconds.div_euclid(MICROSECONDS_A_DAY), microseconds.rem_euclid(MICROSECONDS_A_DAY));
    put_date(body, days, &format!(" {}{offset}", clock_text(rest)));
}

/// `{a,"b c",NULL}`
fn list_writer(lists: &ListArray) -> Result<Writer<'_>, Failure> {
    let values = lists.values();
    let write = text_writer(&**values)?;
    let is_nested = matches!(values.data_type(), DataType::List(_));
    Ok(Box::new(move |row, body| {
        let offsets = lists.value_offsets();
        let bound = |at: usize| usize::try_from(offsets[at]).unwrap_or(0);
        body.put_u8(b'{');
        for (place, index) in (bound(row)..bound(row + 1)).enumerate() {
            if place > 0 {
                body.put_u8(b',');
            }
            if is_null(&**values, index) {
                body.put_slice(b"NULL");
                continue;
            }
            let mut element = BytesMut::new();
            write(index, &mut element);
            if is_nested {
                body.put_slice(&element);
                continue;
            }
            let mut written = String::new();
            write_element(&mut written, Some(&String::from_utf8_lossy(&element)));
            body.put_slice(written.as_bytes());
        }
        body.put_u8(b'}');
    }))
}
