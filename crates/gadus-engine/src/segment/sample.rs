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
        let mut repeated = 0;
        let drawn = (0..column.rows).step_by(step).map(|row| {
            let value = column.datum(row);
            let next = (row + 1 < column.rows && !value.is_null()).then(|| column.datum(row + 1));
            repeated += usize::from(next.as_ref() == Some(&value));
            value
        });
        let (nulls, mut values): (Vec<_>, Vec<_>) = drawn.partition(Datum::is_null);
        values.sort_unstable();
        Self { values, nulls: nulls.len(), repeated }
    }
}
