//! Errors of statements that the planner refuses, in PostgreSQL's words.

use super::{BinderCatalog, query_of};
use crate::error::{from_datafusion, unsupported};
use crate::room::with_room;
use datafusion::error::DataFusionError;
use gadus_binder::{BindError, bind_query};
use gadus_engine::{Diagnosis, Error, ErrorKind, Reason};
use gadus_syntax::{SyntaxErrorKind, parse_statement};

/// Says which functions the planner has besides those of the binder's catalog.
pub(crate) trait KnownFunctions {
    /// Returns true if there is a function of this name.
    fn has_function(&self, name: &str) -> bool;
}

/// Returns the error of a text that is no statement, by PostgreSQL's grammar if that refuses it, too.
pub(crate) fn diagnosed_syntax(error: Error, text: &str) -> Error {
    if error.reason() != Some(Reason::Syntax) {
        return error;
    }
    match with_room(true, || parse_statement(text).err()) {
        Some(found) if found.kind == SyntaxErrorKind::Syntax => {
            from_bind(found.into()).of_kind(error.kind())
        }
        _ => error,
    }
}

/// Returns the error of a query that the planner refused, by analysis if that refuses it, too.
pub(crate) fn diagnosed(
    error: Error,
    text: &str,
    catalog: impl FnOnce() -> Option<BinderCatalog>,
    functions: &dyn KnownFunctions,
) -> Error {
    let bound = || {
        let query = query_of(parse_statement(text).ok()?.statement)?;
        Some(bind_query(&catalog()?, &query, &[]).err())
    };
    // Relations may have become others since the query was planned.
    let is_of_relations = matches!(
        error.reason(),
        Some(Reason::UnknownTable | Reason::UnknownColumn | Reason::AmbiguousColumn)
    );
    match with_room(true, bound) {
        // The query is right: the planner of texts does not know all of it.
        Some(None) if !is_of_relations => without_plan(),
        Some(None) => error,
        Some(Some(found)) if explains(&found, &error, functions) => {
            let kind = match error.kind() {
                ErrorKind::Unsupported => ErrorKind::Input,
                kind => kind,
            };
            from_bind(found).of_kind(kind)
        }
        _ => error,
    }
}

/// Returns the error of a bound query of which no plan could be made: PostgreSQL's where values are at fault.
pub(crate) fn not_planned(error: DataFusionError) -> Error {
    let error = from_datafusion(error);
    match is_of_planning(&error) || error.kind() == ErrorKind::Unsupported {
        true => without_plan(),
        false => error,
    }
}

/// Returns the error of a query that is right, and of which no plan is made.
fn without_plan() -> Error {
    let hint = "EXPLAIN (BOUND) shows the query as it is understood, and names the part.";
    unsupported("a part of this query")
        .diagnosed(Diagnosis { hint: Some(hint.to_owned()), ..Diagnosis::default() })
}

/// Returns true for errors about a statement's names and types that have no position yet.
pub(crate) fn is_of_planning(error: &Error) -> bool {
    let has_position = error.diagnosis().is_some_and(|known| known.position.is_some());
    !has_position
        && matches!(
            error.reason(),
            Some(
                Reason::UnknownTable
                    | Reason::UnknownColumn
                    | Reason::AmbiguousColumn
                    | Reason::DuplicateColumn
                    | Reason::UnknownFunction
                    | Reason::TypeMismatch
                    | Reason::CannotCast
                    | Reason::Unplannable
            )
        )
}

/// Returns true if the binder's error is about what the planner refused, too: not about things that only the planner
/// knows.
fn explains(found: &BindError, error: &Error, functions: &dyn KnownFunctions) -> bool {
    match found.sql_state {
        // Features and limits of the binder alone.
        "0A000" | "54001" | "54011" => false,
        // A system table or a file.
        "42P01" if found.message.starts_with("relation") => {
            error.reason() == Some(Reason::UnknownTable)
        }
        // A type of Gadus alone.
        "42704" => false,
        "42883" => match &found.function {
            Some(name) => !functions.has_function(name),
            None => true,
        },
        _ => true,
    }
}

/// Turns an error of the binder into the engine's.
pub(crate) fn from_bind(error: BindError) -> Error {
    let BindError { sql_state, message, detail, hint, span, .. } = error;
    let kind = match sql_state {
        "0A000" => ErrorKind::Unsupported,
        "42P01" | "42704" => ErrorKind::NotFound,
        "22003" | "22008" | "22012" | "22015" => ErrorKind::OutOfRange,
        "54001" | "54011" | "54023" => ErrorKind::Limit,
        _ => ErrorKind::Input,
    };
    let position = span.map(|span| span.start as usize);
    let error = Error::new(kind, message);
    let error = match reason(sql_state) {
        Some(reason) => error.because(reason),
        None => error,
    };
    error.diagnosed(Diagnosis { sql_state: Some(sql_state), detail, hint, position })
}

fn reason(sql_state: &str) -> Option<Reason> {
    Some(match sql_state {
        "42601" => Reason::Syntax,
        "42P01" => Reason::UnknownTable,
        "42703" => Reason::UnknownColumn,
        "42702" => Reason::AmbiguousColumn,
        "42701" => Reason::DuplicateColumn,
        "42804" => Reason::TypeMismatch,
        "428C9" => Reason::GeneratedAlways,
        "42846" => Reason::CannotCast,
        "42883" => Reason::UnknownFunction,
        "22P02" => Reason::InvalidText,
        "22007" => Reason::InvalidDatetime,
        "22008" => Reason::DatetimeOverflow,
        "22012" => Reason::DivisionByZero,
        "22015" => Reason::IntervalOverflow,
        _ => return None,
    })
}
