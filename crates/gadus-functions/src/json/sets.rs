//! Elements, members and keys of a document, one row each.

use super::access::{DocumentKind, Parts, decoded, parts, value_text};
use crate::error::{FunctionError, INVALID_PARAMETER, Result};
use std::borrow::Cow;

/// Member of an object.
pub type Member<'a> = (Cow<'a, str>, &'a str);

/// Returns the elements of an array, for a function of this name.
///
/// # Errors
/// 22023 of documents that are no arrays.
pub fn array_elements<'a>(
    document: &'a str,
    function: &str,
    kind: DocumentKind,
) -> Result<Vec<&'a str>> {
    let message = match (parts(document), kind) {
        (Parts::Array(elements), _) => return Ok(elements),
        (Parts::Object(_), DocumentKind::Text) => format!("cannot call {function} on a non-array"),
        (Parts::Scalar(_), DocumentKind::Text) => format!("cannot call {function} on a scalar"),
        (Parts::Object(_), DocumentKind::Binary) => {
            "cannot extract elements from an object".to_owned()
        }
        (Parts::Scalar(_), DocumentKind::Binary) => {
            "cannot extract elements from a scalar".to_owned()
        }
    };
    Err(FunctionError::new(INVALID_PARAMETER, message))
}

/// Returns the members of an object, for a function of this name.
///
/// # Errors
/// 22023 of documents that are no objects.
pub fn object_members<'a>(
    document: &'a str,
    function: &str,
    kind: DocumentKind,
) -> Result<Vec<Member<'a>>> {
    let message = match (parts(document), kind) {
        (Parts::Object(pairs), _) => {
            let pairs = pairs.into_iter().map(|(key, value)| Ok((decoded(key)?, value)));
            return pairs.collect();
        }
        (Parts::Array(_), DocumentKind::Text) => "cannot deconstruct an array as an object".into(),
        (Parts::Scalar(_), DocumentKind::Text) => "cannot deconstruct a scalar".into(),
        (_, DocumentKind::Binary) => format!("cannot call {function} on a non-object"),
    };
    Err(FunctionError::new(INVALID_PARAMETER, message))
}

/// Returns the keys of an object, for a function of this name.
///
/// # Errors
/// 22023 of documents that are no objects.
pub fn object_keys<'a>(document: &'a str, function: &str) -> Result<Vec<Cow<'a, str>>> {
    let what = match parts(document) {
        Parts::Object(pairs) => return pairs.into_iter().map(|(key, _)| decoded(key)).collect(),
        Parts::Array(_) => "an array",
        Parts::Scalar(_) => "a scalar",
    };
    let message = format!("cannot call {function} on {what}");
    Err(FunctionError::new(INVALID_PARAMETER, message))
}

/// Returns elements as texts.
///
/// # Errors
/// 22P02 and 22P05 of strings whose escapes mean nothing.
pub fn element_texts<'a>(elements: &[&'a str]) -> Result<Vec<Option<Cow<'a, str>>>> {
    elements.iter().map(|element| value_text(element)).collect()
}
