//! What is known of the answer to a question while its table is scanned.

use super::first_rows::FirstRows;
use super::found_rows::FoundRows;
use super::places::Places;
use super::question::{Answer, Question, Wanted};
use crate::error::{Error, Result};
use crate::scan::{Folding, Grouping, Room};
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::vector::Rows;
use std::sync::Arc;

/// What one worker has found, or all of them.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    Rows(Places),
    First(FirstRows),
    Fold(Folding),
    Groups(Grouping),
    /// More than was wanted.
    TooMany,
}

impl Found {
    /// Adds rows of a segment, which has a place among its table's.
    pub(super) fn add(
        &mut self,
        wanted: &Wanted,
        table: &Table,
        (segment, place): (&SegmentVersion, usize),
        rows: Rows<'_>,
    ) -> Result<()> {
        if rows.count() == 0 {
            return Ok(());
        }
        if let Self::Nothing = self {
            *self = Self::start(wanted, table)?;
        }
        let has_room = match (&mut *self, wanted) {
            (Self::Rows(places), Wanted::Rows { rows_max }) => {
                places.add(place, rows);
                places.count() <= *rows_max
            }
            (Self::First(first), Wanted::First { order, count, long_bytes_max }) => {
                first.add(table, (segment, place), (order, *count), rows, *long_bytes_max)?
                    == Room::Enough
            }
            (Self::Fold(folding), Wanted::Fold(aggregates)) => {
                folding.add(table, segment, aggregates, rows)?;
                true
            }
            (Self::Groups(grouping), wanted) => match wanted.groups() {
                Some(groups) => grouping.add(table, segment, groups, rows)? == Room::Enough,
                None => true,
            },
            _ => true,
        };
        if !has_room {
            *self = Self::TooMany;
        }
        Ok(())
    }

    /// Whether rows that are yet to come change nothing.
    pub(super) fn is_enough(&self, wanted: &Wanted) -> bool {
        match (self, wanted) {
            (Self::TooMany, _) => true,
            (Self::First(first), Wanted::First { order, count, .. }) => {
                first.is_enough(order, *count)
            }
            _ => false,
        }
    }

    /// With what somebody else has found.
    pub(super) fn with(self, other: Self, wanted: &Wanted) -> Result<Self> {
        Ok(match (self, other, wanted) {
            (found, Self::Nothing, _) | (Self::Nothing, found, _) => found,
            (Self::TooMany, _, _) | (_, Self::TooMany, _) => Self::TooMany,
            (Self::Rows(mut all), Self::Rows(more), Wanted::Rows { rows_max }) => {
                if all.count() + more.count() > *rows_max {
                    return Ok(Self::TooMany);
                }
                all.append(more);
                Self::Rows(all)
            }
            (
                Self::First(mut all),
                Self::First(more),
                Wanted::First { order, count, long_bytes_max },
            ) => match all.merge(more, (order, *count), *long_bytes_max) {
                Room::Enough => Self::First(all),
                Room::TooMany => Self::TooMany,
            },
            (Self::Fold(mut all), Self::Fold(more), _) => {
                all.merge(more)?;
                Self::Fold(all)
            }
            (Self::Groups(mut all), Self::Groups(more), wanted) => match wanted.groups() {
                Some(groups) if all.merge(more, groups)? == Room::TooMany => Self::TooMany,
                _ => Self::Groups(all),
            },
            _ => return Err(Error::internal("a question has two kinds of answer")),
        })
    }

    /// The answer, when all is found; the segments are those of the places.
    pub(super) fn answer(
        self,
        question: &Question,
        table: &Table,
        segments: &[Arc<SegmentVersion>],
    ) -> Result<Answer> {
        let found = match self {
            Self::Nothing => Self::start(&question.wanted, table)?,
            found => found,
        };
        let rows = |places| Answer::Rows(Arc::new(FoundRows::new(table.clone(), places, segments)));
        Ok(match (found, &question.wanted) {
            (Self::Rows(places), _) => rows(places),
            (Self::First(first), Wanted::First { order, count, .. }) => {
                rows(first.finish(order, *count))
            }
            (Self::Fold(folding), _) => Answer::Folded(folding.finish()),
            (Self::Groups(grouping), _) => Answer::Groups(grouping.finish()),
            (Self::TooMany, _) => Answer::TooMany,
            _ => return Err(Error::internal("a question has another kind of answer")),
        })
    }

    fn start(wanted: &Wanted, table: &Table) -> Result<Self> {
        Ok(match wanted {
            Wanted::Rows { .. } => Self::Rows(Places::default()),
            Wanted::First { .. } => Self::First(FirstRows::default()),
            Wanted::Fold(aggregates) => Self::Fold(Folding::start(table, aggregates)?),
            Wanted::Groups { aggregates, .. } => Self::Groups(Grouping::start(table, aggregates)?),
        })
    }
}
