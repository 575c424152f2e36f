//! Rows of many segments, in two lists: a question that finds a few rows in each of hundreds of segments
//! has no list for each.

use super::probe::position_of;
use crate::vector::Rows;
use std::ops::Range;

/// Rows by segments, which are named by their place among a table's.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Segments, and where their positions end.
    segments: Vec<(usize, usize)>,
    /// Rising in each segment.
    positions: Vec<u32>,
}

impl Places {
    pub(super) fn count(&self) -> usize {
        self.positions.len()
    }

    /// Adds rows of a segment, behind those that were added of it before.
    pub(super) fn add(&mut self, segment: usize, rows: Rows<'_>) {
        match rows {
            Rows::Positions(more) => self.positions.extend_from_slice(more),
            Rows::Range { first, count } => {
                self.positions.extend(position_of(first)..position_of(first + count));
            }
        }
        match self.segments.last_mut().filter(|(last, _)| *last == segment) {
            Some((_, end)) => *end = self.positions.len(),
            None => self.segments.push((segment, self.positions.len())),
        }
    }

    /// Adds rows of other segments.
    pub(super) fn append(&mut self, other: Self) {
        let before = self.positions.len();
        self.positions.extend(other.positions);
        self.segments.extend(other.segments.iter().map(|(segment, end)| (*segment, before + end)));
    }

    /// Each segment, in their order, with the range of its positions among all.
    pub(super) fn in_order(self) -> (Vec<(usize, Range<usize>)>, Vec<u32>) {
        let begins = std::iter::once(0).chain(self.segments.iter().map(|(_, end)| *end));
        let ranges = self.segments.iter().zip(begins);
        let mut ranges =
            ranges.map(|((segment, end), begin)| (*segment, begin..*end)).collect::<Vec<_>>();
        ranges.sort_unstable_by_key(|(segment, _)| *segment);
        (ranges, self.positions)
    }
}

#[cfg(test)]
mod tests;
