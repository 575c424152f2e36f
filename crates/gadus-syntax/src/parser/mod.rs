//! Recursive descent over the tokens of a text, with operators by their precedence.
//!
//! - A function is named after what it reads. The cursor moves only over what was read.
//! - Nesting is counted: see [`Parser::nested`].

mod definitions;
mod expressions;
mod names;
mod queries;
mod statements;
mod utilities;

use crate::ast::{Expr, ScriptStatement};
use crate::error::{Result, SyntaxError, SyntaxErrorKind};
use crate::keywords::Keyword;
use crate::lexer::{Operator, Token, TokenKind, tokenize};
use crate::span::Span;

/// Nesting that is parsed: of parentheses, subqueries, unary operators and the like. Chains of operators with one
/// precedence count as well, since they make deep trees.
const NESTING_MAX: u32 = 1_000;

/// Stack that one level takes at most, and stack that is added when there is less.
const STACK_LEFT: usize = 128 << 10;
const STACK_SEGMENT: usize = 1 << 20;

/// Parses the statements of a script.
///
/// # Errors
/// Returns that of the first statement that cannot be read.
pub fn parse_script(text: &str) -> std::result::Result<Vec<ScriptStatement>, SyntaxError> {
    let mut parser = Parser::new(text)?;
    let mut statements = Vec::new();
    loop {
        while parser.takes(TokenKind::Semicolon) {}
        if parser.kind() == TokenKind::End {
            return Ok(statements);
        }
        statements.push(parser.script_statement()?);
        if parser.kind() != TokenKind::End {
            parser.expect(TokenKind::Semicolon)?;
        }
    }
}

/// Parses a text that is one statement, with or without a semicolon.
///
/// # Errors
/// `Syntax` unless there is just one.
pub fn parse_statement(text: &str) -> std::result::Result<ScriptStatement, SyntaxError> {
    let mut statements = parse_script(text)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        (Some(statement), false) => {
            let message = "cannot insert multiple commands into a prepared statement";
            Err(SyntaxError::new(SyntaxErrorKind::Syntax, message, statement.span))
        }
        (None, _) => {
            Err(SyntaxError::new(SyntaxErrorKind::Syntax, "empty statement", Span::default()))
        }
    }
}

/// Parses a text that is one expression, such as a default that a catalog keeps.
///
/// # Errors
/// `Syntax` if it is none.
pub fn parse_expression(text: &str) -> std::result::Result<Expr, SyntaxError> {
    let mut parser = Parser::new(text)?;
    let expr = parser.expr()?;
    match parser.kind() {
        TokenKind::End => Ok(expr),
        _ => Err(parser.unexpected()),
    }
}

/// Cursor over the tokens of a text.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    /// Positions of the statement's `?` parameters, in their order.
    questions: Vec<u32>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self> {
        Ok(Self { text, tokens: tokenize(text)?, at: 0, depth: 0, questions: Vec::new() })
    }

    fn script_statement(&mut self) -> Result<ScriptStatement> {
        let start = self.span();
        self.questions.clear();
        let statement = self.statement()?;
        Ok(ScriptStatement { statement, span: start.to(self.last_span()) })
    }

    /// Returns a token ahead of the cursor; that at the end again and again.
    fn token(&self, ahead: usize) -> Token {
        let end = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(end)]
    }

    fn kind(&self) -> TokenKind {
        self.token(0).kind
    }

    fn span(&self) -> Span {
        self.token(0).span
    }

    /// Returns the range of the token before the cursor.
    fn last_span(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |at| self.tokens[at].span)
    }

    fn advance(&mut self) -> Token {
        let token = self.token(0);
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn takes(&mut self, kind: TokenKind) -> bool {
        let is = self.kind() == kind;
        self.at += usize::from(is && kind != TokenKind::End);
        is
    }

    fn expect(&mut self, kind: TokenKind) -> Result<Token> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.unexpected()) }
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(keyword)
    }

    fn is_ahead(&self, ahead: usize, keyword: Keyword) -> bool {
        self.token(ahead).kind == TokenKind::Keyword(keyword)
    }

    fn keyword(&self) -> Option<Keyword> {
        match self.kind() {
            TokenKind::Keyword(keyword) => Some(keyword),
            _ => None,
        }
    }

    fn has(&mut self, keyword: Keyword) -> bool {
        self.takes(TokenKind::Keyword(keyword))
    }

    /// Takes all of these key words, or none.
    fn has_all(&mut self, keywords: &[Keyword]) -> bool {
        let has =
            keywords.iter().enumerate().all(|(ahead, keyword)| self.is_ahead(ahead, *keyword));
        self.at += if has { keywords.len() } else { 0 };
        has
    }

    fn needs(&mut self, keyword: Keyword) -> Result<()> {
        self.expect(TokenKind::Keyword(keyword)).map(drop)
    }

    fn needs_all(&mut self, keywords: &[Keyword]) -> Result<()> {
        keywords.iter().try_for_each(|keyword| self.needs(*keyword))
    }

    /// True if the cursor is at a word without quotes that is no key word of PostgreSQL's, such as QUALIFY.
    fn is_word(&self, word: &str) -> bool {
        self.is_word_ahead(0, word)
    }

    fn is_word_ahead(&self, ahead: usize, word: &str) -> bool {
        let token = self.token(ahead);
        token.kind == TokenKind::Name && token.span.of(self.text).eq_ignore_ascii_case(word)
    }

    fn has_word(&mut self, word: &str) -> bool {
        let has = self.is_word(word);
        self.at += usize::from(has);
        has
    }

    fn is_operator(&self, operator: Operator) -> bool {
        self.kind() == TokenKind::Operator(operator)
    }

    fn has_operator(&mut self, operator: Operator) -> bool {
        self.takes(TokenKind::Operator(operator))
    }

    /// Reads `(`, what `read` reads, and `)`.
    fn in_parentheses<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.expect(TokenKind::Open)?;
        let value = read(self)?;
        self.expect(TokenKind::Close)?;
        Ok(value)
    }

    /// Reads one or more of what `read` reads, with commas between them.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut list = vec![read(self)?];
        while self.takes(TokenKind::Comma) {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// Reads what may hold others of its kind.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.enter(1)?;
        let value = stacker::maybe_grow(STACK_LEFT, STACK_SEGMENT, || read(self));
        self.depth -= 1;
        value
    }

    /// Counts so many levels; the caller takes them back.
    fn enter(&mut self, levels: u32) -> Result<()> {
        if self.depth + levels > NESTING_MAX {
            let message = format!("statement too complex: nesting beyond {NESTING_MAX} levels");
            return Err(SyntaxError::new(SyntaxErrorKind::TooComplex, message, self.span()));
        }
        self.depth += levels;
        Ok(())
    }

    /// Tries to read something; moves the cursor back if it is something else.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Option<T> {
        let (at, depth) = (self.at, self.depth);
        let read = read(self).ok();
        if read.is_none() {
            (self.at, self.depth) = (at, depth);
        }
        read
    }

    /// Returns PostgreSQL's error for the token at the cursor.
    fn unexpected(&self) -> SyntaxError {
        let token = self.token(0);
        let message = match token.kind {
            TokenKind::End => "syntax error at end of input".to_owned(),
            _ => format!("syntax error at or near \"{}\"", token.span.of(self.text)),
        };
        SyntaxError::new(SyntaxErrorKind::Syntax, message, token.span)
    }

    fn error(&self, message: impl Into<String>, span: Span) -> SyntaxError {
        SyntaxError::new(SyntaxErrorKind::Syntax, message, span)
    }

    fn unsupported(&self, message: impl Into<String>, span: Span) -> SyntaxError {
        SyntaxError::new(SyntaxErrorKind::Unsupported, message, span)
    }
}

#[cfg(test)]
mod tests;
