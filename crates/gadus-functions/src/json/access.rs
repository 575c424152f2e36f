//! Parts of a document, as the range of its text that they are: `->`, `->>`, `#>`, `#>>`.
//!
//! - Documents were checked when they were stored: their texts are scanned, not parsed.
//! - A part of JSON is as it was written; a part of JSONB's text is JSONB's text of the part.

use super::lexer::{Lexer, is_blank};
use super::path::integer;
use crate::error::{FunctionError, INVALID_PARAMETER, Result};
use std::borrow::Cow;

/// Type of documents: as they were written, or as values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// JSON
    Text,
    /// JSONB
    Binary,
}

/// Parts of a document.
#[derive(Debug)]
pub(super) enum Parts<'a> {
    /// Keys between their quotes, and values.
    Object(Vec<(&'a str, &'a str)>),
    Array(Vec<&'a str>),
    Scalar(&'a str),
}

/// Returns the member of a key; the last one of several.
///
/// # Errors
/// 22P02 and 22P05 of keys whose escapes mean nothing.
pub fn object_field<'a>(document: &'a str, key: &str) -> Result<Option<&'a str>> {
    let Parts::Object(pairs) = parts(document) else { return Ok(None) };
    for (known, value) in pairs.into_iter().rev() {
        if decoded(known)? == key {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Returns the element of a position, which counts from the end if it is negative.
#[must_use]
pub fn array_element(document: &str, index: i32, kind: DocumentKind) -> Option<&str> {
    let elements = match parts(document) {
        Parts::Array(elements) => elements,
        // JSONB stores a scalar as an array of one element.
        Parts::Scalar(value) if kind == DocumentKind::Binary => vec![value],
        _ => return None,
    };
    element(&elements, index)
}

/// Returns what a path leads to.
///
/// # Errors
/// As [`object_field`].
pub fn extract_path<'a>(document: &'a str, path: &[Option<&str>]) -> Result<Option<&'a str>> {
    let mut part = Some(trimmed(document));
    if path.contains(&None) {
        return Ok(None);
    }
    for step in path.iter().flatten() {
        let Some(document) = part else { return Ok(None) };
        part = match parts(document) {
            Parts::Object(_) => object_field(document, step)?,
            Parts::Array(elements) => integer(step).and_then(|index| element(&elements, index)),
            Parts::Scalar(_) => None,
        };
    }
    Ok(part)
}

/// Returns a value as a text: strings without their quotes; `None` for null.
///
/// # Errors
/// 22P02 and 22P05 of strings whose escapes mean nothing.
pub fn value_text(value: &str) -> Result<Option<Cow<'_, str>>> {
    let value = trimmed(value);
    match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => decoded(inner).map(Some),
        None if value == "null" => Ok(None),
        None => Ok(Some(Cow::Borrowed(value))),
    }
}

/// Returns the name of a document's type.
#[must_use]
pub fn type_name(document: &str) -> &'static str {
    match trimmed(document).bytes().next() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}

/// Returns the number of elements.
///
/// # Errors
/// 22023 of documents that are no arrays.
pub fn array_length(document: &str) -> Result<i32> {
    let message = match parts(document) {
        Parts::Array(elements) => return Ok(i32::try_from(elements.len()).unwrap_or(i32::MAX)),
        Parts::Object(_) => "cannot get array length of a non-array",
        Parts::Scalar(_) => "cannot get array length of a scalar",
    };
    Err(FunctionError::new(INVALID_PARAMETER, message))
}

/// Returns the text of a scalar that a cast to a type of SQL reads; `None` for the null of JSON.
///
/// # Errors
/// 22023 of values of another type of JSON.
pub fn scalar_for<'a>(document: &'a str, type_of_sql: &str) -> Result<&'a str> {
    let value = trimmed(document);
    let found = type_name(value);
    let wanted = if type_of_sql == "boolean" { "boolean" } else { "number" };
    if found == wanted {
        return Ok(value);
    }
    let found = if found == "number" { "numeric" } else { found };
    let message = format!("cannot cast jsonb {found} to type {type_of_sql}");
    Err(FunctionError::new(INVALID_PARAMETER, message))
}

fn element<'a>(elements: &[&'a str], index: i32) -> Option<&'a str> {
    let distance = usize::try_from(index.unsigned_abs()).ok()?;
    let place = if index < 0 { elements.len().checked_sub(distance)? } else { distance };
    elements.get(place).copied()
}

pub(super) fn trimmed(document: &str) -> &str {
    document.trim_matches(|c: char| c.is_ascii() && is_blank(c as u8))
}

/// Returns a string without its escapes.
pub(super) fn decoded(inner: &str) -> Result<Cow<'_, str>> {
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    Ok(Cow::Owned(Lexer::new(&format!("\"{inner}\""), true)?.value))
}

/// Returns the parts of a document.
pub(super) fn parts(document: &str) -> Parts<'_> {
    let document = trimmed(document);
    let bytes = document.as_bytes();
    let part = |from: usize, to: usize| document.get(from..to).unwrap_or_default();
    let (mut pairs, mut elements, mut at) = (Vec::new(), Vec::new(), 1);
    match bytes.first() {
        Some(b'{') => loop {
            at = skip_to_value(bytes, at);
            let end = value_end(bytes, at);
            if bytes.get(at) != Some(&b'"') {
                return Parts::Object(pairs);
            }
            let key = part(at + 1, end - 1);
            at = skip_to_value(bytes, end);
            let end = value_end(bytes, at);
            pairs.push((key, part(at, end)));
            at = end;
        },
        Some(b'[') => loop {
            at = skip_to_value(bytes, at);
            let end = value_end(bytes, at);
            if end == at || bytes.get(at) == Some(&b']') {
                return Parts::Array(elements);
            }
            elements.push(part(at, end));
            at = end;
        },
        _ => Parts::Scalar(document),
    }
}

/// Returns the position of the next value or closing bracket.
fn skip_to_value(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while bytes.get(at).is_some_and(|byte| is_blank(*byte) || matches!(byte, b',' | b':')) {
        at += 1;
    }
    at
}

/// Returns the position after a value.
fn value_end(bytes: &[u8], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                if depth == 0 {
                    return at;
                }
                depth -= 1;
                at += 1;
            }
            b',' | b':' if depth == 0 => return at,
            byte if depth == 0 && is_blank(*byte) => return at,
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

/// Returns the position after a string.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}
