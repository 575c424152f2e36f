//! Answers of Gadus and of a peer as text, and when two values agree.
//!
//! - Integers, decimals, dates and texts are equal to the last digit; zeros at the end of a decimal
//!   do not count.
//! - What either gives as a double, averages and quotients, differs by [`DIFFERENCE_MAX`] at most, or
//!   where Gadus gives a decimal by less than one of its last digit.

#[cfg(test)]
mod tests;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use gadus::Connection;
use serde_json::json;

use super::peers::Python;
use crate::failure::Failure;

/// What the order of additions may change, relative to the value.
const DIFFERENCE_MAX: f64 = 1e-9;

pub(super) type Rows = Vec<Vec<String>>;

/// How the answers to a query compare.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Rows of Gadus' answer.
    pub(super) rows: usize,
    /// What is different; nothing where the answers agree.
    pub(super) difference: Option<String>,
}

/// What the columns of an answer are, to both.
#[derive(Debug)]
pub(super) struct Kinds {
    /// What Gadus gives.
    pub(super) types: Vec<DataType>,
    /// Whether the peer gives a double.
    pub(super) double: Vec<bool>,
}

/// An answer of Gadus.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) schema: SchemaRef,
    pub(super) rows: Rows,
}

impl Kinds {
    /// Of the columns that Gadus gives, and that DuckDB would give to the same query.
    pub(super) fn of(answer: &Answer, duckdb: &mut Python, text: &str) -> Result<Self, Failure> {
        let described = ask_peer(duckdb, &format!("DESCRIBE {text}"))?;
        let types = answer.schema.fields().iter().map(|field| field.data_type().clone());
        let double = described.iter().map(|row| row[1] == "DOUBLE");
        Ok(Self { types: types.collect(), double: double.collect() })
    }

    pub(super) fn agree(&self, column: usize, own: &str, other: &str) -> bool {
        let kind = &self.types[column];
        if !kind.is_numeric() || own == other {
            return own == other;
        }
        if !(self.double[column] || kind.is_floating()) {
            return without_zeros(own) == without_zeros(other);
        }
        let (Ok(own), Ok(other)) = (own.parse::<f64>(), other.parse::<f64>()) else {
            return false;
        };
        let last_digit = match kind {
            DataType::Decimal128(_, scale) => 10_f64.powi(-i32::from(*scale)),
            _ => 0.0,
        };
        (own - other).abs() <= last_digit.max(DIFFERENCE_MAX * other.abs())
    }

    /// Whether two rows agree in all of these columns.
    pub(super) fn rows_agree(&self, own: &[String], other: &[String]) -> bool {
        (0..self.types.len()).all(|column| self.agree(column, &own[column], &other[column]))
    }
}

/// Asks Gadus; what it refuses is a difference.
pub(super) fn ask_gadus(
    connection: &Connection,
    text: &str,
) -> Result<Result<Answer, Comparison>, Failure> {
    let answered = connection.query(text, &[]).and_then(|rows| {
        let schema = rows.schema().clone();
        Ok((schema, rows.collect_batches()?))
    });
    match answered {
        Ok((schema, batches)) => Ok(Ok(Answer { schema, rows: texts(&batches)? })),
        Err(error) => {
            let difference = Some(format!("refused by gadus: {error}"));
            Ok(Err(Comparison { rows: 0, difference }))
        }
    }
}

pub(super) fn ask_peer(peer: &mut Python, sql: &str) -> Result<Rows, Failure> {
    let answer = peer.ask(&json!({ "do": "query", "sql": sql, "times": 1 }))?;
    serde_json::from_value(answer["rows"].clone())
        .map_err(|error| Failure::message(format!("{answer}: {error}")))
}

/// A number without the zeros that end its fraction.
fn without_zeros(number: &str) -> &str {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.')
}

/// Values as Python writes them, but for zeros of decimals.
pub(super) fn texts(batches: &[RecordBatch]) -> Result<Rows, ArrowError> {
    let options = FormatOptions::new().with_display_error(false).with_null("NULL");
    let options = options.with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"));
    let mut rows = Vec::new();
    for batch in batches {
        let columns = batch.columns().iter();
        let columns = columns
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
            .collect::<Result<Vec<_>, ArrowError>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| column.value(row).try_to_string());
            rows.push(cells.collect::<Result<_, ArrowError>>()?);
        }
    }
    Ok(rows)
}
