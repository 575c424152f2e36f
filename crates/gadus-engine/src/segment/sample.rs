//! Some of a column's values, by which one guesses how many rows pass a test.

use crate::encoding::Column;
use crate::types::Datum;

/// Rows that are drawn, spread over the segment.
const ROWS: usize = 512;

/// Values of some rows of a column.
#[derive(Debug)]
pub(crate) struct Sample {
    /// In order, without NULLs.
    pub(crate) values: Vec<Datum>,
    pub(crate) nulls: usize,
    /// Of those, how many are followed by the same value in the next row.
    pub(crate) repeated: usize,
}

impl Sample {
    pub(crate) fn of(column: &Column) -> Self {
        let step = column.rows.div_ceil(ROWS).max(1);
        let drawn = (0..column.rows).step_by(step).map(|row| column.datum(row));
        let (nulls, mut values): (Vec<_>, Vec<_>) = drawn.partition(Datum::is_null);
        values.sort_unstable();
        let is_repeated = |row: &usize| {
            let value = column.datum(*row);
            row + 1 < column.rows && !value.is_null() && value == column.datum(row + 1)
        };
        let repeated = (0..column.rows).step_by(step).filter(is_repeated).count();
        Self { values, nulls: nulls.len(), repeated }
    }

    /// How many rows were drawn.
    pub(crate) fn rows(&self) -> usize {
        self.values.len() + self.nulls
    }
}
