//! Rows that a question has found, and their batches.
//!
//! - Rows are read when they are needed, from the snapshot of the question.
//! - Batches have as many rows as those of a scan: fewer where values are wide.

use super::places::Places;
use crate::error::Result;
use crate::scan::{Bases, BatchRows, ScannedBatch, batch_of, fields_of};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use gadus_base::{RowId, SegmentId};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a snapshot of a table, to be read when they are needed.
#[derive(Debug)]
pub struct FoundRows {
    table: Table,
    pieces: Vec<Piece>,
    positions: Vec<u32>,
}

/// Rows of one segment.
#[derive(Debug)]
struct Piece {
    segment: Arc<SegmentVersion>,
    /// Range among all positions, which rise within it; those of other segments may stand in any order.
    range: Range<usize>,
}

/// Batches of found rows, read one by one.
pub struct FoundReader {
    found: Arc<FoundRows>,
    projection: Vec<usize>,
    schema: SchemaRef,
    batch_rows: BatchRows,
    /// Rows that no batch has yet.
    left: usize,
    /// Piece in which the next batch begins, and the rows of it that were read.
    piece: usize,
    read: usize,
    /// Columns of the segment that was read last: one that no cache has room for is not read for each batch.
    bases: Option<(SegmentId, Bases)>,
    ready: VecDeque<RecordBatch>,
}

impl FoundRows {
    /// Makes rows of segments by their place.
    pub(super) fn new(table: Table, places: Places, segments: &[Arc<SegmentVersion>]) -> Self {
        let (ranges, positions) = places.in_order();
        let ranges = ranges.into_iter().filter(|(_, range)| !range.is_empty());
        let piece = |(place, range): (usize, _)| Piece { segment: segments[place].clone(), range };
        Self { table, pieces: ranges.map(piece).collect(), positions }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.positions.len()
    }

    /// Returns the ids of the rows.
    pub fn ids(&self) -> impl Iterator<Item = RowId> {
        self.pieces.iter().flat_map(|Piece { segment, range }| {
            let positions = self.positions[range.clone()].iter();
            positions.map(|&position| RowId { segment: segment.id, position })
        })
    }

    /// Memory that the list of rows takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.positions) + self.pieces.len() * size_of::<Piece>()
    }

    /// Reads these columns of the rows, batch by batch; no batch is empty.
    #[must_use]
    pub fn read(self: &Arc<Self>, projection: &[usize]) -> FoundReader {
        let shape = self.table.schema();
        FoundReader {
            found: self.clone(),
            projection: projection.to_vec(),
            schema: Arc::new(Schema::new(fields_of(shape, projection))),
            batch_rows: BatchRows::of(shape, projection),
            left: self.count(),
            piece: 0,
            read: 0,
            bases: None,
            ready: VecDeque::new(),
        }
    }
}

impl fmt::Debug for FoundReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundReader").field("left", &self.left).finish_non_exhaustive()
    }
}

impl FoundReader {
    /// Reads so many rows, from the next one on.
    fn rows(&mut self, count: usize) -> Result<RecordBatch> {
        let found = self.found.clone();
        found.table.note_of_found(&self.projection)?;
        let (mut pieces, mut missing) = (Vec::new(), count);
        while missing > 0 {
            let Piece { segment, range } = &found.pieces[self.piece];
            let start = range.start + self.read;
            let end = range.end.min(start + missing);
            pieces.push((&**segment, &found.positions[start..end]));
            missing -= end - start;
            match end == range.end {
                true => (self.piece, self.read) = (self.piece + 1, 0),
                false => self.read = end - range.start,
            }
        }
        self.left -= count;
        found.table.checked(match pieces.as_slice() {
            [piece] => self.rows_of(*piece),
            pieces => {
                self.bases = None;
                batch_of(&found.table, pieces.iter().copied(), &self.schema, &self.projection)
            }
        })
    }

    /// Reads rows of one segment.
    fn rows_of(&mut self, piece: (&SegmentVersion, &[u32])) -> Result<RecordBatch> {
        let (segment, positions) = piece;
        let table = &self.found.table;
        let known = self.bases.take().filter(|(id, _)| *id == segment.id);
        let bases = match known {
            Some((_, bases)) => bases,
            None => Bases::of(table, segment, &self.projection)?,
        };
        let columns = bases.arrays(table, piece, &self.projection)?;
        self.bases = Some((segment.id, bases));
        let options = RecordBatchOptions::new().with_row_count(Some(positions.len()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

impl Iterator for FoundReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.ready.pop_front() {
            return Some(Ok(batch));
        }
        if self.left == 0 {
            return None;
        }
        match self.rows(self.left.min(self.batch_rows.next())) {
            Ok(rows) => {
                self.ready.extend(self.batch_rows.pieces(rows).map(ScannedBatch::into_own));
                self.ready.pop_front().map(Ok)
            }
            Err(error) => {
                self.left = 0;
                Some(Err(error))
            }
        }
    }
}
