//! The types `time` and `timetz`.

use crate::calendar::{Civil, DAY};
use crate::error::{OUT_OF_RANGE, Result, TimesError};

/// Offset of a zone that `timetz` stores at most: less than 16 hours.
const OFFSET_SECONDS_END: i32 = 16 * 3600;

/// Time of day from 00:00:00 to 24:00:00 in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub(crate) i64);

/// Time of day with an offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeTz {
    pub(crate) time: Time,
    /// Seconds west of UTC.
    pub(crate) west: i32,
}

impl Time {
    /// Returns the time of microseconds of the day, up to 24:00:00.
    ///
    /// # Errors
    /// 22008 beyond the day.
    pub fn from_microseconds(microseconds: i64) -> Result<Self> {
        match (0..=DAY).contains(&microseconds) {
            true => Ok(Self(microseconds)),
            false => Err(TimesError::new(OUT_OF_RANGE, "time out of range")),
        }
    }

    /// Returns the microseconds of the day.
    #[must_use]
    pub const fn to_microseconds(self) -> i64 {
        self.0
    }

    /// Returns hour, minute, second and microsecond.
    pub(crate) fn civil(self) -> Civil {
        let mut civil = Civil::default();
        civil.set_clock(self.0);
        civil
    }
}

impl TimeTz {
    /// Returns a time with an offset in seconds east of UTC.
    ///
    /// # Errors
    /// 22009 for an offset of 16 hours or more.
    pub fn new(time: Time, offset_seconds: i32) -> Result<Self> {
        match offset_seconds.unsigned_abs() < OFFSET_SECONDS_END.unsigned_abs() {
            true => Ok(Self { time, west: -offset_seconds }),
            false => Err(TimesError::new(
                crate::error::ZONE_DISPLACEMENT,
                "time zone displacement out of range",
            )),
        }
    }

    /// Returns the time of day.
    #[must_use]
    pub const fn time(self) -> Time {
        self.time
    }

    /// Returns the offset in seconds east of UTC.
    #[must_use]
    pub const fn offset_seconds(self) -> i32 {
        self.west.wrapping_neg()
    }
}
