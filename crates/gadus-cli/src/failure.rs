//! Why a command ended early, and the exit code that says so.

use std::fmt;
use std::io;
use std::process::ExitCode;

use arrow::error::ArrowError;

#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of our output went away, as `head` does; nobody is to be told.
    ReaderGone,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// All there is to say has been printed.
    Reported,
    /// A statement took longer than `statement_timeout` allows.
    TimedOut(String),
    /// Something the user can read and act on.
    Message(String),
}

impl Failure {
    /// A failure that says this.
    pub(crate) fn message(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// What the program's caller gets: 0 when nobody is to be told, 130 as shells have it for
    /// Ctrl-C, 1 for the rest. (2 is clap's, for a wrong command line.)
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::ReaderGone => ExitCode::SUCCESS,
            Self::Interrupted => ExitCode::from(130),
            Self::Reported | Self::TimedOut(_) | Self::Message(_) => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReaderGone => f.write_str("the reader of the output went away"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Reported => f.write_str("see above"),
            Self::TimedOut(message) | Self::Message(message) => f.write_str(message),
        }
    }
}

impl From<gadus::Error> for Failure {
    fn from(error: gadus::Error) -> Self {
        match error.kind() {
            _ if error.reason() == Some(gadus::Reason::StatementTimeout) => {
                Self::TimedOut(error.to_string())
            }
            gadus::ErrorKind::Cancelled => Self::Interrupted,
            _ => Self::Message(error.to_string()),
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
