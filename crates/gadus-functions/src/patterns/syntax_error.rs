//! Errors of patterns that are no regular expressions, or none that can be matched in linear time.

use crate::error::{FunctionError, NOT_SUPPORTED};

/// SQLSTATE of a text that is no regular expression.
const INVALID_PATTERN: &str = "2201B";

pub(super) type SyntaxResult<T> = Result<T, SyntaxError>;

/// Reason to refuse a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyntaxError {
    /// `***?`, which asks for a version.
    Version,
    Element,
    Class,
    Escape,
    Brackets,
    Parentheses,
    Braces,
    Bound,
    Range,
    Operand,
    Option,
    BackReferenceNumber,
    TooComplex,
    BackReference,
    Lookaround,
    Basic,
}

impl From<SyntaxError> for FunctionError {
    fn from(error: SyntaxError) -> Self {
        let reason = match error {
            SyntaxError::Version => "invalid regexp (reg version 0.8)",
            SyntaxError::Element => "invalid collating element",
            SyntaxError::Class => "invalid character class",
            SyntaxError::Escape => "invalid escape \\ sequence",
            SyntaxError::Brackets => "brackets [] not balanced",
            SyntaxError::Parentheses => "parentheses () not balanced",
            SyntaxError::Braces => "braces {} not balanced",
            SyntaxError::Bound => "invalid repetition count(s)",
            SyntaxError::Range => "invalid character range",
            SyntaxError::Operand => "quantifier operand invalid",
            SyntaxError::Option => "invalid embedded option",
            SyntaxError::BackReferenceNumber => "invalid backreference number",
            SyntaxError::TooComplex => "regular expression is too complex",
            SyntaxError::BackReference => return unsupported("back references"),
            SyntaxError::Lookaround => return unsupported("lookahead and lookbehind constraints"),
            SyntaxError::Basic => return unsupported("basic regular expressions (option b)"),
        };
        Self::new(INVALID_PATTERN, format!("invalid regular expression: {reason}"))
    }
}

fn unsupported(what: &str) -> FunctionError {
    let message = format!("{what} are not supported; matching takes linear time");
    FunctionError::new(NOT_SUPPORTED, message)
}
