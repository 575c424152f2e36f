//! Errors of the lexer and the parser.

use crate::span::Span;
use std::fmt;

/// Kind of a syntax error, each with an SQLSTATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// The text is no statement.
    Syntax,
    /// A known statement or clause that is not supported.
    Unsupported,
    /// Nesting beyond the limit.
    TooComplex,
    /// Frame of a window whose bounds contradict each other.
    Windowing,
    /// An escape in a text that stands for no character.
    InvalidEscape,
    /// A text or number longer than a limit.
    TooLong,
}

impl SyntaxErrorKind {
    /// Returns PostgreSQL's SQLSTATE.
    #[must_use]
    pub fn sql_state(self) -> &'static str {
        match self {
            Self::Syntax => "42601",
            Self::Unsupported => "0A000",
            Self::TooComplex => "54001",
            Self::Windowing => "42P20",
            Self::InvalidEscape => "22025",
            Self::TooLong => "54000",
        }
    }
}

/// Error in a statement's text, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Decides the SQLSTATE.
    pub kind: SyntaxErrorKind,
    /// PostgreSQL's text if it has one.
    pub message: String,
    /// Range of the token at which the error was noticed.
    pub span: Span,
}

impl SyntaxError {
    pub(crate) fn new(kind: SyntaxErrorKind, message: impl Into<String>, span: Span) -> Self {
        Self { kind, message: message.into(), span }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Result of parsing.
pub(crate) type Result<T> = std::result::Result<T, SyntaxError>;
