//! Numbers of any precision (`set_var_from_str`).

use super::{Read, invalid_syntax, is_space, refused, split_digits, strip_word};
use crate::bound::Constant;
use crate::error::BindError;

/// Most digits after the point that a value stores.
const SCALE_MAX: i64 = 16_383;
/// Highest power of ten that a value's first digit may stand for.
const POWER_MAX: i64 = 131_071;
/// Largest exponent that is read.
const EXPONENT_MAX: i64 = (i32::MAX / 2) as i64;

/// Reads a number and writes all its digits.
pub(super) fn read(text: &str) -> Read {
    let invalid = || invalid_syntax("numeric", text);
    let start = text.trim_start_matches(is_space);
    if let Some((shown, rest)) = special(start) {
        return match rest.trim_matches(is_space).is_empty() {
            true => Ok(Some(Constant::Text(shown.to_owned()))),
            false => Err(invalid()),
        };
    }
    let unsigned = start.strip_prefix(['-', '+']).unwrap_or(start);
    let (whole, mut rest) = split_digits(unsigned);
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = split_digits(after);
    }
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let mut exponent = 0;
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        (exponent, rest) = exponent_in(after).ok_or_else(invalid)?;
        if exponent >= EXPONENT_MAX || exponent <= -EXPONENT_MAX {
            return Err(overflow());
        }
    }
    if !rest.trim_matches(is_space).is_empty() {
        return Err(invalid());
    }
    let digits = format!("{whole}{fraction}");
    let shown = written(&digits, whole.len(), exponent, start.starts_with('-'));
    Ok(Some(Constant::Text(shown.ok_or_else(overflow)?)))
}

fn overflow() -> BindError {
    refused("22003", "value overflows numeric format")
}

/// Returns NaN or an infinity in front of a text, and the rest.
fn special(text: &str) -> Option<(&'static str, &str)> {
    let words = [
        ("nan", "NaN"),
        ("infinity", "Infinity"),
        ("+infinity", "Infinity"),
        ("-infinity", "-Infinity"),
        ("inf", "Infinity"),
        ("+inf", "Infinity"),
        ("-inf", "-Infinity"),
    ];
    words.into_iter().find_map(|(word, shown)| Some((shown, strip_word(text, word)?)))
}

/// Reads an exponent as C's `strtol` does: blanks and a sign may come first.
fn exponent_in(text: &str) -> Option<(i64, &str)> {
    let start = text.trim_start_matches(is_space);
    let (digits, rest) = split_digits(start.strip_prefix(['-', '+']).unwrap_or(start));
    if digits.is_empty() {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(i64::MAX);
    Some((if start.starts_with('-') { -size } else { size }, rest))
}

/// Writes digits without an exponent; `None` if there are more than a value stores.
fn written(digits: &str, whole: usize, exponent: i64, is_negative: bool) -> Option<String> {
    let length = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    // Places before the point, which may be negative.
    let point = length(whole).saturating_add(exponent);
    let scale = length(digits.len()).saturating_sub(point).max(0);
    if scale > SCALE_MAX {
        return None;
    }
    let zeros = digits.bytes().take_while(|digit| *digit == b'0').count();
    let is_zero = zeros == digits.len();
    let first = point.saturating_sub(length(zeros)).saturating_sub(1);
    if !is_zero && first > POWER_MAX {
        return None;
    }
    let scale = usize::try_from(scale).ok()?;
    let mut shown = String::new();
    if is_negative && !is_zero {
        shown.push('-');
    }
    if is_zero {
        shown.push('0');
        if scale > 0 {
            shown.push('.');
        }
        shown.extend(std::iter::repeat_n('0', scale));
        return Some(shown);
    }
    let digit_at = |place: i64| {
        let digit = usize::try_from(place).ok().and_then(|place| digits.as_bytes().get(place));
        digit.map_or('0', |digit| char::from(*digit))
    };
    match first < 0 {
        true => shown.push('0'),
        false => shown.extend((length(zeros)..point).map(digit_at)),
    }
    if scale > 0 {
        shown.push('.');
        shown.extend((point..point + length(scale)).map(digit_at));
    }
    Some(shown)
}
