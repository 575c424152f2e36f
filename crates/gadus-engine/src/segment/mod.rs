//! Segments: runs of up to 65,536 rows of a table, in versions that never change.
//!
//! - A version is an encoded base, rows appended since in memory, and an overlay of patches and
//!   deletes; each part is shared with the version before it.
//! - A row keeps its position for ever; a deleted row stays a hole until compaction moves the rest.
//! - Making the next version of a segment costs what it changes, not what is changed already.

mod build;
mod changes;
mod encoded;
mod large;
mod layout;
mod open_rows;
mod overlay;
mod patches;
mod read;
mod sample;
mod sketch;

pub(crate) use build::{build_segment, build_segment_interruptibly, rebuild_segment};
pub(crate) use changes::Lineage;
pub(crate) use encoded::{ColumnEntry, ColumnPlace, EncodedSegment, SegmentImage};
pub use large::is_large;
pub(crate) use large::{SEGMENT_BYTES_MAX, fitting};
pub(crate) use layout::Source;
pub(crate) use open_rows::{OpenRows, Row, decode_rows, encode_rows_interruptibly, row_bytes};
pub(crate) use overlay::Overlay;
pub(crate) use patches::Patches;
pub(crate) use sample::Sample;
pub(crate) use sketch::Sketch;

use crate::types::{Datum, TableSchema};
use gadus_base::{CommitNumber, DecodeError, SegmentId};
use std::sync::Arc;

/// Most rows of a segment. Its columns' blobs are then tens to hundreds of KiB: large enough to
/// read in one piece, small enough to rewrite when folded; positions fit 16 bits in keys.
pub const SEGMENT_ROWS_MAX: u32 = 65_536;

/// A column's index as overlays and changes have it.
pub(crate) fn column_number(column: usize) -> u32 {
    u32::try_from(column).expect("at most COLUMNS_MAX columns")
}

/// A segment as one snapshot sees it.
#[derive(Debug, Clone)]
pub(crate) struct SegmentVersion {
    pub(crate) id: SegmentId,
    /// Positions in use, holes of deleted rows among them.
    pub(crate) rows: u32,
    /// The base; it covers the first positions.
    pub(crate) encoded: Option<Arc<EncodedSegment>>,
    /// Rows behind the base.
    pub(crate) open: Option<Arc<OpenRows>>,
    /// Changes of rows.
    pub(crate) overlay: Overlay,
    /// The commit that last changed this segment.
    pub(crate) last_changed: CommitNumber,
}

impl SegmentVersion {
    /// A segment of encoded rows.
    pub(crate) fn encoded(id: SegmentId, base: Arc<EncodedSegment>, at: CommitNumber) -> Self {
        Self {
            id,
            rows: base.rows(),
            encoded: Some(base),
            open: None,
            overlay: Overlay::default(),
            last_changed: at,
        }
    }

    /// An empty segment that takes rows.
    pub(crate) fn open(id: SegmentId, at: CommitNumber) -> Self {
        Self {
            id,
            rows: 0,
            encoded: None,
            open: None,
            overlay: Overlay::default(),
            last_changed: at,
        }
    }

    /// Positions that the base covers.
    pub(crate) fn encoded_rows(&self) -> u32 {
        self.encoded.as_ref().map_or(0, |base| base.rows())
    }

    /// Rows that are not deleted.
    pub(crate) fn live_rows(&self) -> u32 {
        self.rows - self.overlay.deleted_count()
    }

    /// Positions that were changed after a commit, and those from `known` on.
    pub(crate) fn changed_since(
        &self,
        since: CommitNumber,
        known: u32,
    ) -> impl Iterator<Item = u32> {
        let old = self.overlay.changed_after(since).take_while(move |position| *position < known);
        old.chain(known..self.rows)
    }

    /// Appends rows that carry on at `self.rows`.
    ///
    /// Only the holder of the commit lock appends, so a position is filled once.
    pub(crate) fn append(&mut self, rows: impl IntoIterator<Item = Row>, at: CommitNumber) {
        let first = self.encoded_rows();
        let open = self.open.get_or_insert_with(|| Arc::new(OpenRows::new(first)));
        for row in rows {
            open.put(self.rows, row);
            self.rows += 1;
        }
        assert!(self.rows <= SEGMENT_ROWS_MAX, "a segment holds at most 65,536 rows");
        self.last_changed = at;
    }

    /// The rows behind the base as a blob; none when there are none. Those that are deleted keep
    /// their places, not their values: who opens the file reads nothing older.
    pub(crate) fn encode_open_rows(&self) -> Option<Vec<u8>> {
        let open = self.open.as_ref().filter(|_| self.rows > self.encoded_rows())?;
        let row = |position| match self.overlay.is_deleted(position) {
            true => open.row(position).iter().map(|_| Datum::Null).collect(),
            false => open.shared_row(position),
        };
        let rows = (self.encoded_rows()..self.rows).map(row);
        Some(open_rows::encode_blob(&rows.collect::<Vec<_>>()))
    }

    /// True if such a blob has all live rows behind the base, whatever it has of deleted ones.
    pub(crate) fn open_rows_are(&self, bytes: &[u8], schema: &TableSchema) -> bool {
        let first = self.encoded_rows();
        let Ok(rows) = open_rows::decode_blob(bytes, schema, self.rows - first) else {
            return false;
        };
        let Some(open) = &self.open else { return false };
        let is_same = |(position, row): (u32, &Row)| {
            self.overlay.is_deleted(position)
                || open_rows::are_same_bytes(&open.shared_row(position), row)
        };
        rows.len() == (self.rows - first) as usize && (first..).zip(&rows).all(is_same)
    }

    /// Reads such a blob, and puts its rows behind the base.
    pub(crate) fn decode_open_rows(
        &mut self,
        bytes: &[u8],
        schema: &TableSchema,
    ) -> Result<(), DecodeError> {
        let left = SEGMENT_ROWS_MAX.saturating_sub(self.rows);
        let rows = open_rows::decode_blob(bytes, schema, left)?;
        self.append(rows, self.last_changed);
        Ok(())
    }

    /// The same rows under another schema, whose columns come from these sources.
    pub(crate) fn relaid(&self, sources: &[Source], at: CommitNumber) -> Self {
        let open = self.open.as_ref().map(|shared| {
            let first = self.encoded_rows();
            let own = OpenRows::new(first);
            for position in first..self.rows {
                let row = shared.row(position);
                let value = |source: &Source| match source {
                    Source::Kept(place) => row[*place as usize].clone(),
                    Source::Added(value) => value.clone(),
                };
                own.put(position, sources.iter().map(value).collect());
            }
            Arc::new(own)
        });
        Self {
            id: self.id,
            rows: self.rows,
            encoded: self.encoded.as_ref().map(|base| Arc::new(base.relaid(sources))),
            open,
            overlay: self.overlay.relaid(sources),
            last_changed: at,
        }
    }

    /// Copies the rows that this version shows into slots of its own.
    pub(crate) fn own_open_rows(&mut self) {
        let Some(shared) = self.open.take() else { return };
        let first = self.encoded_rows();
        let own = OpenRows::new(first);
        for position in first..self.rows {
            own.put(position, shared.shared_row(position));
        }
        self.open = Some(Arc::new(own));
    }
}
