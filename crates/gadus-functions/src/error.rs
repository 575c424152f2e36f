//! Errors of functions, in PostgreSQL's words.
//!
//! - Messages, details and hints are PostgreSQL's own texts, because programs and people search for them.

use std::fmt;

/// The result of a function.
pub type Result<T, E = FunctionError> = std::result::Result<T, E>;

/// Failure of a function for given arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionError {
    /// Code of five characters, from appendix A of PostgreSQL's manual.
    pub sqlstate: &'static str,
    /// Primary message.
    pub message: String,
    /// Second sentence with particulars.
    pub detail: Option<String>,
    /// Advice on the remedy.
    pub hint: Option<String>,
}

/// SQLSTATE of a feature that is not supported.
pub(crate) const NOT_SUPPORTED: &str = "0A000";
/// SQLSTATE of a number beyond the range of its type.
pub(crate) const OUT_OF_RANGE: &str = "22003";
/// SQLSTATE of a NULL where none may be.
pub(crate) const NULL_NOT_ALLOWED: &str = "22004";
/// SQLSTATE of a division by zero.
pub(crate) const DIVISION_BY_ZERO: &str = "22012";
/// SQLSTATE of an argument that a function does not accept.
pub(crate) const INVALID_PARAMETER: &str = "22023";
/// SQLSTATE of a text that is no value of its type.
pub(crate) const INVALID_TEXT: &str = "22P02";
/// SQLSTATE of a position outside of a value.
pub(crate) const INVALID_POSITION: &str = "2202E";
/// SQLSTATE of a point in time beyond its range.
pub(crate) const DATETIME_OVERFLOW: &str = "22008";
/// SQLSTATE of an argument of `width_bucket`.
pub(crate) const WIDTH_BUCKET: &str = "2201G";
/// SQLSTATE of a text that no grammar accepts.
pub(crate) const SYNTAX: &str = "42601";
/// SQLSTATE of a value that is too large.
const TOO_LARGE: &str = "54000";
/// SQLSTATE of a cancelled statement.
const CANCELLED: &str = "57014";

impl FunctionError {
    /// Returns the error of a point in time beyond the range of its type.
    #[must_use]
    pub fn timestamp_out_of_range() -> Self {
        Self::new(DATETIME_OVERFLOW, "timestamp out of range")
    }

    /// An error without detail and hint.
    pub(crate) fn new(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self { sqlstate, message: message.into(), detail: None, hint: None }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Refuses a result of more bytes than a value may have.
    pub(crate) fn too_large() -> Self {
        Self::new(TOO_LARGE, "requested length too large")
    }

    /// Returns true if the statement was cancelled during the call.
    #[must_use]
    pub fn is_cancellation(&self) -> bool {
        self.sqlstate == CANCELLED
    }
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FunctionError {}

/// Ends a long computation if the statement of this thread was cancelled.
pub(crate) fn check_interrupt() -> Result<()> {
    match gadus_base::is_interrupted() {
        true => Err(FunctionError::new(CANCELLED, "canceling statement due to user request")),
        false => Ok(()),
    }
}
