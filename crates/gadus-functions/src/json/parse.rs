//! Texts of JSON, read as trees.

use super::value::Value;
use crate::error::{FunctionError, Result};

/// SQLSTATE of a text that is no document.
const INVALID_TEXT: &str = "22P02";
/// SQLSTATE of a document that is nested too deeply.
const TOO_DEEP: &str = "54001";

/// Deepest nesting: trees are walked by recursion.
const DEPTH_MAX: usize = 512;

#[derive(Debug)]
struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Value> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.skip_blanks();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.unexpected()),
    }
}

/// Reads a document as JSONB.
pub(super) fn parse_normalized(text: &str) -> Result<Value> {
    parse(text)?.normalized()
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn unexpected(&self) -> FunctionError {
        let rest = &self.text[self.at..];
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let end = if end > 0 { end } else { rest.chars().next().map_or(0, char::len_utf8) };
        let detail = match rest.get(..end) {
            Some(token) if !token.is_empty() => format!("Token \"{token}\" is invalid."),
            _ => "The input string ended unexpectedly.".to_owned(),
        };
        FunctionError::new(INVALID_TEXT, "invalid input syntax for type json").detail(detail)
    }

    fn value(&mut self) -> Result<Value> {
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = [
                    ("true", Value::Boolean(true)),
                    ("false", Value::Boolean(false)),
                    ("null", Value::Null),
                ];
                let rest = &self.text[self.at..];
                let word = words.into_iter().find(|(word, _)| rest.starts_with(word));
                let (word, value) = word.ok_or_else(|| self.unexpected())?;
                self.at += word.len();
                Ok(value)
            }
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(FunctionError::new(TOO_DEEP, "stack depth limit exceeded"));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Value> {
        let mut values = Vec::new();
        if self.eat(b']') {
            return Ok(Value::Array(values));
        }
        loop {
            values.push(self.value()?);
            if self.eat(b']') {
                return Ok(Value::Array(values));
            }
            if !self.eat(b',') {
                return Err(self.unexpected());
            }
        }
    }

    fn object(&mut self) -> Result<Value> {
        let mut pairs = Vec::new();
        if self.eat(b'}') {
            return Ok(Value::Object(pairs));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected());
            }
            let key = self.string()?;
            if !self.eat(b':') {
                return Err(self.unexpected());
            }
            pairs.push((key, self.value()?));
            if self.eat(b'}') {
                return Ok(Value::Object(pairs));
            }
            if !self.eat(b',') {
                return Err(self.unexpected());
            }
        }
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        let digits = |reader: &mut Self| {
            let before = reader.at;
            while matches!(reader.peek(), Some(b'0'..=b'9')) {
                reader.at += 1;
            }
            reader.at > before
        };
        self.at += usize::from(self.peek() == Some(b'-'));
        let has_zero = self.peek() == Some(b'0');
        let first = self.at;
        let mut is_number = digits(self) && (!has_zero || self.at == first + 1);
        if self.peek() == Some(b'.') {
            self.at += 1;
            is_number &= digits(self);
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            is_number &= digits(self);
        }
        if !is_number {
            self.at = start;
            return Err(self.unexpected());
        }
        Ok(Value::Number(self.text[start..self.at].to_owned()))
    }

    fn string(&mut self) -> Result<String> {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c| matches!(c, '"' | '\\') || c < ' ').unwrap_or(rest.len());
            value.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(value);
                }
                Some(b'\\') => value.push(self.escape(start)?),
                _ => {
                    self.at = start;
                    return Err(self.unexpected());
                }
            }
        }
    }

    fn escape(&mut self, start: usize) -> Result<char> {
        let letter = self.text.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(match letter {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let character = self.unicode();
                if character.is_none() {
                    self.at = start;
                }
                character.ok_or_else(|| self.unexpected())?
            }
            _ => {
                self.at = start;
                return Err(self.unexpected());
            }
        })
    }

    /// Reads four hexadecimal digits, and those of the other half of a surrogate pair.
    fn unicode(&mut self) -> Option<char> {
        let mut unit = || {
            let digits = self.text.get(self.at..self.at + 4)?;
            let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            self.at += 4;
            u32::from_str_radix(digits, 16).ok().filter(|_| is_number)
        };
        let first = unit()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).filter(|character| *character != '\0');
        }
        self.text.get(self.at..).filter(|rest| rest.starts_with("\\u"))?;
        self.at += 2;
        let digits = self.text.get(self.at..self.at + 4)?;
        let second = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        let is_second = (0xDC00..0xE000).contains(&second);
        let code = 0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
        char::from_u32(code).filter(|_| is_second)
    }
}
