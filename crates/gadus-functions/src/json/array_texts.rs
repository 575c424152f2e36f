//! Arrays of documents as texts that arrays are read from.

use super::access::{Parts, parts, value_text};
use crate::error::{FunctionError, INVALID_TEXT, Result};

/// Returns the text that the member of a key has as an array: `{"1","2",NULL}`; `None` for null. A string is the text.
///
/// # Errors
/// 22P02 of other scalars, of objects, and of arrays in arrays that have different lengths.
pub fn array_text(document: &str, key: &str) -> Result<Option<String>> {
    match parts(document) {
        Parts::Array(_) => {
            let depth = depth(document);
            let mut text = String::with_capacity(document.len() + 2);
            write(&mut text, document, (1, depth), key, &mut vec![None; depth])?;
            Ok(Some(text))
        }
        Parts::Object(_) => Err(no_array(format!("See the value of key \"{key}\"."))),
        Parts::Scalar(scalar) => match value_text(scalar)? {
            None => Ok(None),
            Some(text) if scalar.trim_start().starts_with('"') => Ok(Some(text.into_owned())),
            Some(_) => Err(no_array(format!("See the value of key \"{key}\"."))),
        },
    }
}

/// Returns the dimensions of an array, which its first elements decide.
fn depth(document: &str) -> usize {
    let (mut depth, mut document) = (0, document);
    while let Parts::Array(elements) = parts(document) {
        depth += 1;
        match elements.first() {
            Some(first) => document = first,
            None => break,
        }
    }
    depth
}

/// Writes an array at a level of so many; all arrays of a level have one length.
fn write(
    text: &mut String,
    document: &str,
    (level, depth): (usize, usize),
    key: &str,
    lengths: &mut [Option<usize>],
) -> Result<()> {
    let Parts::Array(elements) = parts(document) else {
        return Err(no_array(format!("See the array element of key \"{key}\".")));
    };
    if *lengths[level - 1].get_or_insert(elements.len()) != elements.len() {
        let detail = "Multidimensional arrays must have sub-arrays with matching dimensions.";
        return Err(FunctionError::new(INVALID_TEXT, "malformed JSON array").detail(detail));
    }
    text.push('{');
    for (place, element) in elements.iter().enumerate() {
        text.push_str(if place > 0 { "," } else { "" });
        if level < depth {
            write(text, element, (level + 1, depth), key, lengths)?;
            continue;
        }
        match value_text(element)? {
            None => text.push_str("NULL"),
            Some(value) => {
                text.push('"');
                for character in value.chars() {
                    text.push_str(if matches!(character, '"' | '\\') { "\\" } else { "" });
                    text.push(character);
                }
                text.push('"');
            }
        }
    }
    text.push('}');
    Ok(())
}

fn no_array(hint: String) -> FunctionError {
    FunctionError::new(INVALID_TEXT, "expected JSON array").hint(hint)
}
