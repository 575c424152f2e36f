//! Errors of name and type resolution.

use gadus_syntax::{Span, SyntaxError};
use std::fmt;

/// Error with PostgreSQL's SQLSTATE and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindError {
    /// Five characters.
    pub sql_state: &'static str,
    /// PostgreSQL's text.
    pub message: String,
    /// More about the cause.
    pub detail: Option<String>,
    /// Remedy
    pub hint: Option<String>,
    /// Range of the statement's text that the error is about.
    pub span: Option<Span>,
    /// Name of the function that does not exist.
    pub function: Option<Box<str>>,
}

/// Result of binding.
pub type Result<T> = std::result::Result<T, BindError>;

impl BindError {
    /// Creates an error about a range of the text.
    pub fn new(sql_state: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self {
            sql_state,
            message: message.into(),
            detail: None,
            hint: None,
            span: Some(span),
            function: None,
        }
    }

    /// Creates an error that is about no range of the text.
    pub fn without_position(sql_state: &'static str, message: impl Into<String>) -> Self {
        Self { span: None, ..Self::new(sql_state, message, Span::default()) }
    }

    /// Creates the error of a feature that is not there.
    pub fn unsupported(what: impl fmt::Display, span: Span) -> Self {
        Self::new("0A000", format!("{what} is not supported"), span)
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a detail.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds the name of the function that does not exist.
    #[must_use]
    pub fn with_function(mut self, name: &str) -> Self {
        self.function = Some(name.into());
        self
    }

    /// Adds a detail if there is one.
    #[must_use]
    pub fn with_optional_detail(mut self, detail: Option<String>) -> Self {
        self.detail = detail;
        self
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BindError {}

impl From<SyntaxError> for BindError {
    fn from(error: SyntaxError) -> Self {
        Self::new(error.kind.sql_state(), error.message, error.span)
    }
}
