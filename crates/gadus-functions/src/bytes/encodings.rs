//! `encode` and `decode`: hexadecimal digits, base64, escapes.

use super::texts::{escaped, hexadecimal};
use crate::error::{FunctionError, INVALID_PARAMETER, Result};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Characters of a line of base64.
const LINE: usize = 76;

/// Writes bytes in an encoding.
///
/// # Errors
/// 22023 of an encoding that is not known.
pub fn encode(bytes: &[u8], encoding: &str) -> Result<String> {
    match encoding.to_ascii_lowercase().as_str() {
        "hex" => Ok(super::write_bytes(bytes).split_off(2)),
        "base64" => Ok(base64(bytes)),
        "escape" => Ok(escapes(bytes)),
        _ => Err(unknown(encoding)),
    }
}

/// Reads bytes in an encoding.
///
/// # Errors
/// 22023 of an encoding that is not known, and of wrong digits; 22P02 of a wrong escape.
pub fn decode(text: &str, encoding: &str) -> Result<Vec<u8>> {
    match encoding.to_ascii_lowercase().as_str() {
        "hex" => hexadecimal(text),
        "base64" => read_base64(text),
        "escape" => escaped(text.as_bytes()),
        _ => Err(unknown(encoding)),
    }
}

fn unknown(encoding: &str) -> FunctionError {
    FunctionError::new(INVALID_PARAMETER, format!("unrecognized encoding: \"{encoding}\""))
}

/// Writes bytes in PostgreSQL's older form, in which what is no ASCII is octal.
#[must_use]
pub fn escapes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            0 | 0x80.. => text.push_str(&format!("\\{byte:03o}")),
            byte => text.push(char::from(*byte)),
        }
    }
    text
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    let mut column = 0;
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = bits >> (18 - 6 * place) & 63;
            match place as usize <= group.len() {
                true => text.push(char::from(DIGITS[digit as usize])),
                false => text.push('='),
            }
        }
        column += 4;
        if column == LINE {
            text.push('\n');
            column = 0;
        }
    }
    // PostgreSQL ends full lines only between groups, also after the last one.
    text
}

fn read_base64(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut end) = (0_u32, 0, 0);
    for character in text.chars() {
        let digit = match character {
            ' ' | '\t' | '\n' | '\r' => continue,
            '=' => {
                // The end of the data.
                if end == 0 {
                    end = match count {
                        2 => 1,
                        3 => 2,
                        _ => {
                            let message = "unexpected \"=\" while decoding base64 sequence";
                            return Err(FunctionError::new(INVALID_PARAMETER, message));
                        }
                    };
                }
                0
            }
            character => digit_of(character)?,
        };
        bits = bits << 6 | digit;
        count += 1;
        if count == 4 {
            let group = bits.to_be_bytes();
            let kept = if end == 0 { 3 } else { end };
            bytes.extend_from_slice(&group[1..=kept]);
            (bits, count) = (0, 0);
        }
    }
    if count != 0 {
        let hint = "Input data is missing padding, is truncated, or is otherwise corrupted.";
        let error = FunctionError::new(INVALID_PARAMETER, "invalid base64 end sequence");
        return Err(error.hint(hint));
    }
    Ok(bytes)
}

fn digit_of(character: char) -> Result<u32> {
    let found = DIGITS.iter().position(|digit| char::from(*digit) == character);
    found.and_then(|place| u32::try_from(place).ok()).ok_or_else(|| {
        let message =
            format!("invalid symbol \"{character}\" found while decoding base64 sequence");
        FunctionError::new(INVALID_PARAMETER, message)
    })
}
