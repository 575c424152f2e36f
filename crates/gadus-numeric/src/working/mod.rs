//! Working numbers: finite values within a computation, with any scale and beyond the limits of the type.
//!
//! - A scale may be negative: rounding before the decimal point makes roots of large numbers cheap.
//! - Rounding is half away from zero, as everywhere in the type.

mod groups;
mod product;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::powers;
use crate::value::{Numeric, Special};
use dashu_int::ops::{BitTest, DivRem, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};
pub(crate) use groups::{Leading, leading_groups, leading_of_small};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Number `digits / 10^scale`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Working {
    pub(crate) digits: IBig,
    pub(crate) scale: i64,
}

impl Working {
    /// Returns an integer.
    pub(crate) fn integer(value: impl Into<IBig>) -> Self {
        Self { digits: value.into(), scale: 0 }
    }

    /// Returns a finite value as a working number.
    pub(crate) fn of(value: &Numeric) -> Result<Self, Special> {
        let (digits, scale) = value.parts()?;
        Ok(Self { digits: digits.into_owned(), scale })
    }

    /// Returns the value with a display scale, to which it is rounded.
    pub(crate) fn into_numeric(self, scale: i64) -> Result<Numeric> {
        let at_scale = self.at_scale(scale);
        Numeric::finite(at_scale, scale)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.digits.sign() == Sign::Negative
    }

    pub(crate) fn magnitude(&self) -> UBig {
        (&self.digits).unsigned_abs()
    }

    /// Returns the integer that the number has at a scale, rounded.
    pub(crate) fn at_scale(self, scale: i64) -> IBig {
        match scale.cmp(&self.scale) {
            Ordering::Equal => self.digits,
            Ordering::Greater => self.digits * &*powers::power(distance(scale, self.scale)),
            Ordering::Less => {
                // Digits that are all rounded away need no division.
                if self.digits.bit_len() < distance(self.scale, scale) {
                    return IBig::ZERO;
                }
                divide_rounding(&self.digits, &powers::power(distance(self.scale, scale)))
            }
        }
    }

    /// Rounds to a scale if there are more digits.
    pub(crate) fn round(self, scale: i64) -> Self {
        match scale < self.scale {
            true => Self { digits: self.at_scale(scale), scale },
            false => self,
        }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let (one, other, scale) = self.aligned(other);
        Self { digits: &*one + &*other, scale }
    }

    pub(crate) fn subtract(&self, other: &Self) -> Self {
        let (one, other, scale) = self.aligned(other);
        Self { digits: &*one - &*other, scale }
    }

    /// Divides by a number that is not zero, and rounds.
    pub(crate) fn divide(&self, divisor: &Self, scale: i64) -> Self {
        let shift = scale + divisor.scale - self.scale;
        let magnitude = divisor.magnitude();
        let digits = match usize::try_from(shift) {
            Ok(shift) => divide_rounding(&(&self.digits * &*powers::power(shift)), &magnitude),
            Err(_) => {
                let factor = powers::power(distance(0, shift));
                divide_rounding(&self.digits, &(magnitude * &*factor))
            }
        };
        Self { digits: if divisor.is_negative() { -digits } else { digits }, scale }
    }

    /// Divides by a positive integer, and rounds.
    pub(crate) fn divide_by(&self, divisor: u64, scale: i64) -> Self {
        self.divide(&Self::integer(divisor), scale)
    }

    /// Returns the square root of a number that is not negative, rounded.
    pub(crate) fn sqrt(&self, scale: i64) -> Self {
        // One digit more, rounded down, decides the rounding: a root that is not exact is never half.
        let shift = (scale + 1) * 2 - self.scale;
        let magnitude = self.magnitude();
        let radicand = match usize::try_from(shift) {
            Ok(shift) => magnitude * &*powers::power(shift),
            Err(_) => magnitude / &*powers::power(distance(0, shift)),
        };
        Self { digits: radicand.sqrt().into(), scale: scale + 1 }.round(scale)
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let (one, other, _) = self.aligned(other);
        one.cmp(&other)
    }

    /// Returns the place and the value of the first group of four digits; `None` of zero.
    pub(crate) fn leading(&self) -> Option<Leading> {
        groups::leading_of(&self.magnitude(), self.scale)
    }

    /// Returns the place of the first group of four digits, counted from the decimal point; 0 of zero.
    pub(crate) fn weight(&self) -> i64 {
        groups::weight_of(&self.magnitude(), self.scale)
    }

    /// Returns the nearest double, which is infinite beyond the range.
    pub(crate) fn to_f64(&self) -> f64 {
        crate::conversions::nearest_f64(&self.digits, self.scale)
    }

    fn aligned<'a>(&'a self, other: &'a Self) -> (Cow<'a, IBig>, Cow<'a, IBig>, i64) {
        let scale = self.scale.max(other.scale);
        (self.raised(scale), other.raised(scale), scale)
    }

    /// Returns the integer that the number has at a scale that is not less.
    fn raised(&self, scale: i64) -> Cow<'_, IBig> {
        match distance(scale, self.scale) {
            0 => Cow::Borrowed(&self.digits),
            missing => Cow::Owned(&self.digits * &*powers::power(missing)),
        }
    }
}

/// Divides and rounds half away from zero.
pub(crate) fn divide_rounding(dividend: &IBig, divisor: &UBig) -> IBig {
    let (sign, magnitude) = (dividend.sign(), dividend.unsigned_abs());
    let (quotient, remainder) = magnitude.div_rem(divisor);
    let is_up = (remainder << 1) >= *divisor;
    IBig::from_parts(sign, if is_up { quotient + 1_u8 } else { quotient })
}

/// Returns the distance of two scales.
pub(crate) fn distance(one: i64, other: i64) -> usize {
    usize::try_from(one.abs_diff(other)).unwrap_or(usize::MAX)
}
