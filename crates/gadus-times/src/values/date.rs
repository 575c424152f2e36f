//! The type `date`.

use crate::calendar::{
    DATE_END, DATE_MIN, DAYS_1970_TO_2000, DateFields, JULIAN_2000, date_of_julian,
};
use crate::error::{OUT_OF_RANGE, Result, TimesError};

/// Date from 4713 BC to 5874897, or an infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub(crate) i32);

impl Date {
    /// Negative infinity: before all dates.
    pub const NEGATIVE_INFINITY: Self = Self(i32::MIN);
    /// Infinity: after all dates.
    pub const INFINITY: Self = Self(i32::MAX);

    /// Returns the date of days since 1970; the least and the greatest integer are the infinities.
    ///
    /// # Errors
    /// 22008 beyond the range of the type.
    pub fn from_unix_days(days: i32) -> Result<Self> {
        if days == i32::MIN || days == i32::MAX {
            return Ok(Self(days));
        }
        Self::from_days(i64::from(days) - i64::from(DAYS_1970_TO_2000))
    }

    /// Returns the days since 1970; an infinity is the least or the greatest integer.
    #[must_use]
    pub const fn to_unix_days(self) -> i32 {
        if self.is_finite() { self.0 + DAYS_1970_TO_2000 } else { self.0 }
    }

    /// Returns true for a date that is not an infinity.
    #[must_use]
    pub const fn is_finite(self) -> bool {
        self.0 != i32::MIN && self.0 != i32::MAX
    }

    /// Returns the date of days since 2000.
    pub(crate) fn from_days(days: i64) -> Result<Self> {
        match i32::try_from(days) {
            Ok(days) if (DATE_MIN..DATE_END).contains(&days) => Ok(Self(days)),
            _ => Err(TimesError::new(OUT_OF_RANGE, "date out of range")),
        }
    }

    /// Returns year, month and day of a finite date.
    pub(crate) fn fields(self) -> DateFields {
        date_of_julian(self.0 + JULIAN_2000)
    }
}
