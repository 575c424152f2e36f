//! Reads over the parts of a text: space, comments, quotes, numbers, operators.

use super::{Operator, TextForm, TokenKind, is_name_part, is_name_start, is_operator};
use crate::error::{Result, SyntaxError, SyntaxErrorKind};
use crate::span::Span;

/// Position in a text.
pub(super) struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0 }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    pub(super) fn starts_with(&self, ahead: usize, start: &[u8]) -> bool {
        self.bytes.get(self.at + ahead..).is_some_and(|rest| rest.starts_with(start))
    }

    /// Returns the text from an offset to this position.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn skip_while(&mut self, is: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&is) {
            self.at += 1;
        }
    }

    /// Skips white space and comments.
    pub(super) fn skip_space(&mut self) -> Result<()> {
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == 0x0b);
            if self.starts_with(0, b"--") {
                self.skip_while(|byte| byte != b'\n' && byte != b'\r');
            } else if self.starts_with(0, b"/*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_comment(&mut self) -> Result<()> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            if self.starts_with(0, b"/*") {
                (depth, self.at) = (depth + 1, self.at + 2);
            } else if self.starts_with(0, b"*/") {
                (depth, self.at) = (depth - 1, self.at + 2);
            } else if self.peek(0).is_some() {
                self.at += 1;
            } else {
                return Err(self.unterminated("/* comment", start));
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Reads a text whose opening quote ends after so many bytes, and those that continue it: texts in quotes with only
    /// white space between them, a line's end in it.
    pub(super) fn text(&mut self, form: TextForm, opening: usize) -> Result<TokenKind> {
        let start = self.at;
        self.at += opening;
        loop {
            match self.peek(0) {
                Some(b'\'') if self.peek(1) == Some(b'\'') => self.at += 2,
                Some(b'\'') => {
                    self.at += 1;
                    if !self.continues() {
                        return Ok(TokenKind::Text(form));
                    }
                }
                Some(b'\\') if form == TextForm::Escaped => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(self.unterminated("quoted string", start)),
            }
        }
    }

    /// Moves into the text that continues the one before, if there is one.
    fn continues(&mut self) -> bool {
        let end = self.at;
        let mut lines = false;
        while let Some(byte) = self.peek(0) {
            if byte == b'\'' && lines {
                self.at += 1;
                return true;
            }
            if lines && self.starts_with(0, b"--") {
                self.skip_while(|byte| byte != b'\n' && byte != b'\r');
                continue;
            }
            if !byte.is_ascii_whitespace() {
                break;
            }
            lines |= byte == b'\n' || byte == b'\r';
            self.at += 1;
        }
        self.at = end;
        false
    }

    pub(super) fn quoted_name(&mut self, opening: usize, is_unicode: bool) -> Result<TokenKind> {
        let start = self.at;
        self.at += opening;
        loop {
            match self.peek(0) {
                Some(b'"') if self.peek(1) == Some(b'"') => self.at += 2,
                Some(b'"') if self.at == start + opening => {
                    self.at += 1;
                    let message = "zero-length delimited identifier";
                    return Err(self.error(message, start, start + opening + 1));
                }
                Some(b'"') => {
                    self.at += 1;
                    return Ok(TokenKind::QuotedName(is_unicode));
                }
                Some(_) => self.at += 1,
                None => return Err(self.unterminated("quoted identifier", start)),
            }
        }
    }

    /// Reads what begins with `$`: a parameter or a text.
    pub(super) fn dollar(&mut self) -> Result<TokenKind> {
        let start = self.at;
        if let Some(tag) = self.dollar_tag() {
            self.at += tag.len();
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(length) = rest.find(tag) else {
                return Err(self.unterminated("dollar-quoted string", start));
            };
            self.at += length + tag.len();
            return Ok(TokenKind::Text(TextForm::Dollar));
        }
        self.at += 1;
        match self.peek(0) {
            Some(byte) if byte.is_ascii_digit() => {
                self.skip_while(|byte| byte.is_ascii_digit());
                if self.peek(0).is_some_and(is_name_start) {
                    self.skip_while(is_name_part);
                    return Err(self.trailing_junk("parameter", start));
                }
            }
            Some(byte) if is_name_start(byte) => self.skip_while(is_name_part),
            _ => return Err(self.at_or_near(start, start + 1)),
        }
        Ok(TokenKind::Parameter)
    }

    /// Returns `$tag$` at this position.
    fn dollar_tag(&self) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let length = rest.get(1..)?.find('$')?;
        let name = &rest.as_bytes()[1..=length];
        let is_tag = name.first().is_none_or(|byte| is_name_start(*byte))
            && name.iter().all(|byte| is_name_part(*byte) && *byte != b'$');
        is_tag.then(|| &rest[..length + 2])
    }

    pub(super) fn number(&mut self) -> Result<TokenKind> {
        let start = self.at;
        let is_prefixed = self.peek(0) == Some(b'0')
            && self.peek(1).is_some_and(|letter| b"xXoObB".contains(&letter));
        let kind = if is_prefixed {
            let radix = match self.peek(1) {
                Some(b'x' | b'X') => 16,
                Some(b'o' | b'O') => 8,
                _ => 2,
            };
            self.at += 2;
            if !self.digits(|byte| char::from(byte).is_digit(radix)) {
                return Err(self.trailing_junk("numeric literal", start));
            }
            TokenKind::Integer
        } else {
            self.decimal()
        };
        if self.peek(0).is_some_and(is_name_start) {
            self.skip_while(is_name_part);
            return Err(self.trailing_junk("numeric literal", start));
        }
        Ok(kind)
    }

    fn decimal(&mut self) -> TokenKind {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        let mut kind = TokenKind::Integer;
        self.digits(is_digit);
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            self.at += 1;
            self.digits(is_digit);
            kind = TokenKind::Decimal;
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(is_digit) {
                self.at += 1 + sign;
                self.digits(is_digit);
                kind = TokenKind::Decimal;
            }
        }
        kind
    }

    /// Reads digits, with single underscores between them or after a prefix; tells whether there is any.
    fn digits(&mut self, is_digit: impl Fn(u8) -> bool) -> bool {
        let start = self.at;
        loop {
            let underscore = usize::from(self.peek(0) == Some(b'_'));
            if !self.peek(underscore).is_some_and(&is_digit) {
                return self.at > start;
            }
            self.at += underscore + 1;
        }
    }

    /// Reads `?`, `?|` or `?&`.
    pub(super) fn question(&mut self) -> TokenKind {
        let next = self.peek(1);
        let is_longer = matches!(next, Some(b'|' | b'&')) && self.peek(2) != next;
        self.at += 1 + usize::from(is_longer);
        TokenKind::Operator(if is_longer { Operator::Other } else { Operator::Question })
    }

    /// Reads an operator: as many of its characters as there are, less a comment, and less `+` and `-` at the end of
    /// those that none of `~!@#%^&|` and the backquote makes long. `?` only follows `@`: it may be a parameter.
    pub(super) fn operator(&mut self) -> TokenKind {
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            let is_comment = self.starts_with(0, b"--") || self.starts_with(0, b"/*");
            let is_parameter = byte == b'?' && self.since(start) != "@";
            if !is_operator(byte) || is_comment || is_parameter {
                break;
            }
            self.at += 1;
        }
        let operator = &self.bytes[start..self.at];
        if !operator.iter().any(|byte| b"~!@#^&|`?%".contains(byte)) {
            while self.at > start + 1 && matches!(self.bytes[self.at - 1], b'+' | b'-') {
                self.at -= 1;
            }
        }
        TokenKind::Operator(match &self.bytes[start..self.at] {
            b"+" => Operator::Plus,
            b"-" => Operator::Minus,
            b"*" => Operator::Star,
            b"/" => Operator::Slash,
            b"%" => Operator::Percent,
            b"^" => Operator::Caret,
            b"<" => Operator::Less,
            b">" => Operator::Greater,
            b"=" => Operator::Equals,
            b"<=" => Operator::LessEquals,
            b">=" => Operator::GreaterEquals,
            b"<>" | b"!=" => Operator::NotEquals,
            b"==" => Operator::EqualsTwice,
            _ => Operator::Other,
        })
    }

    /// Skips a character that begins no token.
    pub(super) fn unknown(&mut self) -> SyntaxError {
        let start = self.at;
        let character = self.text.get(start..).and_then(|rest| rest.chars().next());
        self.at += character.map_or(1, char::len_utf8);
        self.at_or_near(start, self.at)
    }

    fn at_or_near(&self, start: usize, end: usize) -> SyntaxError {
        let near = self.text.get(start..end).unwrap_or_default();
        self.error(format!("syntax error at or near \"{near}\""), start, end)
    }

    fn trailing_junk(&self, after: &str, start: usize) -> SyntaxError {
        let near = self.since(start);
        self.error(format!("trailing junk after {after} at or near \"{near}\""), start, self.at)
    }

    fn unterminated(&self, what: &str, start: usize) -> SyntaxError {
        let rest = self.text.get(start..).unwrap_or_default();
        let message = format!("unterminated {what} at or near \"{rest}\"");
        self.error(message, start, self.text.len())
    }

    fn error(&self, message: impl Into<String>, start: usize, end: usize) -> SyntaxError {
        SyntaxError::new(SyntaxErrorKind::Syntax, message, Span::new(start, end))
    }
}
