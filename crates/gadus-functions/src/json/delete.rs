//! Deletion of members and elements: what the operator `-` is.

use super::parse::parse_normalized;
use super::value::Value;
use crate::error::{FunctionError, INVALID_PARAMETER, Result};

/// Deletes members of these keys, or elements that are these texts.
///
/// # Errors
/// 22023 of a scalar.
pub fn jsonb_delete_keys(target: &str, keys: &[Option<&str>]) -> Result<String> {
    let is_deleted = |key: &str| keys.iter().flatten().any(|deleted| *deleted == key);
    Ok(match parse_normalized(target)? {
        Value::Object(mut pairs) => {
            pairs.retain(|(key, _)| !is_deleted(key));
            Value::Object(pairs)
        }
        Value::Array(mut values) => {
            values.retain(|value| !matches!(value, Value::Text(text) if is_deleted(text)));
            Value::Array(values)
        }
        _ => return Err(refused("cannot delete from scalar")),
    }
    .spaced())
}

/// Deletes the element at a place, which counts from the end if it is negative.
///
/// # Errors
/// 22023 of a scalar or an object.
pub fn jsonb_delete_index(target: &str, index: i32) -> Result<String> {
    let mut values = match parse_normalized(target)? {
        Value::Array(values) => values,
        Value::Object(_) => {
            return Err(refused("cannot delete from object using integer index"));
        }
        _ => return Err(refused("cannot delete from scalar")),
    };
    let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    let place = if index < 0 { values.len().checked_sub(distance) } else { Some(distance) };
    if let Some(place) = place.filter(|place| *place < values.len()) {
        values.remove(place);
    }
    Ok(Value::Array(values).spaced())
}

fn refused(message: &str) -> FunctionError {
    FunctionError::new(INVALID_PARAMETER, message)
}
