//! Decimal digits of long integers.

use crate::powers;
use dashu_int::UBig;
use dashu_int::ops::{BitTest, DivRem};

/// Bits up to which digits are split off by division: beyond them the library's conversion is as fast.
const SPLIT_BITS: usize = 20 * 64;
/// Digits that are split off at a time: the most whose power of ten fits 128 bits.
const GROUP_DIGITS: usize = powers::SMALL_MAX;

/// Returns the decimal digits of an integer.
pub(crate) fn decimal_digits(magnitude: &UBig) -> String {
    if magnitude.bit_len() > SPLIT_BITS {
        return magnitude.to_string();
    }
    let group = powers::small_power(GROUP_DIGITS).unwrap_or(1).unsigned_abs();
    let mut groups = Vec::with_capacity(SPLIT_BITS / 120);
    let mut rest = magnitude.clone();
    while rest >= UBig::from(group) {
        let (quotient, remainder) = rest.div_rem(group);
        groups.push(remainder);
        rest = quotient;
    }
    let mut digits = rest.to_string();
    for group in groups.iter().rev() {
        digits.push_str(&format!("{group:0GROUP_DIGITS$}"));
    }
    digits
}
