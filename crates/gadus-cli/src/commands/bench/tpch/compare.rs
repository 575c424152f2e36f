//! Whether Gadus and DuckDB answer a query alike.
//!
//! - Integers, decimals, dates and texts are equal to the last digit; zeros at the end of a decimal
//!   do not count.
//! - What DuckDB gives as a double, averages and quotients, differs by [`DIFFERENCE_MAX`] at most, or
//!   where Gadus gives a decimal by less than one of its last digit.
//! - Rows come in the order of ORDER BY. Those that it leaves equal come in any order, and where they
//!   are the last before a LIMIT, any of them do.

#[cfg(test)]
mod tests;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use gadus::Connection;
use serde_json::json;

use super::super::peers::Python;
use crate::failure::Failure;
use crate::generate::tpch::queries::Query;

/// What the order of additions may change, relative to the value.
const DIFFERENCE_MAX: f64 = 1e-9;

type Rows = Vec<Vec<String>>;

/// An answer's columns.
#[derive(Debug)]
struct Columns {
    /// What Gadus gives.
    types: Vec<DataType>,
    /// Whether DuckDB gives a double.
    double: Vec<bool>,
    /// Those of ORDER BY.
    ordering: Vec<usize>,
    /// Whether the last rows may be others of the same order.
    limited: bool,
}

/// How the answers to a query compare.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Rows of Gadus' answer.
    pub(super) rows: usize,
    /// What is different; nothing where the answers agree.
    pub(super) difference: Option<String>,
}

/// Asks both.
pub(super) fn compare(
    connection: &Connection,
    peer: &mut Python,
    query: &Query,
) -> Result<Comparison, Failure> {
    let own = connection.query(&query.text, &[]).and_then(|rows| {
        let schema = rows.schema().clone();
        Ok((schema, rows.collect_batches()?))
    });
    let (schema, batches) = match own {
        Ok(answered) => answered,
        Err(error) => {
            let difference = Some(format!("refused by gadus: {error}"));
            return Ok(Comparison { rows: 0, difference });
        }
    };
    let own = texts(&batches)?;
    let other = ask(peer, &query.text)?;
    let described = ask(peer, &format!("DESCRIBE {}", query.text))?;
    let columns = Columns {
        types: schema.fields().iter().map(|field| field.data_type().clone()).collect(),
        double: described.iter().map(|row| row[1] == "DOUBLE").collect(),
        ordering: ordering(&query.text, &schema)?,
        limited: query.text.contains("\nLIMIT "),
    };
    Ok(Comparison { rows: own.len(), difference: columns.difference(&own, &other) })
}

impl Columns {
    fn difference(&self, own: &Rows, other: &Rows) -> Option<String> {
        if own.len() != other.len() {
            return Some(format!("gadus has {} rows, duckdb {}", own.len(), other.len()));
        }
        let all = (0..self.types.len()).collect::<Vec<_>>();
        let mut at = 0;
        for group in
            own.chunk_by(|one, next| self.ordering.iter().all(|&key| one[key] == next[key]))
        {
            let same_place = &other[at..at + group.len()];
            at += group.len();
            let any = self.limited && at == own.len();
            let compared = if any { &self.ordering } else { &all };
            if let Some(difference) = self.difference_in(compared, group, same_place) {
                return Some(difference);
            }
        }
        None
    }

    /// Of rows that come in any order.
    fn difference_in(
        &self,
        compared: &[usize],
        own: &[Vec<String>],
        other: &[Vec<String>],
    ) -> Option<String> {
        let sorted = |rows: &[Vec<String>]| {
            let mut rows = rows.to_vec();
            rows.sort();
            rows
        };
        let pairs = sorted(own).into_iter().zip(sorted(other));
        pairs.into_iter().find_map(|(own, other)| {
            let agrees = |&column: &usize| self.agree(column, &own[column], &other[column]);
            (!compared.iter().all(agrees))
                .then(|| format!("gadus has {}, duckdb {}", own.join("|"), other.join("|")))
        })
    }

    fn agree(&self, column: usize, own: &str, other: &str) -> bool {
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
}

/// A number without the zeros that end its fraction.
fn without_zeros(number: &str) -> &str {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.')
}

/// The columns that the rows of a query are ordered by.
fn ordering(text: &str, schema: &Schema) -> Result<Vec<usize>, ArrowError> {
    let Some((_, after)) = text.rsplit_once("\nORDER BY ") else { return Ok(Vec::new()) };
    let names = after.lines().next().unwrap_or_default().split(", ");
    names.map(|name| schema.index_of(name.trim_end_matches(" DESC"))).collect()
}

fn ask(peer: &mut Python, sql: &str) -> Result<Rows, Failure> {
    let answer = peer.ask(&json!({ "do": "query", "sql": sql, "times": 1 }))?;
    serde_json::from_value(answer["rows"].clone())
        .map_err(|error| Failure::message(format!("{answer}: {error}")))
}

/// Values as the peer writes them, but for zeros of decimals.
fn texts(batches: &[RecordBatch]) -> Result<Rows, Failure> {
    let options = FormatOptions::new().with_display_error(false).with_null("NULL");
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
