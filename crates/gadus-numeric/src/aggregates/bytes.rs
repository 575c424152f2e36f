//! Bytes of states, in which other threads and processes receive them.
//!
//! - Only for the time of a query: nothing stores them, so that the format has no version.
//!
//! | bytes of a sum's state | |
//! |---|---|
//! | 8 each, little-endian | counts: finite values, values with the greatest scale, NaN, infinities, negative infinities |
//! | 2, little-endian | greatest scale |
//! | of a sum | sum |
//!
//! | bytes of a sum | |
//! |---|---|
//! | 2, little-endian | scale |
//! | 4, little-endian | length of the integer |
//! | as many | integer, in two's complement, little-endian |
//!
//! A variance's state is the state of the sum, and the sum of the squares.

use super::accumulator::Accumulator;
use super::sum::SumState;
use super::variance::VarianceState;
use crate::error::{NumericError, Result};
use crate::limits::SCALE_MAX;
use dashu_int::IBig;
use gadus_base::{ByteReader, ByteWriter, DecodeError};

/// Bytes of a sum's integer: the sum of the squares of 2^63 of the longest values fits.
const INTEGER_BYTES_MAX: usize = 1 << 17;
/// Values in a state: far more than are ever aggregated, and few enough to add up.
const COUNT_MAX: i64 = 1 << 56;

impl SumState {
    /// Returns the bytes of the state.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = ByteWriter::new();
        self.write(&mut writer);
        writer.finish()
    }

    /// Reads the bytes of a state.
    ///
    /// # Errors
    /// XX001 for bytes of no state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = ByteReader::new(bytes);
        let state = Self::read(&mut reader)?;
        reader.end().map_err(corrupted)?;
        Ok(state)
    }
}

impl VarianceState {
    /// Returns the bytes of the state.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = ByteWriter::new();
        self.values.write(&mut writer);
        self.squares.write(&mut writer);
        writer.finish()
    }

    /// Reads the bytes of a state.
    ///
    /// # Errors
    /// XX001 for bytes of no state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = ByteReader::new(bytes);
        let values = SumState::read(&mut reader)?;
        let squares = Accumulator::read(&mut reader, SCALE_MAX * 2)?;
        reader.end().map_err(corrupted)?;
        Ok(Self { values, squares })
    }
}

impl SumState {
    fn write(&self, writer: &mut ByteWriter) {
        let Self { sum, count, scale_max, scale_max_count, .. } = self;
        writer.i64(*count);
        writer.i64(*scale_max_count);
        writer.i64(self.nan_count);
        writer.i64(self.infinity_count);
        writer.i64(self.negative_infinity_count);
        writer.u16(*scale_max);
        sum.write(writer);
    }

    fn read(reader: &mut ByteReader<'_>) -> Result<Self> {
        let mut count = || -> Result<i64> {
            let count = reader.i64().map_err(corrupted)?;
            match (0..=COUNT_MAX).contains(&count) {
                true => Ok(count),
                false => Err(NumericError::corrupted("count beyond its range")),
            }
        };
        let [finite, of_scale, nan, infinity, negative_infinity] =
            [count()?, count()?, count()?, count()?, count()?];
        let scale_max = reader.u16().map_err(corrupted)?;
        if scale_max > SCALE_MAX {
            return Err(NumericError::corrupted("display scale beyond the limit"));
        }
        Ok(Self {
            sum: Accumulator::read(reader, SCALE_MAX)?,
            count: finite,
            scale_max,
            scale_max_count: of_scale,
            nan_count: nan,
            infinity_count: infinity,
            negative_infinity_count: negative_infinity,
        })
    }
}

impl Accumulator {
    fn write(&self, writer: &mut ByteWriter) {
        writer.u16(self.scale());
        writer.bytes(&self.total().digits.to_le_bytes());
    }

    fn read(reader: &mut ByteReader<'_>, scale_max: u16) -> Result<Self> {
        let scale = reader.u16().map_err(corrupted)?;
        if scale > scale_max {
            return Err(NumericError::corrupted("scale of a sum beyond the limit"));
        }
        let bytes = reader.bytes(INTEGER_BYTES_MAX).map_err(corrupted)?;
        Ok(Self::of(&IBig::from_le_bytes(bytes), scale))
    }
}

fn corrupted(error: DecodeError) -> NumericError {
    NumericError::corrupted(&error.to_string())
}
