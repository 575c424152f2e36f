//! Sum and average.

use super::accumulator::Accumulator;
use crate::error::Result;
use crate::value::{Numeric, Repr};
use crate::working::Working;

/// State of `sum` and `avg`.
#[derive(Debug, Clone, Default)]
pub struct SumState {
    pub(super) sum: Accumulator,
    /// Finite values.
    pub(super) count: i64,
    pub(super) scale_max: u16,
    /// Finite values with the greatest scale.
    pub(super) scale_max_count: i64,
    pub(super) nan_count: i64,
    pub(super) infinity_count: i64,
    pub(super) negative_infinity_count: i64,
}

impl SumState {
    /// Returns the state of no values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: &Numeric) {
        match &value.0 {
            Repr::Small { unscaled, scale } => {
                self.count_scale(*scale);
                self.sum.add_small(*unscaled, *scale);
            }
            Repr::Large { unscaled, scale } => {
                self.count_scale(*scale);
                self.sum.add_large(unscaled, *scale);
            }
            _ => self.count_special(value, 1),
        }
    }

    /// Removes a value that was added. Returns false, and leaves the state alone, if the display scale of the remaining
    /// values is unknown; then they are to be aggregated anew.
    #[must_use]
    pub fn remove(&mut self, value: &Numeric) -> bool {
        let Some(scale) = value.scale() else {
            self.count_special(value, -1);
            return true;
        };
        if scale == self.scale_max {
            match self.scale_max_count > 1 || scale == 0 {
                true => self.scale_max_count -= 1,
                false if self.count == 1 => (self.scale_max, self.scale_max_count) = (0, 0),
                false => return false,
            }
        }
        self.count -= 1;
        match &value.negate().0 {
            _ if self.count == 0 => self.sum = Accumulator::default(),
            Repr::Small { unscaled, scale } => self.sum.add_small(*unscaled, *scale),
            Repr::Large { unscaled, scale } => self.sum.add_large(unscaled, *scale),
            _ => {}
        }
        true
    }

    /// Adds the values of another state.
    pub fn merge(&mut self, other: &Self) {
        self.nan_count += other.nan_count;
        self.infinity_count += other.infinity_count;
        self.negative_infinity_count += other.negative_infinity_count;
        if other.count == 0 {
            return;
        }
        self.count += other.count;
        if other.scale_max > self.scale_max {
            (self.scale_max, self.scale_max_count) = (other.scale_max, other.scale_max_count);
        } else if other.scale_max == self.scale_max {
            self.scale_max_count += other.scale_max_count;
        }
        self.sum.merge(&other.sum);
    }

    /// Returns the count of values, with NaN and infinities.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.count + self.nan_count + self.infinity_count + self.negative_infinity_count
    }

    /// Returns the sum; `None` of no values.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    pub fn sum(&self) -> Result<Option<Numeric>> {
        match self.special() {
            Some(special) => Ok(Some(special)),
            None if self.count == 0 => Ok(None),
            None => {
                let total = self.sum.total();
                Numeric::finite(total.digits, total.scale).map(Some)
            }
        }
    }

    /// Returns the average; `None` of no values.
    ///
    /// # Errors
    /// 22003 if the sum is beyond the limits of the type.
    pub fn average(&self) -> Result<Option<Numeric>> {
        match self.sum()? {
            Some(sum) if sum.is_finite() => sum.divide(&Numeric::from(self.count)).map(Some),
            sum => Ok(sum),
        }
    }

    /// Returns the finite values' sum.
    pub(super) fn total(&self) -> Working {
        self.sum.total()
    }

    #[inline]
    fn count_scale(&mut self, scale: u16) {
        self.count += 1;
        if scale == self.scale_max {
            self.scale_max_count += 1;
        } else if scale > self.scale_max {
            (self.scale_max, self.scale_max_count) = (scale, 1);
        }
    }

    fn count_special(&mut self, value: &Numeric, change: i64) {
        let count = match value.0 {
            Repr::Infinity => &mut self.infinity_count,
            Repr::NegativeInfinity => &mut self.negative_infinity_count,
            _ => &mut self.nan_count,
        };
        *count += change;
    }

    /// Returns the sum if a value is not finite.
    fn special(&self) -> Option<Numeric> {
        match (self.nan_count > 0, self.infinity_count > 0, self.negative_infinity_count > 0) {
            (true, ..) | (_, true, true) => Some(Numeric::NAN),
            (_, true, _) => Some(Numeric::INFINITY),
            (.., true) => Some(Numeric::NEGATIVE_INFINITY),
            _ => None,
        }
    }
}
