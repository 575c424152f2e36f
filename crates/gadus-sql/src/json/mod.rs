//! JSON: documents as texts that are checked when they are stored, and what is asked of them.
//!
//! - JSON stays as it was given, with its blanks and the order of its keys. JSONB is stored as PostgreSQL writes it.
//! - In plans JSONB is of an Arrow type of its own, and is compared by keys; both leave as texts of an extension type.
//! - Kernels over texts are those of `gadus-functions`; `scalar_functions/documents.rs` has their signatures.

mod built;
mod conversions;
mod functions;
mod operators;
mod sets;
mod spelling;
mod values;
mod writers;

pub(crate) use built::as_json;
pub use built::json_texts;
pub(crate) use conversions::{key_of, plain_jsonb, scalar_text, shown, to_json, to_jsonb};
pub(crate) use functions::{document, json_functions};
pub(crate) use operators::{JsonOperators, question_marks};
pub(crate) use sets::{SetFunction, ordinals, set_of};
pub(crate) use spelling::respell;
pub(crate) use values::{Form, JsonType, build};

use crate::error::from_datafusion;
use crate::scalar_functions::of_function;
use arrow::array::{ArrayRef, AsArray, StringViewBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use gadus_engine::{ColumnType, Result};
use gadus_functions::json as kernels;
use std::sync::Arc;

/// Type of JSONB in plans: the text that PostgreSQL writes. No other values of a plan are of that Arrow type.
pub(crate) const JSONB: DataType = DataType::LargeUtf8;

/// Returns true for a column that holds documents.
pub(crate) fn is_document(field: &Field) -> bool {
    matches!(ColumnType::from_field(field), Some(ColumnType::Json | ColumnType::Jsonb))
}

/// Returns true for a column that holds JSONB as texts.
pub(crate) fn is_jsonb_text(field: &Field) -> bool {
    *field.data_type() == DataType::Utf8View
        && ColumnType::from_field(field) == Some(ColumnType::Jsonb)
}

/// Returns texts as the documents that they are.
///
/// # Errors
/// 22P02 of texts that are none.
pub(crate) fn checked(array: &ArrayRef) -> Result<ArrayRef> {
    let texts = cast(array, &DataType::Utf8View)?;
    for text in texts.as_string_view().iter().flatten() {
        kernels::check_json(text).map_err(|error| from_datafusion(of_function(error)))?;
    }
    Ok(texts)
}

/// Returns texts as the JSONB that they are.
///
/// # Errors
/// 22P02 of texts that are none.
pub(crate) fn normalized(array: &ArrayRef) -> Result<ArrayRef> {
    let texts = cast(array, &DataType::Utf8View)?;
    let mut documents = StringViewBuilder::with_capacity(texts.len());
    for text in texts.as_string_view() {
        let document = text.map(kernels::normalized).transpose();
        let document = document.map_err(|error| from_datafusion(of_function(error)))?;
        documents.append_option(document);
    }
    Ok(Arc::new(documents.finish()))
}
