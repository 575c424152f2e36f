//! Assignments to parts of a document, as of `SET j['a'][1] = …`.
//!
//! - What the path lacks is made: an array for a step that is an integer, with nulls before the element, else an object.

use super::parse::parse_normalized;
use super::path::integer;
use super::value::{Value, sorted_by_key};
use crate::error::{FunctionError, INVALID_PARAMETER, INVALID_TEXT, NULL_NOT_ALLOWED, Result};

/// Elements at most that an assignment adds to an array.
const NULLS_MAX: usize = 1 << 24;

/// Puts a value at a path; the document is made if there is none: an array if it `starts_with_array`. No value is null.
///
/// # Errors
/// 22004 of a step that is NULL, 22023 of a path through a scalar or before an array, 22P02 of a step into an array that is
/// no integer.
pub fn jsonb_assign(
    target: Option<&str>,
    path: &[Option<&str>],
    value: Option<&str>,
    starts_with_array: bool,
) -> Result<String> {
    let mut steps = Vec::with_capacity(path.len());
    for step in path {
        steps.push(step.ok_or_else(|| {
            let message = "jsonb subscript in assignment must not be null";
            FunctionError::new(NULL_NOT_ALLOWED, message)
        })?);
    }
    let target = match target {
        Some(target) => parse_normalized(target)?,
        None if starts_with_array => Value::Array(Vec::new()),
        None => Value::Object(Vec::new()),
    };
    let value = value.map_or(Ok(Value::Null), parse_normalized)?;
    Ok(assigned(target, &steps, 0, value)?.spaced())
}

fn assigned(target: Value, path: &[&str], level: usize, value: Value) -> Result<Value> {
    let Some(step) = path.get(level) else { return Ok(value) };
    match target {
        Value::Object(mut pairs) => {
            match pairs.iter().position(|(key, _)| key == step) {
                Some(place) => {
                    let before = std::mem::replace(&mut pairs[place].1, Value::Null);
                    pairs[place].1 = assigned(before, path, level + 1, value)?;
                }
                None => pairs.push(((*step).to_owned(), made(&path[level + 1..], value)?)),
            }
            Ok(Value::Object(sorted_by_key(pairs)))
        }
        Value::Array(mut values) => {
            let place = place(step, values.len(), level)?;
            if place < values.len() {
                let before = std::mem::replace(&mut values[place], Value::Null);
                values[place] = assigned(before, path, level + 1, value)?;
            } else {
                fill(&mut values, place)?;
                values.push(made(&path[level + 1..], value)?);
            }
            Ok(Value::Array(values))
        }
        _ => {
            let detail = "The path assumes key is a composite object, but it is a scalar value.";
            let error = FunctionError::new(INVALID_PARAMETER, "cannot replace existing key");
            Err(error.detail(detail))
        }
    }
}

/// Returns the place in an array that a step means; a negative one counts from the end.
fn place(step: &str, length: usize, level: usize) -> Result<usize> {
    let number = integer(step).ok_or_else(|| {
        let message =
            format!("path element at position {} is not an integer: \"{step}\"", level + 1);
        FunctionError::new(INVALID_TEXT, message)
    })?;
    let distance = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
    let place = if number < 0 { length.checked_sub(distance) } else { Some(distance) };
    place.ok_or_else(|| {
        let message = format!("path element at position {} is out of range: {number}", level + 1);
        FunctionError::new(INVALID_PARAMETER, message)
    })
}

/// Makes what a path leads through, with a value at its end.
fn made(path: &[&str], value: Value) -> Result<Value> {
    let mut value = value;
    for step in path.iter().rev() {
        value = match integer(step) {
            Some(number) => {
                let mut values = Vec::new();
                fill(&mut values, usize::try_from(number).unwrap_or(0))?;
                values.push(value);
                Value::Array(values)
            }
            None => Value::Object(vec![((*step).to_owned(), value)]),
        };
    }
    Ok(value)
}

/// Adds nulls up to a number of elements.
fn fill(values: &mut Vec<Value>, length: usize) -> Result<()> {
    if length.saturating_sub(values.len()) > NULLS_MAX {
        return Err(FunctionError::too_large());
    }
    values.resize(length.max(values.len()), Value::Null);
    Ok(())
}
