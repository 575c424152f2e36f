//! Tokens of JSON, with PostgreSQL's explanations of what is none.
//!
//! - The rules and the ranges that errors show are those of `json_lex`.

use crate::error::{FunctionError, Result};

/// SQLSTATE of a text that is no document.
pub(super) const INVALID_TEXT: &str = "22P02";
/// SQLSTATE of an escape for a character that texts cannot hold.
const UNTRANSLATABLE: &str = "22P05";

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    Comma,
    Colon,
    Text,
    Number,
    True,
    False,
    Null,
    End,
}

/// Reader of the tokens of a text, one after the other.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    /// Range of the token.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) token: Token,
    /// True if strings are decoded: escapes are checked for what they mean.
    decodes: bool,
    /// Last string, if strings are decoded.
    pub(super) value: String,
}

/// Returns the error of a text that is no document.
pub(super) fn invalid(detail: impl Into<String>) -> FunctionError {
    FunctionError::new(INVALID_TEXT, "invalid input syntax for type json").detail(detail)
}

/// Returns true for the bytes of a word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns true for the bytes between tokens.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl<'a> Lexer<'a> {
    /// Reads the first token of a text.
    pub(super) fn new(text: &'a str, decodes: bool) -> Result<Self> {
        let mut lexer =
            Self { text, start: 0, end: 0, token: Token::End, decodes, value: String::new() };
        lexer.next()?;
        Ok(lexer)
    }

    /// Returns the text of the token.
    pub(super) fn shown(&self) -> &'a str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    fn invalid_token(&self) -> FunctionError {
        invalid(format!("Token \"{}\" is invalid.", self.shown()))
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Reads the next token.
    pub(super) fn next(&mut self) -> Result<()> {
        let mut at = self.end;
        while self.byte(at).is_some_and(is_blank) {
            at += 1;
        }
        (self.start, self.end) = (at, at + 1);
        let Some(first) = self.byte(at) else {
            (self.token, self.end) = (Token::End, at);
            return Ok(());
        };
        self.token = match first {
            b'{' => Token::ObjectStart,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayStart,
            b']' => Token::ArrayEnd,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => {
                self.string()?;
                Token::Text
            }
            b'-' | b'0'..=b'9' => {
                self.number(at + usize::from(first == b'-'))?;
                Token::Number
            }
            _ => {
                self.end = self.run_end(at, is_word).max(at + 1);
                match self.shown() {
                    "true" => Token::True,
                    "false" => Token::False,
                    "null" => Token::Null,
                    _ => return Err(self.invalid_token()),
                }
            }
        };
        Ok(())
    }

    fn run_end(&self, from: usize, belongs: fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| belongs(**byte)).count()
    }

    fn digits_end(&self, from: usize) -> usize {
        self.run_end(from, |byte| byte.is_ascii_digit())
    }

    /// Reads a number whose digits begin at a position.
    fn number(&mut self, from: usize) -> Result<()> {
        let mut at = if self.byte(from) == Some(b'0') { from + 1 } else { self.digits_end(from) };
        let mut is_valid = at > from;
        if self.byte(at) == Some(b'.') {
            let end = self.digits_end(at + 1);
            is_valid &= end > at + 1;
            at = end;
        }
        if matches!(self.byte(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte(at + 1), Some(b'+' | b'-')));
            let end = self.digits_end(at + 1 + sign);
            is_valid &= end > at + 1 + sign;
            at = end;
        }
        // Letters and digits without a blank between belong to the token that an error shows.
        self.end = self.run_end(at, is_word);
        if is_valid && self.end == at { Ok(()) } else { Err(self.invalid_token()) }
    }

    /// Reads a string.
    fn string(&mut self) -> Result<()> {
        let mut at = self.start + 1;
        let mut high = None;
        self.value.clear();
        loop {
            let plain = self.run_end(at, |byte| !matches!(byte, b'"' | b'\\' | 0..32));
            if plain > at {
                refuse_lone(high)?;
                if self.decodes {
                    self.value.push_str(self.text.get(at..plain).unwrap_or_default());
                }
                at = plain;
            }
            match self.byte(at) {
                None => {
                    self.end = at;
                    return Err(self.invalid_token());
                }
                Some(b'"') => break,
                Some(b'\\') if self.byte(at + 1) == Some(b'u') => {
                    let code = self.code_unit(at + 2)?;
                    at += 6;
                    if self.decodes {
                        high = self.push_unit(code, high)?;
                    }
                }
                Some(b'\\') => at = self.escape(at + 1, high)?,
                Some(byte) => {
                    let message = format!("Character with value 0x{byte:02x} must be escaped.");
                    return Err(invalid(message));
                }
            }
        }
        refuse_lone(high)?;
        self.end = at + 1;
        Ok(())
    }

    /// Reads the character after a backslash; returns the position after it.
    fn escape(&mut self, at: usize, high: Option<u32>) -> Result<usize> {
        let rest = self.text.get(at..).unwrap_or_default();
        let Some(escaped) = rest.chars().next() else {
            self.end = at;
            return Err(self.invalid_token());
        };
        refuse_lone(high)?;
        let meant = match escaped {
            '"' | '\\' | '/' => escaped,
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            _ => return Err(invalid(format!("Escape sequence \"\\{escaped}\" is invalid."))),
        };
        if self.decodes {
            self.value.push(meant);
        }
        Ok(at + 1)
    }

    /// Reads four hexadecimal digits.
    fn code_unit(&mut self, from: usize) -> Result<u32> {
        let mut code = 0;
        for at in from..from + 4 {
            let Some(byte) = self.byte(at) else {
                self.end = at;
                return Err(self.invalid_token());
            };
            let digit = char::from(byte).to_digit(16);
            let message = "\"\\u\" must be followed by four hexadecimal digits.";
            code = code * 16 + digit.ok_or_else(|| invalid(message))?;
        }
        Ok(code)
    }

    /// Adds a code unit after another one; returns it if it is the first of a pair.
    fn push_unit(&mut self, code: u32, high: Option<u32>) -> Result<Option<u32>> {
        if (0xD800..0xDC00).contains(&code) {
            return match high {
                None => Ok(Some(code)),
                Some(_) => Err(invalid("Unicode high surrogate must not follow a high surrogate.")),
            };
        }
        let is_low = (0xDC00..0xE000).contains(&code);
        let code = match high {
            Some(high) if is_low => 0x10000 + ((high & 0x3FF) << 10) + (code & 0x3FF),
            None if !is_low => code,
            _ => return Err(lone_surrogate()),
        };
        if code == 0 {
            let error = FunctionError::new(UNTRANSLATABLE, "unsupported Unicode escape sequence");
            return Err(error.detail("\\u0000 cannot be converted to text."));
        }
        self.value.extend(char::from_u32(code));
        Ok(None)
    }
}

fn lone_surrogate() -> FunctionError {
    invalid("Unicode low surrogate must follow a high surrogate.")
}

/// Refuses the first half of a pair without the second.
fn refuse_lone(high: Option<u32>) -> Result<()> {
    if high.is_some() { Err(lone_surrogate()) } else { Ok(()) }
}
