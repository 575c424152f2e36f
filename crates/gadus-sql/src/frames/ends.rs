//! Ends of frames.

use crate::error::{input, to_datafusion};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use arrow::row::{RowConverter, Rows};
use datafusion::common::{DataFusionError, Result};
use gadus_engine::Diagnosis;
use gadus_syntax::ast::{FrameExclusion, FrameUnits};
use std::ops::Range;

/// End of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum End {
    UnboundedPreceding,
    /// Offset before the current row.
    Preceding,
    CurrentRow,
    /// Offset behind it.
    Following,
    UnboundedFollowing,
}

impl End {
    /// Returns true for one that has an offset.
    pub(crate) const fn has_offset(self) -> bool {
        matches!(self, Self::Preceding | Self::Following)
    }
}

/// Frame without its offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) units: FrameUnits,
    pub(crate) start: End,
    pub(crate) end: End,
    pub(crate) exclusion: FrameExclusion,
}

/// Offsets of one end.
enum Offsets {
    None,
    /// Rows or groups of peers, for all rows.
    Count(usize),
    /// Values at which the frame ends; NULL for a row whose key is.
    Values(Rows, ArrayRef),
}

/// Frames of a partition.
pub(super) struct Frames {
    frame: Frame,
    keys: Rows,
    rows: usize,
    /// First row of each group of peers, and the number of rows at the end.
    groups: Vec<usize>,
    /// Group of each row.
    group_of: Vec<usize>,
    start: Offsets,
    end: Offsets,
}

impl Frames {
    /// Finds the groups of peers of a sorted partition.
    pub(super) fn new(
        frame: Frame,
        converter: &RowConverter,
        keys: &[ArrayRef],
        mut offsets: impl Iterator<Item = ArrayRef>,
        rows: usize,
    ) -> Result<Self> {
        let key_rows = converter.convert_columns(keys)?;
        let (mut groups, mut group_of) = (Vec::new(), Vec::with_capacity(rows));
        for row in 0..rows {
            let is_first =
                row == 0 || (!keys.is_empty() && key_rows.row(row - 1) != key_rows.row(row));
            if is_first {
                groups.push(row);
            }
            group_of.push(groups.len() - 1);
        }
        groups.push(rows);
        let mut offsets_of = |end: End, side: &str| -> Result<Offsets> {
            let Some(column) = end.has_offset().then(|| offsets.next()).flatten() else {
                return Ok(Offsets::None);
            };
            match frame.units {
                FrameUnits::Range => {
                    let values = converter.convert_columns(std::slice::from_ref(&column))?;
                    check_values(end, side, (&values, &column), (&key_rows, &keys[0]))?;
                    Ok(Offsets::Values(values, column))
                }
                FrameUnits::Rows | FrameUnits::Groups => Ok(Offsets::Count(count(&column, side)?)),
            }
        };
        let start = offsets_of(frame.start, "starting")?;
        let end = offsets_of(frame.end, "ending")?;
        Ok(Self { frame, keys: key_rows, rows, groups, group_of, start, end })
    }

    /// Returns the ranges of rows of the frame of a row.
    pub(super) fn of(&self, row: usize) -> Vec<Range<usize>> {
        let start = self.start(row);
        let range = start..self.end(row).max(start);
        let group = self.group_of[row];
        let peers = self.groups[group]..self.groups[group + 1];
        let parts = match self.frame.exclusion {
            FrameExclusion::NoOthers => return vec![range],
            FrameExclusion::CurrentRow => vec![0..row, row + 1..self.rows],
            FrameExclusion::Group => vec![0..peers.start, peers.end..self.rows],
            FrameExclusion::Ties => vec![0..peers.start, row..row + 1, peers.end..self.rows],
        };
        let within = |part: Range<usize>| part.start.max(range.start)..part.end.min(range.end);
        parts.into_iter().map(within).filter(|part| part.start < part.end).collect()
    }

    fn start(&self, row: usize) -> usize {
        let group = self.group_of[row];
        match (self.frame.start, self.frame.units, &self.start) {
            (End::UnboundedPreceding, ..) => 0,
            (End::UnboundedFollowing, ..) => self.rows,
            (End::CurrentRow, FrameUnits::Rows, _) => row,
            (End::Preceding, FrameUnits::Rows, Offsets::Count(count)) => row.saturating_sub(*count),
            (End::Following, FrameUnits::Rows, Offsets::Count(count)) => {
                row.saturating_add(*count).min(self.rows)
            }
            (End::Preceding, _, Offsets::Count(count)) => self.groups[group.saturating_sub(*count)],
            (End::Following, _, Offsets::Count(count)) => {
                self.groups[group.saturating_add(*count).min(self.groups.len() - 1)]
            }
            (_, _, Offsets::Values(values, column)) if column.is_valid(row) => {
                self.first(|other| self.keys.row(other) >= values.row(row))
            }
            _ => self.groups[group],
        }
    }

    /// Returns the row behind the last one of a frame.
    fn end(&self, row: usize) -> usize {
        let group = self.group_of[row];
        match (self.frame.end, self.frame.units, &self.end) {
            (End::UnboundedPreceding, ..) => 0,
            (End::UnboundedFollowing, ..) => self.rows,
            (End::CurrentRow, FrameUnits::Rows, _) => row + 1,
            (End::Preceding, FrameUnits::Rows, Offsets::Count(count)) => {
                (row + 1).saturating_sub(*count)
            }
            (End::Following, FrameUnits::Rows, Offsets::Count(count)) => {
                (row + 1).saturating_add(*count).min(self.rows)
            }
            (End::Preceding, _, Offsets::Count(count)) => {
                self.groups[(group + 1).saturating_sub(*count)]
            }
            (End::Following, _, Offsets::Count(count)) => {
                self.groups[(group + 1).saturating_add(*count).min(self.groups.len() - 1)]
            }
            (_, _, Offsets::Values(values, column)) if column.is_valid(row) => {
                self.first(|other| self.keys.row(other) > values.row(row))
            }
            _ => self.groups[group + 1],
        }
    }

    /// Returns the first row for which a condition holds, which then holds for all behind it.
    fn first(&self, holds: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match holds(middle) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }
}

fn refused(message: String, sql_state: &'static str) -> DataFusionError {
    let diagnosis = Diagnosis { sql_state: Some(sql_state), ..Diagnosis::default() };
    to_datafusion(input(message).diagnosed(diagnosis))
}

/// Checks that frames end on the side of the keys that they are said to: distances are not negative.
fn check_values(
    end: End,
    side: &str,
    (values, column): (&Rows, &ArrayRef),
    (keys, key): (&Rows, &ArrayRef),
) -> Result<()> {
    for row in (0..key.len()).filter(|row| key.is_valid(*row)) {
        if column.is_null(row) {
            return Err(refused(format!("frame {side} offset must not be null"), "22004"));
        }
        let is_wrong = match end {
            End::Preceding => values.row(row) > keys.row(row),
            _ => values.row(row) < keys.row(row),
        };
        if is_wrong {
            let message = "invalid preceding or following size in window function";
            return Err(refused(message.to_owned(), "22013"));
        }
    }
    Ok(())
}

/// Reads a number of rows or groups.
fn count(column: &ArrayRef, side: &str) -> Result<usize> {
    let counts = cast(column, &DataType::Int64)?;
    let refuse =
        |what, sql_state| refused(format!("frame {side} offset must not be {what}"), sql_state);
    match counts.as_primitive::<Int64Type>().iter().next() {
        None => Ok(0),
        Some(None) => Err(refuse("null", "22004")),
        Some(Some(count)) => usize::try_from(count).map_err(|_| refuse("negative", "22013")),
    }
}
