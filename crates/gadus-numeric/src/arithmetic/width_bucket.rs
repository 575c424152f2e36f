//! `width_bucket`: the bucket of a histogram that a value falls into.

use super::divide::division_scale;
use crate::error::{INVALID_WIDTH_BUCKET, NumericError, OUT_OF_RANGE, Result};
use crate::value::Numeric;
use crate::working::Working;
use std::cmp::Ordering;

impl Numeric {
    /// Returns the bucket among `count` ones of equal width; 0 before the first bound, `count + 1` from the second on.
    ///
    /// # Errors
    /// 2201G for wrong bounds or counts, 22003 beyond 32 bits.
    pub fn width_bucket(&self, low: &Self, high: &Self, count: i32) -> Result<i32> {
        if count <= 0 {
            return Err(refused("count must be greater than zero"));
        }
        if self.is_nan() || low.is_nan() || high.is_nan() {
            return Err(refused("operand, lower bound, and upper bound cannot be NaN"));
        }
        let (Ok(low_bound), Ok(high_bound)) = (Working::of(low), Working::of(high)) else {
            return Err(refused("lower and upper bounds must be finite"));
        };
        let (before, after) = match low.cmp(high) {
            Ordering::Equal => return Err(refused("lower bound cannot equal upper bound")),
            Ordering::Less => (self < low, self >= high),
            Ordering::Greater => (self > low, self <= high),
        };
        if before {
            return Ok(0);
        }
        let out_of_range = || NumericError::new(OUT_OF_RANGE, "integer out of range");
        let Ok(operand) = Working::of(self) else {
            return count.checked_add(1).ok_or_else(out_of_range);
        };
        if after {
            return count.checked_add(1).ok_or_else(out_of_range);
        }
        let distance = operand.subtract(&low_bound);
        let width = high_bound.subtract(&low_bound);
        // PostgreSQL rounds the quotient before it takes the integer below.
        let product = distance.multiply(&Working::integer(count), distance.scale);
        let scales = (product.scale, width.scale);
        let scale = division_scale(product.leading(), width.leading(), scales);
        let bucket = product.divide(&width, scale).add(&Working::integer(1_u8));
        let bucket = bucket.into_numeric(scale)?.floor()?;
        bucket.to_i32()
    }
}

fn refused(message: &str) -> NumericError {
    NumericError::new(INVALID_WIDTH_BUCKET, message)
}
