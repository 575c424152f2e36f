//! Byte strings as texts: `\x` and hexadecimal digits, or the older form with octal escapes.

use crate::error::{FunctionError, INVALID_PARAMETER, INVALID_TEXT, Result};
use std::fmt::Write;

/// Reads a byte string.
///
/// # Errors
/// 22023 for digits that are not hexadecimal, or of which one is missing; 22P02 for a wrong escape.
pub fn read_bytes(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(digits) => hexadecimal(digits),
        None => escaped(text.as_bytes()),
    }
}

/// Writes a byte string as `\x` and hexadecimal digits.
#[must_use]
pub fn write_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("\\x");
    for byte in bytes {
        // A String takes all that is written to it.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Reads pairs of digits, between which white space may stand.
pub(super) fn hexadecimal(digits: &str) -> Result<Vec<u8>> {
    let digit = |letter: char| match letter.to_digit(16) {
        Some(digit) => Ok(u8::try_from(digit).unwrap_or_default()),
        None => {
            let message = format!("invalid hexadecimal digit: \"{letter}\"");
            Err(FunctionError::new(INVALID_PARAMETER, message))
        }
    };
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut letters = digits.chars();
    while let Some(letter) = letters.next() {
        if matches!(letter, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let high = digit(letter)?;
        let Some(low) = letters.next() else {
            let message = "invalid hexadecimal data: odd number of digits";
            return Err(FunctionError::new(INVALID_PARAMETER, message));
        };
        bytes.push(high << 4 | digit(low)?);
    }
    Ok(bytes)
}

/// Reads bytes of which `\\` is a backslash, and `\ooo` the byte of an octal number.
pub(super) fn escaped(mut text: &[u8]) -> Result<Vec<u8>> {
    let octal = |digit: u8, most: u8| (b'0'..=most).contains(&digit).then(|| digit - b'0');
    let mut bytes = Vec::with_capacity(text.len());
    while let Some((byte, rest)) = text.split_first() {
        text = rest;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let number = match rest {
            [first, second, third, ..] => octal(*first, b'3')
                .zip(octal(*second, b'7'))
                .zip(octal(*third, b'7'))
                .map(|((first, second), third)| first << 6 | second << 3 | third),
            _ => None,
        };
        match (rest.first(), number) {
            (Some(b'\\'), _) => {
                bytes.push(b'\\');
                text = &rest[1..];
            }
            (_, Some(byte)) => {
                bytes.push(byte);
                text = &rest[3..];
            }
            _ => {
                let message = "invalid input syntax for type bytea";
                return Err(FunctionError::new(INVALID_TEXT, message));
            }
        }
    }
    Ok(bytes)
}
