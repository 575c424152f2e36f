//! What can go wrong with a question about a machine.

use std::fmt;

/// A question that has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineError {
    kind: ErrorKind,
    message: String,
}

/// What the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Give another description: this one is none.
    Description,
    /// Ask for less, or for something else.
    Request,
    /// The system does not tell.
    Unknown,
}

impl MachineError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// What the caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MachineError {}
