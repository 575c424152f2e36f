//! Powers: the cases without a computation, and powers by logarithm and exponential.

use super::exp::exp;
use super::integer_power::integer_power;
use super::ln::{ln, ln_weight};
use super::{GUARD_DIGITS, LOG10_E, result_scale, truncated};
use crate::error::{INVALID_POWER, NumericError, Result};
use crate::limits::{EXPONENT_MAX, RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};
use crate::value::{Numeric, Special};
use crate::working::Working;
use dashu_int::IBig;
use dashu_int::ops::BitTest;
use std::cmp::Ordering;

impl Numeric {
    /// Returns the value to the power of `exponent`, to about sixteen significant digits or the operands' scales.
    ///
    /// # Errors
    /// 2201F for zero to a negative power and for a negative value to a power that is no integer, 22003 beyond the
    /// limits of the type, 57014 if the statement was cancelled.
    pub fn power(&self, exponent: &Self) -> Result<Self> {
        if self.is_nan() || exponent.is_nan() {
            return Ok(match exponent.is_zero() || *self == Self::ONE {
                true => Self::ONE,
                false => Self::NAN,
            });
        }
        if self.is_zero() && exponent.is_negative() {
            return Err(refused("zero raised to a negative power is undefined"));
        }
        let (Ok(base), Ok(power)) = (Working::of(self), Working::of(exponent)) else {
            return power_special(self, exponent);
        };
        if exponent.is_integral()
            && let Ok(integer) = i32::try_from(power.clone().at_scale(0))
        {
            let scale = base.scale.clamp(SIGNIFICANT_DIGITS_MIN, RESULT_SCALE_MAX);
            return integer_power(&base, integer, scale)?.into_numeric(scale);
        }
        if base.is_zero() {
            return Self::finite(IBig::ZERO, SIGNIFICANT_DIGITS_MIN);
        }
        if base.is_negative() && !exponent.is_integral() {
            return Err(complex_result());
        }
        let is_negative = base.is_negative() && is_odd(&power);
        let base = Working { digits: base.magnitude().into(), scale: base.scale };
        let (result, scale) = power_by_logarithm(&base, &power)?;
        let result = result.into_numeric(scale)?;
        Ok(if is_negative { result.negate() } else { result })
    }
}

/// Returns the power of a positive base, and its scale.
fn power_by_logarithm(base: &Working, exponent: &Working) -> Result<(Working, i64)> {
    let ln_weight = ln_weight(base);
    let estimate_scale = (GUARD_DIGITS - ln_weight).max(0);
    let estimate = ln(base, estimate_scale)?.multiply(exponent, estimate_scale).to_f64();
    // Between both limits the exponential decides.
    if estimate.abs() > EXPONENT_MAX * 3.01 / 3.0 {
        return match estimate > 0.0 {
            true => Err(NumericError::overflow()),
            false => Ok((Working::integer(0_u8), RESULT_SCALE_MAX)),
        };
    }
    let weight = truncated(estimate * LOG10_E);
    let scale = result_scale(weight, base.scale.max(exponent.scale));
    let significant = (scale + weight).max(0);
    let ln_scale = (significant - ln_weight + GUARD_DIGITS).max(0);
    let product = ln(base, ln_scale)?.multiply(exponent, ln_scale);
    Ok((exp(&product, scale)?, scale))
}

/// Computes a power of which an operand is infinite and none is NaN, by POSIX's rules of `pow`.
fn power_special(base: &Numeric, exponent: &Numeric) -> Result<Numeric> {
    if base.is_negative() && !exponent.is_integral() {
        return Err(complex_result());
    }
    if *base == Numeric::ONE || exponent.is_zero() {
        return Ok(Numeric::ONE);
    }
    if base.is_zero() {
        return Ok(Numeric::ZERO);
    }
    if exponent.is_infinite() {
        return Ok(match base.abs().cmp(&Numeric::ONE) {
            // The base is -1.
            Ordering::Equal => Numeric::ONE,
            magnitude if (magnitude == Ordering::Greater) == exponent.is_negative() => {
                Numeric::ZERO
            }
            _ => Numeric::INFINITY,
        });
    }
    Ok(match (exponent.is_negative(), Working::of(base), Working::of(exponent)) {
        (true, ..) => Numeric::ZERO,
        (false, Err(Special::NegativeInfinity), Ok(power)) if is_odd(&power) => {
            Numeric::NEGATIVE_INFINITY
        }
        _ => Numeric::INFINITY,
    })
}

/// Returns true for an odd integer.
fn is_odd(integer: &Working) -> bool {
    integer.clone().at_scale(0).bit(0)
}

fn complex_result() -> NumericError {
    refused("a negative number raised to a non-integer power yields a complex result")
}

fn refused(message: &str) -> NumericError {
    NumericError::new(INVALID_POWER, message)
}
