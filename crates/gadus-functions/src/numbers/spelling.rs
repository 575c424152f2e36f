//! Numbers as texts, in the forms of messages and of the type INTEGER.

use crate::error::{FunctionError, OUT_OF_RANGE, Result};

/// SQLSTATE of a text that is no value of its type.
const INVALID_TEXT: &str = "22P02";

/// Significant digits of `general`, as C's `%g` has them.
const DIGITS: usize = 6;

/// Reads an INTEGER: blanks, a sign, digits, blanks.
pub(crate) fn integer_of_text(text: &str) -> Result<i32> {
    let is_space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
    let trimmed = text.trim_matches(is_space);
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("invalid input syntax for type integer: \"{text}\"");
        return Err(FunctionError::new(INVALID_TEXT, message));
    }
    trimmed.parse().map_err(|_| {
        let message = format!("value \"{text}\" is out of range for type integer");
        FunctionError::new(OUT_OF_RANGE, message)
    })
}

/// Writes a double with six significant digits, as C's `%g`.
pub(crate) fn general(value: f64) -> String {
    with_digits(value, DIGITS)
}

/// Writes a double with so many significant digits at most, as C's `%.*g`.
#[must_use]
pub fn with_digits(value: f64, digits: usize) -> String {
    let digits = digits.max(1);
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return if value < 0.0 { format!("-{text}") } else { text.to_owned() };
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let whole = i32::try_from(digits).unwrap_or(i32::MAX);
    if !(-4..whole).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
    let fraction = usize::try_from(whole - 1 - exponent).unwrap_or(0);
    without_zeros(&format!("{value:.fraction$}"))
}
