//! What is wrong with a record that cannot be read: told with its line, its column and its value.
//!
//! - What is told is bounded, however long the record is.

use super::form::{Records, RowsOfText, TextForm};
use crate::error::input;
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use gadus_engine::{ColumnType, Error, Reason, Result};
use std::sync::Arc;

/// What is told of a record's text, and of a value's.
const TEXT_BYTES_MAX: usize = 16 << 10;
const VALUE_BYTES_MAX: usize = 256;

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reject {
    pub(crate) file: Arc<str>,
    /// That on which it begins.
    pub(crate) line: u64,
    pub(crate) column: Option<String>,
    /// One of a few words, as DuckDB has them.
    pub(crate) error: &'static str,
    pub(crate) message: String,
    pub(crate) text: String,
}

impl Reject {
    pub(crate) fn to_error(&self) -> Error {
        let column = self.column.as_ref().map(|column| format!(", column \"{column}\""));
        let column = column.unwrap_or_default();
        let Self { file, line, message, .. } = self;
        input(format!("{file}: line {line}{column}: {message}")).because(Reason::InvalidText)
    }
}

/// Whether values of a column of the file fit where they go; a value that was read may not.
pub(crate) type Fits = dyn Fn(usize, &ArrayRef) -> Result<()> + Send + Sync;

/// What is wrong with a record of CSV that fails alone with `error`.
pub(super) fn what_is_wrong(
    rows: &RowsOfText,
    path: &Arc<str>,
    record: Records<'_>,
    error: &Error,
    fits: Option<&Fits>,
) -> Reject {
    let text = record.bytes();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let told = |column: Option<usize>, error, message: String| Reject {
        file: path.clone(),
        line: record.line,
        column: column.map(|column| rows.schema.field(column).name().clone()),
        error,
        message,
        text: shortened(&String::from_utf8_lossy(text), TEXT_BYTES_MAX),
    };
    let TextForm::Csv { delimiter, .. } = rows.form else {
        return told(None, "CAST", error.message().to_owned());
    };
    let values = values(text, delimiter);
    let (has, wants) = (values.len(), rows.schema.fields().len());
    if has != wants {
        let message = format!("{has} values for {wants} columns");
        return match has < wants {
            true => told(Some(has), "MISSING COLUMNS", message),
            false => told(None, "TOO MANY COLUMNS", message),
        };
    }
    // Whatever else is wrong, no value is read of a record that is not text.
    if let Some(column) = values.iter().position(|value| std::str::from_utf8(value).is_err()) {
        return told(Some(column), "INVALID ENCODING", "the value is not UTF-8".to_owned());
    }
    for &column in &rows.projection {
        let alone = RowsOfText { projection: vec![column], rejects: None, ..rows.clone() };
        let value = shortened(&String::from_utf8_lossy(&values[column]), VALUE_BYTES_MAX);
        let Ok(batches) = alone.batches(record.bytes()) else {
            let data_type = type_name(rows.schema.field(column).data_type());
            return told(Some(column), "CAST", format!("'{value}' is no {data_type}"));
        };
        let mut arrays = batches.iter().filter_map(|batch| batch.columns().first());
        if let Some(wrong) =
            fits.and_then(|fits| arrays.find_map(|array| fits(column, array).err()))
        {
            return told(Some(column), "CAST", format!("'{value}': {}", wrong.message()));
        }
    }
    told(None, "CAST", error.message().to_owned())
}

/// The values of a record.
pub(super) fn values(record: &[u8], delimiter: u8) -> Vec<Vec<u8>> {
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
