//! Whether Gadus and DuckDB answer a query alike.
//!
//! - Rows come in the order of ORDER BY. Those that it leaves equal come in any order, and where they
//!   are the last before a LIMIT, any of them do.

#[cfg(test)]
mod tests;

use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use gadus::Connection;

use super::super::answers::{Answer, Comparison, Kinds, Rows, ask_gadus, ask_peer};
use super::super::peers::Python;
use crate::failure::Failure;
use crate::generate::tpch::queries::Query;

/// An answer's columns.
#[derive(Debug)]
struct Columns {
    kinds: Kinds,
    /// Those of ORDER BY.
    ordering: Vec<usize>,
    /// Whether the last rows may be others of the same order.
    limited: bool,
}

/// Asks both.
pub(super) fn compare(
    connection: &Connection,
    peer: &mut Python,
    query: &Query,
) -> Result<Comparison, Failure> {
    let own = match ask_gadus(connection, &query.text)? {
        Ok(answer) => answer,
        Err(refused) => return Ok(refused),
    };
    let other = ask_peer(peer, &query.text)?;
    let columns = Columns {
        kinds: Kinds::of(&own, peer, &query.text)?,
        ordering: ordering(&query.text, &own.schema)?,
        limited: query.text.contains("\nLIMIT "),
    };
    Ok(Comparison { rows: own.rows.len(), difference: columns.difference(&own.rows, &other) })
}

/// What differs between two answers of Gadus.
pub(in super::super) fn difference(
    query: &Query,
    own: &Answer,
    other: &Rows,
) -> Result<Option<String>, Failure> {
    let types = own.schema.fields().iter().map(|field| field.data_type().clone());
    let types = types.collect::<Vec<_>>();
    let columns = Columns {
        kinds: Kinds { double: vec![false; types.len()], types },
        ordering: ordering(&query.text, &own.schema)?,
        limited: query.text.contains("\nLIMIT "),
    };
    Ok(columns.difference(&own.rows, other))
}

impl Columns {
    fn difference(&self, own: &Rows, other: &Rows) -> Option<String> {
        if own.len() != other.len() {
            return Some(format!("gadus has {} rows, duckdb {}", own.len(), other.len()));
        }
        let all = (0..self.kinds.types.len()).collect::<Vec<_>>();
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
            let agrees = |&column: &usize| self.kinds.agree(column, &own[column], &other[column]);
            (!compared.iter().all(agrees))
                .then(|| format!("gadus has {}, duckdb {}", own.join("|"), other.join("|")))
        })
    }
}

/// The columns that the rows of a query are ordered by.
fn ordering(text: &str, schema: &Schema) -> Result<Vec<usize>, ArrowError> {
    let Some((_, after)) = text.rsplit_once("\nORDER BY ") else { return Ok(Vec::new()) };
    let names = after.lines().next().unwrap_or_default().split(", ");
    names.map(|name| schema.index_of(name.trim_end_matches(" DESC"))).collect()
}
