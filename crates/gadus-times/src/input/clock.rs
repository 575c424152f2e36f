//! Times with colons: `04:05`, `04:05:06.789`, `05:06.789` as minutes and seconds.

use super::fault::Fault;
use super::numerals::{fraction, leading, leading_i32, microseconds};
use crate::calendar::Civil;

/// Time as it is written.
pub(super) struct Clock {
    pub(super) hour: i64,
    pub(super) minute: i32,
    pub(super) second: i32,
    pub(super) microsecond: i32,
}

/// Reads a time. `is_minutes` takes two numbers as minutes and seconds.
///
/// # Errors
/// A format fault, or a field fault beyond the hour and the minute. Hours may be any.
pub(super) fn clock(text: &[u8], is_minutes: bool) -> Result<Clock, Fault> {
    let hours = leading(text);
    if hours.overflows {
        return Err(Fault::Field);
    }
    let after = hours.rest.strip_prefix(b":").ok_or(Fault::Format)?;
    let (minute, rest) = leading_i32(after).ok_or(Fault::Field)?;
    let mut clock = Clock { hour: hours.value, minute, second: 0, microsecond: 0 };
    match rest.first() {
        None if is_minutes => clock.shift_to_minutes()?,
        None => {}
        Some(b'.') => {
            clock.microsecond = microseconds(fraction(rest).ok_or(Fault::Format)?);
            clock.shift_to_minutes()?;
        }
        Some(b':') => {
            let (second, rest) = leading_i32(&rest[1..]).ok_or(Fault::Field)?;
            clock.second = second;
            match rest.first() {
                None => {}
                Some(b'.') => {
                    clock.microsecond = microseconds(fraction(rest).ok_or(Fault::Format)?);
                }
                Some(_) => return Err(Fault::Format),
            }
        }
        Some(_) => return Err(Fault::Format),
    }
    let is_valid = clock.hour >= 0
        && (0..60).contains(&clock.minute)
        && (0..=60).contains(&clock.second)
        && (0..=1_000_000).contains(&clock.microsecond);
    if is_valid { Ok(clock) } else { Err(Fault::Field) }
}

impl Clock {
    /// Takes hours and minutes as minutes and seconds.
    fn shift_to_minutes(&mut self) -> Result<(), Fault> {
        self.second = self.minute;
        self.minute = i32::try_from(self.hour).map_err(|_| Fault::Field)?;
        self.hour = 0;
        Ok(())
    }

    /// Sets the fields of a date and time.
    ///
    /// # Errors
    /// A field fault for hours beyond 32 bits.
    pub(super) fn set(&self, civil: &mut Civil) -> Result<(), Fault> {
        civil.hour = i32::try_from(self.hour).map_err(|_| Fault::Field)?;
        civil.minute = self.minute;
        civil.second = self.second;
        civil.microsecond = self.microsecond;
        Ok(())
    }
}

/// Returns true for fields that are not a time of day up to 24:00:00; a second may be 60.
pub(super) fn overflows(civil: &Civil) -> bool {
    let is_valid = (0..=24).contains(&civil.hour)
        && (0..60).contains(&civil.minute)
        && (0..=60).contains(&civil.second)
        && (0..=1_000_000).contains(&civil.microsecond)
        && civil.clock() <= crate::calendar::DAY;
    !is_valid
}
