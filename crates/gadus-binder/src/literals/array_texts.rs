//! Texts of arrays, read when a statement runs (`array_in`).

use super::arrays::{Part, Scanner, malformed, parts};
use super::{is_space, refused};
use crate::error::{BindError, Result};

/// Array as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayText {
    /// Length of each dimension; none for an array without elements.
    pub lengths: Vec<usize>,
    /// First subscript of each dimension, if the text says it.
    pub lower_bounds: Vec<i32>,
    /// Texts of the elements in their order; `None` for NULL.
    pub elements: Vec<Option<String>>,
}

/// Bounds before the braces of an array.
struct Bounds<'a> {
    lower: Vec<i32>,
    lengths: Vec<usize>,
    /// Text after the bounds, from the first brace on.
    rest: &'a str,
}

/// Reads an array.
///
/// # Errors
/// PostgreSQL's, without a position, for texts that are no arrays.
pub fn read_array(text: &str) -> Result<ArrayText> {
    read(text).map_err(|error| BindError { span: None, ..error })
}

fn read(text: &str) -> Result<ArrayText> {
    let Bounds { lower, lengths: given, rest } = bounds(text)?;
    let mut scanner = Scanner::new(rest);
    scanner.scan().map_err(|fault| fault.error(text))?;
    let has_bounds = !lower.is_empty();
    let mismatch =
        || malformed(text).with_detail("Specified array dimensions do not match array contents.");
    if !scanner.has_elements {
        return match has_bounds {
            true => Err(mismatch()),
            false => Ok(ArrayText { lengths: given, lower_bounds: lower, elements: Vec::new() }),
        };
    }
    let (lengths, elements) = contents(rest).ok_or_else(|| {
        let detail = "Multidimensional arrays must have sub-arrays with matching dimensions.";
        malformed(text).with_detail(detail)
    })?;
    match has_bounds && lengths != given {
        true => Err(mismatch()),
        false => Ok(ArrayText { lengths, lower_bounds: lower, elements }),
    }
}

/// Returns the lengths and the elements of braces; `None` if their parts have different lengths.
fn contents(text: &str) -> Option<(Vec<usize>, Vec<Option<String>>)> {
    let mut elements = Vec::new();
    // Commas of each level so far, in the first array of the level.
    let (mut depth, mut lengths, mut is_closed) = (0_usize, Vec::<usize>::new(), Vec::new());
    let mut element_depth = None;
    for part in parts(text) {
        match part {
            Part::Punctuation('{') => {
                depth += 1;
                if lengths.len() < depth {
                    lengths.push(1);
                    is_closed.push(false);
                }
            }
            Part::Punctuation('}') => {
                depth = depth.checked_sub(1)?;
                *is_closed.get_mut(depth)? = true;
            }
            Part::Punctuation(_) => {
                let level = depth.checked_sub(1)?;
                if !*is_closed.get(level)? {
                    *lengths.get_mut(level)? += 1;
                }
            }
            Part::Element(item) => {
                if *element_depth.get_or_insert(depth) != depth {
                    return None;
                }
                let is_null = !item.is_quoted && item.text.eq_ignore_ascii_case("null");
                elements.push((!is_null).then_some(item.text));
            }
        }
    }
    let is_whole = lengths.iter().product::<usize>() == elements.len();
    is_whole.then_some((lengths, elements))
}

/// Reads `[1:2][3]=` before the braces.
fn bounds(text: &str) -> Result<Bounds<'_>> {
    let fault = |detail: &str| Err(malformed(text).with_detail(detail));
    let mut rest = text.trim_start_matches(is_space);
    let (mut lower, mut lengths) = (Vec::new(), Vec::new());
    while let Some(dimension) = rest.strip_prefix('[') {
        let Some((first, after)) = number(dimension) else {
            return fault("\"[\" must introduce explicitly-specified array dimensions.");
        };
        let (low, high, after) = match after.strip_prefix(':') {
            None => (1, first, after),
            Some(upper) => match number(upper) {
                Some((high, after)) => (first, high, after),
                None => return fault("Missing array dimension value."),
            },
        };
        let Some(after) = after.strip_prefix(']') else {
            return fault("Missing \"]\" after array dimensions.");
        };
        if high < low {
            return Err(refused("2202E", "upper bound cannot be less than lower bound"));
        }
        lower.push(i32::try_from(low).unwrap_or(i32::MAX));
        lengths.push(usize::try_from(high - low + 1).unwrap_or(usize::MAX));
        rest = after.trim_start_matches(is_space);
    }
    if !lower.is_empty() {
        let Some(contents) = rest.strip_prefix('=') else {
            return fault("Missing \"=\" after array dimensions.");
        };
        rest = contents.trim_start_matches(is_space);
        if !rest.starts_with('{') {
            return fault("Array contents must start with \"{\".");
        }
    } else if !rest.starts_with('{') {
        return fault("Array value must start with \"{\" or dimension information.");
    }
    Ok(Bounds { lower, lengths, rest })
}

/// Reads a number with its sign, as far as one goes.
fn number(text: &str) -> Option<(i64, &str)> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (end > 0).then(|| (digits.parse::<i64>().unwrap_or(0), rest))
}

#[cfg(test)]
mod tests;
