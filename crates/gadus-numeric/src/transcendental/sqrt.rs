//! Square root.

use super::result_scale;
use crate::error::{INVALID_POWER, NumericError, Result};
use crate::limits::GROUP_DIGITS;
use crate::value::Numeric;
use crate::working::Working;

impl Numeric {
    /// Returns the square root, to at least sixteen significant digits and at least the scale of the value.
    ///
    /// # Errors
    /// 2201F for a negative value.
    pub fn sqrt(&self) -> Result<Self> {
        if self.is_negative() {
            let message = "cannot take square root of a negative number";
            return Err(NumericError::new(INVALID_POWER, message));
        }
        let Ok(radicand) = Working::of(self) else { return Ok(self.clone()) };
        // Division rounds towards zero, so that the estimate is one too high for roots below one.
        let weight = (radicand.weight() + 1) * GROUP_DIGITS / 2 - 1;
        let scale = result_scale(weight, radicand.scale);
        radicand.sqrt(scale).into_numeric(scale)
    }
}
