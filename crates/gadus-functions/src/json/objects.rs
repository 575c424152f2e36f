//! Documents made of lists, and documents without nulls.

use super::parse::{parse, parse_normalized};
use super::value::write_text;
use crate::error::{FunctionError, INVALID_POSITION, NULL_NOT_ALLOWED, Result};

/// Removes members that are null, and all blanks.
///
/// # Errors
/// 22P02 of a text that is no document.
pub fn json_strip_nulls(document: &str) -> Result<String> {
    Ok(parse(document)?.without_nulls().compact())
}

/// Removes members that are null.
///
/// # Errors
/// 22P02 of a text that is no document.
pub fn jsonb_strip_nulls(document: &str) -> Result<String> {
    Ok(parse_normalized(document)?.without_nulls().spaced())
}

/// Writes a document on many lines, each four blanks deeper than what is around it.
///
/// # Errors
/// 22P02 of a text that is no document, 54000 if the result has more than `bytes_max` bytes.
pub fn jsonb_pretty(document: &str, bytes_max: usize) -> Result<String> {
    let mut text = String::new();
    parse_normalized(document)?.write_pretty(&mut text, 0);
    if text.len() > bytes_max { Err(FunctionError::too_large()) } else { Ok(text) }
}

/// Writes a document as JSONB.
///
/// # Errors
/// 22P02 of a text that is no document.
pub fn normalized(document: &str) -> Result<String> {
    Ok(parse_normalized(document)?.spaced())
}

/// Makes an object of keys and values in turns.
///
/// # Errors
/// 2202E of an odd number of texts, 22004 of a key that is NULL.
pub fn json_object(texts: &[Option<&str>]) -> Result<String> {
    if !texts.len().is_multiple_of(2) {
        let message = "array must have even number of elements";
        return Err(FunctionError::new(INVALID_POSITION, message));
    }
    object(texts.chunks_exact(2).map(|pair| (pair[0], pair[1])))
}

/// Makes an object of keys and values that are elements of an array of some dimensions; the last one has so many columns.
///
/// # Errors
/// As `json_object`, and 2202E of an array of two dimensions that has not two columns, or of more dimensions.
pub fn json_object_of_array(
    texts: &[Option<&str>],
    dimensions: i32,
    columns: i32,
) -> Result<String> {
    let message = match (dimensions, columns) {
        _ if texts.is_empty() => return json_object(texts),
        (1, _) | (2, 2) => return json_object(texts),
        (2, _) => "array must have two columns",
        _ => "wrong number of array subscripts",
    };
    Err(FunctionError::new(INVALID_POSITION, message))
}

/// Makes an object of keys and as many values.
///
/// # Errors
/// 2202E of lists of different lengths, 22004 of a key that is NULL.
pub fn json_object_of_lists(keys: &[Option<&str>], values: &[Option<&str>]) -> Result<String> {
    if keys.len() != values.len() {
        return Err(FunctionError::new(INVALID_POSITION, "mismatched array dimensions"));
    }
    object(keys.iter().copied().zip(values.iter().copied()))
}

fn object<'a>(pairs: impl Iterator<Item = (Option<&'a str>, Option<&'a str>)>) -> Result<String> {
    let mut text = String::from("{");
    for (index, (key, value)) in pairs.enumerate() {
        let key = key.ok_or_else(|| {
            FunctionError::new(NULL_NOT_ALLOWED, "null value not allowed for object key")
        })?;
        text.push_str(if index > 0 { ", " } else { "" });
        write_text(&mut text, key);
        text.push_str(" : ");
        match value {
            Some(value) => write_text(&mut text, value),
            None => text.push_str("null"),
        }
    }
    text.push('}');
    Ok(text)
}
