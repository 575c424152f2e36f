//! The first so many rows of an order, found while rows come in any order.
//!
//! - Among equals a row is before those that lie behind it in its table, so that who asks again is told
//!   the same. Without an order any rows will do, and the first that come are taken.

use super::places::Places;
use crate::error::Result;
use crate::scan::Room;
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::types::Datum;
use crate::vector::{Rows, Vector};
use std::cmp::Ordering;

/// A column that rows are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderBy {
    /// Its index.
    pub column: usize,
    /// Whether the greatest value comes first.
    pub descending: bool,
    /// Whether NULL comes before all values, whatever their order.
    pub nulls_first: bool,
}

/// The rows that are among the first of all that were added so far, and some more.
#[derive(Debug, Default)]
pub(super) struct FirstRows {
    rows: Vec<Row>,
    /// So many are known that are before this one or are it, that later ones need not be looked at.
    last: Option<Row>,
    /// Bytes of the long values in keys.
    long_bytes: usize,
}

#[derive(Debug, Clone)]
struct Row {
    key: Vec<Datum>,
    segment: usize,
    position: u32,
}

/// More rows than are wanted that are kept before the last of them are sorted out.
const SPARE_ROWS: usize = 1_024;

impl FirstRows {
    /// Adds rows of a segment, which has a place among its table's; `order` and `count` are always the
    /// same. Long values may take `long_bytes_max`.
    pub(super) fn add(
        &mut self,
        table: &Table,
        (segment, place): (&SegmentVersion, usize),
        (order, count): (&[OrderBy], usize),
        rows: Rows<'_>,
        long_bytes_max: usize,
    ) -> Result<Room> {
        let vector = |by: &OrderBy| segment.vector(table.schema(), table.blobs(), by.column, rows);
        let vectors = order.iter().map(vector).collect::<Result<Vec<_>>>()?;
        for index in 0..rows.count() {
            if self.is_enough(order, count) {
                return Ok(Room::Enough);
            }
            if self.comes_too_late(order, &vectors, index) {
                continue;
            }
            let position = super::probe::position_of(rows.position(index));
            let key = vectors.iter().map(|vector| vector.datum(index)).collect();
            let row = Row { key, segment: place, position };
            if self.push(row, (order, count), long_bytes_max) == Room::TooMany {
                return Ok(Room::TooMany);
            }
        }
        Ok(Room::Enough)
    }

    /// Whether a row's first value alone says that it is not among the first.
    fn comes_too_late(&self, order: &[OrderBy], vectors: &[Vector], index: usize) -> bool {
        let (Some(by), Some(vector), Some(last)) = (order.first(), vectors.first(), &self.last)
        else {
            return false;
        };
        let bound = &last.key[0];
        if !vector.is_valid(index) || bound.is_null() {
            return false;
        }
        let ordering = vector.compare(index, bound);
        if by.descending { ordering.is_lt() } else { ordering.is_gt() }
    }

    /// Adds the rows that another worker has found.
    pub(super) fn merge(
        &mut self,
        other: Self,
        wanted: (&[OrderBy], usize),
        long_bytes_max: usize,
    ) -> Room {
        let mut rows = other.rows.into_iter();
        match rows.all(|row| self.push(row, wanted, long_bytes_max) == Room::Enough) {
            true => Room::Enough,
            false => Room::TooMany,
        }
    }

    /// Whether others need not be looked at.
    pub(super) fn is_enough(&self, order: &[OrderBy], count: usize) -> bool {
        order.is_empty() && self.rows.len() >= count
    }

    pub(super) fn finish(mut self, order: &[OrderBy], count: usize) -> Places {
        self.sort_out(order, count);
        let mut rows = self.rows.iter().map(|row| (row.segment, row.position)).collect::<Vec<_>>();
        rows.sort_unstable();
        let mut places = Places::default();
        for (segment, position) in rows {
            places.add(segment, Rows::Positions(&[position]));
        }
        places
    }

    fn push(
        &mut self,
        row: Row,
        (order, count): (&[OrderBy], usize),
        long_bytes_max: usize,
    ) -> Room {
        if self.last.as_ref().is_some_and(|last| compare(order, &row, last).is_gt()) {
            return Room::Enough;
        }
        self.long_bytes += row.long_bytes();
        self.rows.push(row);
        if self.long_bytes > long_bytes_max {
            self.sort_out(order, count);
            // Rows that leave little room would have to be sorted out again and again.
            if self.long_bytes > long_bytes_max / 2 {
                return Room::TooMany;
            }
        } else if self.rows.len() >= count.saturating_mul(2).saturating_add(SPARE_ROWS) {
            self.sort_out(order, count);
        }
        Room::Enough
    }

    /// Forgets rows that are not among the first.
    fn sort_out(&mut self, order: &[OrderBy], count: usize) {
        if count == 0 {
            self.rows.clear();
        } else if self.rows.len() > count {
            let (_, last, _) = self
                .rows
                .select_nth_unstable_by(count - 1, |one, other| compare(order, one, other));
            self.last = Some(last.clone());
            self.rows.truncate(count);
        }
        self.long_bytes = self.rows.iter().map(Row::long_bytes).sum();
    }
}

impl Row {
    fn long_bytes(&self) -> usize {
        self.key.iter().map(Datum::long_bytes).sum()
    }
}

fn compare(order: &[OrderBy], one: &Row, other: &Row) -> Ordering {
    let keys = order.iter().zip(one.key.iter().zip(&other.key));
    for (by, (left, right)) in keys {
        let ordering = match (left.is_null(), right.is_null()) {
            (false, false) if by.descending => right.cmp(left),
            (false, false) => left.cmp(right),
            (left_null, right_null) if by.nulls_first => right_null.cmp(&left_null),
            (left_null, right_null) => left_null.cmp(&right_null),
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    (one.segment, one.position).cmp(&(other.segment, other.position))
}
