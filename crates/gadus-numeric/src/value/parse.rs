//! Text to value, by the grammar of PostgreSQL's `numeric_in`.
//!
//! - The exponent is applied after the limits are checked: `1e999999999` takes no memory.

use super::{Numeric, TypeModifier};
use crate::error::{NumericError, Result};
use crate::limits::{INTEGER_DIGITS_MAX, SCALE_MAX};
use crate::powers;
use dashu_int::{IBig, UBig};
use std::str::FromStr;

/// Exponents beyond it, in either direction, overflow whatever the digits are.
const EXPONENT_MAX: i64 = 1_073_741_823;
/// Bytes of digits, and of a decimal point, that fit 64 bits whatever they are.
const PLAIN_BYTES_MAX: usize = 19;
/// Digits that fit 128 bits whatever they are.
const SMALL_DIGITS: usize = 38;

impl FromStr for Numeric {
    type Err = NumericError;

    /// Parses a decimal number with an optional exponent, `NaN`, `inf` or `infinity`, in any case, among spaces.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text, None)
    }
}

impl Numeric {
    /// Parses a text and applies a type modifier.
    ///
    /// # Errors
    /// 22P02 for a text that is not a number, 22003 beyond the limits of the type or of the modifier.
    pub fn parse(text: &str, modifier: Option<TypeModifier>) -> Result<Self> {
        if let Some(value) = parse_plain(text.as_bytes()) {
            return match modifier {
                Some(modifier) => modifier.apply(&value),
                None => Ok(value),
            };
        }
        let trimmed = text.trim_matches(is_space);
        if let Some(special) = parse_special(trimmed) {
            return match modifier {
                Some(modifier) => modifier.apply(&special),
                None => Ok(special),
            };
        }
        let literal = Literal::parse(trimmed).ok_or_else(|| NumericError::invalid_text(text))?;
        // PostgreSQL checks the exponent before the text after it.
        if literal.exponent.abs() >= EXPONENT_MAX {
            return Err(NumericError::overflow());
        }
        match literal.rest.is_empty() {
            true => literal.value(modifier),
            false => Err(NumericError::invalid_text(text)),
        }
    }
}

/// Parses a number of few digits without spaces and exponent, which most are; `None` for any other text.
fn parse_plain(text: &[u8]) -> Option<Numeric> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > PLAIN_BYTES_MAX {
        return None;
    }
    let (mut magnitude, mut point) = (0_u64, None);
    for (index, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => magnitude = magnitude * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(index),
            _ => return None,
        }
    }
    let fraction = point.map_or(0, |point| digits.len() - point - 1);
    if digits.len() == usize::from(point.is_some()) {
        return None;
    }
    let unscaled = i128::from(magnitude);
    let unscaled = if is_negative { -unscaled } else { unscaled };
    Some(Numeric::small(unscaled, u16::try_from(fraction).ok()?))
}

/// Returns true for a space of C's standard locale.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

fn parse_special(text: &str) -> Option<Numeric> {
    if text.eq_ignore_ascii_case("nan") {
        return Some(Numeric::NAN);
    }
    let (is_negative, name) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let is_infinity = name.eq_ignore_ascii_case("inf") || name.eq_ignore_ascii_case("infinity");
    is_infinity.then_some(match is_negative {
        true => Numeric::NEGATIVE_INFINITY,
        false => Numeric::INFINITY,
    })
}

/// Tokens of a decimal number.
struct Literal<'a> {
    is_negative: bool,
    integer: &'a str,
    fraction: &'a str,
    exponent: i64,
    /// Text after the number.
    rest: &'a str,
}

impl<'a> Literal<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (is_negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (integer, rest) = split_digits(rest);
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest),
            None => ("", rest),
        };
        if integer.is_empty() && fraction.is_empty() {
            return None;
        }
        let (exponent, rest) = match rest.as_bytes().first() {
            Some(b'e' | b'E') => parse_exponent(&rest[1..])?,
            _ => (0, rest),
        };
        Some(Self { is_negative, integer, fraction, exponent, rest })
    }

    fn value(self, modifier: Option<TypeModifier>) -> Result<Numeric> {
        let length = |digits: &str| i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let scale = length(self.fraction) - self.exponent;
        let integer = self.integer.trim_start_matches('0');
        let fraction = match integer.is_empty() {
            true => self.fraction.trim_start_matches('0'),
            false => self.fraction,
        };
        let digits = integer.len() + fraction.len();
        if let (Some(modifier), true) = (modifier, digits > 0) {
            modifier.check_weight(length(integer) + length(fraction) - scale)?;
            if scale > i64::from(SCALE_MAX) {
                let rounded = self.rounded(integer, fraction, scale);
                return modifier.apply(&rounded?);
            }
        } else if scale > i64::from(SCALE_MAX) && modifier.is_none() {
            return Err(NumericError::overflow());
        }
        let value = match digits {
            0 => {
                Numeric::small(0, u16::try_from(scale.clamp(0, i64::from(SCALE_MAX))).unwrap_or(0))
            }
            _ if length(integer) + length(fraction) - scale > i64::from(INTEGER_DIGITS_MAX) => {
                return Err(NumericError::overflow());
            }
            _ => self.join(integer, fraction, scale)?,
        };
        match modifier {
            Some(modifier) => modifier.apply(&value),
            None => Ok(value),
        }
    }

    /// Rounds digits beyond the greatest scale to one more digit than a type modifier keeps, without changing how they
    /// round.
    fn rounded(&self, integer: &str, fraction: &str, scale: i64) -> Result<Numeric> {
        let surplus = usize::try_from(scale - i64::from(SCALE_MAX)).unwrap_or(usize::MAX);
        let fraction_end = fraction.len().saturating_sub(surplus);
        let integer_end = match fraction_end {
            0 => integer.len().saturating_sub(surplus - fraction.len()),
            _ => integer.len(),
        };
        self.join(&integer[..integer_end], &fraction[..fraction_end], i64::from(SCALE_MAX))
    }

    /// Joins digits to a value.
    fn join(&self, integer: &str, fraction: &str, scale: i64) -> Result<Numeric> {
        let zeros = usize::try_from(scale.min(0).unsigned_abs()).unwrap_or(usize::MAX);
        if integer.len() + fraction.len() + zeros <= SMALL_DIGITS {
            let digits = integer.bytes().chain(fraction.bytes());
            let magnitude = small_integer(digits) * powers::small_power(zeros).unwrap_or(0);
            let unscaled = if self.is_negative { -magnitude } else { magnitude };
            return Ok(Numeric::small(unscaled, u16::try_from(scale.max(0)).unwrap_or(0)));
        }
        let digits = [integer, fraction].concat();
        let mut magnitude = UBig::from_str_radix(&digits, 10).unwrap_or(UBig::ZERO);
        if zeros > 0 {
            magnitude *= &*powers::power(zeros);
        }
        let unscaled = IBig::from(magnitude);
        Numeric::finite(if self.is_negative { -unscaled } else { unscaled }, scale.max(0))
    }
}

/// Computes an integer of up to 38 digits: halves of 19 fit a word, whose multiplication is faster.
fn small_integer(mut digits: impl Iterator<Item = u8>) -> i128 {
    let mut value = 0_i128;
    loop {
        let (mut group, mut factor) = (0_u64, 1_u64);
        for digit in digits.by_ref().take(19) {
            group = group * 10 + u64::from(digit - b'0');
            factor *= 10;
        }
        value = value * i128::from(factor) + i128::from(group);
        if factor < 10_000_000_000_000_000_000 {
            return value;
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Parses an exponent as C's `strtol` does: after spaces, with a sign, saturating. Returns the text after it, too.
fn parse_exponent(text: &str) -> Option<(i64, &str)> {
    let text = text.trim_start_matches(is_space);
    let (is_negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (digits, rest) = split_digits(text);
    if digits.is_empty() {
        return None;
    }
    let exponent = digits
        .bytes()
        .fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some((if is_negative { -exponent } else { exponent }, rest))
}
