//! The least scale that holds a value.

use crate::powers;
use crate::value::{Numeric, Repr};
use dashu_int::ops::{BitTest, DivRem};
use dashu_int::{IBig, Sign};

impl Numeric {
    /// Returns the least scale that holds the value; `None` for NaN and infinities.
    #[must_use]
    pub fn min_scale(&self) -> Option<u16> {
        match &self.0 {
            Repr::Small { unscaled, scale } => Some(trim_small(*unscaled, *scale).1),
            Repr::Large { unscaled, scale } => Some(trim_large(unscaled, *scale).1),
            _ => None,
        }
    }

    /// Removes zeros at the end of the fraction.
    #[must_use]
    pub fn trim_scale(&self) -> Self {
        match &self.0 {
            Repr::Small { unscaled, scale } => {
                let (unscaled, scale) = trim_small(*unscaled, *scale);
                Self::small(unscaled, scale)
            }
            Repr::Large { unscaled, scale } => {
                let (unscaled, scale) = trim_large(unscaled, *scale);
                match i128::try_from(&unscaled) {
                    Ok(small) => Self::small(small, scale),
                    Err(_) => Self(Repr::Large { unscaled, scale }),
                }
            }
            _ => self.clone(),
        }
    }
}

fn trim_small(mut unscaled: i128, mut scale: u16) -> (i128, u16) {
    if unscaled == 0 {
        return (0, 0);
    }
    // An odd number has no zero at the end; division of 64 bits is several times faster than that of 128.
    if let Ok(mut word) = i64::try_from(unscaled) {
        while scale > 0 && word & 1 == 0 && word % 10 == 0 {
            (word, scale) = (word / 10, scale - 1);
        }
        return (i128::from(word), scale);
    }
    while scale > 0 && unscaled & 1 == 0 && unscaled % 10 == 0 {
        (unscaled, scale) = (unscaled / 10, scale - 1);
    }
    (unscaled, scale)
}

/// Removes zeros by halving steps: a value may have sixteen thousand of them.
fn trim_large(unscaled: &IBig, scale: u16) -> (IBig, u16) {
    let (sign, mut magnitude) = unscaled.clone().into_parts();
    let mut scale = usize::from(scale);
    // A number with n zeros at the end is a multiple of 2^n.
    let zeros_max = magnitude.trailing_zeros().unwrap_or(0).min(scale);
    let mut step = zeros_max.checked_next_power_of_two().unwrap_or(zeros_max);
    while step > 0 {
        if step <= scale && magnitude.bit_len() > step {
            let (quotient, remainder) = (&magnitude).div_rem(&*powers::power(step));
            if remainder.is_zero() {
                (magnitude, scale) = (quotient, scale - step);
                continue;
            }
        }
        step /= 2;
    }
    let magnitude = IBig::from(magnitude);
    let trimmed = if sign == Sign::Negative { -magnitude } else { magnitude };
    (trimmed, u16::try_from(scale).unwrap_or(u16::MAX))
}
