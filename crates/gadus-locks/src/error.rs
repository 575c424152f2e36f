//! Errors of shared memory.

use std::fmt;

/// What the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryErrorKind {
    /// There is no memory left to give; ask for less, or again later.
    NoSpace,
    /// The memory's file is not the one that was meant, or not there.
    Unreachable,
    /// What the memory holds cannot be true.
    Damaged,
    /// Every place is taken; wait until somebody leaves.
    Full,
    /// This process may not use the memory's file, or not make one in its folder.
    PermissionDenied,
    /// The system has failed.
    System,
}

/// A failure of shared memory, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryError {
    /// What can be done.
    pub kind: MemoryErrorKind,
    /// What happened and where.
    pub message: String,
}

impl MemoryError {
    pub(crate) fn new(kind: MemoryErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MemoryError {}
