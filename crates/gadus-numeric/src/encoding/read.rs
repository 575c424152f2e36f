//! Reads values from bytes, which may be hostile.
//!
//! - Nothing is allocated before the limits of the type are checked.

use super::{
    EXPONENT_MAX, EXPONENT_MIN, HUGE, INFINITY, NAN, NEGATIVE_INFINITY, SCALE_BYTES, SMALLEST,
    TINY, TINY_BIAS, ZERO,
};
use crate::error::{NumericError, Result};
use crate::limits::{INTEGER_DIGITS_MAX, SCALE_MAX};
use crate::powers;
use crate::value::Numeric;
use dashu_int::ops::DivRem;
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;

/// Digits of base 100 that fit 128 bits whatever they are.
const SMALL_DIGITS: usize = 19;

/// Tokens of a key.
struct Key<'a> {
    is_negative: bool,
    exponent: i32,
    /// Digits, encoded.
    digits: &'a [u8],
}

impl Numeric {
    /// Reads a value that fills the bytes.
    ///
    /// # Errors
    /// XX001 for bytes that no value is written as.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let (key, rest) = split(bytes)?;
        let scale = <[u8; SCALE_BYTES]>::try_from(rest)
            .map(u16::from_be_bytes)
            .map_err(|_| NumericError::corrupted("bytes after the value"))?;
        if scale > SCALE_MAX {
            return Err(NumericError::corrupted("display scale beyond the limit"));
        }
        let special = match key {
            [ZERO] => return Ok(Self::small(0, scale)),
            [NAN] => Self::NAN,
            [INFINITY] => Self::INFINITY,
            [NEGATIVE_INFINITY] => Self::NEGATIVE_INFINITY,
            _ => return Key::parse(key)?.value(scale),
        };
        match scale {
            0 => Ok(special),
            _ => Err(NumericError::corrupted("display scale of a value that is not finite")),
        }
    }

    /// Returns the key of the bytes of a value: the bytes without the display scale, equal for equal values.
    #[must_use]
    pub fn key(bytes: &[u8]) -> &[u8] {
        &bytes[..bytes.len().saturating_sub(SCALE_BYTES)]
    }

    /// Compares two values by their bytes.
    #[must_use]
    pub fn compare_bytes(one: &[u8], other: &[u8]) -> Ordering {
        Self::key(one).cmp(Self::key(other))
    }

    /// Splits bytes that begin with a value into those of the value and the rest.
    ///
    /// # Errors
    /// XX001 for bytes that do not begin with a value.
    pub fn split(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
        let (key, _) = split(bytes)?;
        let length = key.len() + SCALE_BYTES;
        bytes.split_at_checked(length).ok_or_else(|| NumericError::corrupted("end within a value"))
    }
}

/// Splits a key from the bytes after it.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    let end = || NumericError::corrupted("end within a key");
    let first = *bytes.first().ok_or_else(end)?;
    let is_negative = first < ZERO;
    let header = match if is_negative { !first } else { first } {
        _ if matches!(first, ZERO | INFINITY | NAN | NEGATIVE_INFINITY) => {
            return Ok(bytes.split_at(1));
        }
        TINY | HUGE => 3,
        SMALLEST..HUGE => 1,
        _ => return Err(NumericError::corrupted("first byte of no key")),
    };
    // The lowest bit of a digit is set unless it is the last; those of negative values are complements.
    let last = u8::from(is_negative);
    let digits = bytes.get(header..).ok_or_else(end)?;
    let length = digits.iter().position(|byte| byte & 1 == last).ok_or_else(end)? + 1;
    Ok(bytes.split_at(header + length))
}

impl<'a> Key<'a> {
    fn parse(key: &'a [u8]) -> Result<Self> {
        let mask = |is_negative: bool| if is_negative { 0xFF } else { 0 };
        let corrupted = || NumericError::corrupted("exponent beyond its range");
        let (first, rest) = key.split_first().ok_or_else(corrupted)?;
        let is_negative = *first < ZERO;
        let wide = |rest: &'a [u8]| {
            let (exponent, digits) = rest.split_first_chunk::<2>().ok_or_else(corrupted)?;
            let exponent = exponent.map(|byte| byte ^ mask(is_negative));
            Ok((i32::from(u16::from_be_bytes(exponent)), digits))
        };
        let (exponent, digits) = match first ^ mask(is_negative) {
            TINY => {
                let (exponent, digits) = wide(rest)?;
                if exponent - TINY_BIAS >= EXPONENT_MIN {
                    return Err(corrupted());
                }
                (exponent - TINY_BIAS, digits)
            }
            HUGE => {
                let (exponent, digits) = wide(rest)?;
                (exponent + EXPONENT_MAX + 1, digits)
            }
            first => (i32::from(first) - i32::from(SMALLEST) + EXPONENT_MIN, rest),
        };
        Ok(Self { is_negative, exponent, digits })
    }

    fn value(&self, scale: u16) -> Result<Numeric> {
        let digits = self.decoded();
        let (first, last) = (digits.clone().next(), digits.clone().next_back());
        if first == Some(0) || last == Some(0) || digits.clone().any(|digit| digit > 99) {
            return Err(NumericError::corrupted("digit out of place"));
        }
        let integer_digits = self.exponent * 2 - i32::from(first < Some(10));
        if i64::from(integer_digits) > i64::from(INTEGER_DIGITS_MAX) {
            return Err(NumericError::corrupted("more digits than the type has"));
        }
        let length = i32::try_from(self.digits.len()).unwrap_or(i32::MAX);
        // Zeros between the last digit and the end of the fraction; the fraction may end within the last digit.
        let zeros = self.exponent.saturating_sub(length).saturating_mul(2) + i32::from(scale);
        let beyond = || NumericError::corrupted("digits beyond the display scale");
        let (factor, is_halved) = match usize::try_from(zeros) {
            Ok(zeros) => (zeros, false),
            Err(_) if zeros == -1 && last.is_some_and(|digit| digit % 10 == 0) => (0, true),
            Err(_) => return Err(beyond()),
        };
        if self.digits.len() <= SMALL_DIGITS
            && let Some(power) = powers::small_power(factor)
        {
            let magnitude = small_integer(digits.clone());
            let magnitude = if is_halved { magnitude / 10 } else { magnitude };
            if let Some(magnitude) = magnitude.checked_mul(power) {
                let unscaled = if self.is_negative { -magnitude } else { magnitude };
                return Ok(Numeric::small(unscaled, scale));
            }
        }
        let text: Vec<u8> =
            digits.flat_map(|digit| [b'0' + digit / 10, b'0' + digit % 10]).collect();
        let text = std::str::from_utf8(&text).unwrap_or("");
        let magnitude = UBig::from_str_radix(text, 10).map_err(|_| beyond())?;
        let magnitude = match is_halved {
            true => magnitude.div_rem(UBig::from(10_u8)).0,
            false => magnitude * &*powers::power(factor),
        };
        let unscaled = IBig::from(magnitude);
        Numeric::finite(if self.is_negative { -unscaled } else { unscaled }, scale.into())
    }

    /// Returns the digits; those above 99 are not valid.
    fn decoded(&self) -> impl DoubleEndedIterator<Item = u8> + Clone + use<'a> {
        let mask = if self.is_negative { 0xFF } else { 0 };
        self.digits.iter().map(move |byte| (byte ^ mask) >> 1)
    }
}

/// Computes an integer of up to 19 digits of base 100, by halves that fit a word, whose multiplication is faster.
fn small_integer(mut digits: impl Iterator<Item = u8>) -> i128 {
    let mut value = 0_i128;
    loop {
        let (mut group, mut factor) = (0_u64, 1_u64);
        for digit in digits.by_ref().take(9) {
            group = group * 100 + u64::from(digit);
            factor *= 100;
        }
        value = value * i128::from(factor) + i128::from(group);
        if factor < 1_000_000_000_000_000_000 {
            return value;
        }
    }
}
