//! Tokens of SQL by PostgreSQL's lexical rules.
//!
//! - Tokens are ranges of the text: what they stand for is decoded when the parser wants it.
//! - Numbers may have underscores, and the prefixes 0x, 0o and 0b, as since PostgreSQL 16.
//! - Parameters are `$1`, `?`, `:name` and `$name`. `?` is an operator if an operand stands before it: the parser
//!   decides. Within brackets `:` separates the bounds of a slice.

mod decode;
mod skip;

pub(crate) use decode::{ESCAPE, decode_name, decode_text};

use crate::error::{Result, SyntaxError, SyntaxErrorKind};
use crate::keywords::Keyword;
use crate::span::Span;
use skip::Reader;

/// Token of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Kind, by which the parser decides.
    pub kind: TokenKind,
    /// Range of its text.
    pub span: Span,
}

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Name without quotes that is no key word.
    Name,
    /// Key word, which may be a name by its class.
    Keyword(Keyword),
    /// `"…"`, or `U&"…"` if true.
    QuotedName(bool),
    /// Text in quotes, with those that continue it on other lines.
    Text(TextForm),
    /// Digits, or hexadecimal, octal or binary ones.
    Integer,
    /// Number with a point or an exponent.
    Decimal,
    /// `$1`, `:name` or `$name`.
    Parameter,
    /// Operator, of one character or more.
    Operator(Operator),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `.`
    Dot,
    /// `..`
    DotDot,
    /// `:`
    Colon,
    /// `::`
    Cast,
    /// `:=`
    Assign,
    /// `=>`
    Arrow,
    /// End of the text.
    End,
}

/// Form of a text in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// `'…'` or `N'…'`
    Plain,
    /// `E'…'`, with escapes
    Escaped,
    /// `U&'…'`
    Unicode,
    /// `$tag$…$tag$`
    Dollar,
    /// `B'…'`
    Bits,
    /// `X'…'`
    HexBits,
}

/// Operators with a precedence of their own, and all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `^`
    Caret,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `=`
    Equals,
    /// `<=`
    LessEquals,
    /// `>=`
    GreaterEquals,
    /// `<>` or `!=`
    NotEquals,
    /// `?`, or a parameter
    Question,
    /// `==`, DuckDB's `=`
    EqualsTwice,
    /// Any other
    Other,
}

/// Returns the tokens of a text, the last of them [`TokenKind::End`].
///
/// # Errors
/// `Syntax` for texts, names and comments without an end, and for numbers with letters in them.
pub fn tokenize(text: &str) -> std::result::Result<Vec<Token>, SyntaxError> {
    if u32::try_from(text.len()).is_err() {
        let message = "statement too long: at most 4 GiB";
        return Err(SyntaxError::new(SyntaxErrorKind::TooLong, message, Span::default()));
    }
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

/// Reader of one token after the other. After an error it goes on with what follows.
pub(crate) struct Lexer<'a> {
    reader: Reader<'a>,
    /// Brackets that are open.
    brackets: u32,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { reader: Reader::new(text), brackets: 0 }
    }

    /// Reads the next token.
    pub(crate) fn next(&mut self) -> Result<Token> {
        self.reader.skip_space()?;
        let start = self.reader.at;
        let kind = self.kind_from(start)?;
        Ok(Token { kind, span: Span::new(start, self.reader.at) })
    }

    fn kind_from(&mut self, start: usize) -> Result<TokenKind> {
        let reader = &mut self.reader;
        let Some(byte) = reader.peek(0) else { return Ok(TokenKind::End) };
        match byte {
            b'0'..=b'9' => reader.number(),
            b'.' if reader.peek(1).is_some_and(|next| next.is_ascii_digit()) => reader.number(),
            b'\'' => reader.text(TextForm::Plain, 1),
            b'"' => reader.quoted_name(1, false),
            b'$' => reader.dollar(),
            b'e' | b'E' if reader.peek(1) == Some(b'\'') => reader.text(TextForm::Escaped, 2),
            b'n' | b'N' if reader.peek(1) == Some(b'\'') => reader.text(TextForm::Plain, 2),
            b'b' | b'B' if reader.peek(1) == Some(b'\'') => reader.text(TextForm::Bits, 2),
            b'x' | b'X' if reader.peek(1) == Some(b'\'') => reader.text(TextForm::HexBits, 2),
            b'u' | b'U' if reader.starts_with(1, b"&'") => reader.text(TextForm::Unicode, 3),
            b'u' | b'U' if reader.starts_with(1, b"&\"") => reader.quoted_name(3, true),
            _ if is_name_start(byte) => {
                reader.skip_while(is_name_part);
                let word = reader.since(start);
                Ok(Keyword::of(word).map_or(TokenKind::Name, TokenKind::Keyword))
            }
            _ => self.punctuation(byte),
        }
    }

    fn punctuation(&mut self, byte: u8) -> Result<TokenKind> {
        let reader = &mut self.reader;
        let next = reader.peek(1);
        let (kind, length) = match (byte, next) {
            (b'(', _) => (TokenKind::Open, 1),
            (b')', _) => (TokenKind::Close, 1),
            (b'[', _) => (TokenKind::OpenBracket, 1),
            (b']', _) => (TokenKind::CloseBracket, 1),
            (b'{', _) => (TokenKind::OpenBrace, 1),
            (b'}', _) => (TokenKind::CloseBrace, 1),
            (b',', _) => (TokenKind::Comma, 1),
            (b';', _) => (TokenKind::Semicolon, 1),
            (b'.', Some(b'.')) => (TokenKind::DotDot, 2),
            (b'.', _) => (TokenKind::Dot, 1),
            (b':', Some(b':')) => (TokenKind::Cast, 2),
            (b':', Some(b'=')) => (TokenKind::Assign, 2),
            (b':', Some(next)) if is_parameter_start(next) && self.brackets == 0 => {
                reader.at += 1;
                reader.skip_while(is_name_part);
                return Ok(TokenKind::Parameter);
            }
            (b':', _) => (TokenKind::Colon, 1),
            (b'=', Some(b'>')) if !reader.peek(2).is_some_and(is_operator) => (TokenKind::Arrow, 2),
            (b'?', _) => return Ok(reader.question()),
            _ if is_operator(byte) => return Ok(reader.operator()),
            _ => return Err(reader.unknown()),
        };
        match kind {
            TokenKind::OpenBracket => self.brackets += 1,
            TokenKind::CloseBracket => self.brackets = self.brackets.saturating_sub(1),
            TokenKind::Semicolon => self.brackets = 0,
            _ => {}
        }
        reader.at += length;
        Ok(kind)
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

/// True for letters, and for digits, with which `:1` is a parameter.
fn is_parameter_start(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

fn is_operator(byte: u8) -> bool {
    b"~!@#^&|`?+-*/%<>=".contains(&byte)
}

#[cfg(test)]
mod tests;
