//! Errors of planning and running, in the engine's kinds.

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use gadus_engine::{Diagnosis, Error, ErrorKind, Reason, UUID};
use std::error::Error as StdError;
use std::io;
use std::ops::ControlFlow;

/// The error of a statement that DataFusion planned or ran.
pub(crate) fn from_datafusion(error: DataFusionError) -> Error {
    let root = error.find_root();
    if let DataFusionError::External(external) = root
        && let Some(error) = external.downcast_ref::<Error>()
    {
        return error.clone();
    }
    let kind = match root {
        // Of a subquery that does not depend on the row around it.
        DataFusionError::Execution(text) if text.starts_with("Scalar subquery returned more") => {
            return several_rows();
        }
        DataFusionError::Execution(text) if text.starts_with("negative count not allowed") => {
            return coded("22011", "negative substring length not allowed");
        }
        DataFusionError::ArrowError(arrow, _) => return Error::from_arrow(arrow),
        DataFusionError::SQL(..) | DataFusionError::Plan(_) | DataFusionError::SchemaError(..) => {
            ErrorKind::Input
        }
        DataFusionError::NotImplemented(_) => ErrorKind::Unsupported,
        DataFusionError::ResourcesExhausted(_) => ErrorKind::Limit,
        DataFusionError::IoError(io) => ErrorKind::of_system(io),
        DataFusionError::Internal(_) => ErrorKind::Internal,
        DataFusionError::ParquetError(_) | DataFusionError::ObjectStore(_) => ErrorKind::Io,
        _ => ErrorKind::Input,
    };
    let error = Error::new(kind, plain_text(root));
    match reason(root) {
        Some(reason) => error.because(reason),
        None => error,
    }
}

/// Returns the error of the system that led to another one, if any did.
pub(crate) fn error_of_system(error: &(dyn StdError + 'static)) -> Option<io::Error> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(code) = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Some(io::Error::from_raw_os_error(code));
        }
        next = cause.source();
    }
    None
}

/// How the planner begins the error of a function that refuses the types of its arguments.
const COERCION_FAILED: &str = "user-defined coercion failed with: External error: ";

/// What exactly a planner found wrong. It says some of it only in its text.
fn reason(root: &DataFusionError) -> Option<Reason> {
    match root {
        DataFusionError::SQL(..) => Some(Reason::Syntax),
        DataFusionError::SchemaError(error, _) => match **error {
            SchemaError::FieldNotFound { .. } => Some(Reason::UnknownColumn),
            SchemaError::AmbiguousReference { .. } => Some(Reason::AmbiguousColumn),
            _ => Some(Reason::Unplannable),
        },
        DataFusionError::Plan(text)
            if text.starts_with("Invalid function")
                || text.starts_with("Failed to coerce arguments")
                || text.contains(COERCION_FAILED) =>
        {
            Some(Reason::UnknownFunction)
        }
        DataFusionError::Plan(text)
            if text.starts_with("table '") && text.ends_with("not found") =>
        {
            Some(Reason::UnknownTable)
        }
        DataFusionError::Plan(_) | DataFusionError::NotImplemented(_) => Some(Reason::Unplannable),
        _ => None,
    }
}

/// The message without the planner's own words: its stages and the one catalog's name.
fn plain_text(root: &DataFusionError) -> String {
    let text = match root {
        DataFusionError::NotImplemented(message) if is_of_subquery(message) => {
            let what = "a subquery that depends on the row around it cannot stand here in this way";
            format!("{what}: join what it reads instead")
        }
        DataFusionError::Plan(message) if message.contains(COERCION_FAILED) => {
            let told = message.split_once(COERCION_FAILED).map_or(&**message, |(_, told)| told);
            told.split_once(". No function matches").map_or(told, |(told, _)| told).to_owned()
        }
        DataFusionError::Plan(message)
        | DataFusionError::Execution(message)
        | DataFusionError::NotImplemented(message)
        | DataFusionError::ResourcesExhausted(message) => message.clone(),
        other => other.strip_backtrace(),
    };
    text.replace("gadus.main.", "").replace(&UUID.to_string(), "UUID")
}

/// Whether the planner had a subquery left of which it had made no join.
fn is_of_subquery(message: &str) -> bool {
    let left = message.strip_prefix("Physical plan does not support logical expression ");
    let kinds = ["ScalarSubquery(", "Exists(", "InSubquery("];
    left.is_some_and(|expr| kinds.into_iter().any(|kind| expr.starts_with(kind)))
}

/// The error of text that is no statement.
pub(crate) fn from_parser(error: &ParserError) -> Error {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message.clone(),
        ParserError::RecursionLimitExceeded => {
            return limit("the statement is nested too deeply");
        }
    };
    Error::new(ErrorKind::Input, format!("syntax error: {message}")).because(Reason::Syntax)
}

/// An engine error on its way through DataFusion.
pub(crate) fn to_datafusion(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

pub(crate) fn input(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Input, message)
}

/// Returns an error of the statement or its values with an SQLSTATE.
pub(crate) fn coded(sql_state: &'static str, message: impl Into<String>) -> Error {
    with_code(input(message), sql_state)
}

/// Gives an error an SQLSTATE.
pub(crate) fn with_code(error: Error, sql_state: &'static str) -> Error {
    let sql_state = Some(sql_state);
    error.diagnosed(Diagnosis { sql_state, detail: None, hint: None, position: None })
}

/// The error of a subquery that gives several rows where a value is wanted.
pub(crate) fn several_rows() -> Error {
    input("more than one row returned by a subquery used as an expression")
        .because(Reason::SeveralRows)
}

/// Breaks off a visitor's way where something is wrong.
pub(crate) fn or_break<E>(result: Result<(), E>) -> ControlFlow<E> {
    result.map_or_else(ControlFlow::Break, ControlFlow::Continue)
}

pub(crate) fn limit(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Limit, message)
}

pub(crate) fn unsupported(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what} is not supported"))
}

/// Whether a statement that failed in a shared scan is to be carried out alone: its table has another
/// shape, somebody else has locked or changed one of its rows, or the scan's snapshot was given up.
pub(crate) fn is_for_alone(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Locked | ErrorKind::SnapshotTooOld)
}
