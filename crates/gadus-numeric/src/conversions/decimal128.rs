//! Conversions from and to decimals of 128 bits with a fixed scale, which columnar formats have.

use crate::error::Result;
use crate::powers;
use crate::value::{Numeric, Repr};
use crate::working::Working;

impl Numeric {
    /// Returns `unscaled / 10^scale`; the display scale is `scale`, or 0 if that is negative.
    ///
    /// # Errors
    /// 22003 for a scale beyond the limits of the type.
    pub fn from_unscaled(unscaled: i128, scale: i32) -> Result<Self> {
        if let Ok(scale) = u16::try_from(scale)
            && scale <= crate::limits::SCALE_MAX
        {
            return Ok(Self::small(unscaled, scale));
        }
        if unscaled != 0 && scale < -i32::try_from(crate::limits::INTEGER_DIGITS_MAX).unwrap_or(0) {
            return Err(crate::error::NumericError::overflow());
        }
        let number = Working { digits: unscaled.into(), scale: scale.into() };
        match scale < 0 {
            true if unscaled == 0 => Ok(Self::ZERO),
            true => number.into_numeric(0),
            false => Self::finite(number.digits, number.scale),
        }
    }

    /// Returns the integer that the value has at a scale; `None` if it is not finite, has more digits of a fraction, or
    /// does not fit 128 bits.
    #[must_use]
    #[inline]
    pub fn to_unscaled(&self, scale: i32) -> Option<i128> {
        let Repr::Small { unscaled, scale: own } = self.0 else {
            return self.to_unscaled_any(scale);
        };
        match usize::try_from(scale - i32::from(own)) {
            Ok(missing) if unscaled != 0 => unscaled.checked_mul(powers::small_power(missing)?),
            Ok(_) => Some(0),
            Err(_) => self.to_unscaled_any(scale),
        }
    }

    /// Returns the integer of the value and its display scale; `None` if it is not finite or does not fit 128 bits.
    #[must_use]
    #[inline]
    pub fn unscaled(&self) -> Option<(i128, u16)> {
        match self.0 {
            Repr::Small { unscaled, scale } => Some((unscaled, scale)),
            _ => None,
        }
    }

    fn to_unscaled_any(&self, scale: i32) -> Option<i128> {
        let rounded = self.round(scale).ok()?;
        if rounded != *self {
            return None;
        }
        match (&rounded.0, u32::try_from(scale)) {
            (Repr::Small { unscaled, .. }, Ok(_)) => Some(*unscaled),
            (Repr::Small { unscaled, .. }, Err(_)) => {
                let zeros = usize::try_from(scale.unsigned_abs()).ok()?;
                powers::small_power(zeros).map_or(Some(0), |power| Some(unscaled / power))
            }
            (_, Err(_)) => {
                let digits = Working::of(&rounded).ok()?.at_scale(scale.into());
                i128::try_from(digits).ok()
            }
            _ => None,
        }
    }
}
