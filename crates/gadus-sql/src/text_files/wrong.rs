//! What is wrong with a record that cannot be read: told with its line, its column and its value.
//!
//! - What is told is bounded, however long the record is.

use super::form::{Records, RowsOfText, TextForm};
use crate::error::input;
use arrow::datatypes::DataType;
use gadus_engine::{ColumnType, Error, Reason};
use std::sync::Arc;

/// What is told of a value.
const VALUE_BYTES_MAX: usize = 256;

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reject {
    pub(crate) file: Arc<str>,
    /// That on which it begins.
    pub(crate) line: u64,
    pub(crate) column: Option<String>,
    pub(crate) message: String,
}

impl Reject {
    pub(crate) fn to_error(&self) -> Error {
        let column = self.column.as_ref().map(|column| format!(", column \"{column}\""));
        let column = column.unwrap_or_default();
        let Self { file, line, message, .. } = self;
        input(format!("{file}: line {line}{column}: {message}")).because(Reason::InvalidText)
    }
}

/// What is wrong with a record of CSV that fails alone with `error`.
pub(super) fn what_is_wrong(
    rows: &RowsOfText,
    path: &str,
    record: Records<'_>,
    error: &Error,
) -> Reject {
    let text = record.bytes();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let told = |column: Option<usize>, message: String| Reject {
        file: path.into(),
        line: record.line,
        column: column.map(|column| rows.schema.field(column).name().clone()),
        message,
    };
    let TextForm::Csv { delimiter, .. } = rows.form else {
        return told(None, error.message().to_owned());
    };
    let values = values(text, delimiter);
    let (has, wants) = (values.len(), rows.schema.fields().len());
    if has != wants {
        let message = format!("{has} values for {wants} columns");
        return match has < wants {
            true => told(Some(has), message),
            false => told(None, message),
        };
    }
    for (&column, value) in rows.projection.iter().filter_map(|at| Some((at, values.get(*at)?))) {
        let Ok(value) = std::str::from_utf8(value) else {
            return told(Some(column), "the value is not UTF-8".to_owned());
        };
        let alone = RowsOfText { projection: vec![column], ..rows.clone() };
        let value = shortened(value, VALUE_BYTES_MAX);
        if alone.batches(record.bytes()).is_err() {
            let data_type = type_name(rows.schema.field(column).data_type());
            return told(Some(column), format!("'{value}' is no {data_type}"));
        }
    }
    told(None, error.message().to_owned())
}

/// The values of a record.
fn values(record: &[u8], delimiter: u8) -> Vec<Vec<u8>> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(delimiter).has_headers(false).flexible(true);
    let mut values = csv::ByteRecord::new();
    match reader.from_reader(record).read_byte_record(&mut values) {
        Ok(_) => values.iter().map(<[u8]>::to_vec).collect(),
        Err(_) => Vec::new(),
    }
}

/// A type as SQL calls it.
fn type_name(data_type: &DataType) -> String {
    ColumnType::from_arrow(data_type)
        .map_or_else(|| data_type.to_string(), |known| known.to_string())
}

/// A text that is told in part where it is long.
fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
