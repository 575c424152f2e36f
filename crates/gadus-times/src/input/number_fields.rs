//! Numbers whose meaning the tokens before them decide.

use super::fault::Fault;
use super::mask::Mask;
use super::numerals::{fraction, leading, leading_fraction, leading_i32, microseconds};
use super::words::Draft;
use crate::integers::low_bits;
use crate::settings::DateOrder;

impl Draft<'_> {
    /// Takes a number as the field that follows those in `set`; returns the fields that it set.
    ///
    /// # Errors
    /// A format fault, or a field fault for a number beyond 32 bits.
    pub(super) fn take_number(
        &mut self,
        text: &[u8],
        has_text_month: bool,
        set: Mask,
    ) -> Result<Mask, Fault> {
        let (value, rest) = leading_i32(text).ok_or(Fault::Field)?;
        if rest.len() == text.len() {
            return Err(Fault::Format);
        }
        if rest.first() == Some(&b'.') {
            // 20011225 or 040506.789
            if text.len() - rest.len() > 2 {
                return self.take_run(text, set.and(Mask::DATE));
            }
            self.civil.microsecond = microseconds(fraction(rest).ok_or(Fault::Format)?);
        } else if !rest.is_empty() {
            return Err(Fault::Format);
        }
        let length = text.len();
        let date = set.within(Mask::DATE);
        if length == 3 && date == Mask::YEAR && (1..=366).contains(&value) {
            self.year_day = value;
            return Ok(Mask::YEAR_DAY.and(Mask::MONTH).and(Mask::DAY));
        }
        if date == Mask::DATE {
            return self.take_run(text, set);
        }
        let order = self.settings.date_order;
        let is_year = length >= 3 || order == DateOrder::Ymd;
        let year_and_month = Mask::YEAR.and(Mask::MONTH);
        let field = match date {
            Mask::NONE if is_year => Mask::YEAR,
            Mask::NONE if order == DateOrder::Dmy => Mask::DAY,
            Mask::NONE | Mask::YEAR | Mask::DAY => Mask::MONTH,
            Mask::MONTH if has_text_month && is_year => Mask::YEAR,
            Mask::MONTH => Mask::DAY,
            _ if date == year_and_month => {
                if has_text_month && length >= 3 && self.is_two_digits {
                    // The first number was the day after all: DD-MON-YYYY.
                    self.civil.day = self.civil.year;
                    self.civil.year = value;
                    self.is_two_digits = false;
                    return Ok(Mask::DAY);
                }
                Mask::DAY
            }
            _ if date == Mask::MONTH.and(Mask::DAY) => Mask::YEAR,
            _ => return Err(Fault::Format),
        };
        match field {
            Mask::YEAR => {
                self.civil.year = value;
                self.is_two_digits = length <= 2;
            }
            Mask::MONTH => self.civil.month = value,
            _ => self.civil.day = value,
        }
        Ok(field)
    }

    /// Takes digits without delimiters as a date or a time; returns the fields that it set.
    ///
    /// # Errors
    /// A format fault unless the number of digits is that of a field that is not in `set`.
    pub(super) fn take_run(&mut self, text: &[u8], set: Mask) -> Result<Mask, Fault> {
        let mut digits = text;
        if let Some(point) = text.iter().position(|byte| *byte == b'.') {
            let fraction = leading_fraction(&text[point..]).ok_or(Fault::Format)?;
            self.civil.microsecond = microseconds(fraction);
            digits = &text[..point];
        } else if !set.has(Mask::DATE) && text.len() >= 6 {
            let (rest, day) = text.split_at(text.len() - 2);
            let (year, month) = rest.split_at(rest.len() - 2);
            self.civil.day = wrapped(day);
            self.civil.month = wrapped(month);
            self.civil.year = wrapped(year);
            if year.len() == 2 {
                self.is_two_digits = true;
            }
            return Ok(Mask::DATE);
        }
        if set.has(Mask::TIME) || !matches!(digits.len(), 4 | 6) {
            return Err(Fault::Format);
        }
        self.civil.hour = wrapped(&digits[..2]);
        self.civil.minute = wrapped(&digits[2..4]);
        self.civil.second = wrapped(&digits[4..]);
        Ok(Mask::TIME)
    }
}

/// Returns the lowest 32 bits of an integer; 0 for no digits.
fn wrapped(digits: &[u8]) -> i32 {
    low_bits(leading(digits).value)
}
