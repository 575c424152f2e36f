//! Keys of JSONB: bytes that are equal and ordered as PostgreSQL compares documents.
//!
//! | first byte | document | then |
//! |---|---|---|
//! | 0 | array without elements, not within another | |
//! | 1 | null | |
//! | 2 | string | its bytes, 0 |
//! | 3 | number | see `push_number` |
//! | 4 | boolean | 0 or 1 |
//! | 5 | array | number of elements, 32 bits; elements |
//! | 6 | object | number of members, 32 bits; keys as strings and values in turns |

use super::parse::parse;
use super::value::Value;
use crate::error::Result;

/// Returns the key of a document.
///
/// # Errors
/// 22P02 of a text that is no document.
pub fn jsonb_sort_key(document: &str) -> Result<Vec<u8>> {
    let value = parse(document)?.normalized()?;
    let mut key = Vec::with_capacity(document.len() + 8);
    match &value {
        // PostgreSQL stores a scalar as an array of one element, and compares lengths first.
        Value::Array(elements) if elements.is_empty() => key.push(0),
        value => push(value, &mut key),
    }
    Ok(key)
}

fn push(value: &Value, key: &mut Vec<u8>) {
    match value {
        Value::Null => key.push(1),
        Value::Text(text) => {
            key.push(2);
            push_text(text, key);
        }
        Value::Number(number) => {
            key.push(3);
            push_number(number, key);
        }
        Value::Boolean(value) => key.extend([4, u8::from(*value)]),
        Value::Array(elements) => {
            key.push(5);
            push_count(elements.len(), key);
            elements.iter().for_each(|element| push(element, key));
        }
        Value::Object(pairs) => {
            key.push(6);
            push_count(pairs.len(), key);
            for (name, value) in pairs {
                push_text(name, key);
                push(value, key);
            }
        }
    }
}

/// Returns the key of a number.
pub(super) fn number_key(number: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(number.len() + 8);
    push_number(number, &mut key);
    key
}

/// Appends a text, which has no byte 0.
fn push_text(text: &str, key: &mut Vec<u8>) {
    key.extend_from_slice(text.as_bytes());
    key.push(0);
}

fn push_count(count: usize, key: &mut Vec<u8>) {
    key.extend(u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
}

/// Appends a number: its sign, the position of its point, its digits, an end; all bits of negative ones are inverted.
fn push_number(number: &str, key: &mut Vec<u8>) {
    let (is_negative, magnitude) = match number.strip_prefix('-') {
        Some(magnitude) => (true, magnitude),
        None => (false, number),
    };
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let digits = whole.bytes().chain(fraction.bytes()).collect::<Vec<_>>();
    let Some(first) = digits.iter().position(|digit| *digit != b'0') else {
        return key.push(1);
    };
    let last = digits.iter().rposition(|digit| *digit != b'0').unwrap_or(first);
    let start = key.len() + 1;
    key.push(if is_negative { 0 } else { 2 });
    // Numbers have fewer than a million digits.
    let point = (1_u32 << 31) + u32::try_from(whole.len()).unwrap_or(0);
    let point = point.saturating_sub(u32::try_from(first).unwrap_or(0));
    key.extend(point.to_be_bytes());
    key.extend_from_slice(digits.get(first..=last).unwrap_or_default());
    key.push(0);
    if is_negative {
        key.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
    }
}
