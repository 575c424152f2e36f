//! The types `timestamp` and `timestamptz`.

use crate::calendar::{
    Civil, DAY_SECONDS, MICROSECONDS_1970_TO_2000, SECOND, SECONDS_1970_TO_2000, TIMESTAMP_END,
    TIMESTAMP_MIN,
};
use crate::error::{Result, TimesError};
use crate::zone::TimeZone;

/// Date and time of day without a zone, from 4713 BC to 294276, or an infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub(crate) i64);

/// Point in time, from 4713 BC to 294276, or an infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimestampTz(pub(crate) i64);

macro_rules! integers {
    ($type:ident) => {
        impl $type {
            /// Negative infinity: before all timestamps.
            pub const NEGATIVE_INFINITY: Self = Self(i64::MIN);
            /// Infinity: after all timestamps.
            pub const INFINITY: Self = Self(i64::MAX);

            /// Returns the timestamp of microseconds since 1970; the least and the greatest integer are the infinities.
            ///
            /// # Errors
            /// 22008 beyond the range of the type.
            pub fn from_unix_microseconds(microseconds: i64) -> Result<Self> {
                if microseconds == i64::MIN || microseconds == i64::MAX {
                    return Ok(Self(microseconds));
                }
                Self::checked(microseconds.checked_sub(MICROSECONDS_1970_TO_2000))
            }

            /// Returns the microseconds since 1970; an infinity is the least or the greatest integer.
            ///
            /// `None` after 294247-01-10, which 64 bits do not reach.
            #[must_use]
            pub const fn to_unix_microseconds(self) -> Option<i64> {
                match self.is_finite() {
                    false => Some(self.0),
                    true => match self.0.checked_add(MICROSECONDS_1970_TO_2000) {
                        Some(i64::MAX) | None => None,
                        found => found,
                    },
                }
            }

            /// Returns true for a timestamp that is not an infinity.
            #[must_use]
            pub const fn is_finite(self) -> bool {
                self.0 != i64::MIN && self.0 != i64::MAX
            }

            /// Returns the timestamp of microseconds since 2000, if they are within the range.
            pub(crate) fn checked(microseconds: Option<i64>) -> Result<Self> {
                match microseconds {
                    Some(value) if (TIMESTAMP_MIN..TIMESTAMP_END).contains(&value) => {
                        Ok(Self(value))
                    }
                    _ => Err(TimesError::timestamp_range()),
                }
            }
        }
    };
}

integers!(Timestamp);
integers!(TimestampTz);

impl Timestamp {
    /// Returns the fields.
    ///
    /// # Errors
    /// 22008 for an infinity.
    pub(crate) fn civil(self) -> Result<Civil> {
        let civil = if self.is_finite() { Civil::from_microseconds(self.0) } else { None };
        civil.ok_or_else(TimesError::timestamp_range)
    }
}

impl TimestampTz {
    /// Returns the whole seconds since 1970.
    pub(crate) const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(SECOND) + SECONDS_1970_TO_2000
    }

    /// Returns the fields of local time in a zone, and the offset in seconds east of UTC.
    ///
    /// # Errors
    /// 22008 for an infinity.
    pub(crate) fn civil(self, zone: &TimeZone) -> Result<(Civil, i32)> {
        let offset = zone.offset_at(self.unix_seconds());
        Ok((self.civil_at(offset)?, offset))
    }

    /// Returns the fields of local time at an offset in seconds east of UTC.
    pub(crate) fn civil_at(self, offset: i32) -> Result<Civil> {
        let local = self.0.checked_add(i64::from(offset) * SECOND);
        let local = local.filter(|_| self.is_finite());
        // Local time may begin a day before Julian day 0, which the conversion does not know.
        let (local, is_before) = match local {
            Some(local) if local < TIMESTAMP_MIN => (Some(local + DAY_SECONDS * SECOND), true),
            local => (local, false),
        };
        let found = local.and_then(Civil::from_microseconds);
        let mut civil = found.ok_or_else(TimesError::timestamp_range)?;
        civil.day -= i32::from(is_before);
        Ok(civil)
    }
}
