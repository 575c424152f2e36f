//! Variance and standard deviation, of a population or a sample.

use super::accumulator::Accumulator;
use super::sum::SumState;
use crate::arithmetic::division_scale;
use crate::error::Result;
use crate::value::{Numeric, Repr};
use crate::working::Working;
use dashu_int::IBig;

/// State of `var_pop`, `var_samp`, `stddev_pop` and `stddev_samp`.
#[derive(Debug, Clone, Default)]
pub struct VarianceState {
    pub(super) values: SumState,
    pub(super) squares: Accumulator,
}

/// Values that a variance is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Divisor {
    Population,
    Sample,
}

impl VarianceState {
    /// Returns the state of no values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: &Numeric) {
        self.values.add(value);
        self.add_square(value, false);
    }

    /// Removes a value that was added. Returns false, and leaves the state alone, if the display scale of the remaining
    /// values is unknown; then they are to be aggregated anew.
    #[must_use]
    pub fn remove(&mut self, value: &Numeric) -> bool {
        if !self.values.remove(value) {
            return false;
        }
        match self.values.count {
            0 => self.squares = Accumulator::default(),
            _ => self.add_square(value, true),
        }
        true
    }

    /// Adds the values of another state.
    pub fn merge(&mut self, other: &Self) {
        self.values.merge(&other.values);
        if other.values.count > 0 {
            self.squares.merge(&other.squares);
        }
    }

    /// Returns the count of values, with NaN and infinities.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.values.count()
    }

    /// Returns the variance of a population; `None` of no values.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    pub fn var_pop(&self) -> Result<Option<Numeric>> {
        self.variance(Divisor::Population, false)
    }

    /// Returns the variance of a sample; `None` of less than two values.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    pub fn var_samp(&self) -> Result<Option<Numeric>> {
        self.variance(Divisor::Sample, false)
    }

    /// Returns the standard deviation of a population; `None` of no values.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    pub fn stddev_pop(&self) -> Result<Option<Numeric>> {
        self.variance(Divisor::Population, true)
    }

    /// Returns the standard deviation of a sample; `None` of less than two values.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    pub fn stddev_samp(&self) -> Result<Option<Numeric>> {
        self.variance(Divisor::Sample, true)
    }

    /// Adds the square of a finite value, or subtracts it.
    #[inline]
    fn add_square(&mut self, value: &Numeric, is_removed: bool) {
        if let Repr::Small { unscaled, scale } = &value.0
            && let Some(square) = unscaled.checked_mul(*unscaled)
        {
            self.squares.add_small(if is_removed { -square } else { square }, scale * 2);
            return;
        }
        if let (Ok((digits, _)), Some(scale)) = (value.parts(), value.scale()) {
            let square = IBig::from(digits.sqr());
            let square = if is_removed { -square } else { square };
            self.squares.add_large(&square, scale * 2);
        }
    }

    fn variance(&self, divisor: Divisor, is_root: bool) -> Result<Option<Numeric>> {
        let count_min = if divisor == Divisor::Sample { 2 } else { 1 };
        if self.count() < count_min {
            return Ok(None);
        }
        let count = self.values.count;
        if self.count() > count {
            return Ok(Some(Numeric::NAN));
        }
        // The sum of squares minus the square of the sum by the count, both times the count: without a division.
        let total = self.values.total();
        let scale = total.scale * 2;
        let squares = self.squares.total().multiply(&Working::integer(count), scale);
        let deviation = squares.subtract(&total.square(scale));
        if deviation.is_zero() || deviation.is_negative() {
            return Ok(Some(Numeric::ZERO));
        }
        let count = IBig::from(count);
        let divisor = Working::integer(match divisor {
            Divisor::Population => &count * &count,
            Divisor::Sample => &count * (&count - IBig::ONE),
        });
        let result_scale = division_scale(deviation.leading(), divisor.leading(), (scale, 0));
        let variance = deviation.divide(&divisor, result_scale);
        let result = if is_root { variance.sqrt(result_scale) } else { variance };
        result.into_numeric(result_scale).map(Some)
    }
}
