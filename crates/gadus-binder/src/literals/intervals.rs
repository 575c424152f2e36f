//! Intervals: numbers with units, times of day, years with months (`DecodeInterval`).
//!
//! - ISO 8601's form with designators stays as it is written.

use super::date_fields::{
    BYTES_MAX, Fault, Field, INT, clock, fields, fraction_of_one, leading_number,
};
use super::{Read, refused};
use crate::bound::Constant;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Bytes of a word that are compared.
const WORD_BYTES: usize = 10;

/// Unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
    Decade,
    Century,
    Millennium,
    /// Unit that no interval has.
    Other,
}

const UNITS: &[(Unit, &[&str])] = &[
    (Unit::Century, &["c", "cent", "centuries", "century"]),
    (Unit::Day, &["d", "day", "days"]),
    (Unit::Decade, &["dec", "decade", "decades", "decs"]),
    (Unit::Hour, &["h", "hour", "hours", "hr", "hrs"]),
    (Unit::Minute, &["m", "min", "mins", "minute", "minutes"]),
    (Unit::Microsecond, &["microsecon", "us", "usec", "usecond", "useconds", "usecs"]),
    (Unit::Millennium, &["mil", "millennia", "millennium", "mils"]),
    (Unit::Millisecond, &["millisecon", "ms", "msec", "msecond", "mseconds", "msecs"]),
    (Unit::Month, &["mon", "mons", "month", "months"]),
    (Unit::Second, &["s", "sec", "second", "seconds", "secs"]),
    (Unit::Week, &["w", "week", "weeks"]),
    (Unit::Year, &["y", "year", "years", "yr", "yrs"]),
    (Unit::Other, &["qtr", "quarter", "timezone", "timezone_h", "timezone_m"]),
];

/// Sums of the fields that are read so far.
#[derive(Debug, Default)]
struct Sums {
    years: i64,
    months: i64,
    days: i64,
    microseconds: i64,
    /// Bits of the units that were there.
    seen: u32,
}

/// Reads an interval and writes it as months, days and seconds.
pub(super) fn read(text: &str) -> Read {
    if text.len() > BYTES_MAX {
        return Ok(None);
    }
    let sums = match fields(text).and_then(|fields| sums_of(&fields)) {
        Ok(sums) => sums,
        // ISO 8601's form.
        Err(Fault::Format) if text.starts_with('P') => return Ok(None),
        Err(fault) => return Err(fault.error(text, "interval")),
    };
    let months = sums.years * 12 + sums.months;
    if !INT.contains(&months) {
        return Err(refused("22008", "interval out of range"));
    }
    // A sign in front is that of all fields in one of the styles of intervals.
    if text.trim_start().starts_with('-') {
        return Ok(None);
    }
    Ok(Some(Constant::Text(shown(months, sums.days, sums.microseconds))))
}

/// Writes an interval in units that each have their own sign.
fn shown(months: i64, days: i64, microseconds: i64) -> String {
    let mut parts = Vec::new();
    if months != 0 {
        parts.push(format!("{months} mons"));
    }
    if days != 0 {
        parts.push(format!("{days} days"));
    }
    if microseconds != 0 || parts.is_empty() {
        let sign = if microseconds < 0 { "-" } else { "" };
        let size = microseconds.unsigned_abs();
        let fraction = format!("{:06}", size % 1_000_000);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        parts.push(format!("{sign}{}{point}{fraction} secs", size / 1_000_000));
    }
    parts.join(" ")
}

/// Adds up fields from the last one to the first, because a unit follows its number.
fn sums_of(fields: &[Field]) -> Result<Sums, Fault> {
    let mut sums = Sums::default();
    let mut unit = None;
    let mut is_ago = false;
    for field in fields.iter().rev() {
        match field {
            Field::Time(text) => {
                sums.set_time(microseconds_of(text)?)?;
                unit = Some(Unit::Day);
            }
            Field::Signed(text) => {
                let time = &text[1..];
                match Some(time).filter(|time| time.contains(':')).map(microseconds_of) {
                    Some(Ok(time)) => {
                        sums.set_time(if text.starts_with('-') { -time } else { time })?;
                        unit = Some(Unit::Day);
                    }
                    // PostgreSQL then takes it for a number, even if hours are out of range.
                    _ => sums.add_number(text, &mut unit)?,
                }
            }
            Field::Date(text) | Field::Number(text) => sums.add_number(text, &mut unit)?,
            Field::Word(word) | Field::SignedWord(word) => {
                let word = word.get(..WORD_BYTES).unwrap_or(word);
                if word == "ago" {
                    is_ago = true;
                    // A number right before it has no unit.
                    unit = Some(Unit::Other);
                    continue;
                }
                let known = UNITS.iter().find(|(_, names)| names.contains(&word));
                unit = Some(known.ok_or(Fault::Format)?.0);
            }
        }
    }
    if sums.seen == 0 {
        return Err(Fault::Format);
    }
    if is_ago {
        let negated = |value: i64| value.checked_neg().filter(|value| *value != i64::MIN);
        let narrow = |value: i64| negated(value).filter(|value| INT.contains(value));
        sums.microseconds = negated(sums.microseconds).ok_or(Fault::Overflow)?;
        sums.days = narrow(sums.days).ok_or(Fault::Overflow)?;
        sums.months = narrow(sums.months).ok_or(Fault::Overflow)?;
        sums.years = narrow(sums.years).ok_or(Fault::Overflow)?;
    }
    Ok(sums)
}

const SECONDS_BITS: u32 = bit(Unit::Microsecond) | bit(Unit::Millisecond) | bit(Unit::Second);

const fn bit(unit: Unit) -> u32 {
    1 << unit as u32
}

impl Sums {
    /// Marks units as read.
    ///
    /// # Errors
    /// A fault of the format if one of them was there.
    fn mark(&mut self, bits: u32) -> Result<(), Fault> {
        if self.seen & bits != 0 {
            return Err(Fault::Format);
        }
        self.seen |= bits;
        Ok(())
    }

    /// Sets the time of day, in place of smaller units after it.
    fn set_time(&mut self, microseconds: i64) -> Result<(), Fault> {
        self.microseconds = microseconds;
        self.mark(SECONDS_BITS | bit(Unit::Minute) | bit(Unit::Hour))
    }

    /// Adds a number of the unit that follows it; seconds if none does.
    fn add_number(&mut self, text: &str, unit: &mut Option<Unit>) -> Result<(), Fault> {
        let mut of = unit.unwrap_or(Unit::Second);
        let (mut value, rest) = leading_number(text, i64::MIN..=i64::MAX)?;
        let is_negative = text.starts_with('-');
        let mut fraction = 0.0;
        if let Some(after) = rest.strip_prefix('-') {
            // Years and months of standard SQL.
            let (months, rest) = leading_number(after, INT)?;
            if !(0..12).contains(&months) {
                return Err(Fault::Overflow);
            }
            if !rest.is_empty() {
                return Err(Fault::Format);
            }
            let months = if is_negative { -months } else { months };
            of = Unit::Month;
            value = value
                .checked_mul(12)
                .and_then(|value| value.checked_add(months))
                .ok_or(Fault::Overflow)?;
        } else if rest.starts_with('.') {
            fraction = fraction_of_one(rest)?;
            fraction = if is_negative { -fraction } else { fraction };
        } else if !rest.is_empty() {
            return Err(Fault::Format);
        }
        *unit = Some(if of == Unit::Hour { Unit::Day } else { of });
        self.add(of, value, fraction)?;
        match of {
            Unit::Second if fraction != 0.0 => self.mark(SECONDS_BITS),
            of => self.mark(bit(of)),
        }
    }

    fn add(&mut self, unit: Unit, value: i64, fraction: f64) -> Result<(), Fault> {
        match unit {
            Unit::Microsecond => self.add_microseconds(value, fraction, 1),
            Unit::Millisecond => self.add_microseconds(value, fraction, 1000),
            Unit::Second => self.add_microseconds(value, fraction, SECOND),
            Unit::Minute => self.add_microseconds(value, fraction, MINUTE),
            Unit::Hour => self.add_microseconds(value, fraction, HOUR),
            Unit::Day => {
                add_int(&mut self.days, value, 1)?;
                self.add_part(fraction, DAY)
            }
            Unit::Week => {
                add_int(&mut self.days, value, 7)?;
                self.add_part_days(fraction, 7)
            }
            Unit::Month => {
                add_int(&mut self.months, value, 1)?;
                self.add_part_days(fraction, 30)
            }
            Unit::Year => self.add_years(value, fraction, 1),
            Unit::Decade => self.add_years(value, fraction, 10),
            Unit::Century => self.add_years(value, fraction, 100),
            Unit::Millennium => self.add_years(value, fraction, 1000),
            Unit::Other => Err(Fault::Format),
        }
    }

    fn add_microseconds(&mut self, value: i64, fraction: f64, scale: i64) -> Result<(), Fault> {
        let whole = value.checked_mul(scale).ok_or(Fault::Overflow)?;
        self.microseconds = self.microseconds.checked_add(whole).ok_or(Fault::Overflow)?;
        self.add_part(fraction, scale)
    }

    fn add_years(&mut self, value: i64, fraction: f64, scale: i64) -> Result<(), Fault> {
        add_int(&mut self.years, value, scale)?;
        // Less than 12,000 months.
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
        let months = (fraction * scale as f64 * 12.0).round_ties_even() as i64;
        add_int(&mut self.months, months, 1)
    }

    /// Adds a part of a unit of days.
    fn add_part_days(&mut self, fraction: f64, scale: i64) -> Result<(), Fault> {
        // Less than 30 days.
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
        let (whole, rest) = {
            let days = fraction * scale as f64;
            (days.trunc() as i64, days - days.trunc())
        };
        add_int(&mut self.days, whole, 1)?;
        self.add_part(rest, DAY)
    }

    /// Adds a part of a unit of microseconds (`AdjustFractMicroseconds`).
    fn add_part(&mut self, fraction: f64, scale: i64) -> Result<(), Fault> {
        // Less than the microseconds of a day.
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
        let whole = {
            let part = fraction * scale as f64;
            let rest = part - part.trunc();
            let carry = i64::from(rest > 0.5) - i64::from(rest < -0.5);
            part.trunc() as i64 + carry
        };
        self.microseconds = self.microseconds.checked_add(whole).ok_or(Fault::Overflow)?;
        Ok(())
    }
}

/// Reads a time of day of any number of hours.
fn microseconds_of(text: &str) -> Result<i64, Fault> {
    let time = clock(text)?;
    let add = |sum: i64, count: i64, scale: i64| {
        count.checked_mul(scale).and_then(|part| sum.checked_add(part)).ok_or(Fault::Overflow)
    };
    let sum = add(time.microseconds, time.hours, HOUR)?;
    let sum = add(sum, time.minutes, MINUTE)?;
    add(sum, time.seconds, SECOND)
}

/// Adds to a sum of 32 bits.
fn add_int(sum: &mut i64, value: i64, scale: i64) -> Result<(), Fault> {
    let added = Some(value).filter(|value| INT.contains(value));
    let added = added.and_then(|value| value.checked_mul(scale));
    let added = added.filter(|value| INT.contains(value)).map(|value| *sum + value);
    *sum = added.filter(|sum| INT.contains(sum)).ok_or(Fault::Overflow)?;
    Ok(())
}
