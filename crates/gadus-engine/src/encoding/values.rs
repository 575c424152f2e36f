//! The values of a column blob, of a dictionary or of runs: one of four storage classes.
//!
//! Byte tables, each section starting at a multiple of eight bytes:
//! - integer: a packed sequence.
//! - wide: base i128 | form u32 (0 packed distances, 1 raw) | zero u32 | packed sequence, or
//!   count u32, zero u32, i128 × count.
//! - float: count u32 | zero u32 | f64 × count.
//! - bytes: slope u32 | data length u32 | offsets less index × slope, packed, count + 1 of them |
//!   data. Values of one length need no bits for their offsets.

use super::packed::Packed;
use super::partition_point;
use super::prefetch::prefetch;
use super::section::Sections;
use crate::types::{Datum, StorageClass};
use arrow::buffer::{Buffer, ScalarBuffer};
use gadus_base::{ByteWriter, DecodeError};
use std::ops::Range;
use std::sync::Arc;

/// Immutable values, used in place.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    Integer(Packed),
    WidePacked { base: i128, distances: Packed },
    WideRaw(ScalarBuffer<i128>),
    Float(ScalarBuffer<f64>),
    Bytes(ByteValues),
}

/// Byte strings behind one another.
#[derive(Debug, Clone)]
pub(crate) struct ByteValues {
    slope: i64,
    offsets: Packed,
    data: Buffer,
}

/// Plain values about to be encoded.
#[derive(Debug)]
pub(crate) enum PlainValues<'a> {
    Integer(&'a [i64]),
    Wide(&'a [i128]),
    Float(&'a [f64]),
    Bytes(Vec<&'a [u8]>),
}

impl Values {
    pub(crate) fn write(to: &mut ByteWriter, values: &PlainValues<'_>) {
        match values {
            PlainValues::Integer(values) => Packed::write_slice(to, values),
            PlainValues::Wide(values) => write_wide(to, values),
            PlainValues::Float(values) => {
                to.u32(count_u32(values.len()));
                to.u32(0);
                to.raw(bytemuck::cast_slice(values));
            }
            PlainValues::Bytes(values) => write_bytes(to, values),
        }
        to.pad_to(8);
    }

    pub(crate) fn read(class: StorageClass, from: &mut Sections<'_>) -> Result<Self, DecodeError> {
        let values = match class {
            StorageClass::Integer => Self::Integer(Packed::read(from)?),
            StorageClass::Wide => read_wide(from)?,
            StorageClass::Float => {
                let count = from.u32()? as usize;
                from.u32()?;
                Self::Float(from.words(count)?)
            }
            StorageClass::Bytes => Self::Bytes(ByteValues::read(from)?),
        };
        from.align()?;
        Ok(values)
    }

    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Integer(packed) | Self::WidePacked { distances: packed, .. } => packed.count(),
            Self::WideRaw(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Bytes(values) => values.count(),
        }
    }

    pub(crate) fn datum(&self, index: usize) -> Datum {
        match self {
            Self::Integer(packed) => Datum::Integer(packed.get(index)),
            Self::WidePacked { .. } | Self::WideRaw(_) => Datum::Wide(Box::new(self.wide(index))),
            Self::Float(values) => Datum::Float(values[index]),
            Self::Bytes(values) => Datum::Bytes(Arc::from(values.get(index))),
        }
    }

    /// The first of sorted values in a range that is not less than another; whether it is that.
    pub(crate) fn search(&self, range: Range<usize>, other: &Datum) -> (usize, bool) {
        let is_less = |index: usize| self.compare(index, other).is_lt();
        let (end, place) = (range.end, partition_point(range, is_less));
        (place, place < end && self.compare(place, other).is_eq())
    }

    /// Which of sorted values in a range are equal to another; where none is, the place that it would have.
    pub(crate) fn equal_range(&self, range: Range<usize>, other: &Datum) -> Range<usize> {
        let (start, _) = self.search(range.clone(), other);
        let mut end = start;
        // At most one, unless they are doubles: zero has a sign.
        while end < range.end && self.compare(end, other).is_eq() {
            end += 1;
        }
        start..end
    }

    /// How a value compares with one of the same class.
    fn compare(&self, index: usize, other: &Datum) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Bytes(values), Datum::Bytes(other)) => values.get(index).cmp(other),
            _ => self.datum(index).cmp(other),
        }
    }

    /// A value of the wide class.
    pub(crate) fn wide(&self, index: usize) -> i128 {
        match self {
            Self::WidePacked { base, distances } => {
                base.wrapping_add(i128::from(distances.get(index).cast_unsigned()))
            }
            Self::WideRaw(values) => values[index],
            _ => unreachable!("asked of a wide column only"),
        }
    }
}

impl ByteValues {
    fn read(from: &mut Sections<'_>) -> Result<Self, DecodeError> {
        let slope = i64::from(from.u32()?);
        let length = from.u32()? as usize;
        let offset = from.offset();
        let offsets = Packed::read(from)?;
        let data = from.bytes(length)?;
        let values = Self { slope, offsets, data };
        // Every later access relies on offsets that rise and stay within the data.
        let mut previous = 0;
        let mut index = 0;
        let mut rising = values.offsets.count() > 0;
        values.offsets.for_each(0, values.offsets.count(), |deviation| {
            let offset = deviation.wrapping_add(slope.wrapping_mul(index));
            rising &= offset >= previous;
            previous = offset;
            index += 1;
        });
        if !rising || usize::try_from(previous).ok() != Some(length) {
            return Err(DecodeError { offset, expected: "rising offsets within the data" });
        }
        Ok(values)
    }

    pub(crate) fn count(&self) -> usize {
        self.offsets.count() - 1
    }

    pub(crate) fn data(&self) -> &Buffer {
        &self.data
    }

    #[allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn offset(&self, index: usize) -> usize {
        // Checked when the blob was opened: offsets lie within the data.
        (self.offsets.get(index) + self.slope * index as i64) as usize
    }

    /// Start and length of a value within the data.
    pub(crate) fn span(&self, index: usize) -> (usize, usize) {
        let start = self.offset(index);
        (start, self.offset(index + 1) - start)
    }

    /// Has the processor fetch where a value lies.
    pub(super) fn prefetch_offset(&self, index: usize) {
        self.offsets.prefetch(index);
    }

    /// Has the processor fetch the beginning of a value.
    pub(super) fn prefetch(&self, index: usize) {
        prefetch(self.data.as_slice(), self.span(index).0);
    }

    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let (start, length) = self.span(index);
        &self.data.as_slice()[start..start + length]
    }

    /// Where the values from `first` on begin, and with the last offset where the one before it ends.
    #[allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]
    pub(crate) fn offsets(&self, first: usize, to: &mut [u64]) {
        self.offsets.distances(first, to);
        let (base, slope) = (self.offsets.base(), self.slope);
        // Checked when the blob was opened: offsets are not negative.
        for (slot, index) in to.iter_mut().zip(first as i64..) {
            *slot = (base + slot.cast_signed() + slope * index).cast_unsigned();
        }
    }

    /// Hands start and length of the values `first .. first + count` to `each`.
    #[allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn for_each_span(
        &self,
        first: usize,
        count: usize,
        mut each: impl FnMut(usize, usize),
    ) {
        let mut start = self.offset(first);
        let mut index = first as i64 + 1;
        self.offsets.for_each(first + 1, count, |deviation| {
            let end = (deviation + self.slope * index) as usize;
            each(start, end - start);
            start = end;
            index += 1;
        });
    }
}

fn count_u32(count: usize) -> u32 {
    u32::try_from(count).expect("a segment has fewer than 2^32 values")
}

fn write_wide(to: &mut ByteWriter, values: &[i128]) {
    let min = values.iter().copied().min().unwrap_or(0);
    let max = values.iter().copied().max().unwrap_or(0);
    to.i128(min);
    match max.checked_sub(min).and_then(|range| i64::try_from(range).ok()) {
        Some(range) => {
            to.u32(0);
            to.u32(0);
            let distances =
                values.iter().map(|value| i64::try_from(value - min).expect("within the range"));
            Packed::write(to, distances, 0, range);
        }
        None => {
            to.u32(1);
            to.u32(0);
            to.u32(count_u32(values.len()));
            to.u32(0);
            to.raw(bytemuck::cast_slice(values));
        }
    }
}

fn read_wide(from: &mut Sections<'_>) -> Result<Values, DecodeError> {
    let base = from.i128()?;
    let offset = from.offset();
    let form = from.u32()?;
    from.u32()?;
    match form {
        0 => Ok(Values::WidePacked { base, distances: Packed::read(from)? }),
        1 => {
            let count = from.u32()? as usize;
            from.u32()?;
            // The section is aligned to eight bytes only: a copy gives 128-bit words their own.
            let words = from.words::<u64>(count.saturating_mul(2))?;
            let wides = words
                .chunks_exact(2)
                .map(|pair| (i128::from(pair[1].cast_signed()) << 64) | i128::from(pair[0]))
                .collect::<Vec<_>>();
            Ok(Values::WideRaw(wides.into()))
        }
        _ => Err(DecodeError { offset, expected: "a form of wide values" }),
    }
}

#[allow(clippy::cast_possible_wrap)] // lengths of one blob stay below 2^32
fn write_bytes(to: &mut ByteWriter, values: &[&[u8]]) {
    let length = values.iter().map(|value| value.len()).sum::<usize>();
    let slope = length / values.len().max(1);
    to.u32(count_u32(slope));
    to.u32(count_u32(length));
    let mut deviations = Vec::with_capacity(values.len() + 1);
    let mut offset = 0;
    deviations.push(0);
    for (index, value) in values.iter().enumerate() {
        offset += value.len() as i64;
        deviations.push(offset - (slope * (index + 1)) as i64);
    }
    Packed::write_slice(to, &deviations);
    // With what pads them to eight bytes: many megabytes are not to be moved while they grow.
    to.reserve(length + 7);
    for value in values {
        to.raw(value);
    }
}
