//! What is asked of a table in a shared scan, and what comes back.

use super::first_rows::OrderBy;
use super::found_rows::FoundRows;
use crate::error::Result;
use crate::scan::{Aggregate, Aggregated, Group, Groups, Predicate, merged};
use crate::snapshot::Table;
use crate::types::Datum;
use gadus_base::ByteWriter;
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
        /// Where long values by which they are ordered take more bytes, the answer may be [`Answer::TooMany`].
        long_bytes_max: usize,
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
        /// Where long values of theirs take more bytes, the answer is [`Answer::TooMany`].
        long_bytes_max: usize,
    },
}

/// The answer to a question, or what became of a modification.
#[derive(Debug)]
pub enum Answer {
    /// Rows in the order of their table, where [`Wanted::Rows`] or [`Wanted::First`] was asked.
    Rows(Arc<FoundRows>),
    /// A value for each aggregate of [`Wanted::Fold`].
    Folded(Vec<Aggregated>),
    /// The values of each group of [`Wanted::Groups`], and its aggregates, in no order.
    Groups(Vec<Group>),
    /// There is more than was wanted.
    TooMany,
    /// So many rows were changed by a modification.
    Changed(u64),
}

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
    /// The groups that are asked for, if any are.
    pub(super) fn groups(&self) -> Option<Groups<'_>> {
        let Self::Groups { by, aggregates, groups_max, long_bytes_max } = self else { return None };
        let (groups_max, long_bytes_max) = (*groups_max, *long_bytes_max);
        Some(Groups { by, aggregates, groups_max, long_bytes_max })
    }

    fn encode(&self, to: &mut ByteWriter) {
        match self {
            Self::Rows { rows_max } => {
                to.u8(0);
                to.u64(*rows_max as u64);
            }
            Self::First { order, count, long_bytes_max } => {
                to.u8(1);
                to.u64(*count as u64);
                to.u64(*long_bytes_max as u64);
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
            Self::Groups { by, aggregates, groups_max, long_bytes_max } => {
                to.u8(3);
                to.u64(*groups_max as u64);
                to.u64(*long_bytes_max as u64);
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
            Self::Rows(rows) => rows.bytes(),
            Self::Folded(values) => {
                size_of_val(&**values) + values.iter().map(Datum::heap_bytes).sum::<usize>()
            }
            Self::Groups(groups) => groups.iter().map(group_bytes).sum(),
            Self::TooMany | Self::Changed(_) => 0,
        }
    }
}

fn group_bytes((names, values): &Group) -> usize {
    let heap = names.iter().chain(values).map(Datum::heap_bytes).sum::<usize>();
    size_of::<Group>() + size_of_val(&**names) + size_of_val(&**values) + heap
}
