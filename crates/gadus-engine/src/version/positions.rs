//! Positions in a segment as a log holds them: one after another, or as a bitmap where that is shorter.
//!
//! - On a full disk rows must be deletable, however many: the log's reserve holds a bit for each of
//!   some millions of rows.

use crate::segment::SEGMENT_ROWS_MAX;
use gadus_base::{ByteReader, ByteWriter, DecodeError};

/// A bitmap of positions: bit 0 of its first byte stands for `first`.
pub(super) struct Bitmap {
    first: u32,
    bytes: Vec<u8>,
}

impl Bitmap {
    /// None where the positions one by one are as short.
    pub(super) fn shorter(positions: &[u32]) -> Option<Self> {
        let (first, last) = (*positions.iter().min()?, *positions.iter().max()?);
        let length = (last - first) as usize / 8 + 1;
        if length + size_of::<u32>() >= size_of_val(positions) {
            return None;
        }
        let mut bytes = vec![0; length];
        for position in positions {
            let bit = position - first;
            bytes[(bit / 8) as usize] |= 1 << (bit % 8);
        }
        Some(Self { first, bytes })
    }

    pub(super) fn encode(&self, to: &mut ByteWriter) {
        to.u32(self.first);
        to.bytes(&self.bytes);
    }

    /// Reads the positions, in order.
    pub(super) fn decode(from: &mut ByteReader<'_>) -> Result<Vec<u32>, DecodeError> {
        let offset = from.offset();
        let first = from.u32()?;
        let bytes = from.bytes(SEGMENT_ROWS_MAX as usize / 8 + 1)?;
        if first > SEGMENT_ROWS_MAX {
            return Err(DecodeError { offset, expected: "a position in a segment" });
        }
        let count = bytes.iter().map(|byte| byte.count_ones() as usize).sum();
        let mut positions = Vec::with_capacity(count);
        for (byte, place) in bytes.iter().zip(0_u32..) {
            let set = (0..8).filter(|bit| byte >> bit & 1 == 1);
            positions.extend(set.map(|bit| first + place * 8 + bit));
        }
        Ok(positions)
    }
}

/// Encodes positions one by one.
pub(super) fn encode(positions: &[u32], to: &mut ByteWriter) {
    to.u32(u32::try_from(positions.len()).expect("a segment has fewer rows"));
    positions.iter().for_each(|position| to.u32(*position));
}

/// Reads positions that were encoded one by one.
pub(super) fn decode(from: &mut ByteReader<'_>) -> Result<Vec<u32>, DecodeError> {
    let count = from.count(size_of::<u32>())?;
    (0..count).map(|_| from.u32()).collect()
}

#[cfg(test)]
mod tests {
    use super::Bitmap;
    use crate::segment::SEGMENT_ROWS_MAX;
    use gadus_base::{ByteReader, ByteWriter, Random};

    #[test]
    fn bitmaps_hold_the_positions_and_are_shorter() {
        let mut random = Random::seeded(1);
        let mut shorter = 0;
        for _ in 0..200 {
            let first = u32::try_from(random.below(1000)).unwrap();
            let part = 1 + random.below(60);
            let rows = u32::try_from(random.below(5000)).unwrap();
            let positions = (first..first + rows).filter(|_| random.below(part) == 0);
            let positions = positions.collect::<Vec<_>>();
            let Some(bitmap) = Bitmap::shorter(&positions) else {
                assert!(positions.len() < 3 || part > 20, "{} of {rows}", positions.len());
                continue;
            };
            shorter += 1;
            let mut to = ByteWriter::new();
            bitmap.encode(&mut to);
            let bytes = to.finish();
            assert!(bytes.len() < 4 + 4 * positions.len());
            let mut from = ByteReader::new(&bytes);
            assert_eq!(Bitmap::decode(&mut from).unwrap(), positions);
            from.end().unwrap();
        }
        assert!(shorter > 50, "{shorter}");
    }

    #[test]
    fn positions_beyond_any_segment_are_refused() {
        let mut to = ByteWriter::new();
        Bitmap { first: SEGMENT_ROWS_MAX + 1, bytes: vec![1] }.encode(&mut to);
        Bitmap { first: 0, bytes: vec![0; SEGMENT_ROWS_MAX as usize] }.encode(&mut to);
        let bytes = to.finish();
        let mut from = ByteReader::new(&bytes);
        Bitmap::decode(&mut from).unwrap_err();
        Bitmap::decode(&mut from).unwrap_err();
    }
}
