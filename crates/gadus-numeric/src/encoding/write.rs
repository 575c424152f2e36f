//! Writes values as bytes.

use super::{
    EXPONENT_MAX, EXPONENT_MIN, HUGE, INFINITY, NAN, NEGATIVE_INFINITY, SMALLEST, TINY, TINY_BIAS,
    ZERO,
};
use crate::value::{Numeric, Repr, decimal_digits};
use dashu_int::Sign;
use dashu_int::ops::UnsignedAbs;

/// Digits of base 100 that 128 bits have at most, and one for an odd scale.
const SMALL_DIGITS: usize = 21;

impl Numeric {
    /// Appends the bytes of the value.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        match &self.0 {
            Repr::Small { unscaled: 0, .. } => bytes.push(ZERO),
            Repr::Small { unscaled, scale } => {
                write_small(bytes, unscaled.unsigned_abs(), *scale);
                complement(&mut bytes[start..], *unscaled < 0);
            }
            Repr::Large { unscaled, scale } => {
                let digits = decimal_digits(&unscaled.unsigned_abs());
                write_text(bytes, digits.as_bytes(), usize::from(*scale));
                complement(&mut bytes[start..], unscaled.sign() == Sign::Negative);
            }
            Repr::Infinity => bytes.push(INFINITY),
            Repr::NegativeInfinity => bytes.push(NEGATIVE_INFINITY),
            Repr::Nan => bytes.push(NAN),
        }
        bytes.extend_from_slice(&self.scale().unwrap_or(0).to_be_bytes());
    }
}

fn complement(key: &mut [u8], is_negative: bool) {
    if is_negative {
        key.iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// Writes the key of a positive value of up to 128 bits.
fn write_small(bytes: &mut Vec<u8>, magnitude: u128, scale: u16) {
    let mut digits = [0_u8; SMALL_DIGITS];
    let mut first = SMALL_DIGITS;
    let mut push = |digit: u64| {
        first -= 1;
        digits[first] = digit.to_le_bytes()[0];
    };
    let mut rest = magnitude;
    if scale % 2 == 1 {
        push(u64::try_from(rest % 10).unwrap_or(0) * 10);
        rest /= 10;
    }
    // Division of 64 bits is several times faster than that of 128.
    while rest > u128::from(u64::MAX) {
        const GROUP: u64 = 1_000_000_000_000_000_000;
        let mut group = u64::try_from(rest % u128::from(GROUP)).unwrap_or(0);
        rest /= u128::from(GROUP);
        for _ in 0..9 {
            push(group % 100);
            group /= 100;
        }
    }
    let mut word = u64::try_from(rest).unwrap_or(0);
    while word > 0 {
        push(word % 100);
        word /= 100;
    }
    let written = &digits[first..];
    // A group of zeros before the last division leaves none at the beginning, an odd scale may.
    let zeros = written.iter().position(|digit| *digit != 0).unwrap_or(0);
    write_digits(bytes, &written[zeros..], fraction_digits(usize::from(scale)));
}

/// Writes the key of a positive value by its decimal digits.
fn write_text(bytes: &mut Vec<u8>, text: &[u8], scale: usize) {
    let value = |digit: &u8| digit - b'0';
    let is_odd_scale = scale % 2 == 1;
    let mut digits = Vec::with_capacity(text.len() / 2 + 1);
    let is_odd_length = (text.len() + usize::from(is_odd_scale)) % 2 == 1;
    let (first, rest) = text.split_at(usize::from(is_odd_length));
    digits.extend(first.iter().map(value));
    let pairs = rest.chunks(2).map(|pair| match pair {
        [ten, one] => value(ten) * 10 + value(one),
        [ten, ..] => value(ten) * 10,
        [] => 0,
    });
    digits.extend(pairs);
    write_digits(bytes, &digits, fraction_digits(scale));
}

/// Returns the digits of base 100 after the decimal point.
fn fraction_digits(scale: usize) -> usize {
    scale.div_ceil(2)
}

/// Writes a positive value whose first digit is not 0 and whose last `fraction` digits are after the decimal point.
fn write_digits(bytes: &mut Vec<u8>, digits: &[u8], fraction: usize) {
    let exponent = i32::try_from(digits.len()).unwrap_or(i32::MAX)
        - i32::try_from(fraction).unwrap_or(i32::MAX);
    let [.., high, low] = if exponent < EXPONENT_MIN {
        (exponent + TINY_BIAS).to_be_bytes()
    } else if exponent > EXPONENT_MAX {
        (exponent - EXPONENT_MAX - 1).to_be_bytes()
    } else {
        (exponent - EXPONENT_MIN + i32::from(SMALLEST)).to_be_bytes()
    };
    match exponent {
        ..EXPONENT_MIN => bytes.extend_from_slice(&[TINY, high, low]),
        EXPONENT_MIN..=EXPONENT_MAX => bytes.push(low),
        _ => bytes.extend_from_slice(&[HUGE, high, low]),
    }
    let end = digits.iter().rposition(|digit| *digit != 0).unwrap_or(0);
    bytes.extend(digits[..end].iter().map(|digit| digit * 2 + 1));
    bytes.extend(digits[end..=end].iter().map(|digit| digit * 2));
}
