//! Concatenation of documents: `||`.

use super::parse::parse_normalized;
use super::value::{Value, sorted_by_key};
use crate::error::Result;

/// Merges objects, joins arrays; anything else is an element of an array.
///
/// # Errors
/// 22P02 of texts that are no documents.
pub fn jsonb_concat(left: &str, right: &str) -> Result<String> {
    let joined = match (parse_normalized(left)?, parse_normalized(right)?) {
        (Value::Object(mut pairs), Value::Object(others)) => {
            pairs.extend(others);
            Value::Object(sorted_by_key(pairs))
        }
        (left, right) => {
            let mut elements = elements(left);
            elements.extend(self::elements(right));
            Value::Array(elements)
        }
    };
    Ok(joined.spaced())
}

fn elements(value: Value) -> Vec<Value> {
    match value {
        Value::Array(elements) => elements,
        other => vec![other],
    }
}
