//! Texts and numbers where the grammar wants one.

use crate::ast::{Literal, Parameter};
use crate::error::Result;
use crate::keywords::Keyword;
use crate::lexer::{ESCAPE, Operator, TextForm, Token, TokenKind, decode_text};
use crate::parser::Parser;

impl Parser<'_> {
    /// Reads a text (Sconst).
    pub(in crate::parser) fn text(&mut self) -> Result<String> {
        self.optional_text()?.ok_or_else(|| self.unexpected())
    }

    pub(in crate::parser) fn optional_text(&mut self) -> Result<Option<String>> {
        let token = self.token(0);
        match token.kind {
            TokenKind::Text(form) if !matches!(form, TextForm::Bits | TextForm::HexBits) => {
                self.at += 1;
                self.decoded(token, form).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn decoded(&mut self, token: Token, form: TextForm) -> Result<String> {
        let escape = if form == TextForm::Unicode { self.unicode_escape()? } else { ESCAPE };
        decode_text(self.text, token, form, escape)
    }

    /// Reads `UESCAPE '!'` after a `U&` text or name, if the cursor is at it.
    pub(in crate::parser) fn unicode_escape(&mut self) -> Result<char> {
        if !self.has(Keyword::Uescape) {
            return Ok(ESCAPE);
        }
        let text = self.text()?;
        let mut characters = text.chars();
        let is_escape = |escape: &char| {
            !escape.is_ascii_hexdigit() && !"+'\"".contains(*escape) && !escape.is_whitespace()
        };
        let escape = characters.next().filter(is_escape).filter(|_| characters.next().is_none());
        escape.ok_or_else(|| self.error("invalid Unicode escape character", self.last_span()))
    }

    /// Returns the digits of the token before the cursor, without underscores.
    fn digits(&self) -> String {
        self.last_span().of(self.text).replace('_', "")
    }

    /// Reads an integer with or without a sign.
    pub(in crate::parser) fn signed_number(&mut self) -> Result<String> {
        let sign = if self.has_operator(Operator::Minus) { "-" } else { "" };
        if sign.is_empty() {
            self.has_operator(Operator::Plus);
        }
        match self.kind() {
            TokenKind::Integer | TokenKind::Decimal => {
                self.at += 1;
                Ok(format!("{sign}{}", self.digits()))
            }
            _ => Err(self.unexpected()),
        }
    }

    pub(in crate::parser) fn is_number(&self, ahead: usize) -> bool {
        matches!(self.token(ahead).kind, TokenKind::Integer | TokenKind::Decimal)
    }

    /// Reads an integer that fits.
    pub(in crate::parser) fn small_integer(&mut self) -> Result<u32> {
        let token = self.expect(TokenKind::Integer)?;
        let digits = self.digits();
        digits.parse().map_err(|_| {
            let message = format!("value \"{digits}\" is out of range for type integer");
            self.error(message, token.span)
        })
    }

    /// Reads a literal, if the cursor is at one.
    pub(in crate::parser) fn optional_literal(&mut self) -> Result<Option<Literal>> {
        let token = self.token(0);
        let literal = match token.kind {
            TokenKind::Integer => {
                self.at += 1;
                Literal::Integer(self.digits())
            }
            TokenKind::Decimal => {
                self.at += 1;
                Literal::Decimal(self.digits())
            }
            TokenKind::Text(form) => {
                self.at += 1;
                let text = self.decoded(token, form)?;
                match form {
                    TextForm::Bits => Literal::Bits(text),
                    TextForm::HexBits => Literal::HexBits(text),
                    _ => Literal::Text(text),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(literal))
    }

    /// Reads `$1`, `:1`, `:name` or `$name`.
    /// Returns the number of the `?` at a position; one that is read again has the same.
    pub(in crate::parser) fn question_number(&mut self, span: crate::span::Span) -> u32 {
        let index = self.questions.binary_search(&span.start).unwrap_or_else(|index| {
            self.questions.insert(index, span.start);
            index
        });
        u32::try_from(index).map_or(u32::MAX, |index| index.saturating_add(1))
    }

    pub(in crate::parser) fn parameter(&mut self) -> Result<Parameter> {
        let token = self.expect(TokenKind::Parameter)?;
        let name = token.span.of(self.text).get(1..).unwrap_or_default();
        if !name.starts_with(|first: char| first.is_ascii_digit()) {
            return Ok(Parameter::Name(name.to_owned()));
        }
        let number = name.parse().ok().filter(|number| (1..=65_535).contains(number));
        let number = number.ok_or_else(|| {
            self.error(format!("there is no parameter ${name}: at most $65535"), token.span)
        })?;
        Ok(Parameter::Number(number))
    }
}
