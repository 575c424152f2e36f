//! Division: quotients rounded to a scale, integer quotients, and remainders.

use crate::error::{NumericError, Result};
use crate::limits::{GROUP_DIGITS, RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};
use crate::powers;
use crate::value::{Numeric, Repr};
use crate::working::{Leading, Working, distance, leading_of_small};
use dashu_int::IBig;

impl Numeric {
    /// Divides, to at least sixteen significant digits and at least the scales of both operands.
    ///
    /// # Errors
    /// 22012 for a divisor of zero, 22003 beyond the limits of the type.
    #[inline]
    pub fn divide(&self, divisor: &Self) -> Result<Self> {
        if let (
            Repr::Small { unscaled: one, scale: scale_of_one },
            Repr::Small { unscaled: other, scale: scale_of_other },
        ) = (&self.0, &divisor.0)
            && let Some(quotient) = divide_small((*one, *scale_of_one), (*other, *scale_of_other))
        {
            return Ok(quotient);
        }
        divide_any(self, divisor)
    }

    /// Divides and truncates to an integer.
    ///
    /// # Errors
    /// 22012 for a divisor of zero, 22003 beyond the limits of the type.
    pub fn quotient(&self, divisor: &Self) -> Result<Self> {
        let Some((one, other)) = finite_operands(self, divisor) else {
            return divide_special(self, divisor);
        };
        if other.is_zero() {
            return Err(NumericError::division_by_zero());
        }
        let (one, other, _) = aligned(one, other);
        Self::finite(one / other, 0)
    }

    /// Returns the remainder of a division whose quotient is truncated; it has the sign of the dividend.
    ///
    /// # Errors
    /// 22012 for a divisor of zero.
    pub fn remainder(&self, divisor: &Self) -> Result<Self> {
        if let (
            Repr::Small { unscaled: one, scale },
            Repr::Small { unscaled: other, scale: scale_of_other },
        ) = (&self.0, &divisor.0)
            && scale == scale_of_other
            && let Some(remainder) = one.checked_rem(*other)
        {
            return Ok(Self::small(remainder, *scale));
        }
        let Some((one, other)) = finite_operands(self, divisor) else {
            return remainder_special(self, divisor);
        };
        if other.is_zero() {
            return Err(NumericError::division_by_zero());
        }
        let (one, other, scale) = aligned(one, other);
        Self::finite(one % other, scale)
    }
}

/// Returns the scale of a quotient: sixteen significant digits by an estimate from the first groups of four digits.
pub(crate) fn division_scale(
    dividend: Option<Leading>,
    divisor: Option<Leading>,
    scales: (i64, i64),
) -> i64 {
    let zero = Leading { weight: 0, group: 0 };
    let (dividend, divisor) = (dividend.unwrap_or(zero), divisor.unwrap_or(zero));
    let weight = dividend.weight - divisor.weight - i64::from(dividend.group <= divisor.group);
    let scale = SIGNIFICANT_DIGITS_MIN - weight * GROUP_DIGITS;
    scale.max(scales.0).max(scales.1).clamp(0, RESULT_SCALE_MAX)
}

/// Divides within 128 bits, if the scaled dividend and the divisor fit.
#[inline]
fn divide_small(one: (i128, u16), other: (i128, u16)) -> Option<Numeric> {
    let (dividend, divisor) = (one.0.unsigned_abs(), other.0.unsigned_abs());
    if divisor == 0 {
        return None;
    }
    let scales = (i64::from(one.1), i64::from(other.1));
    let leading_of_one = leading_of_small(dividend, scales.0);
    let scale = division_scale(leading_of_one, leading_of_small(divisor, scales.1), scales);
    let shift = usize::try_from(scale + scales.1 - scales.0).ok()?;
    let dividend = dividend.checked_mul(powers::small_power(shift)?.unsigned_abs())?;
    let (quotient, remainder) = match (u64::try_from(dividend), u64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => {
            (u128::from(dividend / divisor), u128::from(dividend % divisor))
        }
        _ => (dividend / divisor, dividend % divisor),
    };
    let quotient = i128::try_from(quotient).ok()? + i128::from(remainder >= divisor - remainder);
    let quotient = if (one.0 < 0) == (other.0 < 0) { quotient } else { -quotient };
    Some(Numeric::small(quotient, u16::try_from(scale).ok()?))
}

#[cold]
fn divide_any(dividend: &Numeric, divisor: &Numeric) -> Result<Numeric> {
    let Some((one, other)) = finite_operands(dividend, divisor) else {
        return divide_special(dividend, divisor);
    };
    if other.is_zero() {
        return Err(NumericError::division_by_zero());
    }
    let scale = division_scale(one.leading(), other.leading(), (one.scale, other.scale));
    one.divide(&other, scale).into_numeric(scale)
}

/// Divides if an operand is not finite; the quotient and the integer quotient are the same.
fn divide_special(dividend: &Numeric, divisor: &Numeric) -> Result<Numeric> {
    if dividend.is_nan() || divisor.is_nan() {
        return Ok(Numeric::NAN);
    }
    match (dividend.is_infinite(), divisor.is_infinite(), divisor.signum() * dividend.signum()) {
        (true, true, _) => Ok(Numeric::NAN),
        (false, true, _) => Ok(Numeric::ZERO),
        (_, false, 0) => Err(NumericError::division_by_zero()),
        (_, false, 1) => Ok(Numeric::INFINITY),
        (_, false, _) => Ok(Numeric::NEGATIVE_INFINITY),
    }
}

fn remainder_special(dividend: &Numeric, divisor: &Numeric) -> Result<Numeric> {
    if dividend.is_nan() || divisor.is_nan() {
        return Ok(Numeric::NAN);
    }
    match dividend.is_infinite() {
        true if divisor.is_zero() => Err(NumericError::division_by_zero()),
        true => Ok(Numeric::NAN),
        false => Ok(dividend.clone()),
    }
}

/// Returns both operands if they are finite.
pub(super) fn finite_operands(one: &Numeric, other: &Numeric) -> Option<(Working, Working)> {
    Some((Working::of(one).ok()?, Working::of(other).ok()?))
}

/// Returns the integers of both operands at their greater scale.
pub(super) fn aligned(one: Working, other: Working) -> (IBig, IBig, i64) {
    let scale = one.scale.max(other.scale);
    debug_assert!(distance(one.scale, other.scale) <= usize::from(u16::MAX));
    (one.at_scale(scale), other.at_scale(scale), scale)
}
