//! `to_number`: numbers read by a template.

use super::template::{Item, Key, SignPlace, Template};
use crate::error::{FunctionError, NOT_SUPPORTED, OUT_OF_RANGE, Result};
use crate::numbers::Decimal;

/// SQLSTATE of a text without digits.
const INVALID_TEXT: &str = "22P02";

/// Reader that goes through a template.
#[derive(Debug)]
struct Reader<'a> {
    template: Template,
    text: &'a str,
    at: usize,
    sign: u8,
    number: String,
    read_pre: usize,
    read_post: usize,
    has_point: bool,
}

/// Reads a number by a template. The scale is the number of digits that were read behind the point.
///
/// # Errors
/// 42601 of a template that is none, 0A000 of `RN` and `EEEE`, 22P02 of a text without digits, 22003 of more digits
/// than the template has.
pub fn to_number(text: &str, template: &str) -> Result<Option<Decimal>> {
    if template.is_empty() {
        return Ok(None);
    }
    let template = Template::parse(template)?;
    if template.is_exponent {
        return Err(FunctionError::new(NOT_SUPPORTED, "\"EEEE\" not supported for input"));
    }
    if template.is_roman {
        return Err(FunctionError::new(NOT_SUPPORTED, "\"RN\" not supported for input"));
    }
    let mut reader = Reader {
        template,
        text,
        at: 0,
        sign: b' ',
        number: String::new(),
        read_pre: 0,
        read_post: 0,
        has_point: false,
    };
    for item in std::mem::take(&mut reader.template.items) {
        if reader.at >= text.len() {
            break;
        }
        match item {
            Item::Character(_) => reader.skip_character(),
            Item::Key(key) => reader.item(key),
        }
    }
    reader.finished().map(Some)
}

impl Reader<'_> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Skips a character, whatever it is.
    fn skip_character(&mut self) {
        self.at += 1;
        while !self.text.is_char_boundary(self.at.min(self.text.len())) {
            self.at += 1;
        }
    }

    /// Skips characters that are no part of a number.
    fn skip_other(&mut self, count: usize) {
        for _ in 0..count {
            if self.is_at_end() || b"0123456789.,+-".contains(&self.byte()) {
                return;
            }
            self.skip_character();
        }
    }

    fn item(&mut self, key: Key) {
        match key {
            Key::Nine | Key::Zero | Key::Point | Key::LocalePoint => {
                self.digit(key);
                self.at += 1;
            }
            Key::Comma | Key::Group if !self.template.is_fill_mode && self.byte() == b',' => {
                self.at += 1;
            }
            Key::LocaleCurrency => self.skip_other(1),
            Key::Ordinal { .. } => {
                let is_plain = !self.template.has_point && self.sign != b'#';
                if is_plain {
                    self.skip_other(2);
                }
            }
            Key::Minus => self.own_sign(b"-"),
            Key::Plus => self.own_sign(b"+"),
            Key::EitherSign => self.own_sign(b"-+"),
            _ => {}
        }
    }

    fn own_sign(&mut self, signs: &[u8]) {
        if signs.contains(&self.byte()) {
            self.sign = self.byte();
            self.at += 1;
        } else {
            self.skip_other(1);
        }
    }

    /// Reads a digit or the point, and a sign beside it.
    fn digit(&mut self, key: Key) {
        if self.byte() == b' ' {
            self.at += 1;
        }
        if self.is_at_end() {
            return;
        }
        let is_digit_key = matches!(key, Key::Zero | Key::Nine);
        if self.sign == b' ' && is_digit_key && self.read_pre + self.read_post == 0 {
            self.sign_before();
        }
        if self.is_at_end() {
            return;
        }
        let mut is_read = false;
        if self.byte().is_ascii_digit() {
            if self.has_point && self.read_post == self.template.post {
                return;
            }
            self.number.push(char::from(self.byte()));
            match self.has_point {
                true => self.read_post += 1,
                false => self.read_pre += 1,
            }
            is_read = true;
        } else if self.template.has_point && !self.has_point && self.byte() == b'.' {
            self.number.push('.');
            self.has_point = true;
            is_read = true;
        }
        if self.sign == b' ' && self.read_pre + self.read_post > 0 {
            self.sign_after(is_read);
        }
    }

    fn sign_before(&mut self) {
        let is_before = self.template.has_sign && self.template.sign_place == SignPlace::Before;
        match self.byte() {
            b'<' if !is_before && self.template.has_brackets => self.sign = b'-',
            sign @ (b'-' | b'+') => self.sign = sign,
            _ => return,
        }
        self.at += 1;
    }

    fn sign_after(&mut self, is_read: bool) {
        if self.template.has_sign && is_read {
            let next = self.text.as_bytes().get(self.at + 1).copied();
            if let Some(sign @ (b'-' | b'+')) = next {
                self.sign = sign;
                self.at += 1;
            }
        } else if !is_read
            && !self.template.has_sign
            && (self.template.has_plus || self.template.has_minus)
            && matches!(self.byte(), b'-' | b'+')
        {
            self.sign = self.byte();
        }
    }

    fn finished(self) -> Result<Decimal> {
        let digits = self.number.strip_suffix('.').unwrap_or(&self.number);
        if digits.is_empty() {
            let message = format!(
                "invalid input syntax for type numeric: \"{}{digits}\"",
                char::from(self.sign)
            );
            return Err(FunctionError::new(INVALID_TEXT, message));
        }
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let overflow = || FunctionError::new(OUT_OF_RANGE, "value overflows numeric format");
        let unscaled = format!("{whole}{fraction}").parse::<i128>().map_err(|_| overflow())?;
        let scale = u8::try_from(fraction.len()).map_err(|_| overflow())?;
        let whole_digits = self.template.pre + self.template.multi;
        if whole.trim_start_matches('0').len() > whole_digits {
            let precision = whole_digits + fraction.len();
            let bound =
                if whole_digits == 0 { "1".to_owned() } else { format!("10^{whole_digits}") };
            let detail = format!(
                "A field with precision {precision}, scale {} must round to an absolute value less than {bound}.",
                fraction.len()
            );
            return Err(FunctionError::new(OUT_OF_RANGE, "numeric field overflow").detail(detail));
        }
        let unscaled = if self.sign == b'-' { -unscaled } else { unscaled };
        Ok(shifted(Decimal { unscaled, scale }, self.template.multi))
    }
}

/// Moves the point to the left, by as many digits as a decimal holds.
fn shifted(value: Decimal, digits: usize) -> Decimal {
    let scale = usize::from(value.scale) + digits;
    Decimal { scale: u8::try_from(scale).unwrap_or(u8::MAX), ..value }
}
