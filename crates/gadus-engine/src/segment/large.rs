//! Segments of large rows, which have fewer of them: scans read a segment's column as a whole, however long its texts
//! are.
//!
//! - Rows up to [`LARGE_BYTES`] fit any segment. What is larger goes to one that has less than [`SEGMENT_BYTES_MAX`] so
//!   far, or to a new one.
//! - A value that grows to be large moves its row: what is changed in its place would stay in its segment.

use super::open_rows::{Row, row_bytes};
use super::{SEGMENT_ROWS_MAX, SegmentVersion};
use crate::types::Datum;

/// A segment of as many rows as it may have, of this size each, is the largest one whose rows are none of them large.
const LARGE_BYTES: usize = 4 << 10;

/// Bytes of a segment to which no more large rows are added, and beyond which none is merged with others; and bytes of
/// a column of a segment that is loaded.
pub(crate) const SEGMENT_BYTES_MAX: u64 = 16 << 20;

/// Whether a row with such a value is a large one, which a transaction moves rather than change it in its place.
#[must_use]
pub fn is_large(value: &Datum) -> bool {
    value.heap_bytes() > LARGE_BYTES
}

impl SegmentVersion {
    /// About what its rows take; what repeats counts once where it is encoded.
    pub(crate) fn bytes(&self) -> u64 {
        self.encoded_bytes() + self.open_bytes()
    }

    /// About what its rows take decoded: what repeats counts each time, once that is known.
    pub(crate) fn decoded_bytes(&self) -> u64 {
        let values = self.encoded.as_ref().and_then(|base| base.value_bytes()).unwrap_or(0);
        values.max(self.encoded_bytes()) + self.open_bytes()
    }

    /// Bytes of the base in the file.
    pub(crate) fn encoded_bytes(&self) -> u64 {
        let extents = self.encoded.iter().flat_map(|base| base.extents());
        extents.map(|extent| extent.reference().bytes).sum()
    }

    /// About what the values of the rows behind the base hold.
    pub(crate) fn open_bytes(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.bytes())
    }
}

/// How many of these rows, in their order, fit a segment that is there; none where the first one does not.
pub(crate) fn fitting(segment: Option<&SegmentVersion>, rows: &[Row]) -> usize {
    let taken = segment.map_or(0, |segment| segment.rows);
    let room = (SEGMENT_ROWS_MAX - taken) as usize;
    let room = room.min(rows.len());
    let is_large = |row: &Row| row.iter().any(is_large);
    if !rows[..room].iter().any(is_large) {
        return room;
    }
    let mut bytes = segment.map_or(0, SegmentVersion::bytes);
    for (fit, row) in rows[..room].iter().enumerate() {
        bytes += row_bytes(row);
        // One row fits a segment that has none.
        if bytes > SEGMENT_BYTES_MAX && is_large(row) && (fit > 0 || taken > 0) {
            return fit;
        }
    }
    room
}

#[cfg(test)]
mod tests;
