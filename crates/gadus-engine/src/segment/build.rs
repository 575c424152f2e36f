//! Writing segments: from new rows, or from a version whose changes are folded in.
//!
//! - What is written here is not synced: the caller syncs the data file before a log record or a
//!   manifest names the segment.

use super::encoded::{ColumnEntry, ColumnPlace, Footer};
use super::{EncodedSegment, SegmentVersion, column_number};
use crate::blobs::Blobs;
use crate::encoding::{EncodedColumn, encode};
use crate::error::{Error, Result};
use crate::interrupt_check::check_interrupt;
use crate::types::TableSchema;
use crate::vector::{Rows, Vector};
use gadus_base::is_interrupted;
use gadus_storage::{BlobRef, Extent};
use std::sync::Arc;

/// Writes a segment of new rows, given as one vector a column.
pub(crate) fn build_segment(
    rows: u32,
    columns: Vec<Vector>,
    blobs: &Blobs,
) -> Result<EncodedSegment> {
    let encoded = columns.into_iter().map(encode_vector).collect::<Vec<_>>();
    let written = write_columns(&encoded, blobs)?;
    new_segment(rows, encoded, written, blobs)
}

/// Writes a segment like [`build_segment`]; ends with the statement that this thread works for, if that is cancelled.
pub(crate) fn build_segment_interruptibly(
    rows: u32,
    columns: Vec<Vector>,
    blobs: &Blobs,
) -> Result<EncodedSegment> {
    let mut encoded = Vec::with_capacity(columns.len());
    for column in columns {
        let (mut values, validity) = column.into_owned();
        check_interrupt()?;
        encoded.push(encode(&mut values, validity.as_ref()));
        check_interrupt()?;
    }
    let slices = slices(&encoded);
    let written = blobs.store().write_extent_while(&slices, || !is_interrupted())?;
    new_segment(rows, encoded, written.ok_or_else(Error::cancelled)?, blobs)
}

/// Writes the base that results when a version's open rows and patches enter it.
///
/// Columns without changes keep their blobs, unless rows were appended.
pub(crate) fn rebuild_segment(
    version: &SegmentVersion,
    schema: &TableSchema,
    blobs: &Blobs,
) -> Result<EncodedSegment> {
    let kept = match &version.encoded {
        Some(base) if version.rows == base.rows() => Some(base),
        _ => None,
    };
    let written = kept.map(|base| base.footer(schema, blobs)).transpose()?;
    let is_written = |column: usize| {
        written.is_some_and(|footer| matches!(footer.columns[column].place, ColumnPlace::Blob(_)))
    };
    let changed = (0..schema.columns.len())
        .filter(|&column| !is_written(column) || version.overlay.has_patches(column_number(column)))
        .collect::<Vec<_>>();
    let rows = Rows::Range { first: 0, count: version.rows as usize };
    let mut encoded = Vec::with_capacity(changed.len());
    for &column in &changed {
        encoded.push(encode_vector(version.vector(schema, blobs, column, rows)?));
    }
    let (extent, references) = write_columns(&encoded, blobs)?;
    let mut replaced = changed.into_iter().zip(references.into_iter().zip(encoded));
    let Some(base) = kept else {
        let columns = replaced.map(|(_, (blob, column))| entry(blob, column)).collect();
        return with_footer(version.rows, Footer { columns }, vec![extent], blobs);
    };
    let mut footer = base.footer(schema, blobs)?.clone();
    for (column, (blob, encoded)) in &mut replaced {
        footer.columns[column] = entry(blob, encoded);
    }
    // Extents of which no column is left are not named any more.
    let within = |extent: &Arc<Extent>, entry: &ColumnEntry| {
        let place = extent.reference();
        let ColumnPlace::Blob(blob) = &entry.place else { return false };
        (place.offset..place.offset + place.bytes).contains(&blob.offset)
    };
    let mut extents = base.extents().to_vec();
    extents.retain(|extent| footer.columns.iter().any(|entry| within(extent, entry)));
    extents.push(extent);
    with_footer(version.rows, footer, extents, blobs)
}

fn entry(blob: BlobRef, column: EncodedColumn) -> ColumnEntry {
    ColumnEntry { place: ColumnPlace::Blob(blob), sketch: column.sketch }
}

fn encode_vector(vector: Vector) -> EncodedColumn {
    let (mut values, validity) = vector.into_owned();
    encode(&mut values, validity.as_ref())
}

fn write_columns(encoded: &[EncodedColumn], blobs: &Blobs) -> Result<(Arc<Extent>, Vec<BlobRef>)> {
    Ok(blobs.store().write_extent(&slices(encoded))?)
}

fn slices(encoded: &[EncodedColumn]) -> Vec<&[u8]> {
    encoded.iter().map(|column| column.blob.as_slice()).collect()
}

/// Makes a segment of columns that have been written.
fn new_segment(
    rows: u32,
    encoded: Vec<EncodedColumn>,
    (extent, references): (Arc<Extent>, Vec<BlobRef>),
    blobs: &Blobs,
) -> Result<EncodedSegment> {
    let entries =
        references.into_iter().zip(encoded).map(|(blob, column)| entry(blob, column)).collect();
    with_footer(rows, Footer { columns: entries }, vec![extent], blobs)
}

/// Writes the footer in an extent of its own, behind the columns that it names.
fn with_footer(
    rows: u32,
    footer: Footer,
    mut extents: Vec<Arc<Extent>>,
    blobs: &Blobs,
) -> Result<EncodedSegment> {
    let (extent, references) = blobs.store().write_extent(&[&footer.encode()])?;
    extents.push(extent);
    Ok(EncodedSegment::written(rows, references[0], extents, footer))
}
