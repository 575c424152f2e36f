//! Digits written by a template.

use super::template::{Item, Key, SignPlace, Template};
use crate::error::{FunctionError, Result};

/// SQLSTATE of an ordinal of what is no number.
const INVALID_TEXT: &str = "22P02";

/// Width of a Roman number.
const ROMAN_WIDTH: usize = 15;

/// Digits of a value, as a template needs them.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) digits: String,
    /// Places of the template before the first digit.
    pub(super) spaces: usize,
    /// Sign of the value; `None` of Roman and scientific numbers.
    pub(super) sign: Option<char>,
}

impl Prepared {
    pub(super) fn plain(spaces: usize, digits: String) -> Self {
        Self { digits, spaces, sign: None }
    }

    pub(super) fn roman(value: i64) -> Self {
        Self::plain(0, roman(value))
    }
}

/// Writer that goes through a template.
#[derive(Debug)]
struct Writer {
    template: Template,
    digits: Vec<u8>,
    spaces: usize,
    sign: Option<char>,
    written: String,
    /// Place of the template that comes next, and the digit.
    place: usize,
    digit: usize,
    places: usize,
    /// Last digit of a fraction that is written in fill mode.
    last_relevant: Option<usize>,
    has_sign: bool,
    is_in_number: bool,
}

/// Writes a number.
pub(super) fn write(template: Template, prepared: Prepared) -> Result<String> {
    if template.is_exponent {
        return Ok(prepared.digits);
    }
    let mut writer = Writer::new(template, prepared);
    for item in std::mem::take(&mut writer.template.items) {
        match item {
            Item::Character(character) => writer.written.push(character),
            Item::Key(key) => writer.item(key)?,
        }
    }
    // PostgreSQL's text ends at the first place without a digit.
    let end = writer.written.find('\0').unwrap_or(writer.written.len());
    writer.written.truncate(end);
    Ok(writer.written)
}

impl Writer {
    fn new(mut template: Template, prepared: Prepared) -> Self {
        template.zero_start = template.zero_start.saturating_sub(1);
        if template.is_roman {
            let items = std::mem::take(&mut template.items);
            let is_fill_mode = template.is_fill_mode;
            template = Template { items, is_fill_mode, is_roman: true, ..Template::default() };
        }
        let has_sign = Self::needs_no_sign(&mut template, prepared.sign);
        let digits = prepared.digits.into_bytes();
        let mut places = (template.post + template.pre).wrapping_sub(1);
        let mut last_relevant = None;
        if template.is_fill_mode && template.has_point {
            last_relevant = last_digit(&digits);
            if let Some(last) = &mut last_relevant
                && template.zero_end > prepared.spaces
            {
                *last = (*last).max((digits.len() - 1).min(template.zero_end - prepared.spaces));
            }
        }
        if !has_sign && prepared.spaces == 0 {
            places = places.wrapping_add(1);
        }
        Self {
            template,
            digits,
            spaces: prepared.spaces,
            sign: prepared.sign,
            written: String::new(),
            place: 0,
            digit: 0,
            places,
            last_relevant,
            has_sign,
            is_in_number: false,
        }
    }

    /// Returns true if no sign is to be written before the digits.
    fn needs_no_sign(template: &mut Template, sign: Option<char>) -> bool {
        if template.has_plus || template.has_minus {
            return !template.has_plus || template.has_minus;
        }
        if sign != Some('-') && template.has_brackets && template.is_fill_mode {
            template.has_brackets = false;
        }
        let needs_none = sign == Some('+') && template.is_fill_mode && !template.has_sign;
        if template.sign_place == SignPlace::Before && template.pre == template.pre_sign {
            template.sign_place = SignPlace::After;
        }
        needs_none
    }

    fn item(&mut self, key: Key) -> Result<()> {
        let is_fill_mode = self.template.is_fill_mode;
        match key {
            Key::Nine | Key::Zero | Key::Point | Key::LocalePoint => self.number(key),
            Key::Comma | Key::Group => match (self.is_in_number, is_fill_mode) {
                (true, _) => self.written.push(','),
                (false, true) => {}
                (false, false) => self.written.push(' '),
            },
            Key::LocaleCurrency => self.written.push(' '),
            Key::Roman { is_lower } => {
                let digits = String::from_utf8_lossy(&self.digits[self.digit..]).into_owned();
                let digits = if is_lower { digits.to_lowercase() } else { digits };
                let width = if is_fill_mode { 0 } else { ROMAN_WIDTH };
                self.written.push_str(&format!("{digits:>width$}"));
            }
            Key::Ordinal { is_lower } => {
                let is_plain = !self.template.is_roman
                    && self.digits.first() != Some(&b'#')
                    && self.sign != Some('-')
                    && !self.template.has_point;
                if is_plain {
                    let digits = String::from_utf8_lossy(&self.digits);
                    self.written.push_str(ordinal_suffix(&digits, is_lower)?);
                }
            }
            Key::Minus => self.own_sign('-'),
            Key::Plus => self.own_sign('+'),
            Key::EitherSign => self.written.push(self.sign.unwrap_or('\0')),
            _ => {}
        }
        Ok(())
    }

    fn own_sign(&mut self, sign: char) {
        if self.sign == Some(sign) {
            self.written.push(sign);
        } else if !self.template.is_fill_mode {
            self.written.push(' ');
        }
    }

    /// True if a zero before the point is not written: `.1`.
    fn is_zero_before_point(&self) -> bool {
        !self.template.has_zero
            && self.digit == 0
            && self.digits.first() == Some(&b'0')
            && self.template.post != 0
    }

    fn ends_at_point(&self) -> bool {
        self.last_relevant.is_some_and(|last| self.digits.get(last) == Some(&b'.'))
    }

    fn number(&mut self, key: Key) {
        if self.template.is_roman {
            return;
        }
        self.is_in_number = false;
        let starts_zeros = self.template.has_zero && self.template.zero_start == self.place;
        let is_at_number = self.place >= self.spaces || starts_zeros;
        let shows_digit = !self.is_zero_before_point() || self.ends_at_point();
        if !self.has_sign && is_at_number && shows_digit {
            self.sign_before();
        }
        if self.place < self.spaces {
            if self.template.has_zero && self.template.zero_start <= self.place {
                self.written.push('0');
                self.is_in_number = true;
            } else if !self.template.is_fill_mode {
                self.written.push(' ');
            }
        } else {
            self.digit(key);
        }
        let point = usize::from(self.template.has_point);
        let mut end = self.places.wrapping_add(usize::from(self.spaces > 0) + point);
        if self.last_relevant == Some(self.digit) {
            end = self.place;
        }
        if self.place + 1 == end {
            self.sign_after();
        }
        self.place += 1;
    }

    fn sign_before(&mut self) {
        let is_minus = self.sign == Some('-');
        if self.template.has_sign {
            if self.template.sign_place == SignPlace::Before {
                self.written.push(if is_minus { '-' } else { '+' });
                self.has_sign = true;
            }
        } else if self.template.has_brackets {
            self.written.push(if self.sign == Some('+') { ' ' } else { '<' });
            self.has_sign = true;
        } else if self.sign == Some('+') {
            if !self.template.is_fill_mode {
                self.written.push(' ');
            }
            self.has_sign = true;
        } else if is_minus {
            self.written.push('-');
            self.has_sign = true;
        }
    }

    fn sign_after(&mut self) {
        if self.has_sign && self.template.has_brackets {
            self.written.push(if self.sign == Some('+') { ' ' } else { '>' });
        } else if self.template.has_sign && self.template.sign_place == SignPlace::After {
            self.written.push(if self.sign == Some('-') { '-' } else { '+' });
        }
    }

    /// Writes a digit or the point.
    fn digit(&mut self, key: Key) {
        let is_fill_mode = self.template.is_fill_mode;
        match self.digits.get(self.digit) {
            Some(b'.') => {
                if !self.ends_at_point() || is_fill_mode {
                    self.written.push('.');
                }
            }
            _ if self.last_relevant.is_some_and(|last| self.digit > last) && key != Key::Zero => {}
            _ if self.is_zero_before_point() => {
                if !is_fill_mode {
                    self.written.push(' ');
                } else if self.ends_at_point() {
                    self.written.push('0');
                }
            }
            digit => {
                self.written.push(digit.map_or('\0', |digit| char::from(*digit)));
                self.is_in_number = true;
            }
        }
        if self.digit < self.digits.len() {
            self.digit += 1;
        }
    }
}

/// Returns the last digit of a fraction that is not zero, or else the point.
fn last_digit(digits: &[u8]) -> Option<usize> {
    let point = digits.iter().position(|digit| *digit == b'.')?;
    let last = digits[point + 1..].iter().rposition(|digit| *digit != b'0');
    Some(last.map_or(point, |last| point + 1 + last))
}

/// Returns the ending of an ordinal number.
pub(crate) fn ordinal_suffix(digits: &str, is_lower: bool) -> Result<&'static str> {
    let bytes = digits.as_bytes();
    let last = bytes
        .last()
        .filter(|last| last.is_ascii_digit())
        .ok_or_else(|| FunctionError::new(INVALID_TEXT, format!("\"{digits}\" is not a number")))?;
    let is_teen = bytes.len() > 1 && bytes[bytes.len() - 2] == b'1';
    Ok(match (last, is_teen, is_lower) {
        (b'1', false, true) => "st",
        (b'2', false, true) => "nd",
        (b'3', false, true) => "rd",
        (_, _, true) => "th",
        (b'1', false, false) => "ST",
        (b'2', false, false) => "ND",
        (b'3', false, false) => "RD",
        (_, _, false) => "TH",
    })
}

fn roman(value: i64) -> String {
    const DIGITS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..=3999).contains(&value) {
        return "#".repeat(ROMAN_WIDTH);
    }
    let mut rest = value;
    let mut written = String::new();
    for (number, digits) in DIGITS {
        while rest >= number {
            written.push_str(digits);
            rest -= number;
        }
    }
    written
}
