//! Exponential function.

use super::{GUARD_DIGITS, LOG10_2, LOG10_E, result_scale, truncated};
use crate::error::{NumericError, Result, check_interrupt};
use crate::limits::{EXPONENT_MAX, GROUP_DIGITS};
use crate::value::{Numeric, Special};
use crate::working::Working;
use dashu_int::IBig;

/// Greatest argument of the series; larger ones are halved before.
const SERIES_MAX: f64 = 0.01;
/// Greatest weight of an estimate.
const WEIGHT_MAX: f64 = 2_000.0;

impl Numeric {
    /// Returns e to the power of the value, to at least sixteen significant digits and at least the scale of the value.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type, 57014 if the statement was cancelled.
    pub fn exp(&self) -> Result<Self> {
        let exponent = match Working::of(self) {
            Ok(exponent) => exponent,
            Err(Special::NegativeInfinity) => return Ok(Self::ZERO),
            Err(_) => return Ok(self.clone()),
        };
        let weight = (exponent.to_f64() * LOG10_E).clamp(-WEIGHT_MAX, WEIGHT_MAX);
        let scale = result_scale(truncated(weight), exponent.scale);
        exp(&exponent, scale)?.into_numeric(scale)
    }
}

/// Returns e to the power of `exponent`, rounded to a scale.
pub(super) fn exp(exponent: &Working, scale: i64) -> Result<Working> {
    let mut estimate = exponent.to_f64();
    if estimate.abs() >= EXPONENT_MAX {
        return match estimate > 0.0 {
            true => Err(NumericError::overflow()),
            false => Ok(Working { digits: IBig::ZERO, scale }),
        };
    }
    let weight = truncated(estimate * LOG10_E);
    let (mut halvings, mut divisor) = (0_i64, 1_u64);
    while estimate.abs() > SERIES_MAX {
        (halvings, divisor, estimate) = (halvings + 1, divisor * 2, estimate / 2.0);
    }
    let reduced = match halvings {
        0 => exponent.clone(),
        _ => exponent.divide_by(divisor, exponent.scale + halvings),
    };
    // Each squaring of the sum doubles its relative error.
    #[expect(clippy::cast_precision_loss)]
    let lost_digits = truncated(halvings as f64 * LOG10_2);
    let significant = (1 + weight + scale + lost_digits).max(0) + GUARD_DIGITS;
    let mut power = series(&reduced, significant - 1)?;
    for _ in 0..halvings {
        check_interrupt()?;
        let scale = (significant - power.weight() * 2 * GROUP_DIGITS).max(0);
        power = power.square(scale);
    }
    Ok(power.round(scale))
}

/// Adds the terms of the exponential series until they vanish at a scale.
fn series(argument: &Working, scale: i64) -> Result<Working> {
    let mut sum = Working::integer(1_u8).add(argument);
    let mut term = argument.square(scale).divide_by(2, scale);
    let mut index = 2;
    while !term.is_zero() {
        check_interrupt()?;
        sum = sum.add(&term);
        index += 1;
        term = term.multiply(argument, scale).divide_by(index, scale);
    }
    Ok(sum)
}
