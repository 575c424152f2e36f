//! Writers of the values of an Arrow array as JSON.

use super::values::JsonType;
use crate::checked::float_texts;
use crate::executor::statement_times;
use crate::numerics::numeric_texts;
use crate::times::with_json_times;
use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, StringViewArray, StringViewBuilder, StructArray,
};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use gadus_engine::{UUID, uuid_texts};
use gadus_functions::FunctionError;
use gadus_functions::json::write_text;
use std::fmt::Write;
use std::sync::Arc;

/// Writer of the values of an array.
#[derive(Debug)]
pub(super) enum Writer {
    /// Values that are texts between quotes.
    Quoted(StringViewArray),
    /// Documents and booleans.
    Plain(StringViewArray, IsDocument),
    /// Numbers; NaN and infinities are texts.
    Numbers(StringViewArray),
    List(ListArray, Box<Writer>),
    Row(StructArray, Vec<(String, Writer)>),
}

/// True of documents, which cannot be keys.
pub(super) type IsDocument = bool;

/// Position of a key, for the error of NULL.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    /// Number of the argument of `json_build_object`.
    Json(usize),
    /// Number of the argument of `jsonb_build_object`.
    Jsonb(usize),
    /// Aggregate of members.
    Field,
}

impl Writer {
    pub(super) fn new(array: &ArrayRef, of: &JsonType) -> Result<Self> {
        Ok(match of {
            JsonType::List(element) => {
                let Some(lists) = array.as_list_opt::<i32>() else {
                    return internal_err!("{} as a list", array.data_type());
                };
                let is_nested = matches!(lists.values().data_type(), DataType::List(_));
                let inner = match is_nested {
                    true => Self::new(lists.values(), of)?,
                    false => Self::new(lists.values(), element)?,
                };
                Self::List(lists.clone(), Box::new(inner))
            }
            JsonType::Row(fields) => {
                let Some(rows) = array.as_struct_opt() else {
                    return internal_err!("{} as a row", array.data_type());
                };
                let mut writers = Vec::with_capacity(fields.len());
                for ((name, of), column) in fields.iter().zip(rows.columns()) {
                    writers.push((name.clone(), Self::new(column, of)?));
                }
                Self::Row(rows.clone(), writers)
            }
            JsonType::Boolean => Self::Plain(texts(array)?, false),
            JsonType::Document => Self::Plain(texts(array)?, true),
            JsonType::Number => Self::Numbers(texts(array)?),
            JsonType::Text => Self::Quoted(texts(array)?),
        })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Quoted(values) | Self::Plain(values, _) | Self::Numbers(values) => {
                values.is_null(row)
            }
            Self::List(lists, _) => lists.is_null(row),
            Self::Row(rows, _) => rows.is_null(row),
        }
    }

    /// Writes a value; the separator is between its own parts.
    pub(super) fn write(&self, row: usize, separator: &str, text: &mut String) {
        if self.is_null(row) {
            text.push_str("null");
            return;
        }
        match self {
            Self::Quoted(values) => write_text(text, values.value(row)),
            Self::Plain(values, _) => text.push_str(values.value(row)),
            Self::Numbers(values) => match values.value(row) {
                number if is_number(number) => text.push_str(number),
                other => write_text(text, other),
            },
            Self::List(..) => {
                text.push('[');
                self.write_elements(row, separator, text);
                text.push(']');
            }
            Self::Row(_, fields) => {
                text.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    text.push_str(if place > 0 { separator } else { "" });
                    write_text(text, name);
                    text.push(':');
                    value.write(row, ",", text);
                }
                text.push('}');
            }
        }
    }

    /// Returns the elements of a list, as rows of their writer.
    pub(super) fn elements(&self, row: usize) -> Vec<(&Writer, usize)> {
        let Self::List(lists, inner) = self else { return Vec::new() };
        let offsets = lists.value_offsets();
        let at = |row: usize| {
            offsets.get(row).and_then(|offset| usize::try_from(*offset).ok()).unwrap_or(0)
        };
        (at(row)..at(row + 1)).map(|element| (&**inner, element)).collect()
    }

    /// Writes the elements of a list.
    pub(super) fn write_elements(&self, row: usize, separator: &str, text: &mut String) {
        for (place, (inner, element)) in self.elements(row).into_iter().enumerate() {
            text.push_str(if place > 0 { separator } else { "" });
            inner.write(element, ",", text);
        }
    }

    /// Writes a value as a key, which is a text.
    pub(super) fn write_key(
        &self,
        row: usize,
        key: Key,
        text: &mut String,
    ) -> Result<(), FunctionError> {
        if self.is_null(row) {
            let (message, hint) = match key {
                Key::Json(number) => (
                    format!("argument {number} cannot be null"),
                    Some("Object keys should be text.".to_owned()),
                ),
                Key::Jsonb(number) => (format!("argument {number}: key must not be null"), None),
                Key::Field => ("field name must not be null".to_owned(), None),
            };
            return Err(refused(message, hint));
        }
        match self {
            Self::Quoted(values) | Self::Plain(values, false) | Self::Numbers(values) => {
                write_text(text, values.value(row));
                Ok(())
            }
            _ => {
                let message = "key value must be scalar, not array, composite, or json";
                Err(refused(message.to_owned(), None))
            }
        }
    }
}

fn refused(message: String, hint: Option<String>) -> FunctionError {
    FunctionError { sqlstate: "22023", message, detail: None, hint }
}

/// Returns true for numbers that JSON has: not NaN, not infinite.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    unsigned.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the texts of values.
fn texts(array: &ArrayRef) -> Result<StringViewArray> {
    let settings = || Arc::new(statement_times().settings.clone());
    let texts: ArrayRef = match array.data_type() {
        DataType::Float32 | DataType::Float64 => float_texts(array)?,
        DataType::Decimal128(..) | DataType::LargeBinary => numeric_texts(array)?,
        DataType::BinaryView => bytes_texts(array),
        uuid if *uuid == UUID => Arc::new(uuid_texts(array.as_fixed_size_binary())),
        _ => match with_json_times(array, &settings()) {
            Some(texts) => texts,
            None => cast(array, &DataType::Utf8View)?,
        },
    };
    Ok(texts.as_string_view().clone())
}

/// Returns bytes as PostgreSQL writes them.
fn bytes_texts(array: &ArrayRef) -> ArrayRef {
    let mut texts = StringViewBuilder::with_capacity(array.len());
    let mut text = String::new();
    for bytes in array.as_binary_view() {
        text.clear();
        text.push_str("\\x");
        for byte in bytes.unwrap_or_default() {
            // Writing to a String does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        texts.append_option(bytes.map(|_| &text));
    }
    Arc::new(texts.finish())
}
