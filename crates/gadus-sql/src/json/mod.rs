//! JSON: documents as texts that are checked when they are stored, and what is asked of them.
//!
//! - A document stays as it was given, with its blanks and the order of its keys, as in PostgreSQL's JSON and in DuckDB;
//!   JSONB is the same type. Two are equal where their texts are.
//! - What reaches into documents is `datafusion-functions-json`, by texts: what `->` gives is a document again. What makes
//!   them is Arrow's JSON writer.

mod built;
mod functions;
mod operators;
mod spelling;

pub(crate) use built::as_json;
pub use built::json_texts;
pub(crate) use functions::{document, json_functions};
pub(crate) use operators::{JsonOperators, question_marks};
pub(crate) use spelling::respell;

use crate::error::input;
use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use gadus_engine::{ColumnType, Reason, Result};
use jiter::{Jiter, JiterError};

/// Whether a column holds documents.
pub(crate) fn is_document(field: &Field) -> bool {
    ColumnType::from_field(field) == Some(ColumnType::Json)
}

/// Texts as the documents that they are.
///
/// # Errors
/// `Input` where one is none.
pub(crate) fn checked(array: &ArrayRef) -> Result<ArrayRef> {
    let texts = cast(array, &DataType::Utf8View)?;
    for text in texts.as_string_view().iter().flatten() {
        if let Err(error) = read(text) {
            let message = format!("invalid input syntax for type json: {error}");
            return Err(input(message).because(Reason::InvalidText));
        }
    }
    Ok(texts)
}

/// Reads a document to its end.
fn read(text: &str) -> std::result::Result<(), JiterError> {
    let mut reader = Jiter::new(text.as_bytes());
    reader.next_skip()?;
    reader.finish()
}
