//! Splits a script into its statements, without parsing them.
//!
//! - A semicolon ends a statement unless it stands in quotes, in a comment, or in the body of a function between BEGIN
//!   ATOMIC and END.
//! - Text that is no token does not end the search: the statement it stands in is refused when it is parsed.

use crate::keywords::Keyword;
use crate::lexer::{Lexer, TokenKind};
use crate::span::Span;

/// Statements of a script, and what follows its last semicolon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Ranges of whole statements, without white space around them and without their semicolons. Comments before and
    /// after a statement are parts of it: some say in logs where it comes from. Empty statements are left out.
    pub statements: Vec<Span>,
    /// Range of the text after the last semicolon, trimmed: a shell waits for its end. Empty if there are only comments
    /// that end.
    pub rest: Span,
}

/// Splits a script.
#[must_use]
pub fn split_script(text: &str) -> Script {
    let mut lexer = Lexer::new(text);
    let mut statements = Vec::new();
    let mut body = FunctionBody::default();
    let (mut start, mut is_empty) = (0, true);
    loop {
        let (kind, span) = match lexer.next() {
            Ok(token) => (Some(token.kind), token.span),
            Err(error) => (None, error.span),
        };
        match kind {
            Some(TokenKind::End) => break,
            Some(TokenKind::Semicolon) if !body.is_open() => {
                if !is_empty {
                    statements.push(trimmed(text, start, span.start as usize));
                }
                body = FunctionBody::default();
                (start, is_empty) = (span.end as usize, true);
            }
            kind => {
                body.see(kind);
                is_empty = false;
            }
        }
    }
    let start = if is_empty { text.len() } else { start };
    Script { statements, rest: trimmed(text, start, text.len()) }
}

/// Returns a range without the white space at its ends.
fn trimmed(text: &str, start: usize, end: usize) -> Span {
    let text = text.get(start..end).unwrap_or_default();
    let start = start + text.len() - text.trim_start().len();
    Span::new(start, start + text.trim().len())
}

/// Depth in the statements of a function's body.
#[derive(Default)]
struct FunctionBody {
    /// BEGIN ATOMIC, and CASE within it, without their END.
    open: usize,
    after_begin: bool,
}

impl FunctionBody {
    fn is_open(&self) -> bool {
        self.open > 0
    }

    fn see(&mut self, kind: Option<TokenKind>) {
        let after_begin = std::mem::take(&mut self.after_begin);
        let Some(TokenKind::Keyword(keyword)) = kind else { return };
        match keyword {
            Keyword::Begin => self.after_begin = true,
            Keyword::Atomic if after_begin => self.open += 1,
            Keyword::Case if self.is_open() => self.open += 1,
            Keyword::End => self.open = self.open.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
