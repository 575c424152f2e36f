//! Intervals of ISO 8601: `P1Y2M3DT4H5M6S`, and the alternative form `P0001-02-03T04:05:06`.

use super::fault::Fault;
use super::interval_amounts::Amounts;
use super::numerals;
use crate::calendar::{HOUR, MINUTE, SECOND};
use crate::integers::{float, truncated};

/// Amounts above this lose digits.
const AMOUNT_MAX: f64 = 1.0e15;

/// Outcome of a field.
enum Next {
    /// Another field of the form with designators.
    Field,
    /// Time, which begins anew.
    Time,
    /// End of the text.
    End,
}

/// Rest of a text.
struct Reader<'a> {
    rest: &'a [u8],
    amounts: Amounts,
    has_field: bool,
}

/// Reads an interval; letters are of upper case.
///
/// # Errors
/// The reason to refuse the text.
pub(super) fn interval(text: &[u8]) -> Result<Amounts, Fault> {
    let rest = text.strip_prefix(b"P").filter(|rest| !rest.is_empty()).ok_or(Fault::Format)?;
    let mut reader = Reader { rest, amounts: Amounts::default(), has_field: false };
    let mut is_date = true;
    while let Some(first) = reader.rest.first() {
        if *first == b'T' {
            reader.rest = &reader.rest[1..];
            (is_date, reader.has_field) = (false, false);
            continue;
        }
        let next = if is_date { reader.date_field()? } else { reader.time_field()? };
        match next {
            Next::Field => reader.has_field = true,
            Next::Time => (is_date, reader.has_field) = (false, false),
            Next::End => break,
        }
    }
    Ok(reader.amounts)
}

impl Reader<'_> {
    /// Reads a number: its integral part and its fraction.
    fn amount(&mut self) -> Result<(i64, f64), Fault> {
        if !matches!(self.rest.first(), Some(b'0'..=b'9' | b'-' | b'.')) {
            return Err(Fault::Format);
        }
        let (value, rest) = numerals::number(self.rest).ok_or(Fault::Format)?;
        if value.is_nan() || value.abs() > AMOUNT_MAX {
            return Err(Fault::Field);
        }
        self.rest = rest;
        let whole = truncated(value);
        Ok((whole, value - float(whole)))
    }

    /// Takes a designator; `None` at the end.
    fn designator(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn date_field(&mut self) -> Result<Next, Fault> {
        let width = integer_width(self.rest);
        let (value, fraction) = self.amount()?;
        let designator = self.designator();
        let amounts = &mut self.amounts;
        let added = match designator {
            Some(b'Y') => amounts.add_years(value, fraction, 1),
            Some(b'M') => amounts.add_months(value, fraction),
            Some(b'W') => amounts.add_weeks(value, fraction),
            Some(b'D') => amounts.add_days(value, fraction),
            None | Some(b'T') if width == 8 && !self.has_field => {
                let added = amounts
                    .add_years(value / 10_000, 0.0, 1)
                    .and_then(|()| amounts.add_months(value / 100 % 100, 0.0))
                    .and_then(|()| amounts.add_days(value % 100, fraction));
                added.ok_or(Fault::Field)?;
                return Ok(if designator.is_none() { Next::End } else { Next::Time });
            }
            None | Some(b'T' | b'-') => return self.dashed_date(value, fraction, designator),
            Some(_) => return Err(Fault::Format),
        };
        added.map(|()| Next::Field).ok_or(Fault::Field)
    }

    /// Reads `years-months-days` after the years; any of them may be the last.
    fn dashed_date(
        &mut self,
        value: i64,
        fraction: f64,
        designator: Option<u8>,
    ) -> Result<Next, Fault> {
        if self.has_field {
            return Err(Fault::Format);
        }
        self.amounts.add_years(value, fraction, 1).ok_or(Fault::Field)?;
        match designator {
            None => return Ok(Next::End),
            Some(b'T') => return Ok(Next::Time),
            Some(_) => {}
        }
        let (value, fraction) = self.amount()?;
        self.amounts.add_months(value, fraction).ok_or(Fault::Field)?;
        match self.designator() {
            None => return Ok(Next::End),
            Some(b'T') => return Ok(Next::Time),
            Some(b'-') => {}
            Some(_) => return Err(Fault::Format),
        }
        let (value, fraction) = self.amount()?;
        self.amounts.add_days(value, fraction).ok_or(Fault::Field)?;
        match self.designator() {
            None => Ok(Next::End),
            Some(b'T') => Ok(Next::Time),
            Some(_) => Err(Fault::Format),
        }
    }

    fn time_field(&mut self) -> Result<Next, Fault> {
        let width = integer_width(self.rest);
        let (value, fraction) = self.amount()?;
        let designator = self.designator();
        let amounts = &mut self.amounts;
        let added = match designator {
            Some(b'H') => amounts.add_clock(value, fraction, HOUR),
            Some(b'M') => amounts.add_clock(value, fraction, MINUTE),
            Some(b'S') => amounts.add_clock(value, fraction, SECOND),
            None if width == 6 && !self.has_field => {
                let added = amounts
                    .add_clock(value / 10_000, 0.0, HOUR)
                    .and_then(|()| amounts.add_clock(value / 100 % 100, 0.0, MINUTE))
                    .and_then(|()| amounts.add_clock(value % 100, 0.0, SECOND))
                    .and_then(|()| amounts.add_clock_fraction(fraction, 1));
                return added.map(|()| Next::End).ok_or(Fault::Field);
            }
            None | Some(b':') => return self.clock(value, fraction, designator.is_none()),
            Some(_) => return Err(Fault::Format),
        };
        added.map(|()| Next::Field).ok_or(Fault::Field)
    }

    /// Reads `hours:minutes:seconds` after the hours; any of them may be the last.
    fn clock(&mut self, value: i64, fraction: f64, is_end: bool) -> Result<Next, Fault> {
        if self.has_field {
            return Err(Fault::Format);
        }
        self.amounts.add_clock(value, fraction, HOUR).ok_or(Fault::Field)?;
        if is_end {
            return Ok(Next::End);
        }
        let (value, fraction) = self.amount()?;
        self.amounts.add_clock(value, fraction, MINUTE).ok_or(Fault::Field)?;
        match self.designator() {
            None => return Ok(Next::End),
            Some(b':') => {}
            Some(_) => return Err(Fault::Format),
        }
        let (value, fraction) = self.amount()?;
        self.amounts.add_clock(value, fraction, SECOND).ok_or(Fault::Field)?;
        if self.rest.is_empty() { Ok(Next::End) } else { Err(Fault::Format) }
    }
}

/// Returns the number of digits before the decimal point, without the sign.
fn integer_width(text: &[u8]) -> usize {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len())
}
