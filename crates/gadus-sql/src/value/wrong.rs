//! Errors of values that a column's type cannot hold, with PostgreSQL's texts and SQLSTATEs.

use super::is_text;
use crate::error::coded;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::util::display::FormatOptions;
use gadus_engine::{ColumnType, Error, ErrorKind};

/// Characters of a value that are shown.
const SHOWN_MAX: usize = 200;

/// SQLSTATEs of values.
const OUT_OF_RANGE: &str = "22003";
const INVALID_TEXT: &str = "22P02";
const INVALID_DATETIME: &str = "22007";

/// Returns the error of an array that cannot be cast to a column's type.
pub(super) fn wrong_value(array: &ArrayRef, column_type: ColumnType, error: &ArrowError) -> Error {
    let kind = match Error::from_arrow(error).kind() {
        ErrorKind::Internal => ErrorKind::Input,
        kind => kind,
    };
    let known = match is_text(array.data_type()) {
        true => first_wrong(array, column_type).and_then(|text| of_text(&text, column_type)),
        false if array.data_type().is_numeric() => of_number(column_type),
        false => None,
    };
    match known {
        Some((OUT_OF_RANGE, message)) => {
            coded(OUT_OF_RANGE, message).of_kind(ErrorKind::OutOfRange)
        }
        Some((sql_state, message)) => coded(sql_state, message).of_kind(kind),
        None => Error::new(kind, format!("a value does not fit {column_type}: {error}")),
    }
}

/// Returns the first text that is no value of the type.
fn first_wrong(texts: &ArrayRef, column_type: ColumnType) -> Option<String> {
    let options = CastOptions { safe: false, format_options: FormatOptions::default() };
    let target = column_type.arrow();
    let is_wrong =
        |row: &usize| cast_with_options(&texts.slice(*row, 1), &target, &options).is_err();
    let row = (0..texts.len()).find(is_wrong)?;
    let texts = cast(texts, &DataType::Utf8View).ok()?;
    let texts = texts.as_string_view();
    texts.is_valid(row).then(|| texts.value(row).to_owned())
}

/// Returns PostgreSQL's name of a type whose values are written as texts.
fn type_name(column_type: ColumnType) -> Option<&'static str> {
    Some(match column_type {
        ColumnType::Boolean => "boolean",
        ColumnType::Int16 => "smallint",
        ColumnType::Int32 => "integer",
        ColumnType::Int64 => "bigint",
        ColumnType::Float32 => "real",
        ColumnType::Float64 => "double precision",
        ColumnType::Decimal { .. } => "numeric",
        ColumnType::Date => "date",
        ColumnType::Time => "time",
        ColumnType::Timestamp => "timestamp",
        ColumnType::TimestampUtc => "timestamp with time zone",
        _ => return None,
    })
}

/// Returns SQLSTATE and message for a text.
fn of_text(text: &str, column_type: ColumnType) -> Option<(&'static str, String)> {
    let name = type_name(column_type)?;
    let shown = text.chars().take(SHOWN_MAX).collect::<String>();
    let trimmed = text.trim();
    let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = trimmed.parse::<f64>().is_ok_and(f64::is_finite);
    let syntax = format!("invalid input syntax for type {name}: \"{shown}\"");
    Some(match column_type {
        ColumnType::Int16 | ColumnType::Int32 | ColumnType::Int64 if is_integer => {
            (OUT_OF_RANGE, format!("value \"{shown}\" is out of range for type {name}"))
        }
        ColumnType::Float32 | ColumnType::Float64 if is_number => {
            (OUT_OF_RANGE, format!("\"{shown}\" is out of range for type {name}"))
        }
        ColumnType::Decimal { .. } if is_number => {
            (OUT_OF_RANGE, "numeric field overflow".to_owned())
        }
        ColumnType::Date | ColumnType::Time | ColumnType::Timestamp | ColumnType::TimestampUtc => {
            (INVALID_DATETIME, syntax)
        }
        _ => (INVALID_TEXT, syntax),
    })
}

/// Returns SQLSTATE and message for a number.
fn of_number(column_type: ColumnType) -> Option<(&'static str, String)> {
    let name = type_name(column_type)?;
    match column_type {
        ColumnType::Decimal { .. } => Some((OUT_OF_RANGE, "numeric field overflow".to_owned())),
        ColumnType::Int16
        | ColumnType::Int32
        | ColumnType::Int64
        | ColumnType::Float32
        | ColumnType::Float64 => Some((OUT_OF_RANGE, format!("{name} out of range"))),
        _ => None,
    }
}
