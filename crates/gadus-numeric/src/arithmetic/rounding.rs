//! Rounding to a scale, and to integers.

use crate::error::Result;
use crate::limits::{INTEGER_DIGITS_MAX, SCALE_MAX};
use crate::powers;
use crate::value::{Numeric, Repr};
use crate::working::Working;
use dashu_int::IBig;
use dashu_int::ops::BitTest;

/// Direction of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounding {
    HalfAwayFromZero,
    TowardsZero,
}

impl Numeric {
    /// Rounds half away from zero to a scale, which is negative for digits before the decimal point.
    ///
    /// # Errors
    /// 22003 if a value of the most digits rounds up.
    pub fn round(&self, scale: i32) -> Result<Self> {
        // One digit more than the type has, because the first digit may round up.
        let low = -i64::from(INTEGER_DIGITS_MAX) - 1;
        let scale = i64::from(scale).clamp(low, i64::from(SCALE_MAX));
        rescale(self, scale, Rounding::HalfAwayFromZero)
    }

    /// Truncates towards zero to a scale, which is negative for digits before the decimal point.
    #[must_use]
    pub fn truncate(&self, scale: i32) -> Self {
        let low = -i64::from(INTEGER_DIGITS_MAX);
        let scale = i64::from(scale).clamp(low, i64::from(SCALE_MAX));
        rescale(self, scale, Rounding::TowardsZero)
            .expect("truncation adds no digit before the decimal point")
    }

    /// Returns the least integer that is not less.
    ///
    /// # Errors
    /// 22003 if a value of the most digits rounds up.
    pub fn ceil(&self) -> Result<Self> {
        let truncated = self.truncate(0);
        match truncated < *self {
            true => truncated.add(&Self::ONE),
            false => Ok(truncated),
        }
    }

    /// Returns the greatest integer that is not greater.
    ///
    /// # Errors
    /// 22003 if a value of the most digits rounds down.
    pub fn floor(&self) -> Result<Self> {
        let truncated = self.truncate(0);
        match truncated > *self {
            true => truncated.subtract(&Self::ONE),
            false => Ok(truncated),
        }
    }
}

fn rescale(value: &Numeric, scale: i64, rounding: Rounding) -> Result<Numeric> {
    if let Repr::Small { unscaled, scale: own } = &value.0
        && let Some(rescaled) = rescale_small(*unscaled, *own, scale, rounding)
    {
        return Ok(rescaled);
    }
    let Ok(number) = Working::of(value) else { return Ok(value.clone()) };
    let digits = match rounding {
        Rounding::HalfAwayFromZero => number.at_scale(scale),
        Rounding::TowardsZero => truncated(number, scale),
    };
    let display = scale.max(0);
    let zeros = usize::try_from(display - scale).unwrap_or(usize::MAX);
    match zeros == 0 || digits.is_zero() {
        true => Numeric::finite(digits, display),
        false => Numeric::finite(digits * &*powers::power(zeros), display),
    }
}

fn rescale_small(unscaled: i128, own: u16, scale: i64, rounding: Rounding) -> Option<Numeric> {
    let display = u16::try_from(scale.max(0)).ok()?;
    let Ok(surplus) = usize::try_from(i64::from(own) - scale) else {
        let missing = usize::from(display - own);
        let padded = unscaled.checked_mul(powers::small_power(missing)?)?;
        return Some(Numeric::small(padded, display));
    };
    if surplus == 0 {
        return Some(Numeric::small(unscaled, display));
    }
    let Some(power) = powers::small_power(surplus) else {
        // 10^39 is more than twice any value of 128 bits.
        return Some(Numeric::small(0, display));
    };
    let (mut quotient, remainder) = match (i64::try_from(unscaled), i64::try_from(power)) {
        (Ok(unscaled), Ok(power)) => (i128::from(unscaled / power), i128::from(unscaled % power)),
        _ => (unscaled / power, unscaled % power),
    };
    let half = power / 2;
    if rounding == Rounding::HalfAwayFromZero && remainder.abs() >= half {
        quotient += unscaled.signum();
    }
    let zeros = usize::try_from(i64::from(display) - scale).ok()?;
    if zeros == 0 || quotient == 0 {
        return Some(Numeric::small(quotient, display));
    }
    Some(Numeric::small(quotient.checked_mul(powers::small_power(zeros)?)?, display))
}

/// Returns the integer that a number has at a scale, truncated.
fn truncated(number: Working, scale: i64) -> IBig {
    match usize::try_from(number.scale - scale) {
        // Digits that are all cut off need no division.
        Ok(surplus) if number.digits.bit_len() < surplus => IBig::ZERO,
        Ok(surplus) => number.digits / IBig::from(powers::power(surplus).into_owned()),
        Err(_) => number.at_scale(scale),
    }
}
