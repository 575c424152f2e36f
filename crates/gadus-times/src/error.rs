//! Errors of calls on dates and times, in PostgreSQL's words.
//!
//! - Messages, details and hints are PostgreSQL's own texts, because programs and people search for them.

use std::borrow::Cow;
use std::fmt;

/// The result of a call on dates and times.
pub type Result<T, E = TimesError> = std::result::Result<T, E>;

/// Failure of a call for given arguments. One word: results of calls are then as short as values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimesError(Box<Report>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Report {
    sqlstate: &'static str,
    message: String,
    detail: Option<Cow<'static, str>>,
    hint: Option<&'static str>,
}

/// SQLSTATE of a unit that a type does not have.
pub(crate) const NOT_SUPPORTED: &str = "0A000";
/// SQLSTATE of a text that is not a date or time.
pub(crate) const INVALID_FORMAT: &str = "22007";
/// SQLSTATE of a date or time beyond its range, or of a field of it.
pub(crate) const OUT_OF_RANGE: &str = "22008";
/// SQLSTATE of a displacement that no time zone has.
pub(crate) const ZONE_DISPLACEMENT: &str = "22009";
/// SQLSTATE of a division by zero.
pub(crate) const DIVISION_BY_ZERO: &str = "22012";
/// SQLSTATE of a field of an interval beyond its range.
pub(crate) const INTERVAL_FIELD: &str = "22015";
/// SQLSTATE of an argument that is not accepted.
pub(crate) const INVALID_PARAMETER: &str = "22023";

impl TimesError {
    /// An error without detail and hint.
    #[cold]
    pub(crate) fn new(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Report { sqlstate, message: message.into(), detail: None, hint: None }))
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    pub(crate) fn with_hint(mut self, hint: &'static str) -> Self {
        self.0.hint = Some(hint);
        self
    }

    /// Refuses a timestamp beyond the range of its type.
    #[cold]
    pub(crate) fn timestamp_range() -> Self {
        Self::new(OUT_OF_RANGE, "timestamp out of range")
    }

    /// Refuses an interval beyond the range of its type.
    #[cold]
    pub(crate) fn interval_range() -> Self {
        Self::new(OUT_OF_RANGE, "interval out of range")
    }

    /// Refuses the name of a time zone.
    #[cold]
    pub(crate) fn unknown_zone(name: &str) -> Self {
        Self::new(INVALID_PARAMETER, format!("time zone \"{name}\" not recognized"))
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

    /// Returns advice on how to avoid the error.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        self.0.hint
    }
}

impl fmt::Display for TimesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for TimesError {}
