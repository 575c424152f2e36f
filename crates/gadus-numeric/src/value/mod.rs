//! The value: its representation, and the way to and from it.
//!
//! - A finite value is an integer and a display scale: `unscaled / 10^scale`. No digit is outside of the display scale.
//! - The representation is small exactly if the integer fits 128 bits; small values do not allocate.
//! - A value beyond the limits of the type is never constructed: results pass [`Numeric::finite`].

mod digits;
mod display;
mod hash;
mod modifier;
mod order;
mod parse;
#[cfg(test)]
mod tests;

use crate::error::{NumericError, Result};
use crate::limits::{INTEGER_DIGITS_MAX, SCALE_MAX};
use crate::powers;
use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, Sign};
pub(crate) use digits::decimal_digits;
pub use modifier::TypeModifier;
use std::borrow::Cow;

/// Value of PostgreSQL's type `numeric`: an exact decimal with a display scale, NaN, or an infinity.
#[derive(Clone)]
pub struct Numeric(pub(crate) Repr);

/// Representation of a value.
#[derive(Clone)]
pub(crate) enum Repr {
    /// Finite value of up to 128 bits.
    Small { unscaled: i128, scale: u16 },
    /// Finite value of more than 128 bits.
    Large { unscaled: IBig, scale: u16 },
    /// Infinity.
    Infinity,
    /// Negative infinity.
    NegativeInfinity,
    /// Not a number.
    Nan,
}

/// Kind of a value that is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Nan,
    Infinity,
    NegativeInfinity,
}

impl Numeric {
    /// Zero without a fraction.
    pub const ZERO: Self = Self::small(0, 0);
    /// One without a fraction.
    pub const ONE: Self = Self::small(1, 0);
    /// Not a number.
    pub const NAN: Self = Self(Repr::Nan);
    /// Infinity.
    pub const INFINITY: Self = Self(Repr::Infinity);
    /// Negative infinity.
    pub const NEGATIVE_INFINITY: Self = Self(Repr::NegativeInfinity);

    /// Returns the value `unscaled / 10^scale`, for a scale within the limits.
    #[inline]
    pub(crate) const fn small(unscaled: i128, scale: u16) -> Self {
        Self(Repr::Small { unscaled, scale })
    }

    /// Returns the value `unscaled / 10^scale`.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    pub(crate) fn finite(unscaled: IBig, scale: i64) -> Result<Self> {
        let scale = checked_scale(scale)?;
        if let Ok(unscaled) = i128::try_from(&unscaled) {
            return Ok(Self::small(unscaled, scale));
        }
        if is_too_long(&unscaled, scale) {
            return Err(NumericError::overflow());
        }
        Ok(Self(Repr::Large { unscaled, scale }))
    }

    /// Returns true for NaN.
    #[must_use]
    pub const fn is_nan(&self) -> bool {
        matches!(self.0, Repr::Nan)
    }

    /// Returns true for either infinity.
    #[must_use]
    pub const fn is_infinite(&self) -> bool {
        matches!(self.0, Repr::Infinity | Repr::NegativeInfinity)
    }

    /// Returns true for a value that is neither NaN nor an infinity.
    #[must_use]
    pub const fn is_finite(&self) -> bool {
        matches!(self.0, Repr::Small { .. } | Repr::Large { .. })
    }

    /// Returns true for zero of any scale.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small { unscaled: 0, .. })
    }

    /// Returns the display scale: the digits after the decimal point; `None` for NaN and infinities.
    #[must_use]
    pub const fn scale(&self) -> Option<u16> {
        match self.0 {
            Repr::Small { scale, .. } | Repr::Large { scale, .. } => Some(scale),
            _ => None,
        }
    }

    /// Returns -1, 0 or 1; an infinity has a sign, NaN is positive.
    pub(crate) fn signum(&self) -> i8 {
        match &self.0 {
            Repr::Small { unscaled, .. } if *unscaled > 0 => 1,
            Repr::Small { unscaled: 0, .. } => 0,
            Repr::Small { .. } | Repr::NegativeInfinity => -1,
            Repr::Large { unscaled, .. } if unscaled.sign() == Sign::Negative => -1,
            Repr::Large { .. } | Repr::Infinity | Repr::Nan => 1,
        }
    }

    /// Returns the integer and the scale of a finite value.
    pub(crate) fn parts(&self) -> Result<(Cow<'_, IBig>, i64), Special> {
        match &self.0 {
            Repr::Small { unscaled, scale } => {
                Ok((Cow::Owned(IBig::from(*unscaled)), i64::from(*scale)))
            }
            Repr::Large { unscaled, scale } => Ok((Cow::Borrowed(unscaled), i64::from(*scale))),
            Repr::Infinity => Err(Special::Infinity),
            Repr::NegativeInfinity => Err(Special::NegativeInfinity),
            Repr::Nan => Err(Special::Nan),
        }
    }

    /// Returns true for an integer; infinities are integers, NaN is none.
    pub(crate) fn is_integral(&self) -> bool {
        match self.0 {
            Repr::Nan => false,
            Repr::Infinity | Repr::NegativeInfinity => true,
            _ => self.min_scale() == Some(0),
        }
    }
}

impl Default for Numeric {
    fn default() -> Self {
        Self::ZERO
    }
}

/// Returns a scale if it is within the limits.
#[inline]
pub(crate) fn checked_scale(scale: i64) -> Result<u16> {
    match u16::try_from(scale) {
        Ok(scale) if scale <= SCALE_MAX => Ok(scale),
        _ => Err(NumericError::overflow()),
    }
}

/// Returns true if a value has more digits before the decimal point than the type allows.
fn is_too_long(unscaled: &IBig, scale: u16) -> bool {
    let digits_max = INTEGER_DIGITS_MAX as usize + usize::from(scale);
    // A digit has more than three bits and a bit less than a third; most values pass by this.
    if unscaled.bit_len() / 3 < digits_max {
        return false;
    }
    powers::digit_count(&unscaled.unsigned_abs()) > digits_max
}
