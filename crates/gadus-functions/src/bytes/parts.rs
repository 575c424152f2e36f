//! Parts of byte strings: substrings, trimming, positions, LIKE.

use crate::error::{FunctionError, Result};

/// SQLSTATE of a substring of a negative length.
const NEGATIVE_LENGTH: &str = "22011";
/// SQLSTATE of a pattern that ends with its escape.
const INVALID_ESCAPE_SEQUENCE: &str = "22025";

/// Returns the bytes from a position, from 1, at most so many.
///
/// # Errors
/// 22011 of a negative length.
pub fn substring(value: &[u8], from: i32, length: Option<i32>) -> Result<Vec<u8>> {
    let from = i64::from(from);
    let end = match length {
        Some(length) if length < 0 => {
            let message = "negative substring length not allowed";
            return Err(FunctionError::new(NEGATIVE_LENGTH, message));
        }
        Some(length) => from + i64::from(length),
        None => i64::MAX,
    };
    let place = |position: i64| {
        let before = usize::try_from((position - 1).max(0)).unwrap_or(usize::MAX);
        before.min(value.len())
    };
    let (start, end) = (place(from), place(end));
    Ok(value[start..end.max(start)].to_vec())
}

/// Replaces the bytes from a position, from 1, so many.
///
/// # Errors
/// 22011 of a position before the first byte.
pub fn overlay(value: &[u8], new: &[u8], from: i32, length: Option<i32>) -> Result<Vec<u8>> {
    if from <= 0 {
        let message = "negative substring length not allowed";
        return Err(FunctionError::new(NEGATIVE_LENGTH, message));
    }
    let replaced = length.unwrap_or_else(|| i32::try_from(new.len()).unwrap_or(i32::MAX));
    let after = i64::from(from) + i64::from(replaced);
    let mut changed = substring(value, 1, Some(from - 1))?;
    changed.extend_from_slice(new);
    // A negative length goes back.
    let rest = usize::try_from((after - 1).max(0)).unwrap_or(usize::MAX).min(value.len());
    changed.extend_from_slice(&value[rest..]);
    Ok(changed)
}

/// Removes the bytes of a set from the beginning, the end, or both.
#[must_use]
pub fn trim(value: &[u8], set: &[u8], at_start: bool, at_end: bool) -> Vec<u8> {
    let is_kept = |byte: &u8| !set.contains(byte);
    let start = match at_start {
        true => value.iter().position(is_kept).unwrap_or(value.len()),
        false => 0,
    };
    let end = match at_end {
        true => value.iter().rposition(is_kept).map_or(start, |last| last + 1),
        false => value.len(),
    };
    value[start..end.max(start)].to_vec()
}

/// Returns the position of the first occurrence, from 1; 0 if there is none.
#[must_use]
pub fn position(value: &[u8], wanted: &[u8]) -> i32 {
    let found = match wanted.len() {
        0 => Some(0),
        length => value.windows(length).position(|part| part == wanted),
    };
    found.map_or(0, |place| i32::try_from(place + 1).unwrap_or(i32::MAX))
}

/// Returns true if a value matches a pattern of LIKE; a backslash is the escape.
///
/// # Errors
/// 22025 of a pattern that ends with its escape.
pub fn like(value: &[u8], pattern: &[u8]) -> Result<bool> {
    let mut states = vec![false; value.len() + 1];
    states[0] = true;
    let mut rest = pattern.iter();
    while let Some(byte) = rest.next() {
        let wanted = match byte {
            b'%' => {
                let first = states.iter().position(|state| *state).unwrap_or(states.len());
                states[first..].fill(true);
                continue;
            }
            b'_' => None,
            b'\\' => match rest.next() {
                Some(escaped) => Some(*escaped),
                None if !states.contains(&true) => return Ok(false),
                None => {
                    let message = "LIKE pattern must not end with escape character";
                    return Err(FunctionError::new(INVALID_ESCAPE_SEQUENCE, message));
                }
            },
            other => Some(*other),
        };
        for place in (0..value.len()).rev() {
            let fits = wanted.is_none_or(|wanted| value[place] == wanted);
            states[place + 1] = states[place] && fits;
        }
        states[0] = false;
    }
    Ok(states[value.len()])
}

/// Returns a pattern of LIKE with backslashes in the place of its escape, which may be none.
///
/// # Errors
/// 22025 of an escape of several bytes.
pub fn like_escape(pattern: &[u8], escape: &[u8]) -> Result<Vec<u8>> {
    let escape = match escape {
        [] => None,
        [byte] => Some(*byte),
        _ => {
            let hint = "Escape string must be empty or one character.";
            let error = FunctionError::new(INVALID_ESCAPE_SEQUENCE, "invalid escape string");
            return Err(error.hint(hint));
        }
    };
    if escape == Some(b'\\') {
        return Ok(pattern.to_vec());
    }
    let mut changed = Vec::with_capacity(pattern.len());
    let mut is_escaped = false;
    for byte in pattern {
        match byte {
            byte if Some(*byte) == escape && !is_escaped => {
                changed.push(b'\\');
                is_escaped = true;
                continue;
            }
            b'\\' if !is_escaped => changed.extend_from_slice(b"\\\\"),
            byte => changed.push(*byte),
        }
        is_escaped = false;
    }
    Ok(changed)
}
