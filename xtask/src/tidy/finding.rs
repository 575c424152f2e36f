//! What a rule reports.

use std::fmt;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    /// From the repository's root, with `/`.
    pub(crate) path: String,
    /// From 1.
    pub(crate) line: usize,
    /// What is wrong, and what to do.
    pub(crate) message: String,
}

/// Whether a finding fails the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Warning,
    Error,
}

impl Finding {
    pub(crate) fn error(path: &str, line: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { severity: Severity::Error, path: path.to_owned(), line, message }
    }

    pub(crate) fn warning(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, line, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warning = if self.severity == Severity::Warning { "warning: " } else { "" };
        write!(f, "{}:{}: {warning}{}", self.path, self.line, self.message)
    }
}
