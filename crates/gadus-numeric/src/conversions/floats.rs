//! Conversions from and to floating-point numbers.
//!
//! - From: 6 or 15 significant digits, as PostgreSQL converts.
//! - To: the nearest number, as from text; overflow and underflow are errors.

use crate::error::{NumericError, OUT_OF_RANGE, Result};
use crate::powers;
use crate::value::{Numeric, Repr};
use dashu_int::IBig;

/// Integers up to it, in either direction, are doubles.
const EXACT_MAX: u128 = 1 << 53;
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

/// Divides two numbers that are doubles exactly: the quotient is rounded once.
fn nearest_small(unscaled: i128, scale: usize) -> Option<f64> {
    if scale > EXACT_POWER_MAX || unscaled.unsigned_abs() > EXACT_MAX {
        return None;
    }
    #[expect(clippy::cast_precision_loss)]
    let (dividend, divisor) = (unscaled as f64, powers::small_power(scale)? as f64);
    Some(dividend / divisor)
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
