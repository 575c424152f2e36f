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

/// Rows are scattered where at most one of so many is read.
const SCATTERED_PART: usize = 8;

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

pub(super) fn arrays_of<'a>(
    table: &Table,
    rows: impl Iterator<Item = (&'a SegmentVersion, &'a [u32])> + Clone,
    projection: &[usize],
) -> Result<Vec<ArrayRef>> {
    let shape = table.schema();
    let array = |&column: &usize| {
        let column_type = shape.columns[column].column_type;
        let mut vector = Vector::empty(column_type.storage());
        let base = |(segment, _): (&SegmentVersion, _)| segment.base(shape, table.blobs(), column);
        let bases = rows.clone().map(base).collect::<Result<Vec<_>>>()?;
        let pieces = || bases.iter().map(Option::as_deref).zip(rows.clone());
        prefetch(pieces().map(|(base, (_, positions))| (base, contiguous(positions))));
        for (base, (segment, positions)) in pieces() {
            segment.append_to(&mut vector, base, column, contiguous(positions));
        }
        vector.into_array(column_type)
    };
    projection.iter().map(array).collect()
}

/// Has the processor fetch values of scattered rows, all at once instead of one after the other.
fn prefetch<'a>(pieces: impl Iterator<Item = (Option<&'a Column>, Rows<'a>)> + Clone) {
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

/// Whether so few rows of their surroundings are read that memory does not come before it is asked for.
fn is_scattered(positions: &[u32]) -> bool {
    match (positions.first(), positions.last()) {
        (Some(&first), Some(&last)) => (last - first) as usize >= SCATTERED_PART * positions.len(),
        _ => false,
    }
}

/// Positions as a range where they are one.
fn contiguous(positions: &[u32]) -> Rows<'_> {
    match (positions.first(), positions.last()) {
        (Some(&first), Some(&last)) if (last - first) as usize + 1 == positions.len() => {
            Rows::Range { first: first as usize, count: positions.len() }
        }
        _ => Rows::Positions(positions),
    }
}
