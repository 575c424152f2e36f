//! Numbers of JSON as exact decimals of any length.

use crate::error::{FunctionError, OUT_OF_RANGE, Result};

/// Digits that PostgreSQL's NUMERIC has before its point, and after it.
const WHOLE_DIGITS_MAX: i64 = 131_072;
const FRACTION_DIGITS_MAX: i64 = 16_383;

/// Writes a number without exponent, as NUMERIC is written.
pub(super) fn normalized_number(number: &str) -> Result<String> {
    let overflow = || FunctionError::new(OUT_OF_RANGE, "value overflows numeric format");
    let (sign, magnitude) = match number.strip_prefix('-') {
        Some(magnitude) => ("-", magnitude),
        None => ("", number),
    };
    let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
    let exponent = exponent.parse::<i64>().map_err(|_| overflow())?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // The place of the point within the digits.
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(exponent);
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    if point > WHOLE_DIGITS_MAX || length.saturating_sub(point) > FRACTION_DIGITS_MAX {
        return Err(overflow());
    }
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let padded = format!("{}{digits}{}", zeros(1 - point), zeros(point - length));
    let split = usize::try_from(point.max(1)).unwrap_or(1);
    let (whole, fraction) = padded.split_at(split);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let is_zero = whole == "0" && fraction.bytes().all(|digit| digit == b'0');
    let sign = if is_zero { "" } else { sign };
    let dot = if fraction.is_empty() { "" } else { "." };
    Ok(format!("{sign}{whole}{dot}{fraction}"))
}

/// True if normalized numbers are equal, whatever zeros they end with.
pub(super) fn is_equal(one: &str, other: &str) -> bool {
    let shortest = |number: &str| match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => number.to_owned(),
    };
    shortest(one) == shortest(other)
}
