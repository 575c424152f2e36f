//! Tokens of a text: splits it by characters alone.
//!
//! - Letters become lower case. Punctuation that no token needs separates tokens.
//! - A text has at most [`TOKENS_MAX`] tokens and a type's number of bytes, as PostgreSQL's buffers have.

use super::fault::Fault;
use super::vocabulary::is_date_word;

/// Tokens of a text at most.
pub(super) const TOKENS_MAX: usize = 25;
/// Bytes of tokens at most, each with a terminator.
const BYTES_MAX: usize = 256;

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// Digits and perhaps a decimal point.
    #[default]
    Number,
    /// Letters.
    Text,
    /// Digits with delimiters or letters; or the name of a zone.
    Date,
    /// Digits with colons and perhaps a decimal point.
    Time,
    /// Sign and digits, perhaps with colons, points and minus signs.
    Signed,
    /// Sign and letters.
    Special,
}

/// Tokens of a text.
pub(super) struct Tokens {
    bytes: [u8; BYTES_MAX],
    used: usize,
    spans: [(Kind, usize, usize); TOKENS_MAX],
    count: usize,
    bytes_max: usize,
}

impl Tokens {
    /// Splits a text.
    ///
    /// # Errors
    /// A format fault for unknown characters and for texts that are too long.
    pub(super) fn split(text: &str, bytes_max: usize) -> Result<Self, Fault> {
        let mut tokens = Self {
            bytes: [0; BYTES_MAX],
            used: 0,
            spans: [(Kind::Number, 0, 0); TOKENS_MAX],
            count: 0,
            bytes_max: bytes_max.min(BYTES_MAX),
        };
        let mut rest = text.as_bytes();
        while let Some(first) = rest.first().copied() {
            if is_space(first) {
                rest = &rest[1..];
                continue;
            }
            if tokens.count == TOKENS_MAX {
                return Err(Fault::Format);
            }
            let begin = tokens.used;
            let kind = match first {
                b'0'..=b'9' => tokens.number(&mut rest)?,
                b'.' => {
                    tokens.take(&mut rest)?;
                    tokens.take_while(&mut rest, |byte| byte.is_ascii_digit())?;
                    Kind::Number
                }
                _ if first.is_ascii_alphabetic() => tokens.word(&mut rest)?,
                b'+' | b'-' => tokens.signed(&mut rest)?,
                _ if first.is_ascii_punctuation() => {
                    rest = &rest[1..];
                    continue;
                }
                _ => return Err(Fault::Format),
            };
            tokens.spans[tokens.count] = (kind, begin, tokens.used);
            tokens.count += 1;
            // The terminator.
            tokens.used += 1;
        }
        Ok(tokens)
    }

    /// Returns the number of tokens.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Returns a token and its kind; `None` after the last.
    pub(super) fn get(&self, index: usize) -> Option<(Kind, &[u8])> {
        let (kind, begin, end) = *self.spans[..self.count].get(index)?;
        Some((kind, &self.bytes[begin..end]))
    }

    /// Returns the kind of a token; `None` after the last.
    pub(super) fn kind(&self, index: usize) -> Option<Kind> {
        self.get(index).map(|(kind, _)| kind)
    }

    /// Takes a number, a time, or a date.
    fn number(&mut self, rest: &mut &[u8]) -> Result<Kind, Fault> {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        self.take_while(rest, is_digit)?;
        match rest.first().copied() {
            Some(b':') => {
                self.take_while(rest, |byte| is_digit(byte) || matches!(byte, b':' | b'.'))?;
                Ok(Kind::Time)
            }
            Some(delimiter @ (b'-' | b'/' | b'.')) => {
                self.take(rest)?;
                if !rest.first().is_some_and(u8::is_ascii_digit) {
                    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || byte == delimiter;
                    self.take_while(rest, belongs)?;
                    return Ok(Kind::Date);
                }
                self.take_while(rest, is_digit)?;
                if rest.first() == Some(&delimiter) {
                    self.take_while(rest, |byte| is_digit(byte) || byte == delimiter)?;
                    return Ok(Kind::Date);
                }
                Ok(if delimiter == b'.' { Kind::Number } else { Kind::Date })
            }
            _ => Ok(Kind::Number),
        }
    }

    /// Takes letters, or the name of a zone or a date that begins with letters.
    fn word(&mut self, rest: &mut &[u8]) -> Result<Kind, Fault> {
        let begin = self.used;
        self.take_while(rest, |byte| byte.is_ascii_alphabetic())?;
        let continues = match rest.first() {
            Some(b'-' | b'/' | b'.') => true,
            Some(b'+' | b'0'..=b'9') => !is_date_word(&self.bytes[begin..self.used]),
            _ => false,
        };
        if !continues {
            return Ok(Kind::Text);
        }
        let belongs = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'/' | b'_' | b'.' | b':')
        };
        self.take_while(rest, belongs)?;
        Ok(Kind::Date)
    }

    /// Takes a sign and digits, or a sign and letters.
    fn signed(&mut self, rest: &mut &[u8]) -> Result<Kind, Fault> {
        self.take(rest)?;
        while rest.first().copied().is_some_and(is_space) {
            *rest = &rest[1..];
        }
        match rest.first() {
            Some(b'0'..=b'9') => {
                let belongs =
                    |byte: u8| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'-');
                self.take_while(rest, belongs)?;
                Ok(Kind::Signed)
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.take_while(rest, |byte| byte.is_ascii_alphabetic())?;
                Ok(Kind::Special)
            }
            _ => Err(Fault::Format),
        }
    }

    fn take_while(&mut self, rest: &mut &[u8], belongs: impl Fn(u8) -> bool) -> Result<(), Fault> {
        while rest.first().copied().is_some_and(&belongs) {
            self.take(rest)?;
        }
        Ok(())
    }

    fn take(&mut self, rest: &mut &[u8]) -> Result<(), Fault> {
        let (first, others) = rest.split_first().ok_or(Fault::Format)?;
        if self.used + 1 >= self.bytes_max {
            return Err(Fault::Format);
        }
        self.bytes[self.used] = first.to_ascii_lowercase();
        self.used += 1;
        *rest = others;
        Ok(())
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
