//! Encoded columns: the blobs of closed segments.
//!
//! - A blob is free of pointers and used in place: opening it checks every length and code once,
//!   decodes nothing and copies nothing but 128-bit values.
//! - The encoding is chosen for each blob by its size and the cost of scanning it.
//! - NULL slots hold an arbitrary value of the column; validity is kept apart.
//!
//! Byte table of a column blob (version 1):
//!
//! | offset | type | content |
//! |---|---|---|
//! | 0 | u8 | version |
//! | 1 | u8 | storage class: 0 integer, 1 wide, 2 float, 3 bytes |
//! | 2 | u8 | encoding: 0 plain, 1 dictionary, 2 runs |
//! | 3 | u8 | 1 when a validity bitmap follows |
//! | 4 | u32 | rows |
//! | 8 | u32 | NULLs |
//! | 12 | u32 | zero |
//! | 16 | | validity: one bit a row, padded to 8 bytes |
//! | | | plain: values; dictionary: sorted distinct values, then packed codes; runs: packed ends (exclusive), then values |
//!
//! Version ladder: 1 is the first; a reader refuses versions that it does not know.

mod bits;
mod choose;
mod distinct;
mod packed;
mod prefetch;
mod section;
mod values;

pub(crate) use choose::{EncodedColumn, OwnedValues, encode};
pub(crate) use distinct::hash_bytes;
pub(crate) use packed::{Packed, PackedReader};
pub(crate) use section::Sections;
pub(crate) use values::{ByteValues, Values};

use crate::segment::SEGMENT_ROWS_MAX;
use crate::types::{Datum, StorageClass};
use arrow::buffer::{BooleanBuffer, Buffer};
use gadus_base::DecodeError;

const VERSION: u8 = 1;

/// An opened column blob.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) rows: usize,
    pub(crate) validity: Option<BooleanBuffer>,
    pub(crate) body: Body,
    /// Size of the blob, for the cache's accounts.
    pub(crate) bytes: usize,
}

/// How a blob's values are kept.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// One value for each row.
    Plain(Values),
    /// Sorted distinct values and a code for each row.
    Dictionary { values: Values, codes: Packed },
    /// The exclusive end of each run of equal values, and its value.
    Runs { ends: Packed, values: Values },
}

impl Column {
    /// Opens a blob; `text` asks for UTF-8 to be checked.
    pub(crate) fn open(
        class: StorageClass,
        text: bool,
        buffer: &Buffer,
    ) -> Result<Self, DecodeError> {
        let mut from = Sections::new(buffer);
        let wrong = |offset, expected| Err(DecodeError { offset, expected });
        if from.u8()? != VERSION {
            return wrong(0, "a column blob of version 1");
        }
        if from.u8()? != class as u8 {
            return wrong(1, "the column's storage class");
        }
        let encoding = from.u8()?;
        let has_validity = from.u8()? != 0;
        let rows = from.u32()? as usize;
        if rows > SEGMENT_ROWS_MAX as usize {
            return wrong(4, "no more rows than a segment has");
        }
        from.u32()?;
        from.u32()?;
        let validity = if has_validity {
            let bits = from.bytes(rows.div_ceil(8))?;
            from.align()?;
            Some(BooleanBuffer::new(bits, 0, rows))
        } else {
            None
        };
        let offset = from.offset();
        let body = match encoding {
            0 => Body::Plain(Values::read(class, &mut from)?),
            1 => Body::Dictionary {
                values: Values::read(class, &mut from)?,
                codes: Packed::read(&mut from)?,
            },
            2 => Body::Runs {
                ends: Packed::read(&mut from)?,
                values: Values::read(class, &mut from)?,
            },
            _ => return wrong(2, "an encoding"),
        };
        let column = Self { rows, validity, body, bytes: buffer.len() };
        column.check(text, offset)?;
        Ok(column)
    }

    /// The value of one row.
    pub(crate) fn datum(&self, row: usize) -> Datum {
        if self.validity.as_ref().is_some_and(|valid| !valid.value(row)) {
            return Datum::Null;
        }
        match &self.body {
            Body::Plain(values) => values.datum(row),
            Body::Dictionary { values, codes } => values.datum(code_index(codes.get(row))),
            Body::Runs { ends, values } => values.datum(run_of(ends, row)),
        }
    }

    /// Has the processor fetch where a row's value, or its offset, is to be read.
    pub(crate) fn prefetch(&self, row: usize) {
        match &self.body {
            Body::Plain(Values::Integer(packed)) | Body::Dictionary { codes: packed, .. } => {
                packed.prefetch(row);
            }
            Body::Plain(Values::Float(values)) => prefetch::prefetch(values, row),
            Body::Plain(Values::Bytes(values)) => values.prefetch_offset(row),
            Body::Plain(_) | Body::Runs { .. } => {}
        }
    }

    /// Has the processor fetch a row's value, once its offset is there; only byte strings have one.
    pub(crate) fn prefetch_value(&self, row: usize) {
        if let Body::Plain(Values::Bytes(values)) = &self.body
            && row < self.rows
        {
            values.prefetch(row);
        }
    }

    /// Its packed integers, or codes, where it has one for each row.
    pub(crate) fn packed(&self) -> Option<&Packed> {
        match &self.body {
            Body::Dictionary { codes: packed, .. } | Body::Plain(Values::Integer(packed)) => {
                Some(packed)
            }
            _ => None,
        }
    }

    /// Bits of a code for each row, where equal codes mean equal values: of its packed integers or codes,
    /// or of the number of a run.
    pub(crate) fn code_bits(&self) -> Option<u8> {
        match &self.body {
            Body::Runs { ends, .. } => Some(bits::width_of(ends.count() as u64)),
            _ => self.packed().map(Packed::width),
        }
    }

    /// How many rows are NULL.
    pub(crate) fn null_count(&self) -> usize {
        self.validity.as_ref().map_or(0, |valid| self.rows - valid.count_set_bits())
    }

    /// Checks once what every later access relies on.
    fn check(&self, text: bool, offset: usize) -> Result<(), DecodeError> {
        let wrong = |expected| Err(DecodeError { offset, expected });
        let values = match &self.body {
            Body::Plain(values) => {
                if values.count() != self.rows {
                    return wrong("one value for each row");
                }
                values
            }
            Body::Dictionary { values, codes } => {
                let count = i64::try_from(values.count()).unwrap_or(i64::MAX);
                if codes.count() != self.rows {
                    return wrong("a code for each row");
                }
                let mut within = true;
                codes.for_each(0, codes.count(), |code| within &= (0..count).contains(&code));
                if !within {
                    return wrong("codes within the dictionary");
                }
                values
            }
            Body::Runs { ends, values } => {
                let mut previous = 0;
                let mut rising = ends.count() == values.count();
                ends.for_each(0, ends.count(), |end| {
                    rising &= end > previous;
                    previous = end;
                });
                if !rising || usize::try_from(previous).ok() != Some(self.rows) {
                    return wrong("rising run ends up to the rows");
                }
                values
            }
        };
        match values {
            Values::Bytes(bytes) if text => check_text(bytes, offset),
            _ => Ok(()),
        }
    }
}

/// UTF-8 as a whole, and no value that begins within a character.
fn check_text(values: &ByteValues, offset: usize) -> Result<(), DecodeError> {
    let wrong = DecodeError { offset, expected: "UTF-8 text" };
    let text = std::str::from_utf8(values.data().as_slice()).map_err(|_| wrong.clone())?;
    let mut whole = true;
    values.for_each_span(0, values.count(), |start, _| whole &= text.is_char_boundary(start));
    if whole { Ok(()) } else { Err(wrong) }
}

/// A dictionary code as an index; codes were checked when the blob was opened.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(crate) fn code_index(code: i64) -> usize {
    code as usize
}

/// The run that holds a row.
pub(crate) fn run_of(ends: &Packed, row: usize) -> usize {
    let row = i64::try_from(row).expect("a row within a segment");
    partition_point(0..ends.count(), |run| ends.get(run) <= row)
}

/// The first of some indexes that does not stand before what is looked for.
pub(crate) fn partition_point(
    range: std::ops::Range<usize>,
    is_before: impl Fn(usize) -> bool,
) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests;
