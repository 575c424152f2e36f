//! Errors of numeric calls, in PostgreSQL's words.
//!
//! - Messages and details are PostgreSQL's own texts, because programs and people search for them.

use std::fmt;

/// The result of a numeric call.
pub type Result<T, E = NumericError> = std::result::Result<T, E>;

/// Failure of a numeric call for given arguments. One word: results of calls are then as short as values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumericError(Box<Report>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Report {
    sqlstate: &'static str,
    message: String,
    detail: Option<String>,
}

/// SQLSTATE of a conversion that is not supported.
pub(crate) const NOT_SUPPORTED: &str = "0A000";
/// SQLSTATE of a number beyond the range of its type.
pub(crate) const OUT_OF_RANGE: &str = "22003";
/// SQLSTATE of a division by zero.
const DIVISION_BY_ZERO: &str = "22012";
/// SQLSTATE of a type modifier that is not accepted.
pub(crate) const INVALID_PARAMETER: &str = "22023";
/// SQLSTATE of an argument of a logarithm.
pub(crate) const INVALID_LOGARITHM: &str = "2201E";
/// SQLSTATE of an argument of a power or a square root.
pub(crate) const INVALID_POWER: &str = "2201F";
/// SQLSTATE of an argument of `width_bucket`.
pub(crate) const INVALID_WIDTH_BUCKET: &str = "2201G";
/// SQLSTATE of a text that is not a number.
const INVALID_TEXT: &str = "22P02";
/// SQLSTATE of bytes that no value is encoded as.
const CORRUPTED: &str = "XX001";
/// SQLSTATE of a cancelled statement.
const CANCELLED: &str = "57014";

impl NumericError {
    /// An error without detail.
    pub(crate) fn new(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Report { sqlstate, message: message.into(), detail: None }))
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Refuses a result of more digits than a numeric has.
    #[cold]
    pub(crate) fn overflow() -> Self {
        Self::new(OUT_OF_RANGE, "value overflows numeric format")
    }

    /// Refuses a divisor of zero.
    #[cold]
    pub(crate) fn division_by_zero() -> Self {
        Self::new(DIVISION_BY_ZERO, "division by zero")
    }

    /// Refuses a text that is not a number.
    #[cold]
    pub(crate) fn invalid_text(text: &str) -> Self {
        Self::new(INVALID_TEXT, format!("invalid input syntax for type numeric: \"{text}\""))
    }

    /// Refuses bytes that no value is encoded as.
    #[cold]
    pub(crate) fn corrupted(reason: &str) -> Self {
        Self::new(CORRUPTED, format!("corrupted numeric: {reason}"))
    }

    /// Returns the code of five characters, from appendix A of PostgreSQL's manual.
    #[must_use]
    pub fn sqlstate(&self) -> &'static str {
        self.0.sqlstate
    }

    /// Returns the primary message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the second sentence, with particulars.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// Returns true if the statement was cancelled during the call.
    #[must_use]
    pub fn is_cancellation(&self) -> bool {
        self.0.sqlstate == CANCELLED
    }
}

impl fmt::Display for NumericError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for NumericError {}

/// Ends a long computation if the statement of this thread was cancelled.
pub(crate) fn check_interrupt() -> Result<()> {
    match gadus_base::is_interrupted() {
        true => Err(NumericError::new(CANCELLED, "canceling statement due to user request")),
        false => Ok(()),
    }
}
