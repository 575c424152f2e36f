//! Values as text, as PostgreSQL writes them.

use super::types::plain;
use super::{Writer, is_null, known, numeric};
use crate::error::{Failure, SqlState};
use arrow::array::{Array, ArrayRef, AsArray, ListArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use bytes::{BufMut, BytesMut};
use gadus::{INTERVAL, TextSettings, UUID, json_texts, time_writer, uuid_texts, write_element};
use std::fmt::Write;
use std::sync::Arc;

/// Bytes of the text of most points in time.
const TIME_BYTES_USUAL: usize = 32;

/// Returns the writer of a column's values as text, of times in the zone and the styles of a session.
///
/// # Errors
/// `0A000` for a type that has no text.
pub(crate) fn text_writer<'a>(
    column: &'a dyn Array,
    times: &Arc<TextSettings>,
) -> Result<Writer<'a>, Failure> {
    if let Some(plain) = plain_column(column)? {
        return owned(plain, times);
    }
    if let Some(write) = time_writer(column, times) {
        return Ok(Box::new(move |row, body| {
            let mut text = String::with_capacity(TIME_BYTES_USUAL);
            write(row, &mut text);
            body.put_slice(text.as_bytes());
        }));
    }
    let settings = times.clone();
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
            Box::new(move |row, body| {
                let _ = settings.write_real(body, values.value(row));
            })
        }
        DataType::Float64 => {
            let values = known(column.as_primitive_opt::<Float64Type>())?;
            Box::new(move |row, body| {
                let _ = settings.write_double(body, values.value(row));
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
            Box::new(move |row, body| put_bytes(body, values.value(row), &settings))
        }
        // Of a function of Arrow's, not of a column.
        DataType::Duration(_) => {
            return owned(cast(column, &INTERVAL).map_err(gadus::Error::from)?, times);
        }
        DataType::List(_) => {
            let lists = known(column.as_list_opt::<i32>())?;
            list_writer(lists, times)?
        }
        DataType::Null => Box::new(|_, _| {}),
        _ => return owned(shown_otherwise(column)?, times),
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

/// A writer that keeps its column.
fn owned(column: ArrayRef, times: &Arc<TextSettings>) -> Result<Writer<'static>, Failure> {
    super::kept(column, |column| text_writer(column, times))
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

/// Writes a byte string in the form that a session has set.
fn put_bytes(body: &mut BytesMut, bytes: &[u8], settings: &TextSettings) {
    if settings.escapes_bytes() {
        body.put_slice(settings.bytes_text(bytes).as_bytes());
        return;
    }
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    body.put_slice(b"\\x");
    for byte in bytes {
        body.put_u8(DIGITS[usize::from(byte >> 4)]);
        body.put_u8(DIGITS[usize::from(byte & 15)]);
    }
}

/// `{a,"b c",NULL}`
fn list_writer<'a>(lists: &'a ListArray, times: &Arc<TextSettings>) -> Result<Writer<'a>, Failure> {
    let values = lists.values();
    let write = text_writer(&**values, times)?;
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
