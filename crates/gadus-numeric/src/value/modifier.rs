//! Type modifier: the precision and scale in `numeric(10, 2)`.

use super::{Numeric, Repr};
use crate::error::{INVALID_PARAMETER, NumericError, OUT_OF_RANGE, Result};
use crate::limits::{MODIFIER_SCALES, PRECISION_MAX};
use crate::powers;
use dashu_int::ops::UnsignedAbs;
use std::fmt;

/// Bits of the packed form that hold the scale.
const SCALE_MASK: i32 = 0x7ff;
/// Addend of the packed form, which PostgreSQL has for historical reasons.
const PACKED_OFFSET: i32 = 4;

/// Precision and scale of a column or a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeModifier {
    precision: u16,
    scale: i16,
}

impl TypeModifier {
    /// Returns the modifier of a precision, and of a scale, which is 0 by default.
    ///
    /// # Errors
    /// 22023 beyond the limits.
    pub fn new(precision: i32, scale: Option<i32>) -> Result<Self> {
        let scale = scale.unwrap_or(0);
        let valid_precision =
            u16::try_from(precision).ok().filter(|digits| (1..=PRECISION_MAX).contains(digits));
        let valid_scale = i16::try_from(scale).ok().filter(|scale| MODIFIER_SCALES.contains(scale));
        let Some(valid_precision) = valid_precision else {
            return Err(invalid(format!(
                "NUMERIC precision {precision} must be between 1 and {PRECISION_MAX}"
            )));
        };
        let Some(valid_scale) = valid_scale else {
            let (low, high) = (MODIFIER_SCALES.start(), MODIFIER_SCALES.end());
            return Err(invalid(format!("NUMERIC scale {scale} must be between {low} and {high}")));
        };
        Ok(Self { precision: valid_precision, scale: valid_scale })
    }

    /// Returns the modifier of a list of integers, as in a type's name.
    ///
    /// # Errors
    /// 22023 beyond the limits, or of neither one nor two integers.
    pub fn from_list(integers: &[i32]) -> Result<Self> {
        match integers {
            [precision] => Self::new(*precision, None),
            [precision, scale] => Self::new(*precision, Some(*scale)),
            _ => Err(invalid("invalid NUMERIC type modifier".to_owned())),
        }
    }

    /// Returns the modifier of the integer that PostgreSQL's catalogs store; `None` for a type without a modifier.
    #[must_use]
    pub fn from_packed(packed: i32) -> Option<Self> {
        let bits = packed.checked_sub(PACKED_OFFSET).filter(|bits| *bits >= 0)?;
        let scale = ((bits & SCALE_MASK) ^ 1024) - 1024;
        Self::new(bits >> 16, Some(scale)).ok()
    }

    /// Returns the integer that PostgreSQL's catalogs store.
    #[must_use]
    pub fn packed(self) -> i32 {
        (i32::from(self.precision) << 16 | i32::from(self.scale) & SCALE_MASK) + PACKED_OFFSET
    }

    /// Returns the precision: the significant digits.
    #[must_use]
    pub const fn precision(self) -> u16 {
        self.precision
    }

    /// Returns the scale: the digits after the decimal point, negative for digits rounded before it.
    #[must_use]
    pub const fn scale(self) -> i16 {
        self.scale
    }

    /// Rounds a value to the scale and checks the precision.
    ///
    /// # Errors
    /// 22003 for a value of too many digits, or an infinity; NaN has every modifier.
    pub fn apply(self, value: &Numeric) -> Result<Numeric> {
        let rounded = match value.0 {
            Repr::Nan => return Ok(Numeric::NAN),
            Repr::Infinity | Repr::NegativeInfinity => {
                return Err(self.overflow("cannot hold an infinite value."));
            }
            _ => value.round(i32::from(self.scale))?,
        };
        let digits = match &rounded.0 {
            Repr::Small { unscaled, .. } => powers::small_digit_count(unscaled.unsigned_abs()),
            Repr::Large { unscaled, .. } => powers::digit_count(&unscaled.unsigned_abs()),
            _ => 0,
        };
        if digits > 0 {
            let scale = i64::from(rounded.scale().unwrap_or(0));
            self.check_weight(i64::try_from(digits).unwrap_or(i64::MAX) - scale)?;
        }
        Ok(rounded)
    }

    /// Refuses values of `digits` digits before the decimal point, which are negative for zeros after it.
    pub(super) fn check_weight(self, digits: i64) -> Result<()> {
        let digits_max = i64::from(self.precision) - i64::from(self.scale);
        if digits <= digits_max {
            return Ok(());
        }
        let bound = if digits_max == 0 { "1".to_owned() } else { format!("10^{digits_max}") };
        Err(self.overflow(&format!("must round to an absolute value less than {bound}.")))
    }

    fn overflow(self, condition: &str) -> NumericError {
        let Self { precision, scale } = self;
        NumericError::new(OUT_OF_RANGE, "numeric field overflow")
            .with_detail(format!("A field with precision {precision}, scale {scale} {condition}"))
    }
}

impl fmt::Display for TypeModifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.precision, self.scale)
    }
}

fn invalid(message: String) -> NumericError {
    NumericError::new(INVALID_PARAMETER, message)
}
