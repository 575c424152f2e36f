//! Conversions from and to integers; a fraction is rounded half away from zero.

use crate::error::{NOT_SUPPORTED, NumericError, OUT_OF_RANGE, Result};
use crate::value::{Numeric, Repr};

impl Numeric {
    /// Rounds to a `smallint`.
    ///
    /// # Errors
    /// 22003 beyond 16 bits, 0A000 for NaN and infinities.
    pub fn to_i16(&self) -> Result<i16> {
        self.to_integer("smallint")
    }

    /// Rounds to an `integer`.
    ///
    /// # Errors
    /// 22003 beyond 32 bits, 0A000 for NaN and infinities.
    pub fn to_i32(&self) -> Result<i32> {
        self.to_integer("integer")
    }

    /// Rounds to a `bigint`.
    ///
    /// # Errors
    /// 22003 beyond 64 bits, 0A000 for NaN and infinities.
    pub fn to_i64(&self) -> Result<i64> {
        self.to_integer("bigint")
    }

    fn to_integer<T: TryFrom<i128>>(&self, type_name: &str) -> Result<T> {
        let kind = match self.0 {
            Repr::Small { .. } | Repr::Large { .. } => None,
            Repr::Nan => Some("NaN"),
            Repr::Infinity | Repr::NegativeInfinity => Some("infinity"),
        };
        if let Some(kind) = kind {
            let message = format!("cannot convert {kind} to {type_name}");
            return Err(NumericError::new(NOT_SUPPORTED, message));
        }
        let integer = match self.round(0).map(|rounded| rounded.0) {
            Ok(Repr::Small { unscaled, .. }) => T::try_from(unscaled).ok(),
            _ => None,
        };
        integer.ok_or_else(|| NumericError::new(OUT_OF_RANGE, format!("{type_name} out of range")))
    }
}

impl From<i16> for Numeric {
    fn from(value: i16) -> Self {
        Self::small(value.into(), 0)
    }
}

impl From<i32> for Numeric {
    fn from(value: i32) -> Self {
        Self::small(value.into(), 0)
    }
}

impl From<i64> for Numeric {
    fn from(value: i64) -> Self {
        Self::small(value.into(), 0)
    }
}

impl From<u64> for Numeric {
    fn from(value: u64) -> Self {
        Self::small(value.into(), 0)
    }
}

impl From<i128> for Numeric {
    fn from(value: i128) -> Self {
        Self::small(value, 0)
    }
}
