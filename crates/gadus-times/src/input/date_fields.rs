//! Dates in one token: `1999-01-08`, `1/8/1999`, `99-Jan-08`, and the check of a date's fields.

use super::fault::Fault;
use super::mask::Mask;
use super::tokens::TOKENS_MAX;
use super::vocabulary::{Word, date_word};
use super::words::Draft;
use crate::calendar::{DateFields, YEAR_MONTHS, date_of_julian, days_in_month, julian};

impl Draft<'_> {
    /// Takes a date with delimiters; returns the fields that it set.
    ///
    /// # Errors
    /// A format fault unless the token has just year, month and day, in any order that the session allows.
    pub(super) fn take_date(&mut self, text: &[u8]) -> Result<Mask, Fault> {
        let mut fields: [&[u8]; TOKENS_MAX] = [&[]; TOKENS_MAX];
        let count = split(text, &mut fields)?;
        let before = self.set;
        let mut found = Mask::NONE;
        let mut has_text_month = false;
        // The name of a month is unambiguous, and decides on the numbers.
        for field in &mut fields[..count] {
            if field.first().is_some_and(u8::is_ascii_alphabetic) {
                let Some(Word::Month(month)) = date_word(field) else { return Err(Fault::Format) };
                self.civil.month = month;
                has_text_month = true;
                if before.and(found).has_any(Mask::MONTH) {
                    return Err(Fault::Format);
                }
                found = found.and(Mask::MONTH);
                *field = &[];
            }
        }
        let microsecond = self.civil.microsecond;
        for field in fields[..count].iter().filter(|field| !field.is_empty()) {
            let mask = self.take_number(field, has_text_month, before.and(found))?;
            if before.and(found).has_any(mask) {
                return Err(Fault::Format);
            }
            found = found.and(mask);
        }
        self.civil.microsecond = microsecond;
        let all = before.and(found).0 & !(Mask::YEAR_DAY.0 | Mask::ZONE.0);
        if all == Mask::DATE.0 { Ok(found) } else { Err(Fault::Format) }
    }
}

/// Splits a date into runs of digits and of letters. One byte after each run is skipped, as PostgreSQL does.
fn split<'a>(text: &'a [u8], fields: &mut [&'a [u8]; TOKENS_MAX]) -> Result<usize, Fault> {
    let mut rest = text;
    let mut count = 0;
    while !rest.is_empty() && count < TOKENS_MAX {
        let begin = rest.iter().position(u8::is_ascii_alphanumeric).ok_or(Fault::Format)?;
        rest = &rest[begin..];
        let is_digit = rest[0].is_ascii_digit();
        let belongs = |byte: &u8| match is_digit {
            true => byte.is_ascii_digit(),
            false => byte.is_ascii_alphabetic(),
        };
        let end = rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        fields[count] = &rest[..end];
        count += 1;
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Ok(count)
}

impl Draft<'_> {
    /// Completes and checks year, month and day.
    pub(super) fn validate_date(&mut self) -> Result<(), Fault> {
        let civil = &self.civil;
        let mut date = DateFields { year: civil.year, month: civil.month, day: civil.day };
        if self.set.has_any(Mask::YEAR) && !self.is_julian {
            date.year = full_year(date.year, self.is_bc, self.is_two_digits)?;
        }
        if self.set.has_any(Mask::YEAR_DAY) {
            let first = julian(date.year, 1, 1);
            date = date_of_julian(first.wrapping_add(self.year_day).wrapping_sub(1));
        }
        if self.set.has_any(Mask::MONTH) && !(1..=YEAR_MONTHS).contains(&date.month) {
            return Err(Fault::MonthOrDay);
        }
        if self.set.has_any(Mask::DAY) && !(1..=31).contains(&date.day) {
            return Err(Fault::MonthOrDay);
        }
        // A day that just this month does not have is hardly one of the other order.
        if self.set.has(Mask::DATE) && date.day > days_in_month(date.year, date.month) {
            return Err(Fault::Field);
        }
        self.civil.set_date(date);
        Ok(())
    }
}

/// Returns the year of the calendar, in which 0 is 1 BC.
fn full_year(year: i32, is_bc: bool, is_two_digits: bool) -> Result<i32, Fault> {
    match year {
        1.. if is_bc => Ok(1 - year),
        i32::MIN..0 => Err(Fault::Field),
        0..70 if is_two_digits && !is_bc => Ok(year + 2000),
        70..100 if is_two_digits && !is_bc => Ok(year + 1900),
        0 => Err(Fault::Field),
        _ => Ok(year),
    }
}

/// Checks a date of numbers; negative years are BC.
///
/// # Errors
/// A field fault for a date that does not exist.
pub(crate) fn validate(year: i32, month: i32, day: i32) -> Result<DateFields, Fault> {
    // The least integer stays negative, and so is refused.
    let year = full_year(year.wrapping_abs(), year < 0, false)?;
    let is_valid = (1..=YEAR_MONTHS).contains(&month) && (1..=31).contains(&day);
    if !is_valid || day > days_in_month(year, month) {
        return Err(Fault::Field);
    }
    Ok(DateFields { year, month, day })
}
