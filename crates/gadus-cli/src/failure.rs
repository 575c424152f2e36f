//! Why a command ended early.

use std::fmt;
use std::io;

use arrow::error::ArrowError;

#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of our output went away, as `head` does; nobody is to be told.
    ReaderGone,
    /// Something the user can read and act on.
    Message(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReaderGone => f.write_str("the reader of the output went away"),
            Self::Message(message) => f.write_str(message),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Message(error.to_string()),
        }
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, source) => source.into(),
            other => Self::Message(other.to_string()),
        }
    }
}
