//! Tests for documents and keys within a document.

use super::numbers::is_equal;
use super::parse::parse_normalized;
use super::value::Value;
use crate::error::{Result, check_interrupt};

/// True if a document contains another, as the operator `@>` has it.
///
/// # Errors
/// 22P02 of texts that are no documents.
pub fn jsonb_contains(document: &str, part: &str) -> Result<bool> {
    let (document, part) = (parse_normalized(document)?, parse_normalized(part)?);
    match (&document, &part) {
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => {
            contains(&document, &part)
        }
        // An array contains a scalar; no scalar contains an array.
        (Value::Array(values), scalar) if !scalar.is_container() => {
            Ok(values.iter().any(|value| is_same(value, scalar)))
        }
        (one, other) => Ok(is_same(one, other)),
    }
}

/// True if a document has any of these keys, or all of them.
///
/// # Errors
/// 22P02 of a text that is no document.
pub fn jsonb_exists_any_or_all(document: &str, keys: &[Option<&str>], all: bool) -> Result<bool> {
    let document = parse_normalized(document)?;
    let exists = |key: &&str| match &document {
        Value::Object(pairs) => pairs.iter().any(|(known, _)| known == key),
        Value::Array(values) => {
            values.iter().any(|value| matches!(value, Value::Text(text) if text == key))
        }
        Value::Text(text) => text == key,
        _ => false,
    };
    let mut keys = keys.iter().flatten();
    Ok(if all { keys.all(exists) } else { keys.any(exists) })
}

fn contains(document: &Value, part: &Value) -> Result<bool> {
    check_interrupt()?;
    match (document, part) {
        (Value::Object(pairs), Value::Object(wanted)) => {
            for (key, value) in wanted {
                let Some((_, known)) = pairs.iter().find(|(known, _)| known == key) else {
                    return Ok(false);
                };
                if !contains(known, value)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Array(values), Value::Array(wanted)) => {
            for value in wanted {
                let mut is_there = false;
                for known in values {
                    if known.is_container() == value.is_container() && contains(known, value)? {
                        is_there = true;
                        break;
                    }
                }
                if !is_there {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (one, other) => Ok(is_same(one, other)),
    }
}

/// True of equal scalars.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => is_equal(one, other),
        (one, other) => !one.is_container() && one == other,
    }
}
