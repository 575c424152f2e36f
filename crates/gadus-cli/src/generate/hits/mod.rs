//! ClickBench's table `hits`: its 105 columns, of our own making, of any size, from a seed.
//!
//! - A row follows from (rows, seed, its index): batches and threads may cut the table anywhere.
//! - Rows come in the order of time, as a web server writes them: July of 2013, busier by day.
//! - As skewed as visits of sites are, and of the kind that the benchmark's queries ask for: its
//!   constants (a counter, a visitor, two pages) occur, and its filters keep about the shares that
//!   they keep of the original. Counts that a query demands are met from a million rows on.

#![allow(
    clippy::cast_possible_truncation,
    reason = "every cast number is bounded by a constant or a list's length, see where it is drawn"
)]

mod columns;
pub(crate) mod queries;
mod row;
mod site;
mod visitor;
mod words;

#[cfg(test)]
mod tests;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::Table;

/// The name of the table.
pub(crate) const NAME: &str = "hits";

/// The most rows: a row per microsecond of the month would still have its place.
pub(crate) const ROWS_MAX: u64 = 10_000_000_000;

/// A table of hits.
#[derive(Debug)]
pub(crate) struct Hits {
    rows: u64,
    schema: SchemaRef,
    source: row::Source,
}

impl Hits {
    /// `rows` hits, at most [`ROWS_MAX`], drawn by `seed`.
    pub(crate) fn new(rows: u64, seed: u64) -> Self {
        assert!(rows <= ROWS_MAX, "at most {ROWS_MAX} rows");
        Self { rows, schema: columns::schema(), source: row::Source::new(rows, seed) }
    }

    /// The schema of every batch.
    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The rows from `first_row`, at most `rows`, fewer at the table's end.
    pub(crate) fn batch(&self, first_row: u64, rows: usize) -> RecordBatch {
        let end = first_row.saturating_add(rows as u64).min(self.rows);
        let hits = (first_row.min(end)..end).map(|index| self.source.hit(index));
        columns::batch(self.schema(), &hits.collect::<Vec<_>>())
    }

    /// The whole table, in batches of `batch_rows`.
    pub(crate) fn into_table(self, batch_rows: usize) -> Table {
        Table {
            name: NAME,
            create_table: columns::create_table(),
            schema: self.schema(),
            rows: self.rows,
            batches: Box::new(
                (0..self.rows)
                    .step_by(batch_rows)
                    .map(move |first| Ok(self.batch(first, batch_rows))),
            ),
        }
    }
}
