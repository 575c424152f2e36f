//! Why something could not be measured.

use std::fmt;
use std::io;

/// Something that was not measured, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubError {
    kind: ErrorKind,
    message: String,
}

/// What the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nothing here: the system does not have it, or does not permit it. It is named as skipped.
    Unavailable,
    /// Report it: a contestant did not do the work that it was to do.
    Broken,
    /// Give another file, folder or name.
    Input,
    /// Ask again: somebody has ended the run.
    Interrupted,
}

impl KubError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    pub(crate) fn broken(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Broken, message)
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    /// What the caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for KubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for KubError {}

/// Says what the system refused.
pub(crate) trait Refused<T> {
    /// The result, with what was tried.
    fn or_refused(self, what: &str) -> Result<T, KubError>;
}

impl<T, E: Into<io::Error>> Refused<T> for Result<T, E> {
    fn or_refused(self, what: &str) -> Result<T, KubError> {
        self.map_err(|error| KubError::unavailable(format!("{what}: {}", error.into())))
    }
}
