//! Digits of a value, prepared for a template.

use super::template::Template;
use super::write::{Prepared, write};
use crate::error::{FunctionError, NOT_SUPPORTED, OUT_OF_RANGE, Result};
use crate::numbers::Decimal;

/// Significant digits of a double.
const DOUBLE_DIGITS: usize = 15;

/// Writes an INTEGER by a template.
///
/// # Errors
/// 42601 of a template that is none.
pub fn integer_to_char(value: i32, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.is_roman {
        return write(template, Prepared::roman(value.into()));
    }
    if template.is_exponent {
        let digits = scientific(f64::from(value), template.post);
        return write(template, Prepared::plain(0, digits));
    }
    let mut value = value;
    if template.is_shifted {
        // PostgreSQL's product wraps, and its power is the least integer if it does not fit.
        let power = u32::try_from(template.multi).ok().and_then(|multi| 10_i32.checked_pow(multi));
        value = value.wrapping_mul(power.unwrap_or(i32::MIN));
        template.pre += template.multi;
    }
    whole(template, &value.to_string())
}

/// Writes a BIGINT by a template.
///
/// # Errors
/// 42601 of a template that is none, 22003 of Roman numbers beyond 32 bits and of a product of `V` beyond 64.
pub fn bigint_to_char(value: i64, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.is_roman {
        let value = i32::try_from(value).map_err(|_| out_of_range("integer"))?;
        return write(template, Prepared::roman(value.into()));
    }
    if template.is_exponent {
        let digits = Digits::of(&value.to_string())
            .map_or_else(String::new, |of| of.exponent(template.post));
        return write(template, Prepared::plain(0, digits));
    }
    let mut value = value;
    if template.is_shifted {
        let power = u32::try_from(template.multi).ok().and_then(|multi| 10_i64.checked_pow(multi));
        let product = power.and_then(|power| value.checked_mul(power));
        value = product.ok_or_else(|| out_of_range("bigint"))?;
        template.pre += template.multi;
    }
    whole(template, &value.to_string())
}

/// Writes an exact decimal by a template.
///
/// # Errors
/// 42601 of a template that is none, 22003 of Roman numbers beyond 32 bits.
pub fn decimal_to_char(value: Decimal, template: &str) -> Result<String> {
    numeric_to_char(&value.to_string(), template)
}

/// Writes a number of any number of digits, which is given as its text, by a template.
///
/// # Errors
/// 42601 of a template that is none, 22003 of Roman numbers beyond 32 bits, 0A000 of Roman numbers of no number.
pub fn numeric_to_char(value: &str, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    let digits = Digits::of(value);
    if template.is_roman {
        let Some(digits) = digits else {
            let what = if value == "NaN" { "NaN" } else { "infinity" };
            let message = format!("cannot convert {what} to integer");
            return Err(FunctionError::new(NOT_SUPPORTED, message));
        };
        let rounded = digits.rounded(0);
        let rounded = rounded.parse::<i32>().map_err(|_| out_of_range("integer"))?;
        return write(template, Prepared::roman(rounded.into()));
    }
    if template.is_exponent {
        let digits = match digits {
            Some(digits) => digits.exponent(template.post),
            None => hashes_of_exponent(&template),
        };
        return write(template, Prepared::plain(0, digits));
    }
    if template.is_shifted {
        template.pre += template.multi;
    }
    // `V` moves the point to the right.
    let moved = if template.is_shifted { template.multi } else { 0 };
    match digits {
        Some(digits) => {
            let digits = digits.moved(moved).rounded(template.post);
            fitted(template, &digits)
        }
        None => fitted(template, value),
    }
}

/// Digits of an exact number, and the place of its point.
#[derive(Debug)]
struct Digits {
    is_negative: bool,
    digits: Vec<u8>,
    /// Digits before the point.
    whole: usize,
}

impl Digits {
    /// Returns the digits of a text; `None` for NaN and infinities.
    fn of(text: &str) -> Option<Self> {
        let (is_negative, plain) = match text.strip_prefix('-') {
            Some(plain) => (true, plain),
            None => (false, text),
        };
        let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        let digits = whole.bytes().chain(fraction.bytes()).collect::<Vec<_>>();
        let are_digits = digits.iter().all(u8::is_ascii_digit);
        are_digits.then_some(Self { is_negative, digits, whole: whole.len() })
    }

    /// Moves the point to the right.
    fn moved(mut self, places: usize) -> Self {
        self.whole += places;
        let length = self.digits.len().max(self.whole);
        self.digits.resize(length, b'0');
        let zeros = self.digits.iter().take_while(|digit| **digit == b'0').count();
        let dropped = zeros.min(self.whole.saturating_sub(1));
        self.digits.drain(..dropped);
        self.whole -= dropped;
        self
    }

    /// Rounds away from zero, to so many digits behind the point.
    fn rounded(mut self, fraction: usize) -> String {
        let length = self.whole + fraction;
        let rounds_up = self.digits.get(length).is_some_and(|digit| *digit >= b'5');
        self.digits.resize(length, b'0');
        if rounds_up && self.increment() {
            self.digits.insert(0, b'1');
            self.whole += 1;
        }
        let is_zero = self.digits.iter().all(|digit| *digit == b'0');
        let sign = if self.is_negative && !is_zero { "-" } else { "" };
        let digits = String::from_utf8_lossy(&self.digits);
        let (whole, rest) = digits.split_at(self.whole);
        let whole = if whole.is_empty() { "0" } else { whole };
        match fraction {
            0 => format!("{sign}{whole}"),
            _ => format!("{sign}{whole}.{rest}"),
        }
    }

    /// Adds one to the last digit; returns true if a digit is to come before the first one.
    fn increment(&mut self) -> bool {
        for digit in self.digits.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return false;
            }
            *digit = b'0';
        }
        true
    }

    /// Writes the digits with an exponent.
    fn exponent(mut self, fraction: usize) -> String {
        let zeros = self.digits.iter().take_while(|digit| **digit == b'0').count();
        let is_zero = zeros == self.digits.len();
        let exponent = match is_zero {
            true => 0,
            false => signed(self.whole) - signed(zeros) - 1,
        };
        self.digits.drain(..if is_zero { 0 } else { zeros });
        self.whole = 1;
        if self.digits.is_empty() {
            self.digits.push(b'0');
        }
        let mantissa = self.rounded(fraction);
        let sign = if exponent < 0 { '-' } else { '+' };
        let space = if mantissa.starts_with('-') { "" } else { " " };
        // Of 9.99, which is rounded to ten, PostgreSQL shows ten.
        format!("{space}{mantissa}e{sign}{:02}", exponent.abs())
    }
}

fn signed(places: usize) -> i64 {
    i64::try_from(places).unwrap_or(i64::MAX)
}

/// Returns the hashes of what has no exponent.
fn hashes_of_exponent(template: &Template) -> String {
    let hashes = |count| "#".repeat(count);
    format!(" {}.{}", hashes(template.pre), hashes(template.post + 4))
}

/// Writes a double by a template.
///
/// # Errors
/// 42601 of a template that is none.
pub fn double_to_char(value: f64, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.is_roman {
        let rounded = value.round_ties_even();
        #[expect(clippy::cast_possible_truncation)] // beyond 3999 it is not written
        let rounded = if rounded.abs() < 4e3 { rounded as i64 } else { 0 };
        return write(template, Prepared::roman(rounded));
    }
    if template.is_exponent {
        let digits = match value.is_finite() {
            true => scientific(value, template.post),
            false => hashes_of_exponent(&template),
        };
        return write(template, Prepared::plain(0, digits));
    }
    let mut value = value;
    if template.is_shifted {
        let multi = i32::try_from(template.multi).unwrap_or(i32::MAX);
        value *= 10_f64.powi(multi);
        template.pre += template.multi;
    }
    let whole = fixed(value.abs(), 0).len();
    template.post = template.post.min(DOUBLE_DIGITS.saturating_sub(whole));
    let digits = fixed(value, template.post);
    fitted(template, &digits)
}

/// Writes a whole number, with zeros behind the point.
fn whole(template: Template, digits: &str) -> Result<String> {
    match template.post {
        0 => fitted(template, digits),
        post => {
            let digits = format!("{digits}.{}", "0".repeat(post));
            fitted(template, &digits)
        }
    }
}

/// Writes digits with the blanks before them, or hashes if the template has too few places.
fn fitted(template: Template, digits: &str) -> Result<String> {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', digits),
    };
    let length = digits.find('.').unwrap_or(digits.len());
    let (spaces, digits) = match length > template.pre {
        true => {
            let hashes = |count| "#".repeat(count);
            (0, format!("{}.{}", hashes(template.pre), hashes(template.post)))
        }
        false => (template.pre - length, digits.to_owned()),
    };
    write(template, Prepared { digits, spaces, sign: Some(sign) })
}

/// Writes a double as PostgreSQL's `%.*f`.
fn fixed(value: f64, digits: usize) -> String {
    if value.is_finite() {
        return format!("{value:.digits$}");
    }
    let sign = if value.is_sign_negative() && !value.is_nan() { "-" } else { "" };
    format!("{sign}{}", if value.is_nan() { "NaN" } else { "Infinity" })
}

/// Writes a double as C's `% .*e`.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let space = if value.is_sign_negative() { "" } else { " " };
    format!("{space}{mantissa}e{sign}{:02}", exponent.abs())
}

fn out_of_range(what: &str) -> FunctionError {
    FunctionError::new(OUT_OF_RANGE, format!("{what} out of range"))
}
