//! A sequence of integers as a base and bit-packed distances from it (frame of reference).
//!
//! - Random access costs two words; a run costs about half a nanosecond a value.
//! - The form in which codes, offsets, run ends and integer columns are all kept.
//!
//! Byte table: base i64 | count u32 | width u8 | zero u8 × 3 | words u64 × `words_for(count, width)`.

use super::bits::{Unpacker, pack, unpack, unpack_into, width_of, within_span, words_for};
use super::prefetch::prefetch;
use super::section::Sections;
use arrow::buffer::ScalarBuffer;
use gadus_base::{ByteWriter, DecodeError};

/// Most values of a sequence: a segment's rows, and one more where they are offsets.
const VALUES_MAX: usize = crate::segment::SEGMENT_ROWS_MAX as usize + 1;

/// An immutable packed sequence, used in place.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    base: i64,
    width: u8,
    count: usize,
    words: ScalarBuffer<u64>,
}

/// A packed sequence about to be read at many places: what follows from its width is computed once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedReader<'a> {
    base: i64,
    count: usize,
    unpacker: Unpacker<'a>,
}

impl PackedReader<'_> {
    /// Value `index`.
    #[inline]
    pub(crate) fn value(self, index: usize) -> i64 {
        self.base.wrapping_add(self.distance(index).cast_signed())
    }

    /// Returns how far value `index` is from the base.
    #[inline]
    pub(crate) fn distance(self, index: usize) -> u64 {
        gadus_base::strict_assert!(index < self.count, "an index within the sequence");
        self.unpacker.value(index)
    }
}

impl Packed {
    /// Bytes that values between `min` and `max` take.
    pub(crate) fn bytes_for(count: usize, min: i64, max: i64) -> usize {
        16 + 8 * words_for(count, width_of(distance(min, max)))
    }

    /// Appends the packed form of `values`, which lie between `min` and `max`.
    pub(crate) fn write(
        to: &mut ByteWriter,
        values: impl ExactSizeIterator<Item = i64>,
        min: i64,
        max: i64,
    ) {
        let width = width_of(distance(min, max));
        to.i64(min);
        to.u32(u32::try_from(values.len()).expect("a segment has fewer than 2^32 values"));
        to.u32(u32::from(width));
        let words = pack(values.map(|value| distance(min, value)), width);
        to.raw(bytemuck::cast_slice(&words));
    }

    /// Appends the packed form of a slice.
    pub(crate) fn write_slice(to: &mut ByteWriter, values: &[i64]) {
        let min = values.iter().copied().min().unwrap_or(0);
        let max = values.iter().copied().max().unwrap_or(0);
        Self::write(to, values.iter().copied(), min, max);
    }

    /// Opens a packed sequence where it lies.
    pub(crate) fn read(from: &mut Sections<'_>) -> Result<Self, DecodeError> {
        let base = from.i64()?;
        let count = from.u32()? as usize;
        let offset = from.offset();
        let width = u8::try_from(from.u32()?).unwrap_or(u8::MAX);
        if width > 64 {
            return Err(DecodeError { offset, expected: "a width of at most 64 bits" });
        }
        // Packed sequences of no width cost no bytes: their count must be bounded otherwise.
        if count > VALUES_MAX {
            return Err(DecodeError { offset, expected: "no more values than a segment has" });
        }
        let words = from.words(words_for(count, width))?;
        Ok(Self { base, width, count, words })
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The least value that any slot may hold.
    pub(crate) fn base(&self) -> i64 {
        self.base
    }

    /// Bits of a slot.
    pub(crate) fn width(&self) -> u8 {
        self.width
    }

    /// The greatest distance from the base that a slot may hold.
    pub(crate) fn distance_max(&self) -> u64 {
        u64::MAX.checked_shr(64 - u32::from(self.width)).unwrap_or(0)
    }

    /// How far a value is from the base; none where no slot may hold it.
    pub(crate) fn distance_to(&self, value: i64) -> Option<u64> {
        let distance = u64::try_from(i128::from(value) - i128::from(self.base)).ok()?;
        Some(distance).filter(|distance| *distance <= self.distance_max())
    }

    /// Has the processor fetch a value.
    pub(super) fn prefetch(&self, index: usize) {
        prefetch(&self.words, index * usize::from(self.width) / 64);
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> i64 {
        self.reader().value(index)
    }

    /// Returns the values at some positions.
    pub(crate) fn values_at<'a>(
        &'a self,
        positions: &'a [u32],
    ) -> impl ExactSizeIterator<Item = i64> + 'a {
        let reader = self.reader();
        positions.iter().map(move |&position| reader.value(position as usize))
    }

    /// Reads values at any places.
    #[inline]
    pub(crate) fn reader(&self) -> PackedReader<'_> {
        let unpacker = Unpacker::new(&self.words, self.width);
        PackedReader { base: self.base, count: self.count, unpacker }
    }

    /// Returns the distances from the base of the values at some positions.
    pub(crate) fn distances_at<'a>(
        &'a self,
        positions: &'a [u32],
    ) -> impl ExactSizeIterator<Item = u64> + 'a {
        let reader = self.reader();
        positions.iter().map(move |&position| reader.distance(position as usize))
    }

    /// Hands the values `first .. first + count` to `each`.
    pub(crate) fn for_each(&self, first: usize, count: usize, mut each: impl FnMut(i64)) {
        assert!(first + count <= self.count, "a range within the sequence");
        unpack(&self.words, self.width, first, count, |distance| {
            each(self.base.wrapping_add(distance.cast_signed()));
        });
    }

    /// The distances of the values from `first` on from the base.
    pub(crate) fn distances(&self, first: usize, to: &mut [u64]) {
        assert!(first + to.len() <= self.count, "a range within the sequence");
        unpack_into(&self.words, self.width, first, to);
    }

    /// A bit for each of `first .. first + count` whose distance from the base lies within
    /// `low ..= low + span`.
    pub(crate) fn within_distances(
        &self,
        first: usize,
        count: usize,
        span: (u64, u64),
        to: &mut [u64],
    ) {
        assert!(first + count <= self.count, "a range within the sequence");
        within_span(&self.words, self.width, first, count, span, to);
    }
}

/// `value - base`, which always fits 64 unsigned bits when `base <= value`.
pub(crate) fn distance(base: i64, value: i64) -> u64 {
    value.wrapping_sub(base).cast_unsigned()
}
