//! Conversions from and to floating-point numbers.
//!
//! - From: 6 or 15 significant digits, as PostgreSQL converts.
//! - To: the nearest number, as from text; overflow and underflow are errors.

use crate::error::{NumericError, OUT_OF_RANGE, Result};
use crate::powers;
use crate::value::{Numeric, Repr};
use dashu_int::IBig;

/// Integers up to it, in either direction, are doubles.
const EXACT_MAX: u64 = 1 << 53;
/// Greatest power of ten that is a double.
const EXACT_POWER_MAX: usize = 22;
/// Significant digits of a `real`.
const F32_DIGITS: usize = 6;
/// Significant digits of a `double precision`.
const F64_DIGITS: usize = 15;

impl From<f32> for Numeric {
    /// Converts to the decimal of 6 significant digits.
    fn from(value: f32) -> Self {
        // A float is a double exactly.
        from_float(value.into(), F32_DIGITS)
    }
}

impl From<f64> for Numeric {
    /// Converts to the decimal of 15 significant digits.
    fn from(value: f64) -> Self {
        from_float(value, F64_DIGITS)
    }
}

impl Numeric {
    /// Returns the nearest `double precision`.
    ///
    /// # Errors
    /// 22003 beyond the range of the type, or for a value that is not zero and would become it.
    pub fn to_f64(&self) -> Result<f64> {
        let nearest = self.nearest();
        match self.is_finite() && (nearest.is_infinite() || nearest == 0.0 && !self.is_zero()) {
            true => Err(self.out_of_range("double precision")),
            false => Ok(nearest),
        }
    }

    /// Returns the nearest `real`.
    ///
    /// # Errors
    /// 22003 beyond the range of the type, or for a value that is not zero and would become it.
    pub fn to_f32(&self) -> Result<f32> {
        let nearest = match &self.0 {
            Repr::Small { unscaled, scale } => text_of(&IBig::from(*unscaled), (*scale).into()),
            Repr::Large { unscaled, scale } => text_of(unscaled, (*scale).into()),
            Repr::Infinity => return Ok(f32::INFINITY),
            Repr::NegativeInfinity => return Ok(f32::NEG_INFINITY),
            Repr::Nan => return Ok(f32::NAN),
        };
        let nearest = nearest.parse().unwrap_or(f32::NAN);
        match nearest.is_infinite() || nearest == 0.0 && !self.is_zero() {
            true => Err(self.out_of_range("real")),
            false => Ok(nearest),
        }
    }

    /// Returns the nearest `double precision`, which is zero or infinite beyond the range.
    #[must_use]
    pub fn nearest(&self) -> f64 {
        match &self.0 {
            Repr::Small { unscaled, scale } => nearest_small(*unscaled, (*scale).into())
                .unwrap_or_else(|| nearest_f64(&IBig::from(*unscaled), (*scale).into())),
            Repr::Large { unscaled, scale } => nearest_f64(unscaled, (*scale).into()),
            Repr::Infinity => f64::INFINITY,
            Repr::NegativeInfinity => f64::NEG_INFINITY,
            Repr::Nan => f64::NAN,
        }
    }

    fn out_of_range(&self, type_name: &str) -> NumericError {
        let message = format!("\"{self}\" is out of range for type {type_name}");
        NumericError::new(OUT_OF_RANGE, message)
    }
}

/// Returns the double nearest to `digits / 10^scale`.
pub(crate) fn nearest_f64(digits: &IBig, scale: i64) -> f64 {
    if let (Ok(small), Ok(scale)) = (i128::try_from(digits), usize::try_from(scale))
        && let Some(nearest) = nearest_small(small, scale)
    {
        return nearest;
    }
    text_of(digits, scale).parse().unwrap_or(f64::NAN)
}

/// Returns the double nearest to `unscaled / 10^scale` if that takes no more than a division.
fn nearest_small(unscaled: i128, scale: usize) -> Option<f64> {
    let magnitude = u64::try_from(unscaled.unsigned_abs()).ok()?;
    let power = powers::small_power(scale).filter(|_| scale <= EXACT_POWER_MAX)?;
    #[expect(clippy::cast_precision_loss)]
    let nearest = match (magnitude <= EXACT_MAX, u64::try_from(power)) {
        // The quotient of two numbers that are doubles exactly is rounded once.
        (true, _) => magnitude as f64 / power as f64,
        (false, Ok(power)) => nearest_quotient(magnitude, power),
        _ => return None,
    };
    Some(if unscaled < 0 { -nearest } else { nearest })
}

/// Divides integers of which the first is not zero: the quotient has at least 64 bits, and its lowest bit stands for
/// those after it, so that the conversion rounds it correctly.
fn nearest_quotient(dividend: u64, divisor: u64) -> f64 {
    let shift = dividend.leading_zeros() + 64;
    let (dividend, divisor) = (u128::from(dividend) << shift, u128::from(divisor));
    let quotient = (dividend / divisor) | u128::from(dividend % divisor != 0);
    #[expect(clippy::cast_precision_loss)]
    let rounded = quotient as f64;
    rounded / 2.0_f64.powi(i32::try_from(shift).unwrap_or(0))
}

fn text_of(digits: &IBig, scale: i64) -> String {
    format!("{digits}e{}", -scale)
}

fn from_float(value: f64, digits: usize) -> Numeric {
    if value.is_nan() {
        return Numeric::NAN;
    }
    if value.is_infinite() {
        return if value > 0.0 { Numeric::INFINITY } else { Numeric::NEGATIVE_INFINITY };
    }
    // C's %g drops zeros at the end, and so does the conversion.
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    format!("{mantissa}e{exponent}").parse().unwrap_or(Numeric::NAN)
}
