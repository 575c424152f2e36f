//! Powers of ten, and the count of decimal digits.
//!
//! - Powers up to [`CACHED_MAX`] are computed once for the process; 300 KiB if all of them are used.

use dashu_int::UBig;
use dashu_int::ops::BitTest;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Greatest exponent whose power of ten is below 2^127.
pub(crate) const SMALL_MAX: usize = 38;
/// Greatest exponent whose power is cached: beyond it the computation that needs a power takes longer than the power.
const CACHED_MAX: usize = 1_150;

/// Uncertainty of logarithms of up to half a million bits, whose error is below 1e-10.
const MARGIN: f64 = 1e-9;

const SMALL: [i128; SMALL_MAX + 1] = {
    let mut powers = [1; SMALL_MAX + 1];
    let mut exponent = 1;
    while exponent <= SMALL_MAX {
        powers[exponent] = powers[exponent - 1] * 10;
        exponent += 1;
    }
    powers
};

static CACHED: [OnceLock<UBig>; CACHED_MAX + 1] = [const { OnceLock::new() }; CACHED_MAX + 1];

/// Returns 10^`exponent` if it is below 2^127.
#[inline]
pub(crate) fn small_power(exponent: usize) -> Option<i128> {
    SMALL.get(exponent).copied()
}

/// Returns 10^`exponent`.
pub(crate) fn power(exponent: usize) -> Cow<'static, UBig> {
    match CACHED.get(exponent) {
        Some(cell) => Cow::Borrowed(cell.get_or_init(|| compute(exponent))),
        None => Cow::Owned(compute(exponent)),
    }
}

fn compute(exponent: usize) -> UBig {
    UBig::from(5_u8).pow(exponent) << exponent
}

/// Returns the count of decimal digits; 0 of zero.
#[inline]
pub(crate) fn small_digit_count(magnitude: u128) -> usize {
    if magnitude == 0 {
        return 0;
    }
    // 1233 / 4096 is a little more than log10(2): the estimate is right or one too high for 128 bits.
    let bits = 128 - magnitude.leading_zeros();
    let estimate = ((bits * 1233) >> 12) as usize;
    match SMALL.get(estimate) {
        Some(power) if magnitude < power.unsigned_abs() => estimate,
        Some(_) => estimate + 1,
        None => estimate,
    }
}

/// Returns the count of decimal digits; 0 of zero.
pub(crate) fn digit_count(magnitude: &UBig) -> usize {
    if let Ok(small) = u128::try_from(magnitude) {
        return small_digit_count(small);
    }
    let logarithm = logarithm(magnitude);
    let (low, high) = (truncated(logarithm - MARGIN), truncated(logarithm + MARGIN));
    if low == high {
        return low + 1;
    }
    // Next to a power of ten.
    low + 1 + usize::from(*magnitude >= *power(low + 1))
}

/// Returns the first digits, and the count of all; `None` if an estimate cannot tell them.
pub(crate) fn leading_digits(
    magnitude: &UBig,
    count_of: impl Fn(usize) -> usize,
) -> Option<(u64, usize)> {
    let logarithm = logarithm(magnitude);
    let (low, high) = (logarithm - MARGIN, logarithm + MARGIN);
    let digits = truncated(low) + 1;
    let count = count_of(digits);
    #[expect(clippy::cast_precision_loss)]
    let leading = |logarithm: f64| {
        truncated(10.0_f64.powf(logarithm - (digits - 1) as f64 + (count - 1) as f64))
    };
    let (low_leading, high_leading) = (leading(low), leading(high));
    let is_certain = truncated(high) + 1 == digits && low_leading == high_leading;
    Some((u64::try_from(low_leading).ok()?, digits)).filter(|_| is_certain)
}

/// Returns the decimal logarithm of an integer of more than 64 bits; the error is below a tenth of the margin.
fn logarithm(magnitude: &UBig) -> f64 {
    let excess = magnitude.bit_len() - 64;
    let top = u64::try_from(magnitude >> excess).unwrap_or(u64::MAX);
    #[expect(clippy::cast_precision_loss)]
    let binary = (top as f64).log2() + excess as f64;
    binary * std::f64::consts::LOG10_2
}

/// Truncates a number that is not negative.
fn truncated(number: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let truncated = number as usize;
    truncated
}
