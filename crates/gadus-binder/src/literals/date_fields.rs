//! Fields of dates, times and intervals, and their errors (`ParseDateTime`).

use super::refused;
use crate::error::BindError;

/// Most fields of a text.
const FIELDS_MAX: usize = 25;
/// Longest text that is split; PostgreSQL's buffers are a little longer.
pub(super) const BYTES_MAX: usize = 100;

/// Field of a text, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    /// Digits, possibly with a point.
    Number(String),
    /// Digits or names with separators between them.
    Date(String),
    /// Digits with colons.
    Time(String),
    /// Letters
    Word(String),
    /// Sign and digits: a zone, or a number of an interval.
    Signed(String),
    /// Sign and letters.
    SignedWord(String),
}

/// Fault of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// No date, time or interval.
    Format,
    /// Field beyond its range.
    Overflow,
    /// Month or day beyond its range: the order of the fields may be another one.
    OrderOverflow,
    /// Zone beyond its range.
    ZoneOverflow,
}

impl Fault {
    /// Returns PostgreSQL's error (`DateTimeParseError`).
    pub(super) fn error(self, text: &str, type_name: &str) -> BindError {
        let out_of_range = |what: &str| format!("{what} out of range: \"{text}\"");
        match self {
            Self::Format => {
                refused("22007", format!("invalid input syntax for type {type_name}: \"{text}\""))
            }
            Self::Overflow if type_name == "interval" => {
                refused("22015", out_of_range("interval field value"))
            }
            Self::Overflow => refused("22008", out_of_range("date/time field value")),
            Self::OrderOverflow => refused("22008", out_of_range("date/time field value"))
                .with_hint("Perhaps you need a different \"datestyle\" setting."),
            Self::ZoneOverflow => refused("22009", out_of_range("time zone displacement")),
        }
    }
}

/// Words of dates that are no names of zones, of which a digit or a plus may follow.
const WORDS: &[&str] = &[
    "-infinity",
    "ad",
    "allballs",
    "am",
    "apr",
    "april",
    "at",
    "aug",
    "august",
    "bc",
    "d",
    "dec",
    "december",
    "dow",
    "doy",
    "dst",
    "epoch",
    "feb",
    "february",
    "fri",
    "friday",
    "h",
    "infinity",
    "isodow",
    "isoyear",
    "j",
    "jan",
    "january",
    "jd",
    "jul",
    "julian",
    "july",
    "jun",
    "june",
    "m",
    "mar",
    "march",
    "may",
    "mm",
    "mon",
    "monday",
    "nov",
    "november",
    "now",
    "oct",
    "october",
    "on",
    "pm",
    "s",
    "sat",
    "saturday",
    "sep",
    "sept",
    "september",
    "sun",
    "sunday",
    "t",
    "thu",
    "thur",
    "thurs",
    "thursday",
    "today",
    "tomorrow",
    "tue",
    "tues",
    "tuesday",
    "wed",
    "wednesday",
    "weds",
    "y",
    "yesterday",
];

/// Reads bytes one after the other.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Takes bytes that satisfy a predicate.
    fn take(&mut self, field: &mut String, is_wanted: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && is_wanted(self.peek()) {
            field.push(char::from(self.peek().to_ascii_lowercase()));
            self.at += 1;
        }
    }

    /// Takes a date or a time that begins with a digit.
    fn digits(&mut self) -> Field {
        let mut field = String::new();
        self.take(&mut field, |byte| byte.is_ascii_digit());
        match self.peek() {
            b':' => {
                self.take(&mut field, |byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
                Field::Time(field)
            }
            separator @ (b'-' | b'/' | b'.') => {
                field.push(char::from(separator));
                self.at += 1;
                if !self.peek().is_ascii_digit() {
                    self.take(&mut field, |byte| byte.is_ascii_alphanumeric() || byte == separator);
                    return Field::Date(field);
                }
                self.take(&mut field, |byte| byte.is_ascii_digit());
                if self.peek() != separator {
                    return match separator {
                        b'.' => Field::Number(field),
                        _ => Field::Date(field),
                    };
                }
                self.take(&mut field, |byte| byte.is_ascii_digit() || byte == separator);
                Field::Date(field)
            }
            _ => Field::Number(field),
        }
    }

    /// Takes a word, or a date or a zone that begins with one.
    fn word(&mut self) -> Field {
        let mut field = String::new();
        self.take(&mut field, |byte| byte.is_ascii_alphabetic());
        let is_date = match self.peek() {
            b'-' | b'/' | b'.' => true,
            b'+' | b'0'..=b'9' => !WORDS.contains(&field.get(..10).unwrap_or(&field)),
            _ => false,
        };
        if !is_date {
            return Field::Word(field);
        }
        self.take(&mut field, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'/' | b'_' | b'.' | b':')
        });
        Field::Date(field)
    }

    /// Takes what a sign begins.
    fn signed(&mut self) -> Result<Field, Fault> {
        let mut field = String::from(char::from(self.peek()));
        self.at += 1;
        while is_space(self.peek()) {
            self.at += 1;
        }
        if self.peek().is_ascii_digit() {
            self.take(&mut field, |byte| {
                byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-')
            });
            return Ok(Field::Signed(field));
        }
        if self.peek().is_ascii_alphabetic() {
            self.take(&mut field, |byte| byte.is_ascii_alphabetic());
            return Ok(Field::SignedWord(field));
        }
        Err(Fault::Format)
    }
}

fn is_space(byte: u8) -> bool {
    super::is_space(char::from(byte))
}

/// Splits a text into its fields.
pub(super) fn fields(text: &str) -> Result<Vec<Field>, Fault> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    let mut fields = Vec::new();
    while reader.at < reader.bytes.len() {
        let byte = reader.peek();
        let field = match byte {
            byte if is_space(byte) => {
                reader.at += 1;
                continue;
            }
            b'0'..=b'9' => reader.digits(),
            b'.' => {
                let mut field = String::from('.');
                reader.at += 1;
                reader.take(&mut field, |byte| byte.is_ascii_digit());
                Field::Number(field)
            }
            byte if byte.is_ascii_alphabetic() => reader.word(),
            b'+' | b'-' => reader.signed()?,
            byte if byte.is_ascii_punctuation() => {
                reader.at += 1;
                continue;
            }
            _ => return Err(Fault::Format),
        };
        if fields.len() >= FIELDS_MAX {
            return Err(Fault::Format);
        }
        fields.push(field);
    }
    Ok(fields)
}

/// Reads a number in front of a text as C's `strtol` does: zero without digits.
pub(super) fn leading_number(
    text: &str,
    range: std::ops::RangeInclusive<i64>,
) -> Result<(i64, &str), Fault> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (digits, rest) = super::split_digits(unsigned);
    if digits.is_empty() {
        return Ok((0, text));
    }
    let number = &text[..text.len() - rest.len()];
    let number = number.strip_prefix('+').unwrap_or(number);
    let value = number.parse::<i64>().ok().filter(|value| range.contains(value));
    Ok((value.ok_or(Fault::Overflow)?, rest))
}

/// Range of C's `int`.
pub(super) const INT: std::ops::RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;

/// Hours, minutes, seconds and microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) hours: i64,
    pub(super) minutes: i64,
    pub(super) seconds: i64,
    pub(super) microseconds: i64,
}

/// Reads a field with colons (`DecodeTimeCommon`).
pub(super) fn clock(text: &str) -> Result<Clock, Fault> {
    let (mut hours, rest) = leading_number(text, i64::MIN..=i64::MAX)?;
    let after = rest.strip_prefix(':').ok_or(Fault::Format)?;
    let (mut minutes, rest) = leading_number(after, INT)?;
    let (mut seconds, mut microseconds) = (0, 0);
    if rest.starts_with('.') {
        // Minutes and seconds.
        microseconds = fraction(rest)?;
        (hours, minutes, seconds) = (0, hours, minutes);
        if !INT.contains(&minutes) {
            return Err(Fault::Overflow);
        }
    } else if let Some(after) = rest.strip_prefix(':') {
        let (value, rest) = leading_number(after, INT)?;
        seconds = value;
        match rest {
            "" => {}
            rest if rest.starts_with('.') => microseconds = fraction(rest)?,
            _ => return Err(Fault::Format),
        }
    } else if !rest.is_empty() {
        return Err(Fault::Format);
    }
    let is_valid = hours >= 0 && (0..=59).contains(&minutes) && (0..=60).contains(&seconds);
    if !is_valid {
        return Err(Fault::Overflow);
    }
    Ok(Clock { hours, minutes, seconds, microseconds })
}

/// Reads a fraction of a second, point included.
fn fraction(text: &str) -> Result<i64, Fault> {
    let value = fraction_of_one(text)?;
    // At most a million.
    #[allow(clippy::cast_possible_truncation)]
    Ok((value * 1_000_000.0).round_ties_even() as i64)
}

/// Reads a point and digits (`ParseFraction`).
pub(super) fn fraction_of_one(text: &str) -> Result<f64, Fault> {
    let digits = text.strip_prefix('.').unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::Format);
    }
    if digits.is_empty() {
        return Ok(0.0);
    }
    format!("0.{digits}").parse().map_err(|_| Fault::Format)
}
