//! Multiplication: exact, unless the scales add up to more than the type has.

use crate::error::Result;
use crate::limits::SCALE_MAX;
use crate::value::{Numeric, Repr};
use crate::working::Working;

impl Numeric {
    /// Multiplies.
    ///
    /// # Errors
    /// 22003 beyond the limits of the type.
    #[inline]
    pub fn multiply(&self, other: &Self) -> Result<Self> {
        if let (
            Repr::Small { unscaled: one, scale: scale_of_one },
            Repr::Small { unscaled: other, scale: scale_of_other },
        ) = (&self.0, &other.0)
        {
            let scale = scale_of_one + scale_of_other;
            if let (true, Some(product)) = (scale <= SCALE_MAX, one.checked_mul(*other)) {
                return Ok(Self::small(product, scale));
            }
        }
        multiply_any(self, other)
    }
}

#[cold]
fn multiply_any(one: &Numeric, other: &Numeric) -> Result<Numeric> {
    let (Ok((one, scale)), Ok((other, scale_of_other))) = (one.parts(), other.parts()) else {
        return Ok(match (one.is_nan() || other.is_nan(), one.signum() * other.signum()) {
            (false, 1) => Numeric::INFINITY,
            (false, -1) => Numeric::NEGATIVE_INFINITY,
            // Zero times infinity, or a NaN.
            _ => Numeric::NAN,
        });
    };
    let product = Working { digits: &*one * &*other, scale: scale + scale_of_other };
    let scale = product.scale.min(i64::from(SCALE_MAX));
    product.into_numeric(scale)
}
