//! Reading rows of a segment version: base, open rows and overlay as one.

use super::{SegmentVersion, column_number};
use crate::blobs::Blobs;
use crate::encoding::Column;
use crate::error::Result;
use crate::types::{Datum, TableSchema};
use crate::vector::{Rows, Vector};
use std::sync::Arc;

impl SegmentVersion {
    /// The values of a column in the given rows, patches applied; deleted rows are not left out.
    pub(crate) fn vector(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        column: usize,
        rows: Rows<'_>,
    ) -> Result<Vector> {
        let mut vector = Vector::empty(schema.columns[column].column_type.storage());
        let (below, _) = divide(rows, self.encoded_rows());
        let base = if below.count() > 0 { self.base(schema, blobs, column)? } else { None };
        self.append_to(&mut vector, base.as_deref(), column, rows);
        Ok(vector)
    }

    /// A column of the base, where there is a base.
    pub(crate) fn base(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        column: usize,
    ) -> Result<Option<Arc<Column>>> {
        self.encoded.as_ref().map(|base| base.column(schema, blobs, column)).transpose()
    }

    /// Puts the values of a column behind those that a vector has; `base` is the column's base.
    pub(crate) fn append_to(
        &self,
        vector: &mut Vector,
        base: Option<&Column>,
        column: usize,
        rows: Rows<'_>,
    ) {
        let before = vector.len();
        let split = self.encoded_rows();
        let (below, above) = divide(rows, split);
        if below.count() > 0
            && let Some(base) = base
        {
            vector.append_column(base, below);
        }
        if let Some(open) = &self.open {
            each_position(above, |position| vector.push(&open.row(position)[column]));
        }
        self.apply_patches(column, rows, vector, before);
    }

    /// One value, patch applied.
    pub(crate) fn datum(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        column: usize,
        position: u32,
    ) -> Result<Datum> {
        if let Some(value) = self.overlay.patched(column_number(column), position) {
            return Ok(value.clone());
        }
        match &self.encoded {
            Some(base) if position < base.rows() => {
                Ok(base.column(schema, blobs, column)?.datum(position as usize))
            }
            _ => Ok(self.open_datum(column, position)),
        }
    }

    /// The same, where the base's column is at hand, or there is no base.
    pub(crate) fn datum_with(&self, base: Option<&Column>, column: usize, position: u32) -> Datum {
        if let Some(value) = self.overlay.patched(column_number(column), position) {
            return value.clone();
        }
        match base {
            Some(base) if (position as usize) < base.rows => base.datum(position as usize),
            _ => self.open_datum(column, position),
        }
    }

    /// A value of a row behind the base.
    fn open_datum(&self, column: usize, position: u32) -> Datum {
        let open = self.open.as_ref().expect("a position within the segment has a row");
        open.row(position)[column].clone()
    }

    /// A row's values of all columns.
    pub(crate) fn row(
        &self,
        schema: &TableSchema,
        blobs: &Blobs,
        position: u32,
    ) -> Result<Vec<Datum>> {
        (0..schema.columns.len())
            .map(|column| self.datum(schema, blobs, column, position))
            .collect()
    }

    /// Whether a snapshot with this version sees a row at the position.
    pub(crate) fn is_live(&self, position: u32) -> bool {
        position < self.rows && !self.overlay.is_deleted(position)
    }

    /// Overwrites patched values; `vector` holds the given rows behind so many others.
    fn apply_patches(&self, column: usize, rows: Rows<'_>, vector: &mut Vector, before: usize) {
        let column = column_number(column);
        if !self.overlay.has_patches(column) {
            return;
        }
        match rows {
            Rows::Range { first, count } => {
                let first = position_u32(first);
                let range = first..first + position_u32(count);
                for (position, value) in self.overlay.patches_within(column, range) {
                    vector.set(before + (position - first) as usize, value);
                }
            }
            Rows::Positions(positions) => {
                let (Some(&first), Some(&last)) = (positions.first(), positions.last()) else {
                    return;
                };
                for (position, value) in self.overlay.patches_within(column, first..last + 1) {
                    if let Ok(index) = positions.binary_search(&position) {
                        vector.set(before + index, value);
                    }
                }
            }
        }
    }
}

fn position_u32(position: usize) -> u32 {
    u32::try_from(position).expect("a position within a segment")
}

/// The rows below and from `split` on.
fn divide(rows: Rows<'_>, split: u32) -> (Rows<'_>, Rows<'_>) {
    match rows {
        Rows::Range { first, count } => {
            let split = (split as usize).clamp(first, first + count);
            (
                Rows::Range { first, count: split - first },
                Rows::Range { first: split, count: first + count - split },
            )
        }
        Rows::Positions(positions) => {
            let (below, above) =
                positions.split_at(positions.partition_point(|&position| position < split));
            (Rows::Positions(below), Rows::Positions(above))
        }
    }
}

fn each_position(rows: Rows<'_>, mut each: impl FnMut(u32)) {
    match rows {
        Rows::Range { first, count } => {
            (first..first + count).for_each(|position| each(position_u32(position)));
        }
        Rows::Positions(positions) => positions.iter().for_each(|&position| each(position)),
    }
}
