//! Powers with an integer exponent: multiplications by the bits of the exponent.

use super::{GUARD_DIGITS, truncated};
use crate::error::{NumericError, Result, check_interrupt};
use crate::limits::{GROUP_DIGITS, INTEGER_DIGITS_MAX, RESULT_SCALE_MAX};
use crate::working::{Working, leading_groups};
use dashu_int::IBig;

/// Groups of four digits that an estimate is made from.
const ESTIMATE_GROUPS: usize = 4;
/// Greatest place of a group of four digits that the type allows.
const WEIGHT_MAX: i64 = INTEGER_DIGITS_MAX as i64 / GROUP_DIGITS - 1;

/// Returns `base` to the power of `exponent`, rounded to a scale.
pub(super) fn integer_power(base: &Working, exponent: i32, scale: i64) -> Result<Working> {
    match exponent {
        0 => return Ok(Working::integer(1_u8)),
        1 => return Ok(base.clone().round(scale)),
        -1 if base.is_zero() => return Err(NumericError::division_by_zero()),
        -1 => return Ok(Working::integer(1_u8).divide(base, scale)),
        2 if 2 * base.weight() > WEIGHT_MAX => return Err(NumericError::overflow()),
        2 => return Ok(base.square_to_result(scale)),
        _ => {}
    }
    let zero = || Working { digits: IBig::ZERO, scale };
    if base.is_zero() {
        return match exponent < 0 {
            true => Err(NumericError::division_by_zero()),
            false => Ok(zero()),
        };
    }
    let weight = estimate_weight(base, exponent);
    // The estimate is exact to far less than a digit.
    if weight > f64::from(INTEGER_DIGITS_MAX) + 1.0 {
        return Err(NumericError::overflow());
    }
    #[expect(clippy::cast_precision_loss)]
    let vanishes = weight + 1.0 < -(scale as f64) || weight + 1.0 < -(RESULT_SCALE_MAX as f64);
    if vanishes {
        return Ok(zero());
    }
    // Each multiplication adds an error.
    let lost_digits = truncated(f64::from(exponent).abs().ln());
    let significant = 1 + scale + truncated(weight) + lost_digits + GUARD_DIGITS;
    match multiply_by_bits(base, exponent.unsigned_abs(), significant)? {
        Some(power) if exponent < 0 => Ok(Working::integer(1_u8).divide(&power, scale)),
        Some(power) => Ok(power.round(scale)),
        None if exponent < 0 => Ok(zero()),
        None => Err(NumericError::overflow()),
    }
}

/// Multiplies squares of the base, with about `significant` digits; `None` beyond the limits of the type.
fn multiply_by_bits(base: &Working, exponent: u32, significant: i64) -> Result<Option<Working>> {
    let mut square = base.clone();
    let mut power = if exponent & 1 == 1 { base.clone() } else { Working::integer(1_u8) };
    let mut bits = exponent >> 1;
    while bits > 0 {
        check_interrupt()?;
        let scale = significant - 2 * square.weight() * GROUP_DIGITS;
        square = square.square(scale.min(2 * square.scale).max(0));
        if bits & 1 == 1 {
            let scale = significant - (square.weight() + power.weight()) * GROUP_DIGITS;
            power = square.multiply(&power, scale.min(square.scale + power.scale).max(0));
        }
        if square.weight() > WEIGHT_MAX || power.weight() > WEIGHT_MAX {
            return Ok(None);
        }
        bits >>= 1;
    }
    Ok(Some(power))
}

/// Estimates the decimal logarithm of a power.
fn estimate_weight(base: &Working, exponent: i32) -> f64 {
    let (groups, count) = leading_groups(&base.magnitude(), base.scale, ESTIMATE_GROUPS);
    let place = (base.weight() + 1 - count) * GROUP_DIGITS;
    #[expect(clippy::cast_precision_loss)]
    let logarithm = (groups as f64).log10() + place as f64;
    f64::from(exponent) * logarithm
}
