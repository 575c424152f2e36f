//! Numbers after a label: `y2001m02d04`, `h04mm05s06`, `J2451187.5`, `T040506`.

use super::fault::Fault;
use super::mask::Mask;
use super::numerals::{fraction, leading_i32, microseconds};
use super::offset::offset;
use super::vocabulary::Unit;
use super::words::{Draft, Label};
use crate::calendar::{DAY, date_of_julian};
use crate::integers::{float, truncated};

impl Draft<'_> {
    /// Takes a number after a label; returns the fields that it set.
    ///
    /// # Errors
    /// A format fault, or a field fault for a number beyond 32 bits.
    pub(super) fn take_labelled(&mut self, text: &[u8], label: Label) -> Result<Mask, Fault> {
        let (value, rest) = leading_i32(text).ok_or(Fault::Field)?;
        let has_point = match rest.first() {
            None => false,
            Some(b'.') if may_have_point(label) => true,
            Some(_) => return Err(Fault::Format),
        };
        self.label = None;
        self.reserved = None;
        let civil = &mut self.civil;
        let Label::Unit(unit) = label else {
            return match self.take_run(text, self.set.and(Mask::DATE))? {
                Mask::TIME => Ok(Mask::TIME),
                _ => Err(Fault::Format),
            };
        };
        Ok(match unit {
            Unit::Year => {
                civil.year = value;
                Mask::YEAR
            }
            // After a month and an hour, `m` means minutes.
            Unit::Month if !self.set.has(Mask::MONTH.and(Mask::HOUR)) => {
                civil.month = value;
                Mask::MONTH
            }
            Unit::Month | Unit::Minute => {
                civil.minute = value;
                Mask::MINUTE
            }
            Unit::Day => {
                civil.day = value;
                Mask::DAY
            }
            Unit::Hour => {
                civil.hour = value;
                Mask::HOUR
            }
            Unit::Second => {
                civil.second = value;
                if !has_point {
                    return Ok(Mask::SECOND);
                }
                civil.microsecond = microseconds(fraction(rest).ok_or(Fault::Format)?);
                Mask::SECONDS
            }
            Unit::Zone => {
                self.west = offset(text)?;
                Mask::ZONE
            }
            Unit::JulianDay => return self.take_julian_day(value, rest),
            _ => return Err(Fault::Format),
        })
    }

    fn take_julian_day(&mut self, day: i32, rest: &[u8]) -> Result<Mask, Fault> {
        if day < 0 {
            return Err(Fault::Field);
        }
        self.civil.set_date(date_of_julian(day));
        self.is_julian = true;
        if rest.is_empty() {
            return Ok(Mask::DATE);
        }
        let fraction = fraction(rest).ok_or(Fault::Format)?;
        self.civil.set_clock(truncated(fraction * float(DAY)));
        Ok(Mask::DATE.and(Mask::TIME))
    }
}

fn may_have_point(label: Label) -> bool {
    matches!(label, Label::Time | Label::Unit(Unit::JulianDay | Unit::Second))
}
