//! Values between Arrow and PostgreSQL's text and binary forms.
//!
//! - A type that PostgreSQL has not is sent as the next that holds all its values; one that has no such
//!   type is sent as text.

mod binary;
mod list;
mod numeric;
mod parameter;
mod text;
mod types;
mod vector;

pub(crate) use binary::binary_writer;
pub(crate) use list::list;
pub(crate) use parameter::{binary_parameter, parameter};
pub(crate) use text::text_writer;
pub(crate) use types::{Type, modifier, oid_of, parameter_oid_of};

use crate::error::{Failure, SqlState};
use crate::protocol::Field;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field as ArrowField, Schema};
use bytes::{BufMut, BytesMut};
use gadus::{
    Characters, Enum, JSON_EXTENSION, JSONB_EXTENSION, NUMERIC_EXTENSION, TextSettings, enum_number,
};
use std::sync::Arc;
use vector::{vector_oid, vector_writer};

/// Writes the value of one row of a column, which is not NULL.
pub(crate) type Writer<'a> = Box<dyn Fn(usize, &mut BytesMut) + Send + Sync + 'a>;

/// The columns of a result as clients are told of them.
///
/// `names` are those of the columns where it has as many; `formats` is empty for text everywhere, or has one format for all columns or one for each.
///
/// # Errors
/// `08P01` where it has another number of formats, or one that is neither text nor binary.
pub(crate) fn fields(
    schema: &Schema,
    names: &[String],
    formats: &[i16],
) -> Result<Vec<Field>, Failure> {
    let columns = schema.fields();
    if !(formats.len() < 2 || formats.len() == columns.len()) {
        let text = format!("{} formats for {} columns", formats.len(), columns.len());
        return Err(Failure::new(SqlState::PROTOCOL_VIOLATION, text));
    }
    let fields = columns.iter().enumerate().map(|(index, column)| {
        let oid = oid_of_column(column);
        let format = formats.get(index).or(formats.first().filter(|_| formats.len() == 1));
        let name = names.get(index).filter(|_| names.len() == columns.len());
        Ok(Field {
            name: name.unwrap_or(column.name()).clone(),
            oid,
            size: Type::of(oid).map_or(-1, Type::size),
            modifier: modifier_of_column(column),
            format: checked_format(format.copied().unwrap_or(0))?,
        })
    });
    fields.collect()
}

/// The number of the type that values of a column are sent as.
pub(crate) fn oid_of_column(column: &ArrowField) -> u32 {
    if let Some(of) = Enum::of_field(column) {
        return enum_number(of);
    }
    if let Some(of) = Characters::of_field(column) {
        return type_of_characters(of).oid();
    }
    match column.extension_type_name() {
        Some(JSON_EXTENSION) => Type::Json.oid(),
        Some(JSONB_EXTENSION) => Type::Jsonb.oid(),
        Some(NUMERIC_EXTENSION) => Type::Numeric.oid(),
        _ => vector_oid(column).unwrap_or_else(|| oid_of(column.data_type())),
    }
}

fn type_of_characters(of: Characters) -> Type {
    match of {
        Characters::Varchar(_) => Type::Varchar,
        Characters::Char(_) => Type::Bpchar,
        Characters::Name => Type::Name,
        Characters::Byte => Type::Char,
    }
}

/// The modifier of the type that values of a column are sent as; -1 if there is none.
fn modifier_of_column(column: &ArrowField) -> i32 {
    match Characters::of_field(column) {
        // PostgreSQL counts the four bytes before a value.
        Some(Characters::Varchar(length) | Characters::Char(length)) => {
            i32::try_from(length).map_or(-1, |length| length.saturating_add(4))
        }
        _ => modifier(column.data_type()),
    }
}

/// A format that there is: 0 for text, 1 for binary.
pub(crate) fn checked_format(format: i16) -> Result<i16, Failure> {
    match format {
        0 | 1 => Ok(format),
        other => {
            let text = format!("there is no format {other}: 0 is text, 1 binary");
            Err(Failure::new(SqlState::PROTOCOL_VIOLATION, text))
        }
    }
}

/// Version before the text of JSONB in binary.
pub(crate) const JSONB_VERSION: u8 = 1;

/// The rows of a batch, to be written one by one.
pub(crate) struct Rows<'a> {
    batch: &'a RecordBatch,
    writers: Vec<Writer<'a>>,
}

impl<'a> Rows<'a> {
    /// With each column as the type of this number, 0 for its own, and in its format; times in a session's zone and styles.
    ///
    /// # Errors
    /// `0A000` for a type that has no form.
    pub(crate) fn new(
        batch: &'a RecordBatch,
        columns: impl Iterator<Item = (u32, i16)>,
        times: &Arc<TextSettings>,
    ) -> Result<Self, Failure> {
        let writers = batch.columns().iter().zip(columns);
        let writers = writers.map(|(column, of)| writer_as(column, of, times));
        Ok(Self { batch, writers: writers.collect::<Result<_, _>>()? })
    }

    /// The values of a row, each behind its length, -1 for NULL.
    pub(crate) fn put(&self, row: usize, body: &mut BytesMut) {
        body.put_u16(u16::try_from(self.writers.len()).unwrap_or(u16::MAX));
        for (column, write) in self.batch.columns().iter().zip(&self.writers) {
            if is_null(&**column, row) {
                body.put_i32(-1);
            } else {
                put_behind_length(body, |body| write(row, body));
            }
        }
    }
}

/// What writes values of a column as those of a type, 0 for its own.
fn writer_as<'a>(
    column: &'a ArrayRef,
    (oid, format): (u32, i16),
    times: &Arc<TextSettings>,
) -> Result<Writer<'a>, Failure> {
    match (vector_writer(&**column, oid, format)?, format) {
        (Some(writer), _) => Ok(writer),
        (None, 0) => text_writer(&**column, times),
        (None, _) if oid == Type::Numeric.oid() && *column.data_type() == DataType::Utf8View => {
            let texts = known(column.as_string_view_opt())?;
            Ok(Box::new(|row, body| numeric::put_binary_of_text(body, texts.value(row))))
        }
        (None, _) if oid == Type::Jsonb.oid() => {
            let write = text_writer(&**column, times)?;
            Ok(Box::new(move |row, body| {
                body.put_u8(JSONB_VERSION);
                write(row, body);
            }))
        }
        (None, _) => binary_writer(&**column, times),
    }
}

/// Whether a value is NULL, also in a column that is nothing else.
pub(crate) fn is_null(column: &dyn Array, row: usize) -> bool {
    column.is_null(row) || column.data_type().is_null()
}

/// Writes what `write` writes behind its length.
pub(crate) fn put_behind_length(body: &mut BytesMut, write: impl FnOnce(&mut BytesMut)) {
    let start = body.len();
    body.put_i32(0);
    write(body);
    let length = i32::try_from(body.len() - start - 4).unwrap_or(i32::MAX);
    body[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// What writes the values of a column that is made for it: they are written once, and given out then.
fn kept(
    column: ArrayRef,
    writer: impl for<'a> Fn(&'a dyn Array) -> Result<Writer<'a>, Failure>,
) -> Result<Writer<'static>, Failure> {
    let (mut values, mut ends) = (BytesMut::new(), Vec::with_capacity(column.len()));
    let write = writer(&*column)?;
    for row in 0..column.len() {
        if !is_null(&*column, row) {
            write(row, &mut values);
        }
        ends.push(values.len());
    }
    Ok(Box::new(move |row, body| {
        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
        body.put_slice(&values[start..ends[row]]);
    }))
}

/// The column as the array that its type says it is.
fn known<T>(column: Option<T>) -> Result<T, Failure> {
    column.ok_or_else(|| Failure::new(SqlState::INTERNAL, "a column is not of its type"))
}

#[cfg(test)]
mod tests;
