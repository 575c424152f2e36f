//! What is asked of a table in a shared scan, and what comes back.

use super::first_rows::OrderBy;
use super::places::Places;
use crate::error::Result;
use crate::scan::{Aggregate, Aggregated, Group, Predicate, batch_of, fields_of, merged};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use gadus_base::{ByteWriter, RowId};
use std::ops::Range;
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
    Rows {
        /// Where there are more, the answer is [`Answer::TooMany`].
        rows_max: usize,
    },
    /// Which of them come first.
    First {
        /// By what; without it any rows will do.
        order: Vec<OrderBy>,
        /// How many.
        count: usize,
    },
    /// These values, folded.
    Fold(Vec<Aggregate>),
    /// These values, folded for each combination of values in some columns.
    Groups {
        /// The columns; those of doubles tell -0 from 0.
        by: Vec<usize>,
        /// What of each group.
        aggregates: Vec<Aggregate>,
        /// Where there are more groups, the answer is [`Answer::TooMany`].
        groups_max: usize,
    },
}

/// The answer to a question, or what became of a modification.
#[derive(Debug)]
pub enum Answer {
    /// Rows in the order of their table, where [`Wanted::Rows`] or [`Wanted::First`] was asked.
    Rows(FoundRows),
    /// A value for each aggregate of [`Wanted::Fold`].
    Folded(Vec<Aggregated>),
    /// The values of each group of [`Wanted::Groups`], and its aggregates, in no order.
    Groups(Vec<Group>),
    /// There is more than was wanted.
    TooMany,
    /// So many rows were changed by a modification.
    Changed(u64),
}

/// Rows of a snapshot of a table, to be read when they are needed.
#[derive(Debug)]
pub struct FoundRows {
    table: Table,
    pieces: Vec<Piece>,
    positions: Vec<u32>,
    /// The pieces of each batch.
    batches: Vec<Range<usize>>,
}

/// Rows of one segment that belong to one batch.
#[derive(Debug)]
struct Piece {
    segment: Arc<SegmentVersion>,
    /// Of its positions, which rise.
    range: Range<usize>,
}

/// Rows of a batch: what Arrow kernels like to get.
const BATCH_ROWS: usize = 8_192;

impl Question {
    /// The same with the two bounds of a range as one predicate.
    pub(super) fn simplified(self) -> Self {
        Self { predicates: merged(self.predicates), wanted: self.wanted }
    }

    /// Has a table note what the answer tells of it.
    pub(super) fn note(&self, table: &Table) -> Result<()> {
        let folded = |aggregates: &[Aggregate]| {
            let column = |aggregate: &Aggregate| match *aggregate {
                Aggregate::CountRows => None,
                Aggregate::Count(column)
                | Aggregate::Sum(column)
                | Aggregate::Min(column)
                | Aggregate::Max(column) => Some(column),
            };
            aggregates.iter().filter_map(column).collect::<Vec<_>>()
        };
        match &self.wanted {
            Wanted::Rows { .. } => table.note_found(&self.predicates, []),
            Wanted::First { order, .. } => {
                table.note_found(&self.predicates, order.iter().map(|by| by.column))
            }
            Wanted::Fold(aggregates) => table.note(&self.predicates, folded(aggregates)),
            Wanted::Groups { by, aggregates, .. } => {
                table.note(&self.predicates, by.iter().copied().chain(folded(aggregates)))
            }
        }
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
        self.wanted.encode(&mut to);
        to.finish()
    }
}

impl Wanted {
    fn encode(&self, to: &mut ByteWriter) {
        match self {
            Self::Rows { rows_max } => {
                to.u8(0);
                to.u64(*rows_max as u64);
            }
            Self::First { order, count } => {
                to.u8(1);
                to.u64(*count as u64);
                for by in order {
                    to.u64(by.column as u64);
                    to.u8(u8::from(by.descending));
                    to.u8(u8::from(by.nulls_first));
                }
            }
            Self::Fold(aggregates) => {
                to.u8(2);
                encode_all(aggregates, to);
            }
            Self::Groups { by, aggregates, groups_max } => {
                to.u8(3);
                to.u64(*groups_max as u64);
                to.u64(by.len() as u64);
                by.iter().for_each(|&column| to.u64(column as u64));
                encode_all(aggregates, to);
            }
        }
    }
}

fn encode_all(aggregates: &[Aggregate], to: &mut ByteWriter) {
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

impl Answer {
    /// Memory that it takes, without rows that are not read yet.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Rows(rows) => {
                size_of_val(&*rows.positions) + rows.pieces.len() * size_of::<Piece>()
            }
            Self::Folded(values) => size_of_val(&**values),
            Self::Groups(groups) => groups.iter().map(group_bytes).sum(),
            Self::TooMany | Self::Changed(_) => 0,
        }
    }
}

fn group_bytes((names, values): &Group) -> usize {
    size_of::<Group>() + size_of_val(&**names) + size_of_val(&**values)
}

impl FoundRows {
    /// Rows of segments by their place.
    pub(super) fn new(table: Table, places: Places, segments: &[Arc<SegmentVersion>]) -> Self {
        let (ranges, positions) = places.in_order();
        let mut pieces = Vec::with_capacity(ranges.len());
        for (place, Range { mut start, end }) in ranges {
            while start < end {
                let range = start..end.min(start + BATCH_ROWS);
                start = range.end;
                pieces.push(Piece { segment: segments[place].clone(), range });
            }
        }
        let (mut batches, mut rows): (Vec<Range<usize>>, usize) = Default::default();
        for (place, piece) in pieces.iter().enumerate() {
            rows += piece.range.len();
            match batches.last_mut().filter(|_| rows <= BATCH_ROWS) {
                Some(batch) => batch.end = place + 1,
                None => {
                    rows = piece.range.len();
                    batches.push(place..place + 1);
                }
            }
        }
        Self { table, pieces, positions, batches }
    }

    /// How many rows there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.positions.len()
    }

    /// Which rows they are.
    pub fn ids(&self) -> impl Iterator<Item = RowId> {
        self.rows_of(&self.pieces).flat_map(|(segment, positions)| {
            positions.iter().map(|&position| RowId { segment: segment.id, position })
        })
    }

    fn rows_of<'a>(
        &'a self,
        pieces: &'a [Piece],
    ) -> impl Iterator<Item = (&'a SegmentVersion, &'a [u32])> + Clone {
        pieces.iter().map(|piece| (&*piece.segment, &self.positions[piece.range.clone()]))
    }

    /// How many batches they make.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// Reads some of the columns for a batch, which is not empty.
    pub fn batch(&self, index: usize, projection: &[usize]) -> Result<RecordBatch> {
        self.table.note_of_found(projection)?;
        let pieces = self.pieces.get(self.batches[index].clone()).unwrap_or_default();
        let schema = Arc::new(Schema::new(fields_of(self.table.schema(), projection)));
        self.table.checked(batch_of(&self.table, self.rows_of(pieces), &schema, projection))
    }
}
