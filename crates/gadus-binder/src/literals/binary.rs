//! Bytes, bit strings and universally unique identifiers.

use super::{Read, invalid_syntax, refused};
use crate::bound::Constant;
use std::fmt::Write;

/// Bytes of an identifier.
const UUID_BYTES: usize = 16;

/// Reads an identifier: hyphens may stand after any two bytes, braces around it.
pub(super) fn uuid(text: &str) -> Read {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').ok_or_else(|| invalid_syntax("uuid", text))?,
        None => text,
    };
    let mut rest = inner.as_bytes();
    let mut shown = String::with_capacity(36);
    for index in 0..UUID_BYTES {
        let pair = rest.get(..2).filter(|pair| pair.iter().all(u8::is_ascii_hexdigit));
        let pair = pair.ok_or_else(|| invalid_syntax("uuid", text))?;
        if matches!(index, 4 | 6 | 8 | 10) {
            shown.push('-');
        }
        shown.extend(pair.iter().map(|digit| char::from(digit.to_ascii_lowercase())));
        rest = &rest[2..];
        if index % 2 == 1 && index < UUID_BYTES - 1 && rest.first() == Some(&b'-') {
            rest = &rest[1..];
        }
    }
    match rest.is_empty() {
        true => Ok(Some(Constant::Text(shown))),
        false => Err(invalid_syntax("uuid", text)),
    }
}

/// Reads bytes in hexadecimal or escaped form, and writes them in hexadecimal.
pub(super) fn bytea(text: &str) -> Read {
    let bytes = match text.strip_prefix("\\x") {
        Some(digits) => hexadecimal(digits)?,
        None => escaped(text)?,
    };
    let mut shown = String::with_capacity(2 + bytes.len() * 2);
    shown.push_str("\\x");
    for byte in bytes {
        let _ = write!(shown, "{byte:02x}");
    }
    Ok(Some(Constant::Text(shown)))
}

fn hexadecimal(digits: &str) -> crate::error::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut high = None;
    for c in digits.chars() {
        if high.is_none() && matches!(c, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let digit = c
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
            .ok_or_else(|| refused("22023", format!("invalid hexadecimal digit: \"{c}\"")))?;
        match high.take() {
            None => high = Some(digit),
            Some(high) => bytes.push(high << 4 | digit),
        }
    }
    match high {
        None => Ok(bytes),
        Some(_) => Err(refused("22023", "invalid hexadecimal data: odd number of digits")),
    }
}

fn escaped(text: &str) -> crate::error::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        match rest {
            [] => return Ok(bytes),
            [b'\\', b'\\', after @ ..] => {
                bytes.push(b'\\');
                rest = after;
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            [b'\\', ..] => return Err(refused("22P02", "invalid input syntax for type bytea")),
            [byte, after @ ..] => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
}

/// Reads a bit string: binary digits, or hexadecimal ones after an X.
pub(super) fn bits(text: &str) -> Read {
    let mut shown = String::with_capacity(text.len());
    if let Some(digits) = text.strip_prefix(['x', 'X']) {
        for c in digits.chars() {
            let digit = c.to_digit(16).ok_or_else(|| {
                refused("22P02", format!("\"{c}\" is not a valid hexadecimal digit"))
            })?;
            let _ = write!(shown, "{digit:04b}");
        }
        return Ok(Some(Constant::Text(shown)));
    }
    for c in text.strip_prefix(['b', 'B']).unwrap_or(text).chars() {
        if !matches!(c, '0' | '1') {
            return Err(refused("22P02", format!("\"{c}\" is not a valid binary digit")));
        }
        shown.push(c);
    }
    Ok(Some(Constant::Text(shown)))
}
