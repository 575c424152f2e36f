//! What can go wrong with a block device: what happened, where, and what to do.
//!
//! - The kind tells a program what to do; the text tells a person, and is no interface.

use std::fmt;
use std::io;
use std::sync::Arc;

/// A failed operation on a device or folder.
#[derive(Debug, Clone)]
pub struct BlockError {
    /// What the caller can do about it.
    pub kind: ErrorKind,
    /// What was tried.
    pub operation: Operation,
    /// Full description of the device or folder.
    pub device: String,
    /// Where in the device, if it matters.
    pub offset: Option<u64>,
    /// The operating system's own words, if it was asked.
    pub source: Option<Arc<io::Error>>,
    /// What the kind alone does not say.
    pub(crate) detail: Option<&'static str>,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No such device, or no such folder.
    NotFound,
    /// The device to be created exists.
    AlreadyExists,
    /// The system does not allow it.
    PermissionDenied,
    /// Opened for reading, or on a medium that cannot be written.
    ReadOnly,
    /// The medium, a quota or a size limit is full.
    NoSpace,
    /// The name belongs to a folder, pipe or socket.
    NotAFile,
    /// A part of the path is not a folder.
    NotAFolder,
    /// The device ends before the bytes asked for.
    PastEnd,
    /// The medium failed.
    Io,
    /// Someone else owns it.
    Locked,
    /// The request makes no sense.
    Invalid,
    /// A guard of the device refuses changes.
    Refused,
}

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Opening an existing device.
    Open,
    /// Creating a device.
    Create,
    /// Removing a device.
    Remove,
    /// Asking for the length.
    Length,
    /// Changing the length.
    SetLength,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Making writes durable.
    Sync,
    /// Making names durable.
    SyncFolder,
    /// Giving space back.
    Discard,
    /// Taking space ahead of writes.
    Reserve,
    /// Taking or asking for ownership.
    Own,
    /// Preparing a queue or buffers.
    Prepare,
}

impl BlockError {
    /// A failure without words of the operating system.
    #[must_use]
    pub fn new(kind: ErrorKind, operation: Operation, device: impl Into<String>) -> Self {
        Self { kind, operation, device: device.into(), offset: None, source: None, detail: None }
    }

    /// Names the place in the device.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    pub(crate) fn invalid(device: impl Into<String>, detail: &'static str) -> Self {
        Self::new(ErrorKind::Invalid, Operation::Prepare, device).detailed(detail)
    }

    /// A change that a guard refuses.
    pub(crate) fn refused(
        operation: Operation,
        device: impl Into<String>,
        why: &'static str,
    ) -> Self {
        Self::new(ErrorKind::Refused, operation, device).detailed(why)
    }

    pub(crate) fn detailed(mut self, detail: &'static str) -> Self {
        self.detail = Some(detail);
        self
    }

    pub(crate) fn from_io(error: io::Error, operation: Operation, device: String) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
            io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem => ErrorKind::ReadOnly,
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => ErrorKind::NoSpace,
            io::ErrorKind::IsADirectory => ErrorKind::NotAFile,
            io::ErrorKind::NotADirectory => ErrorKind::NotAFolder,
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => ErrorKind::Invalid,
            _ => ErrorKind::Io,
        };
        Self { source: Some(Arc::new(error)), ..Self::new(kind, operation, device) }
    }
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}", self.operation.verb(), self.device)?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        match (&self.source, self.detail) {
            (_, Some(detail)) => write!(f, ": {detail}")?,
            (Some(source), None) => write!(f, ": {source}")?,
            (None, None) => write!(f, ": {}", self.kind.meaning())?,
        }
        match self.kind.advice() {
            "" => Ok(()),
            advice => write!(f, "; {advice}"),
        }
    }
}

impl std::error::Error for BlockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl ErrorKind {
    fn meaning(self) -> &'static str {
        match self {
            Self::NotFound => "it does not exist",
            Self::AlreadyExists => "it exists",
            Self::PermissionDenied => "permission denied",
            Self::ReadOnly => "it is open for reading only",
            Self::NoSpace => "no space left",
            Self::NotAFile => "it is not a file",
            Self::NotAFolder => "a part of the path is not a folder",
            Self::PastEnd => "it ends before",
            Self::Io => "the device failed",
            Self::Locked => "it is in use",
            Self::Invalid => "the request is not valid",
            Self::Refused => "changes are refused",
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::NotFound => "check the path",
            Self::AlreadyExists => "open it, or choose another name",
            Self::PermissionDenied => "check owner and mode of the file and its folder",
            Self::NoSpace => "free some space and try again",
            Self::Io => "check the disk and the kernel's log",
            Self::Locked => "close the other user first",
            Self::ReadOnly
            | Self::NotAFile
            | Self::NotAFolder
            | Self::PastEnd
            | Self::Invalid
            | Self::Refused => "",
        }
    }
}

impl Operation {
    fn verb(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Create => "create",
            Self::Remove => "remove",
            Self::Length => "measure",
            Self::SetLength => "resize",
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::SyncFolder => "sync the folder",
            Self::Discard => "discard space of",
            Self::Reserve => "reserve space for",
            Self::Own => "own",
            Self::Prepare => "prepare transfers for",
        }
    }
}
