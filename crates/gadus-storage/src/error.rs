//! What can go wrong with a database's files.
//!
//! - The kind says what the caller must do; the message says what, where and what a person can do.

use gadus_block::{BlockError, ErrorKind as BlockErrorKind};
use std::fmt;
use std::sync::Arc;

/// A failed operation on a database's files.
#[derive(Debug, Clone)]
pub struct StorageError {
    /// What the caller can do about it.
    pub kind: ErrorKind,
    /// What is wrong.
    pub message: String,
    /// The file concerned.
    pub file: String,
    /// Where in the file.
    pub offset: Option<u64>,
    /// What the device said.
    pub source: Option<Arc<BlockError>>,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// There is no such database or folder.
    NotFound,
    /// The database to be created exists.
    AlreadyExists,
    /// Its creation was interrupted: it never held anything, and can be created again.
    Unfinished,
    /// The file is something else.
    NotADatabase,
    /// Written by another version of the format.
    Version,
    /// Bytes are not what was written.
    Corrupt,
    /// Someone else has it open; the message names the holder.
    InUse,
    /// Opened for reading.
    ReadOnly,
    /// No space: that operation failed, the store goes on.
    NoSpace,
    /// An earlier failure left the durable state unknown: reopen.
    Poisoned,
    /// The system does not allow it.
    PermissionDenied,
    /// The device failed.
    Io,
    /// A file of another database lies under this one's name.
    Foreign,
    /// Larger than a limit.
    Limit,
    /// The statement that the thread works for is to end: nothing was changed.
    Cancelled,
    /// The caller broke a rule of this interface.
    Invalid,
}

impl StorageError {
    pub(crate) fn new(kind: ErrorKind, file: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message, file: file.to_owned(), offset: None, source: None }
    }

    pub(crate) fn cancelled(file: &str) -> Self {
        Self::new(ErrorKind::Cancelled, file, "the statement was cancelled")
    }

    pub(crate) fn corrupt(file: &str, offset: u64, message: impl Into<String>) -> Self {
        Self { offset: Some(offset), ..Self::new(ErrorKind::Corrupt, file, message) }
    }
}

impl From<BlockError> for StorageError {
    fn from(error: BlockError) -> Self {
        let kind = match error.kind {
            BlockErrorKind::NotFound => ErrorKind::NotFound,
            BlockErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            BlockErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
            BlockErrorKind::ReadOnly => ErrorKind::ReadOnly,
            BlockErrorKind::NoSpace => ErrorKind::NoSpace,
            BlockErrorKind::NotAFile => ErrorKind::NotADatabase,
            BlockErrorKind::NotAFolder => ErrorKind::NotFound,
            BlockErrorKind::PastEnd | BlockErrorKind::Refused => ErrorKind::Corrupt,
            BlockErrorKind::Io => ErrorKind::Io,
            BlockErrorKind::Locked => ErrorKind::InUse,
            BlockErrorKind::Invalid => ErrorKind::Invalid,
        };
        Self {
            kind,
            message: error.to_string(),
            file: error.device.clone(),
            offset: error.offset,
            source: Some(Arc::new(error)),
        }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.source.is_some() {
            // The device's message names file and offset already.
            return f.write_str(&self.message);
        }
        match self.offset {
            Some(offset) => write!(f, "{} at byte {offset}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl std::error::Error for StorageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
