//! Some of a column's values, by which one guesses how many rows pass a test.

use crate::encoding::Column;
use crate::types::Datum;

/// Rows that are drawn, spread over the segment.
const ROWS: usize = 512;

/// Bytes of a value that are kept, as samples stay in memory: longer ones count as equal where they begin alike.
const VALUE_BYTES_MAX: usize = 256;

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
            cut(value)
        });
        let (nulls, mut values): (Vec<_>, Vec<_>) = drawn.partition(Datum::is_null);
        values.sort_unstable();
        Self { values, nulls: nulls.len(), repeated }
    }
}

fn cut(value: Datum) -> Datum {
    match value {
        Datum::Bytes(bytes) if bytes.len() > VALUE_BYTES_MAX => {
            Datum::Bytes(bytes[..VALUE_BYTES_MAX].into())
        }
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::{Sample, VALUE_BYTES_MAX};
    use crate::encoding::{Column, encode};
    use crate::types::{Datum, StorageClass};
    use crate::vector::Vector;
    use arrow::buffer::Buffer;

    #[test]
    fn a_sample_of_large_values_is_small() {
        let mut vector = Vector::empty(StorageClass::Bytes);
        for row in 0..600_u32 {
            let text = row.to_string().repeat(10_000);
            vector.push(&Datum::Bytes(text.as_bytes().into()));
        }
        let (mut values, validity) = vector.into_owned();
        let blob = encode(&mut values, validity.as_ref()).blob;
        let opened = Column::open(StorageClass::Bytes, false, &Buffer::from(blob.as_slice()));
        let sample = Sample::of(&opened.unwrap());
        let bytes = sample.values.iter().map(Datum::heap_bytes).sum::<usize>();
        assert_eq!((sample.values.len(), sample.repeated), (300, 0));
        assert!(bytes <= 300 * (VALUE_BYTES_MAX + 16), "{bytes}");
    }
}
