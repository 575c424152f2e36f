//! Syntax of JSON, with PostgreSQL's explanations of its errors.

use super::{Read, numeric, refused};
use crate::bound::Constant;
use crate::error::BindError;

/// Levels that are checked; deeper documents stay as they are.
const DEPTH_MAX: usize = 500;

/// Form in which a document is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text, whose strings are not decoded.
    Text,
    /// Values: strings are decoded, numbers are of limited size.
    Binary,
}

/// Checks a document, and leaves it as it is written.
pub(super) fn check(text: &str, kind: Kind) -> Read {
    let mut parser = Parser { text, start: 0, end: 0, token: Token::End, kind, depth: 0 };
    match parser.document() {
        Ok(()) => Ok(Some(Constant::Text(text.to_owned()))),
        Err(Stop::TooDeep) => Ok(None),
        Err(Stop::Error(error)) => Err(*error),
    }
}

/// Reason to end before the end of the text.
enum Stop {
    TooDeep,
    Error(Box<BindError>),
}

type Step = std::result::Result<(), Stop>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    Comma,
    Colon,
    Text,
    Number,
    /// true, false, null
    Word,
    End,
}

struct Parser<'a> {
    text: &'a str,
    /// Range of the token.
    start: usize,
    end: usize,
    token: Token,
    kind: Kind,
    depth: usize,
}

fn invalid(detail: String) -> Stop {
    Stop::Error(Box::new(
        refused("22P02", "invalid input syntax for type json").with_detail(detail),
    ))
}

/// Returns true for the bytes of a word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl Parser<'_> {
    fn document(&mut self) -> Step {
        self.next()?;
        self.value()?;
        self.expect(Token::End, "end of input")
    }

    fn value(&mut self) -> Step {
        match self.token {
            Token::ObjectStart => self.nested(Self::object),
            Token::ArrayStart => self.nested(Self::array),
            Token::Number if self.kind == Kind::Binary => {
                // The token after it is read before the number is.
                let number = self.start..self.end;
                self.next()?;
                let read = numeric::read(self.text.get(number).unwrap_or_default());
                read.map(drop).map_err(|error| Stop::Error(Box::new(error)))
            }
            Token::Text | Token::Number | Token::Word => self.next(),
            _ => Err(self.unexpected("JSON value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Step) -> Step {
        if self.depth >= DEPTH_MAX {
            return Err(Stop::TooDeep);
        }
        self.depth += 1;
        self.next()?;
        read(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn object(&mut self) -> Step {
        match self.token {
            Token::Text => {
                self.pair()?;
                while self.token == Token::Comma {
                    self.next()?;
                    self.pair()?;
                }
            }
            Token::ObjectEnd => {}
            _ => return Err(self.unexpected("string or \"}\"")),
        }
        self.expect(Token::ObjectEnd, "\",\" or \"}\"")
    }

    fn pair(&mut self) -> Step {
        self.expect(Token::Text, "string")?;
        self.expect(Token::Colon, "\":\"")?;
        self.value()
    }

    fn array(&mut self) -> Step {
        if self.token != Token::ArrayEnd {
            self.value()?;
            while self.token == Token::Comma {
                self.next()?;
                self.value()?;
            }
        }
        self.expect(Token::ArrayEnd, "\",\" or \"]\"")
    }

    fn expect(&mut self, token: Token, what: &str) -> Step {
        if self.token != token {
            return Err(self.unexpected(what));
        }
        if token == Token::End { Ok(()) } else { self.next() }
    }

    fn unexpected(&self, what: &str) -> Stop {
        if self.token == Token::End {
            return invalid("The input string ended unexpectedly.".to_owned());
        }
        invalid(format!("Expected {what}, but found \"{}\".", self.shown()))
    }

    /// Returns the text of the token.
    fn shown(&self) -> &str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    fn invalid_token(&self) -> Stop {
        invalid(format!("Token \"{}\" is invalid.", self.shown()))
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Reads the next token (`json_lex`).
    fn next(&mut self) -> Step {
        let mut at = self.end;
        while matches!(self.byte(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
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
                self.end = self.word_end(at).max(at + 1);
                if !matches!(self.shown(), "true" | "false" | "null") {
                    return Err(self.invalid_token());
                }
                Token::Word
            }
        };
        Ok(())
    }

    fn word_end(&self, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| is_word(**byte)).count()
    }

    fn digits_end(&self, from: usize) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// Reads a number whose digits begin at a position (`json_lex_number`).
    fn number(&mut self, from: usize) -> Step {
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
        self.end = self.word_end(at);
        match is_valid && self.end == at {
            true => Ok(()),
            false => Err(self.invalid_token()),
        }
    }

    /// Reads a string (`json_lex_string`).
    fn string(&mut self) -> Step {
        let mut at = self.start + 1;
        let mut high = false;
        let is_decoded = self.kind == Kind::Binary;
        let low = || invalid("Unicode low surrogate must follow a high surrogate.".to_owned());
        loop {
            let Some(byte) = self.byte(at) else {
                self.end = at;
                return Err(self.invalid_token());
            };
            match byte {
                b'"' => break,
                0..32 => {
                    let message = format!("Character with value 0x{byte:02x} must be escaped.");
                    return Err(invalid(message));
                }
                b'\\' => {
                    at += 1;
                    if self.byte(at) == Some(b'u') {
                        let code = self.code_unit(at + 1)?;
                        at += 5;
                        if is_decoded {
                            high = surrogate(code, high)?;
                        }
                        continue;
                    }
                    let Some(escaped) = self.text.get(at..).and_then(|rest| rest.chars().next())
                    else {
                        self.end = at;
                        return Err(self.invalid_token());
                    };
                    if is_decoded && high {
                        return Err(low());
                    }
                    if !"\"\\/bfnrt".contains(escaped) {
                        return Err(invalid(format!(
                            "Escape sequence \"\\{escaped}\" is invalid."
                        )));
                    }
                }
                _ if is_decoded && high => return Err(low()),
                _ => {}
            }
            at += 1;
        }
        if high {
            return Err(low());
        }
        self.end = at + 1;
        Ok(())
    }

    /// Reads four hexadecimal digits.
    fn code_unit(&mut self, from: usize) -> std::result::Result<u32, Stop> {
        let mut code = 0;
        for at in from..from + 4 {
            let Some(byte) = self.byte(at) else {
                self.end = at;
                return Err(self.invalid_token());
            };
            let digit = char::from(byte).to_digit(16);
            let message = "\"\\u\" must be followed by four hexadecimal digits.";
            code = code * 16 + digit.ok_or_else(|| invalid(message.to_owned()))?;
        }
        Ok(code)
    }
}

/// Checks a code unit after another one; returns true if it is the first one of a pair.
fn surrogate(code: u32, after_high: bool) -> std::result::Result<bool, Stop> {
    let is_high = (0xD800..0xDC00).contains(&code);
    let is_low = (0xDC00..0xE000).contains(&code);
    if is_high && after_high {
        let message = "Unicode high surrogate must not follow a high surrogate.";
        return Err(invalid(message.to_owned()));
    }
    if !is_high && is_low != after_high {
        let message = "Unicode low surrogate must follow a high surrogate.";
        return Err(invalid(message.to_owned()));
    }
    if code == 0 {
        let error = refused("22P05", "unsupported Unicode escape sequence");
        let error = error.with_detail("\\u0000 cannot be converted to text.");
        return Err(Stop::Error(Box::new(error)));
    }
    Ok(is_high)
}

/// Checks a document of a literal for tests.
#[cfg(test)]
pub(super) fn is_valid(text: &str) -> crate::error::Result<bool> {
    check(text, Kind::Binary).map(|found| found.is_some())
}
