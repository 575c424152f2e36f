//! What can go wrong in the engine, by what the caller must do about it.
//!
//! - The kind is API; the text is for people and names what, where and the remedy.

mod arrow_texts;

use crate::locks::Blocked;
use gadus_storage::StorageError;
use std::fmt;
use std::sync::Arc;

/// A failed engine operation.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    blocked: Option<Blocked>,
    reason: Option<Reason>,
    diagnosis: Option<Arc<Diagnosis>>,
}

/// Diagnosis of a statement: SQLSTATE, detail, hint and position, as PostgreSQL gives them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// Code of five characters, if it is another than that of the reason or the kind.
    pub sql_state: Option<&'static str>,
    /// More about the cause.
    pub detail: Option<String>,
    /// Remedy
    pub hint: Option<String>,
    /// Offset in the statement's text, in bytes.
    pub position: Option<usize>,
}

/// What exactly was wrong, where the kind leaves it open and protocols have codes for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The text is no statement.
    Syntax,
    /// There is no such table.
    UnknownTable,
    /// There is no such column.
    UnknownColumn,
    /// A column is named twice.
    DuplicateColumn,
    /// A list has more columns than one may have.
    TooManyColumns,
    /// A value or a statement is larger than one may be.
    TooLarge,
    /// A constraint of this name is there already.
    DuplicateObject,
    /// There is no such constraint.
    UnknownObject,
    /// Other things depend on what was to be dropped.
    Depended,
    /// A table was expected where a view is, or the other way round.
    WrongObject,
    /// A view would read itself.
    ReadsItself,
    /// What is there cannot be changed so.
    NotInState,
    /// What is defined cannot be so.
    InvalidDefinition,
    /// A foreign key that cannot be so.
    InvalidForeignKey,
    /// A type that does not become another by itself.
    TypeMismatch,
    /// A type that does not become another.
    CannotCast,
    /// A name that cannot be one.
    InvalidName,
    /// Several columns have the name.
    AmbiguousColumn,
    /// There is no such function.
    UnknownFunction,
    /// There is no such savepoint.
    UnknownSavepoint,
    /// There is no such cursor.
    UnknownCursor,
    /// A cursor of this name is open already.
    DuplicateCursor,
    /// There is no prepared statement of this name.
    UnknownStatement,
    /// There is a prepared statement of this name.
    DuplicateStatement,
    /// There is no such setting.
    UnknownSetting,
    /// There is no such user.
    UnknownUser,
    /// There is no such schema.
    UnknownSchema,
    /// There is a schema of this name.
    DuplicateSchema,
    /// A text that is no value of the type.
    InvalidText,
    /// A text that is no point in time, and no interval.
    InvalidDatetime,
    /// A point in time or an interval beyond the range of its type.
    DatetimeOverflow,
    /// A number within an interval's text that is too large.
    IntervalOverflow,
    /// A sequence has no more numbers.
    SequenceEnd,
    /// An option or an argument that cannot be so.
    InvalidParameter,
    /// A value for what is generated always.
    GeneratedAlways,
    /// A division by zero.
    DivisionByZero,
    /// Several rows where at most one can be.
    SeveralRows,
    /// It needs a transaction, and none is open.
    NoTransaction,
    /// A transaction is open, and it needs that there is none.
    OpenTransaction,
    /// A statement that ran longer than `statement_timeout`.
    StatementTimeout,
    /// A statement that the planner refused.
    Unplannable,
}

/// What the caller must do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The statement or its values are wrong: mend them.
    Input,
    /// The named thing does not exist.
    NotFound,
    /// The named thing exists already.
    AlreadyExists,
    /// A key that must be unique is there already.
    UniqueViolation,
    /// A NULL where none may be.
    NotNullViolation,
    /// A row that a CHECK of its table refuses.
    CheckViolation,
    /// A row that would refer to one that is not there.
    ForeignKeyViolation,
    /// A value that its type cannot hold, or a division by zero.
    OutOfRange,
    /// Another transaction changed the same rows first: run the transaction again.
    Conflict,
    /// Others hold a lock that the statement needs: wait, or try again later.
    Locked,
    /// Transactions wait for one another: run this one again.
    Deadlock,
    /// The statement was cancelled.
    Cancelled,
    /// The snapshot kept too much from being used again, and was given up: begin anew.
    SnapshotTooOld,
    /// Somebody ended the connection, and its transaction with it: connect again.
    Terminated,
    /// A limit was reached: memory, sizes, nesting.
    Limit,
    /// What was asked is not part of Gadus.
    Unsupported,
    /// Another process or handle has the file open.
    InUse,
    /// The process was forked after it had opened the database: open it in the child, too.
    Forked,
    /// The database or its folder cannot be written.
    ReadOnly,
    /// The disk is full: free space, then go on.
    NoSpace,
    /// The system refuses access.
    PermissionDenied,
    /// The file is damaged, or is no database: restore it from a backup.
    Corrupt,
    /// A write to the disk failed: reopen the database, which recovers all acknowledged commits.
    Poisoned,
    /// The system failed to read or write.
    Io,
    /// A defect of Gadus: report it.
    Internal,
}

/// The result of an engine operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of the given kind.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
            blocked: None,
            reason: None,
            diagnosis: None,
        }
    }

    /// Creates the error of a statement that was cancelled.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "canceling statement due to user request")
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Says what exactly was wrong.
    #[must_use]
    pub fn because(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Says what it is about, before what it says.
    #[must_use]
    pub fn about(mut self, what: &str) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// The same in other words.
    #[must_use]
    pub fn reworded(mut self, words: impl FnOnce(&str) -> String) -> Self {
        self.message = words(&self.message);
        self
    }

    /// Returns the same error with another kind.
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// Adds SQLSTATE, detail, hint and position.
    #[must_use]
    pub fn diagnosed(mut self, diagnosis: Diagnosis) -> Self {
        self.diagnosis = Some(Arc::new(diagnosis));
        self
    }

    /// Returns SQLSTATE, detail, hint and position, if the statement was analysed.
    #[must_use]
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        self.diagnosis.as_deref()
    }

    /// What exactly was wrong, where that is known.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// Says what lock it is about.
    pub(crate) fn blocked_by(mut self, blocked: Blocked) -> Self {
        self.blocked = Some(blocked);
        self
    }

    /// The lock to wait for, where somebody holds what a statement needs.
    #[must_use]
    pub fn blocked(&self) -> Option<Blocked> {
        self.blocked
    }

    /// Whether it is because of what others have committed, perhaps not visibly yet.
    pub(crate) fn is_because_of_others(&self) -> bool {
        use ErrorKind::{AlreadyExists, Conflict, UniqueViolation};
        matches!(self.kind, Conflict | UniqueViolation | AlreadyExists)
    }

    /// The same where nobody is to wait.
    #[must_use]
    pub fn without_waiting(mut self) -> Self {
        self.blocked = None;
        self
    }

    /// A defect of the engine.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// What the caller must do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message without its cause.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        use gadus_storage::ErrorKind as Storage;
        let kind = match error.kind {
            Storage::NotFound => ErrorKind::NotFound,
            Storage::InUse => ErrorKind::InUse,
            Storage::ReadOnly => ErrorKind::ReadOnly,
            Storage::NoSpace => ErrorKind::NoSpace,
            Storage::Poisoned => ErrorKind::Poisoned,
            Storage::PermissionDenied => ErrorKind::PermissionDenied,
            Storage::NotADatabase | Storage::Version | Storage::Corrupt | Storage::Foreign => {
                ErrorKind::Corrupt
            }
            Storage::Limit => ErrorKind::Limit,
            Storage::Cancelled => return Self::cancelled(),
            _ => ErrorKind::Io,
        };
        Self::new(kind, error.to_string()).caused_by(error)
    }
}

impl Error {
    /// The error of an Arrow kernel.
    #[must_use]
    pub fn from_arrow(error: &arrow::error::ArrowError) -> Self {
        use arrow::error::ArrowError;
        let text = error.to_string();
        let (kind, reason) = match error {
            ArrowError::DivideByZero => (ErrorKind::OutOfRange, Some(Reason::DivisionByZero)),
            ArrowError::ArithmeticOverflow(_) => (ErrorKind::OutOfRange, None),
            // Casts say only in their text that a value does not fit, or is none.
            ArrowError::CastError(_) if arrow_texts::is_out_of_range(&text) => {
                (ErrorKind::OutOfRange, None)
            }
            ArrowError::CastError(_) | ArrowError::ParseError(_) => {
                (ErrorKind::Input, Some(Reason::InvalidText))
            }
            ArrowError::IoError(_, error) => (ErrorKind::of_system(error), None),
            _ => (ErrorKind::Input, None),
        };
        Self { reason, ..Self::new(kind, arrow_texts::postgres_text(error).unwrap_or(text)) }
    }
}

impl ErrorKind {
    /// Of an error of the system.
    #[must_use]
    pub fn of_system(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound,
            std::io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            std::io::ErrorKind::StorageFull => Self::NoSpace,
            _ => Self::Io,
        }
    }
}

impl From<arrow::error::ArrowError> for Error {
    fn from(error: arrow::error::ArrowError) -> Self {
        Self::from_arrow(&error).caused_by(error)
    }
}
