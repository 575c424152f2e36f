//! Signs.

use crate::value::{Numeric, Repr, Special};
use dashu_int::{IBig, Sign};

impl Numeric {
    /// Returns the value with the opposite sign.
    #[must_use]
    #[inline]
    pub fn negate(&self) -> Self {
        match &self.0 {
            Repr::Small { unscaled, scale } => match unscaled.checked_neg() {
                Some(negated) => Self::small(negated, *scale),
                None => Self(Repr::Large { unscaled: -IBig::from(*unscaled), scale: *scale }),
            },
            Repr::Large { unscaled, scale } => {
                let negated = -unscaled;
                match i128::try_from(&negated) {
                    Ok(small) => Self::small(small, *scale),
                    Err(_) => Self(Repr::Large { unscaled: negated, scale: *scale }),
                }
            }
            Repr::Infinity => Self::NEGATIVE_INFINITY,
            Repr::NegativeInfinity => Self::INFINITY,
            Repr::Nan => Self::NAN,
        }
    }

    /// Returns the absolute value.
    #[must_use]
    pub fn abs(&self) -> Self {
        match self.signum() < 0 {
            true => self.negate(),
            false => self.clone(),
        }
    }

    /// Returns -1, 0 or 1 by the sign; NaN of NaN.
    #[must_use]
    pub fn sign(&self) -> Self {
        match self.is_nan() {
            true => Self::NAN,
            false => Self::small(i128::from(self.signum()), 0),
        }
    }

    /// Returns true below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small { unscaled, .. } => *unscaled < 0,
            Repr::Large { unscaled, .. } => unscaled.sign() == Sign::Negative,
            Repr::NegativeInfinity => true,
            Repr::Infinity | Repr::Nan => false,
        }
    }
}

impl From<Special> for Numeric {
    fn from(special: Special) -> Self {
        match special {
            Special::Nan => Self::NAN,
            Special::Infinity => Self::INFINITY,
            Special::NegativeInfinity => Self::NEGATIVE_INFINITY,
        }
    }
}
