//! Values of rows of one segment or of many, gathered into Arrow arrays.
//!
//! - Scattered rows wait for memory: their places are all asked for before the first is read.

use crate::encoding::Column;
use crate::error::Result;
use crate::segment::SegmentVersion;
use crate::snapshot::Table;
use crate::vector::{Rows, Vector};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Rows are scattered where at most one of so many is read.
const SCATTERED_PART: usize = 8;

/// Rows of a run that is read as a range if a batch has rows of several segments. Values of shorter runs are copied,
/// which does not keep all others of their segment, and each is prefetched before the first one is read.
const RUN_MIN: usize = 16;

/// Some columns of rows of segments as one batch; positions are not empty, and rise.
pub(crate) fn batch_of<'a>(
    table: &Table,
    rows: impl Iterator<Item = (&'a SegmentVersion, &'a [u32])> + Clone,
    schema: &SchemaRef,
    projection: &[usize],
) -> Result<RecordBatch> {
    let columns = arrays_of(table, rows.clone(), projection)?;
    let count = rows.map(|(_, positions)| positions.len()).sum();
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}

fn arrays_of<'a>(
    table: &Table,
    rows: impl Iterator<Item = (&'a SegmentVersion, &'a [u32])> + Clone,
    projection: &[usize],
) -> Result<Vec<ArrayRef>> {
    let array = |&column: &usize| {
        let base = |(segment, _): (&SegmentVersion, _)| base_of(table, segment, column);
        let bases = rows.clone().map(base).collect::<Result<Vec<_>>>()?;
        array_of(table, column, bases.iter().map(Option::as_deref).zip(rows.clone()))
    };
    projection.iter().map(array).collect()
}

/// Opened columns of a segment that a scan hands out, none where the segment has no base.
///
/// A column may be too large for the cache, and rows show values within it: for each batch it would be read, and held,
/// once more.
pub(crate) struct Bases(Vec<Option<Arc<Column>>>);

impl Bases {
    pub(crate) fn of(table: &Table, segment: &SegmentVersion, columns: &[usize]) -> Result<Self> {
        columns
            .iter()
            .map(|&column| base_of(table, segment, column))
            .collect::<Result<_>>()
            .map(Self)
    }

    /// Rows of the segment, whose positions are not empty and rise, by columns, which are those that are opened.
    pub(crate) fn arrays(
        &self,
        table: &Table,
        (segment, positions): (&SegmentVersion, &[u32]),
        columns: &[usize],
    ) -> Result<Vec<ArrayRef>> {
        let array = |(&column, base): (&usize, &Option<Arc<Column>>)| {
            let piece = (base.as_deref(), (segment, positions));
            array_of(table, column, std::iter::once(piece))
        };
        columns.iter().zip(&self.0).map(array).collect()
    }
}

fn base_of(table: &Table, segment: &SegmentVersion, column: usize) -> Result<Option<Arc<Column>>> {
    segment.base(table.schema(), table.blobs(), column)
}

/// One column of rows of segments, each with the column's base.
fn array_of<'a, 'b>(
    table: &Table,
    column: usize,
    pieces: impl Iterator<Item = (Option<&'b Column>, (&'a SegmentVersion, &'a [u32]))> + Clone,
) -> Result<ArrayRef> {
    let column_type = table.schema().columns[column].column_type;
    let mut vector = Vector::empty(column_type.storage());
    let run_min = if pieces.clone().nth(1).is_some() { RUN_MIN } else { 1 };
    let rows = |positions| contiguous(positions, run_min);
    prefetch(pieces.clone().map(|(base, (_, positions))| (base, rows(positions))));
    for (base, (segment, positions)) in pieces {
        segment.append_to(&mut vector, base, column, rows(positions));
    }
    vector.into_array(column_type)
}

/// Has the processor fetch values of scattered rows, all at once instead of one after the other.
fn prefetch<'a, 'b>(pieces: impl Iterator<Item = (Option<&'b Column>, Rows<'a>)> + Clone) {
    let each = |fetch: fn(&Column, usize)| {
        for (base, rows) in pieces.clone() {
            if let (Some(base), Rows::Positions(positions)) = (base, rows)
                && is_scattered(positions)
            {
                positions.iter().for_each(|&position| fetch(base, position as usize));
            }
        }
    };
    each(Column::prefetch);
    each(Column::prefetch_value);
}

/// Tells whether so few rows of their surroundings are read that memory does not come before it is asked for.
fn is_scattered(positions: &[u32]) -> bool {
    match (positions.first(), positions.last()) {
        (Some(&first), Some(&last)) => {
            positions.len() < RUN_MIN || (last - first) as usize >= SCATTERED_PART * positions.len()
        }
        _ => false,
    }
}

/// Returns positions as a range if they are one of so many rows at least.
fn contiguous(positions: &[u32], run_min: usize) -> Rows<'_> {
    match (positions.first(), positions.last()) {
        (Some(&first), Some(&last))
            if (last - first) as usize + 1 == positions.len() && positions.len() >= run_min =>
        {
            Rows::Range { first: first as usize, count: positions.len() }
        }
        _ => Rows::Positions(positions),
    }
}
