//! Decimal digits of long integers.

use crate::powers;
use dashu_int::UBig;
use dashu_int::ops::{BitTest, DivRem};

/// Bits up to which digits are split off by division: beyond them the library's conversion is as fast.
const SPLIT_BITS: usize = 20 * 64;
/// Digits that are split off at a time: the most whose power of ten fits 128 bits.
const GROUP_DIGITS: usize = powers::SMALL_MAX;
/// Digits of half of a group, which fits 64 bits.
const HALF_DIGITS: usize = GROUP_DIGITS / 2;
/// Power of ten of as many digits.
const HALF: u128 = 10_u128.pow(19);

const _: () = assert!(HALF_DIGITS == 19);

/// Returns the decimal digits of an integer.
pub(crate) fn decimal_digits(magnitude: &UBig) -> String {
    if magnitude.bit_len() > SPLIT_BITS {
        return magnitude.to_string();
    }
    let group = powers::small_power(GROUP_DIGITS).unwrap_or(1).unsigned_abs();
    // The last digit first.
    let mut digits = Vec::with_capacity(magnitude.bit_len() / 3 + 1);
    let mut rest = magnitude.clone();
    let top = loop {
        match u128::try_from(&rest) {
            Ok(top) if top < group => break top,
            _ => {}
        }
        let (quotient, remainder) = rest.div_rem(group);
        push_digits(&mut digits, remainder % HALF, HALF_DIGITS);
        push_digits(&mut digits, remainder / HALF, HALF_DIGITS);
        rest = quotient;
    };
    push_digits(&mut digits, top % HALF, if top < HALF { 1 } else { HALF_DIGITS });
    if top >= HALF {
        push_digits(&mut digits, top / HALF, 1);
    }
    digits.reverse();
    String::from_utf8(digits).unwrap_or_default()
}

/// Appends the digits of an integer of up to 64 bits, the last one first, and at least `count_min` of them.
fn push_digits(digits: &mut Vec<u8>, integer: u128, count_min: usize) {
    let mut rest = u64::try_from(integer).unwrap_or(u64::MAX);
    let end = digits.len() + count_min;
    while rest > 0 || digits.len() < end {
        digits.push(b'0' + (rest % 10).to_le_bytes()[0]);
        rest /= 10;
    }
}
