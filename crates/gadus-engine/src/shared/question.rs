//! What is asked of a table in a shared scan, and what comes back.

use crate::error::Result;
use crate::scan::{Aggregate, Aggregated, Predicate, batch_of, fields_of, merged};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use gadus_base::{ByteWriter, RowId};
use std::sync::Arc;

/// A question about one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Conditions that every row satisfies.
    pub predicates: Vec<Predicate>,
    /// What of those rows.
    pub wanted: Wanted,
}

/// What a question wants to know of its rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// Which they are.
    Rows,
    /// These values, folded.
    Fold(Vec<Aggregate>),
}

/// The answer to a question, or what became of a modification.
#[derive(Debug)]
pub enum Answer {
    /// Rows, where [`Wanted::Rows`] was asked.
    Rows(FoundRows),
    /// A value for each aggregate of [`Wanted::Fold`].
    Folded(Vec<Aggregated>),
    /// So many rows were changed by a modification.
    Changed(u64),
}

/// Rows of a snapshot of a table, to be read when they are needed.
#[derive(Debug)]
pub struct FoundRows {
    table: Table,
    pieces: Vec<Piece>,
}

/// Rows of one segment that make one batch.
#[derive(Debug)]
struct Piece {
    segment: Arc<SegmentVersion>,
    /// Rising.
    positions: Vec<u32>,
}

/// Rows of a batch: what Arrow kernels like to get.
const BATCH_ROWS: usize = 8_192;

impl Question {
    /// The same with the two bounds of a range as one predicate.
    pub(super) fn simplified(self) -> Self {
        Self { predicates: merged(self.predicates), wanted: self.wanted }
    }

    /// Bytes that only equal questions have in common.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = ByteWriter::new();
        for Predicate { column, test } in &self.predicates {
            to.u64(*column as u64);
            test.encode(&mut to);
        }
        // No column has this number.
        to.u64(u64::MAX);
        if let Wanted::Fold(aggregates) = &self.wanted {
            for aggregate in aggregates {
                let (kind, column) = match *aggregate {
                    Aggregate::CountRows => (0, 0),
                    Aggregate::Count(column) => (1, column),
                    Aggregate::Sum(column) => (2, column),
                    Aggregate::Min(column) => (3, column),
                    Aggregate::Max(column) => (4, column),
                };
                to.u8(kind);
                to.u64(column as u64);
            }
        }
        to.finish()
    }
}

impl FoundRows {
    pub(super) fn new(table: Table, segments: Vec<(Arc<SegmentVersion>, Vec<u32>)>) -> Self {
        let mut pieces = Vec::with_capacity(segments.len());
        for (segment, positions) in segments {
            if positions.len() <= BATCH_ROWS {
                pieces.push(Piece { segment, positions });
                continue;
            }
            for positions in positions.chunks(BATCH_ROWS) {
                pieces.push(Piece { segment: segment.clone(), positions: positions.to_vec() });
            }
        }
        Self { table, pieces }
    }

    /// How many rows there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pieces.iter().map(|piece| piece.positions.len()).sum()
    }

    /// Which rows they are.
    pub fn ids(&self) -> impl Iterator<Item = RowId> {
        self.pieces.iter().flat_map(|Piece { segment, positions }| {
            positions.iter().map(|&position| RowId { segment: segment.id, position })
        })
    }

    /// How many batches they make.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.pieces.len()
    }

    /// Reads some of the columns for a batch, which is not empty.
    pub fn batch(&self, index: usize, projection: &[usize]) -> Result<RecordBatch> {
        let Piece { segment, positions } = &self.pieces[index];
        let schema = Arc::new(Schema::new(fields_of(self.table.schema(), projection)));
        let batch = batch_of(&self.table, segment, &schema, projection, positions);
        self.table.checked(batch)
    }
}
