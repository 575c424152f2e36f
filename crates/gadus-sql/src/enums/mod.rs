//! Enumerations: what their names mean, casts, and their functions.
//!
//! - A value is a text for DataFusion; the field of what gives it names the type ([`Enum::of_field`]). Columns, casts and
//!   the functions here say so, and what stands beside such a value is read as one.
//! - Texts of the catalog, CHECKs and views among them, name types as statements do. Only right before something is planned
//!   each name becomes the whole type ([`resolve`]), so that labels that are added are known everywhere at once.
//! - What is sorted and compared by the labels' order is not decided here.

mod casts;
mod functions;
mod named;

pub(crate) use casts::{beside, called, in_union};
pub(crate) use functions::enum_functions;
pub(crate) use named::{
    Named, each_type, is_named, known_or_text, of_columns, of_type, resolve, resolve_columns,
    unknown_type, with_types_of,
};

use crate::error::input;
use arrow::array::{ArrayRef, AsArray, StringViewBuilder};
use arrow::datatypes::DataType;
use gadus_engine::{Enum, Error, Reason, Result, schema_and_name};
use std::sync::Arc;

/// Texts as the labels that they are; what is none is NULL if it may be.
///
/// # Errors
/// `Input` where a text is no label.
pub(crate) fn labels(array: &ArrayRef, of: &Enum, or_null: bool) -> Result<ArrayRef> {
    let texts = arrow::compute::cast(array, &DataType::Utf8View)?;
    let wrong = |text: &&str| of.place(text).is_none();
    match texts.as_string_view().iter().flatten().find(wrong) {
        None => Ok(texts),
        Some(text) if !or_null => Err(no_label(of, text)),
        Some(_) => {
            let mut labels = StringViewBuilder::with_capacity(texts.len());
            let texts = texts.as_string_view().iter();
            texts.for_each(|text| labels.append_option(text.filter(|text| !wrong(text))));
            Ok(Arc::new(labels.finish()))
        }
    }
}

/// The error of a text that is no label, in PostgreSQL's words.
pub(crate) fn no_label(of: &Enum, text: &str) -> Error {
    let (name, shown) = (schema_and_name(of.name()).1, text.chars().take(100).collect::<String>());
    input(format!("invalid input value for enum {name}: \"{shown}\"")).because(Reason::InvalidText)
}
