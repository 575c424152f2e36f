//! Intervals in PostgreSQL's, the verbose and the standard's style.
//!
//! - Tokens are read from the last to the first: a unit stands after its amount.

use super::clock::clock;
use super::fault::Fault;
use super::interval_amounts::Amounts;
use super::mask::Mask;
use super::numerals::{fraction, leading, leading_i32};
use super::tokens::{Kind, Tokens};
use super::vocabulary::{Unit, Word, interval_word};
use crate::calendar::{HOUR, MINUTE, SECOND, YEAR_MONTHS};
use crate::precision::IntervalFieldsRange;
use crate::settings::IntervalStyle;

/// Unit of the amount before the tokens that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pending {
    /// No unit was read: the type modifier decides.
    Unset,
    Unit(Unit),
    /// Word that is not the unit of an amount.
    None,
}

/// Interval under construction.
struct Reader {
    amounts: Amounts,
    set: Mask,
    pending: Pending,
    range: Option<IntervalFieldsRange>,
    /// True if the minus sign of the first token is that of all amounts.
    is_negative: bool,
    is_ago: bool,
}

/// Reads an interval.
///
/// # Errors
/// The reason to refuse the text.
pub(super) fn interval(
    tokens: &Tokens,
    range: Option<IntervalFieldsRange>,
    style: IntervalStyle,
) -> Result<Amounts, Fault> {
    let mut reader = Reader {
        amounts: Amounts::default(),
        set: Mask::NONE,
        pending: Pending::Unset,
        range,
        is_negative: style == IntervalStyle::SqlStandard && has_one_sign(tokens),
        is_ago: false,
    };
    for index in (0..tokens.count()).rev() {
        let Some((kind, token)) = tokens.get(index) else { break };
        let fields = match kind {
            Kind::Time => {
                reader.take_clock(token)?;
                Mask::TIME
            }
            Kind::Signed if reader.take_signed_clock(token)? => Mask::TIME,
            Kind::Signed | Kind::Date | Kind::Number => reader.take_amount(token)?,
            Kind::Text | Kind::Special => {
                reader.take_word(token)?;
                continue;
            }
        };
        if reader.set.has_any(fields) {
            return Err(Fault::Format);
        }
        reader.set = reader.set.and(fields);
    }
    if reader.set == Mask::NONE {
        return Err(Fault::Format);
    }
    match reader.is_ago {
        true => reader.amounts.negated().ok_or(Fault::Field),
        false => Ok(reader.amounts),
    }
}

/// Returns true if the first token has a minus sign and no other token a sign.
fn has_one_sign(tokens: &Tokens) -> bool {
    let first = |index| tokens.get(index).and_then(|(_, token)| token.first().copied());
    let is_signed = |index| matches!(first(index), Some(b'-' | b'+'));
    first(0) == Some(b'-') && !(1..tokens.count()).any(is_signed)
}

impl Reader {
    /// Takes a time; an amount before it is days.
    fn take_clock(&mut self, token: &[u8]) -> Result<(), Fault> {
        let microseconds = self.clock_microseconds(token)?;
        self.amounts.microseconds = self.with_sign(microseconds);
        self.pending = Pending::Unit(Unit::Day);
        Ok(())
    }

    /// Takes a time with a sign; false if the token is not one.
    fn take_signed_clock(&mut self, token: &[u8]) -> Result<bool, Fault> {
        let Some((sign, clock)) = token.split_first() else { return Ok(false) };
        if !clock.contains(&b':') {
            return Ok(false);
        }
        let Ok(microseconds) = self.clock_microseconds(clock) else { return Ok(false) };
        let signed = if *sign == b'-' { -microseconds } else { microseconds };
        self.amounts.microseconds = self.with_sign(signed);
        self.pending = Pending::Unit(Unit::Day);
        Ok(true)
    }

    fn clock_microseconds(&self, token: &[u8]) -> Result<i64, Fault> {
        let is_minutes = self.range == Some(IntervalFieldsRange::MinuteToSecond);
        let clock = clock(token, is_minutes)?;
        let hours = clock.hour.checked_mul(HOUR);
        let rest = i64::from(clock.minute) * MINUTE
            + i64::from(clock.second) * SECOND
            + i64::from(clock.microsecond);
        hours.and_then(|hours| hours.checked_add(rest)).ok_or(Fault::Field)
    }

    fn with_sign(&self, microseconds: i64) -> i64 {
        if self.is_negative && microseconds > 0 { -microseconds } else { microseconds }
    }

    /// Takes a number, or years and months such as `1-2`.
    fn take_amount(&mut self, token: &[u8]) -> Result<Mask, Fault> {
        if self.pending == Pending::Unset {
            let unit = self.range.map_or(Unit::Second, IntervalFieldsRange::last_unit);
            self.pending = Pending::Unit(unit);
        }
        let is_negative = token.first() == Some(&b'-');
        let found = leading(token);
        if found.overflows {
            return Err(Fault::Field);
        }
        let (mut value, mut part) = (found.value, 0.0);
        match found.rest.first() {
            None => {}
            Some(b'-') => {
                value = years_and_months(value, &found.rest[1..], is_negative)?;
                self.pending = Pending::Unit(Unit::Month);
            }
            Some(b'.') => {
                let fraction = fraction(found.rest).ok_or(Fault::Format)?;
                part = if is_negative { -fraction } else { fraction };
            }
            Some(_) => return Err(Fault::Format),
        }
        if self.is_negative {
            value = if value > 0 { -value } else { value };
            part = if part > 0.0 { -part } else { part };
        }
        let Pending::Unit(unit) = self.pending else { return Err(Fault::Format) };
        let mask = self.amounts.add(unit, value, part)?;
        if unit == Unit::Hour {
            self.pending = Pending::Unit(Unit::Day);
        }
        Ok(mask)
    }

    fn take_word(&mut self, word: &[u8]) -> Result<(), Fault> {
        match interval_word(word) {
            Some(Word::Ignored) => {}
            Some(Word::Unit(unit)) => self.pending = Pending::Unit(unit),
            Some(Word::Ago) => {
                self.is_ago = true;
                self.pending = Pending::None;
            }
            _ => return Err(Fault::Format),
        }
        Ok(())
    }
}

/// Returns the months of years and of a text of months.
fn years_and_months(years: i64, months: &[u8], is_negative: bool) -> Result<i64, Fault> {
    let (months, rest) = leading_i32(months).ok_or(Fault::Field)?;
    if !(0..YEAR_MONTHS).contains(&months) {
        return Err(Fault::Field);
    }
    if !rest.is_empty() {
        return Err(Fault::Format);
    }
    let months = i64::from(if is_negative { -months } else { months });
    let product = years.checked_mul(i64::from(YEAR_MONTHS));
    product.and_then(|product| product.checked_add(months)).ok_or(Fault::Field)
}
