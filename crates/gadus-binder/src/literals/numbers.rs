//! Truth values, integers and floating-point numbers.

use super::{Read, invalid_syntax, is_space, refused, split_digits, strip_word};
use crate::bound::Constant;
use crate::error::Result;

/// Reads a truth value: a prefix of its words that no other one has.
pub(super) fn boolean(text: &str) -> Read {
    let word = text.trim_matches(is_space).to_ascii_lowercase();
    let is_prefix = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    let value = if is_prefix("true", 1) || is_prefix("yes", 1) || word == "on" || word == "1" {
        true
    } else if is_prefix("false", 1) || is_prefix("no", 1) || is_prefix("off", 2) || word == "0" {
        false
    } else {
        return Err(invalid_syntax("boolean", text));
    };
    Ok(Some(Constant::Boolean(value)))
}

/// Reads an integer of a type, given by its least value and its name.
pub(super) fn integer(text: &str, least: i64, type_name: &str) -> Read {
    let out_of_range =
        || refused("22003", format!("value \"{text}\" is out of range for type {type_name}"));
    let trimmed = text.trim_start_matches(is_space);
    let is_negative = trimmed.starts_with('-');
    let unsigned = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let (digits, rest) = split_digits(unsigned);
    if digits.is_empty() {
        return Err(invalid_syntax(type_name, text));
    }
    // Negative all along, because the least value has no positive counterpart.
    let mut value = 0_i64;
    for digit in digits.bytes() {
        let next = value.checked_mul(10).and_then(|ten| ten.checked_sub(i64::from(digit - b'0')));
        value = next.filter(|next| *next >= least).ok_or_else(out_of_range)?;
    }
    if !rest.trim_matches(is_space).is_empty() {
        return Err(invalid_syntax(type_name, text));
    }
    let value = match is_negative {
        true => value,
        false if value == least => return Err(out_of_range()),
        false => -value,
    };
    Ok(Some(Constant::Integer(value)))
}

/// Reads an object identifier as C's `strtoul` does: a negative number is one of 32 bits without a sign.
pub(super) fn object_identifier(text: &str) -> Read {
    let out_of_range =
        || refused("22003", format!("value \"{text}\" is out of range for type oid"));
    let start = text.trim_start_matches(is_space);
    let (digits, rest) = split_digits(start.strip_prefix(['-', '+']).unwrap_or(start));
    if digits.is_empty() {
        return Err(invalid_syntax("oid", text));
    }
    let size = digits.parse::<u64>().map_err(|_| out_of_range())?;
    if !rest.trim_matches(is_space).is_empty() {
        return Err(invalid_syntax("oid", text));
    }
    let value = if start.starts_with('-') { size.wrapping_neg() } else { size };
    let negative = i32::try_from(value.cast_signed()).ok().map(i32::cast_unsigned);
    let value = u32::try_from(value).ok().or(negative).ok_or_else(out_of_range)?;
    Ok(Some(Constant::Integer(value.into())))
}

/// Reads a number of double precision.
pub(super) fn float8(text: &str) -> Read {
    let Some(number) = number_in(text, "double precision")? else { return Ok(None) };
    let value = match number {
        Number::Special(value) => value,
        Number::Digits { digits, is_zero, is_alone } => {
            let value = digits.parse::<f64>().unwrap_or(f64::NAN);
            let is_in_range = value.is_finite() && (value != 0.0 || is_zero);
            check_range(is_in_range, digits, "double precision")?;
            if !is_alone {
                return Err(invalid_syntax("double precision", text));
            }
            value
        }
    };
    Ok(Some(Constant::Text(shortest(value, format!("{value:e}"), value.to_string()))))
}

/// Reads a number of single precision.
pub(super) fn float4(text: &str) -> Read {
    let Some(number) = number_in(text, "real")? else { return Ok(None) };
    let digits = match number {
        Number::Special(value) => {
            let shown = shortest(value, String::new(), String::new());
            return Ok(Some(Constant::Text(shown)));
        }
        Number::Digits { digits, is_zero, is_alone } => {
            let value = digits.parse::<f32>().unwrap_or(f32::NAN);
            let is_in_range = value.is_finite() && (value != 0.0 || is_zero);
            check_range(is_in_range, text, "real")?;
            if !is_alone {
                return Err(invalid_syntax("real", text));
            }
            value
        }
    };
    let shown = shortest(digits.into(), format!("{digits:e}"), digits.to_string());
    Ok(Some(Constant::Text(shown)))
}

fn check_range(is_in_range: bool, shown: &str, type_name: &str) -> Result<()> {
    match is_in_range {
        true => Ok(()),
        false => Err(refused("22003", format!("\"{shown}\" is out of range for type {type_name}"))),
    }
}

/// Number in front of a text.
enum Number<'a> {
    /// NaN or an infinity.
    Special(f64),
    /// Digits with sign, point and exponent.
    Digits {
        digits: &'a str,
        /// True if no digit before the exponent is another one than zero.
        is_zero: bool,
        /// True if only blanks follow.
        is_alone: bool,
    },
}

/// Returns the number that C's `strtod` reads; `None` for hexadecimal digits and NaNs with a payload.
fn number_in<'a>(text: &'a str, type_name: &str) -> Result<Option<Number<'a>>> {
    let start = text.trim_start_matches(is_space);
    let unsigned = start.strip_prefix(['-', '+']).unwrap_or(start);
    let is_negative = start.starts_with('-');
    let words = [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)];
    for (word, value) in words {
        let Some(rest) = strip_word(unsigned, word) else { continue };
        if rest.starts_with('(') {
            return Ok(None);
        }
        if !rest.trim_matches(is_space).is_empty() {
            return Err(invalid_syntax(type_name, text));
        }
        return Ok(Some(Number::Special(if is_negative { -value } else { value })));
    }
    if strip_word(unsigned, "0x").is_some() {
        return Ok(None);
    }
    let (whole, mut rest) = split_digits(unsigned);
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = split_digits(after);
    }
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid_syntax(type_name, text));
    }
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        let (digits, end) = split_digits(after.strip_prefix(['-', '+']).unwrap_or(after));
        if !digits.is_empty() {
            rest = end;
        }
    }
    let digits = &start[..start.len() - rest.len()];
    let is_zero = whole.bytes().chain(fraction.bytes()).all(|digit| digit == b'0');
    let is_alone = rest.trim_matches(is_space).is_empty();
    Ok(Some(Number::Digits { digits, is_zero, is_alone }))
}

/// Returns the shorter one of a number's two forms.
fn shortest(value: f64, scientific: String, plain: String) -> String {
    let size = value.abs();
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else if size != 0.0 && !(1e-5..1e15).contains(&size) {
        scientific
    } else {
        plain
    }
}
