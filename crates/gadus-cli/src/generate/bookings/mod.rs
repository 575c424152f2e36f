//! The airline's bookings: a wide, skewed and correlated table, of any size, from a seed.
//!
//! - A row follows from (rows, seed, its index): batches and threads may cut the table anywhere.
//! - The record locator, the primary key, is unique and computable from the index.
//! - Prices are in euro cents, whatever the currency they were paid in, so that sums mean something.

#![allow(
    clippy::cast_possible_truncation,
    reason = "every cast number is bounded by a constant or a list's length, see where it is drawn"
)]

mod columns;
mod fare;
mod locator;
mod passenger;
mod row;
mod text;

mod world;

#[cfg(test)]
mod tests;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::Table;

/// The most rows for which record locators are unique.
pub(crate) const ROWS_MAX: u64 = locator::ROWS_MAX;

/// A table of bookings.
#[derive(Debug)]
pub(crate) struct Bookings {
    rows: u64,
    schema: SchemaRef,
    source: row::Source,
}

impl Bookings {
    /// `rows` bookings, at most [`ROWS_MAX`], drawn by `seed`.
    pub(crate) fn new(rows: u64, seed: u64) -> Self {
        assert!(rows <= ROWS_MAX, "record locators are unique up to {ROWS_MAX} rows");
        Self { rows, schema: columns::schema(), source: row::Source::new(rows, seed) }
    }

    /// The statement that creates the table; the types of [`Self::schema`] fit it.
    pub(crate) fn create_table() -> String {
        columns::create_table()
    }

    /// The schema of every batch.
    pub(crate) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The rows from `first_row`, at most `rows`, fewer at the table's end.
    pub(crate) fn batch(&self, first_row: u64, rows: usize) -> RecordBatch {
        let end = first_row.saturating_add(rows as u64).min(self.rows);
        let first_row = first_row.min(end);
        let mut columns = columns::Columns::with_capacity((end - first_row) as usize);
        for index in first_row..end {
            columns.push(&self.source.row(index));
        }
        columns.finish(self.schema(), self.source.pool())
    }

    /// The whole table, in batches of `batch_rows`.
    pub(crate) fn into_table(self, batch_rows: usize) -> Table {
        Table {
            name: columns::NAME,
            create_table: Self::create_table(),
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
