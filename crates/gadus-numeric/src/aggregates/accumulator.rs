//! Exact sum of many numbers.
//!
//! - Numbers are added to an integer of 128 bits as long as it suffices; what does not fit goes to one of any length.

use crate::powers;
use crate::working::Working;
use dashu_int::IBig;

/// Sum with the greatest scale of its summands.
#[derive(Debug, Clone, Default)]
pub(super) struct Accumulator {
    /// Part of the sum, at the scale.
    small: i128,
    scale: u16,
    /// Rest of the sum, at any scale.
    large: Option<Box<Working>>,
}

impl Accumulator {
    /// Returns the sum `digits / 10^scale`.
    pub(super) fn of(digits: &IBig, scale: u16) -> Self {
        match i128::try_from(digits) {
            Ok(small) => Self { small, scale, large: None },
            Err(_) => {
                let rest = Working { digits: digits.clone(), scale: scale.into() };
                Self { small: 0, scale, large: Some(Box::new(rest)) }
            }
        }
    }

    /// Adds `unscaled / 10^scale`.
    #[inline]
    pub(super) fn add_small(&mut self, unscaled: i128, scale: u16) {
        if scale == self.scale
            && let Some(sum) = self.small.checked_add(unscaled)
        {
            self.small = sum;
            return;
        }
        self.add_scaled(unscaled, scale);
    }

    /// Adds a number of any length.
    pub(super) fn add_large(&mut self, digits: &IBig, scale: u16) {
        self.raise(scale);
        match &mut self.large {
            Some(rest) if rest.scale == i64::from(scale) => rest.digits += digits,
            _ => self.add_rest(Working { digits: digits.clone(), scale: scale.into() }),
        }
    }

    /// Adds another sum.
    pub(super) fn merge(&mut self, other: &Self) {
        self.add_small(other.small, other.scale);
        if let Some(rest) = &other.large {
            self.add_rest(rest.as_ref().clone());
        }
    }

    pub(super) fn scale(&self) -> u16 {
        self.scale
    }

    /// Returns the sum at its scale.
    pub(super) fn total(&self) -> Working {
        let small = Working { digits: self.small.into(), scale: self.scale.into() };
        match &self.large {
            Some(rest) => small.add(rest),
            None => small,
        }
    }

    fn add_scaled(&mut self, unscaled: i128, scale: u16) {
        self.raise(scale);
        let power = powers::small_power(usize::from(self.scale - scale));
        let scaled = power.and_then(|power| unscaled.checked_mul(power));
        match scaled.and_then(|scaled| self.small.checked_add(scaled)) {
            Some(sum) => self.small = sum,
            None => self.add_rest(Working { digits: unscaled.into(), scale: scale.into() }),
        }
    }

    /// Raises the scale, if that of a summand is greater.
    fn raise(&mut self, scale: u16) {
        if scale <= self.scale {
            return;
        }
        let power = powers::small_power(usize::from(scale - self.scale));
        match power.and_then(|power| self.small.checked_mul(power)) {
            Some(scaled) => self.small = scaled,
            None => {
                let small = std::mem::take(&mut self.small);
                self.add_rest(Working { digits: small.into(), scale: self.scale.into() });
            }
        }
        self.scale = scale;
    }

    #[cold]
    fn add_rest(&mut self, summand: Working) {
        match &mut self.large {
            Some(rest) => **rest = rest.add(&summand),
            None => self.large = Some(Box::new(summand)),
        }
    }
}
