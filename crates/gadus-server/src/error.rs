//! What goes wrong, as PostgreSQL's protocol tells it.

use gadus::{ErrorKind, Reason};
use std::io;

/// A code that programs decide by: PostgreSQL's, appendix A of its manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SqlState(&'static str);

impl SqlState {
    pub(crate) const PROTOCOL_VIOLATION: Self = Self("08P01");
    pub(crate) const FEATURE_NOT_SUPPORTED: Self = Self("0A000");
    pub(crate) const NUMERIC_VALUE_OUT_OF_RANGE: Self = Self("22003");
    pub(crate) const INVALID_TEXT: Self = Self("22P02");
    pub(crate) const INVALID_BINARY: Self = Self("22P03");
    pub(crate) const BAD_COPY: Self = Self("22P04");
    pub(crate) const NOT_IN_REPERTOIRE: Self = Self("22021");
    pub(crate) const NO_TRANSACTION: Self = Self("25P01");
    pub(crate) const FAILED_TRANSACTION: Self = Self("25P02");
    pub(crate) const UNDEFINED_STATEMENT: Self = Self("26000");
    pub(crate) const INVALID_AUTHORIZATION: Self = Self("28000");
    pub(crate) const INVALID_PASSWORD: Self = Self("28P01");
    pub(crate) const UNDEFINED_CURSOR: Self = Self("34000");
    pub(crate) const INVALID_SAVEPOINT: Self = Self("3B001");
    pub(crate) const SYNTAX_ERROR: Self = Self("42601");
    pub(crate) const DUPLICATE_CURSOR: Self = Self("42P03");
    pub(crate) const DUPLICATE_STATEMENT: Self = Self("42P05");
    pub(crate) const OBJECT_NOT_IN_STATE: Self = Self("55000");
    pub(crate) const PROGRAM_LIMIT_EXCEEDED: Self = Self("54000");
    pub(crate) const TOO_MANY_CONNECTIONS: Self = Self("53300");
    pub(crate) const QUERY_CANCELED: Self = Self("57014");
    pub(crate) const ADMIN_SHUTDOWN: Self = Self("57P01");
    pub(crate) const CANNOT_CONNECT_NOW: Self = Self("57P03");
    pub(crate) const IDLE_IN_TRANSACTION: Self = Self("25P03");
    pub(crate) const IDLE_SESSION: Self = Self("57P05");
    pub(crate) const CONNECTION_FAILURE: Self = Self("08006");
    pub(crate) const IO_ERROR: Self = Self("58030");
    pub(crate) const INTERNAL: Self = Self("XX000");

    pub(crate) fn text(self) -> &'static str {
        self.0
    }

    /// Whether it says that somebody is not who he says he is.
    pub(crate) fn is_of_authentication(self) -> bool {
        self.0.starts_with("28")
    }
}

/// What a client is told when something fails.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: SqlState,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// Where in the statement, in characters from 1.
    pub(crate) position: Option<usize>,
    /// The connection ends with it.
    pub(crate) is_fatal: bool,
}

impl Failure {
    pub(crate) fn new(code: SqlState, message: impl Into<String>) -> Self {
        let (detail, hint, position, is_fatal) = Default::default();
        Self { code, message: message.into(), detail, hint, position, is_fatal }
    }

    /// One that ends the connection.
    pub(crate) fn fatal(code: SqlState, message: impl Into<String>) -> Self {
        Self::new(code, message).made_fatal()
    }

    pub(crate) fn made_fatal(mut self) -> Self {
        self.is_fatal = true;
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Of bytes that are no text.
    pub(crate) fn encoding(error: &std::str::Utf8Error) -> Self {
        Self::new(SqlState::NOT_IN_REPERTOIRE, format!("a text is not UTF-8: {error}"))
    }

    /// Whether the client is gone, so that nobody can be told.
    pub(crate) fn is_lost(&self) -> bool {
        self.code == SqlState::CONNECTION_FAILURE
    }

    /// The same where what it is about stands behind other text.
    pub(crate) fn behind(mut self, text: &str) -> Self {
        self.position = self.position.map(|position| position + text.chars().count());
        self
    }

    /// Of a statement; where its text is known, a syntax error says its place in it.
    pub(crate) fn of(error: &gadus::Error, text: Option<&str>) -> Self {
        let mut failure = Self::new(code_of(error), error.to_string());
        failure.is_fatal = matches!(error.kind(), ErrorKind::Terminated);
        if let Some(diagnosis) = error.diagnosis() {
            failure.code = diagnosis.sql_state.map_or(failure.code, SqlState);
            failure.detail.clone_from(&diagnosis.detail);
            failure.hint.clone_from(&diagnosis.hint);
            let before = diagnosis.position.and_then(|offset| text?.get(..offset));
            failure.position = before.map(|before| before.chars().count() + 1);
        } else if error.reason() == Some(Reason::Syntax) {
            failure.position = text.and_then(|text| position(error.message(), text));
        }
        failure
    }
}

impl From<gadus::Error> for Failure {
    fn from(error: gadus::Error) -> Self {
        Self::of(&error, None)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::fatal(SqlState::CONNECTION_FAILURE, error.to_string())
    }
}

fn code_of(error: &gadus::Error) -> SqlState {
    let by_reason = error.reason().and_then(|reason| match reason {
        Reason::Syntax => Some("42601"),
        Reason::UnknownTable => Some("42P01"),
        Reason::UnknownColumn => Some("42703"),
        Reason::AmbiguousColumn => Some("42702"),
        Reason::DuplicateColumn => Some("42701"),
        Reason::TooManyColumns => Some("54011"),
        Reason::TooLarge => Some("54000"),
        Reason::DuplicateObject => Some("42710"),
        Reason::UnknownObject => Some("42704"),
        Reason::Depended => Some("2BP01"),
        Reason::WrongObject => Some("42809"),
        Reason::ReadsItself => Some("42P17"),
        Reason::NotInState => Some("55000"),
        Reason::InvalidDefinition => Some("42P16"),
        Reason::InvalidForeignKey => Some("42830"),
        Reason::TypeMismatch => Some("42804"),
        Reason::StatementTimeout => Some("57014"),
        Reason::CannotCast => Some("42846"),
        Reason::InvalidName => Some("42602"),
        Reason::UnknownFunction => Some("42883"),
        Reason::UnknownSavepoint => Some("3B001"),
        Reason::UnknownCursor => Some("34000"),
        Reason::DuplicateCursor => Some("42P03"),
        Reason::UnknownStatement => Some("26000"),
        Reason::DuplicateStatement => Some("42P05"),
        Reason::UnknownSetting | Reason::UnknownUser => Some("42704"),
        Reason::UnknownSchema => Some("3F000"),
        Reason::DuplicateSchema => Some("42P06"),
        Reason::InvalidText => Some("22P02"),
        Reason::InvalidDatetime => Some("22007"),
        Reason::DatetimeOverflow => Some("22008"),
        Reason::IntervalOverflow => Some("22015"),
        Reason::SequenceEnd => Some("2200H"),
        Reason::InvalidParameter => Some("22023"),
        Reason::GeneratedAlways => Some("428C9"),
        Reason::DivisionByZero => Some("22012"),
        Reason::SeveralRows => Some("21000"),
        Reason::NoTransaction => Some("25P01"),
        Reason::OpenTransaction => Some("25001"),
        _ => None,
    });
    SqlState(by_reason.unwrap_or(match error.kind() {
        ErrorKind::Input => "42000",
        ErrorKind::NotFound => "42704",
        ErrorKind::AlreadyExists => "42P07",
        ErrorKind::UniqueViolation => "23505",
        ErrorKind::NotNullViolation => "23502",
        ErrorKind::ForeignKeyViolation => "23503",
        ErrorKind::CheckViolation => "23514",
        ErrorKind::OutOfRange => "22003",
        ErrorKind::Conflict => "40001",
        ErrorKind::Locked => "55P03",
        ErrorKind::Deadlock => "40P01",
        ErrorKind::Cancelled => "57014",
        ErrorKind::SnapshotTooOld => "72000",
        ErrorKind::Terminated => "57P01",
        ErrorKind::Limit => limit_code(error.message()),
        ErrorKind::Unsupported => "0A000",
        ErrorKind::InUse => "55006",
        ErrorKind::ReadOnly => "25006",
        ErrorKind::NoSpace => "53100",
        ErrorKind::PermissionDenied => "42501",
        ErrorKind::Corrupt => "XX001",
        ErrorKind::Io | ErrorKind::Poisoned => "58030",
        _ => "XX000",
    }))
}

/// Which limit: of the statement's text, or of memory.
fn limit_code(message: &str) -> &'static str {
    let of_text = message.contains("nested") || message.contains("more than");
    if of_text { "54001" } else { "53200" }
}

/// The place that a parser's message ends with, `at Line: 2, Column: 5`, in characters from 1.
fn position(message: &str, text: &str) -> Option<usize> {
    let place = message.rsplit_once("at Line: ")?.1;
    let (line, column) = place.split_once(", Column: ")?;
    let line = line.parse::<usize>().ok()?.checked_sub(1)?;
    let column = column.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().ok()?;
    let before = text.split_inclusive('\n').take(line).map(|line| line.chars().count());
    Some(before.sum::<usize>() + column)
}

#[cfg(test)]
mod tests;
