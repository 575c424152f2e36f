//! Single rows of a table: where a key is, and what rows have.

use super::Table;
use crate::encoding::Column;
use crate::error::{Error, Result};
use crate::interrupt_check::{InterruptCheck, check_interrupt};
use crate::segment::SegmentVersion;
use crate::types::Datum;
use gadus_base::RowId;
use std::sync::Arc;

impl Table {
    /// Finds the row with this primary key.
    pub fn find_key(&self, key: &[Datum]) -> Result<Option<RowId>> {
        if key.len() != self.schema().key.len() || key.is_empty() {
            return Err(Error::internal("a key has a value for each key column"));
        }
        self.note_key(&self.schema().key, key)?;
        self.checked(self.version.find_key(&self.blobs, key))
    }

    /// Finds a row with these values in the columns of an index, by its number; the primary key's is 0. None is equal
    /// to NULL.
    pub fn find_in(&self, index: u32, values: &[Datum]) -> Result<Option<RowId>> {
        let key = self.version.keys.get(index);
        let key = key.filter(|key| key.shape.columns.len() == values.len());
        let key = key.ok_or_else(|| Error::internal("a value for each column of an index"))?;
        self.note_key(&key.shape.columns, values)?;
        self.checked(self.version.find(key, &self.blobs, values))
    }

    /// Reads the values of a row that the snapshot sees.
    pub fn row(&self, row: RowId) -> Result<Option<Vec<Datum>>> {
        let Some(segment) = self.version.live(row) else { return Ok(None) };
        self.note_row(row, 0..self.schema().columns.len())?;
        self.checked(segment.row(&self.version.schema, &self.blobs, row.position).map(Some))
    }

    /// Reads the values of some columns of a row that the snapshot sees.
    pub fn values(&self, row: RowId, columns: &[usize]) -> Result<Option<Vec<Datum>>> {
        let Some(segment) = self.version.live(row) else { return Ok(None) };
        self.note_row(row, columns.iter().copied())?;
        let value = |&column: &usize| {
            segment.datum(&self.version.schema, &self.blobs, column, row.position)
        };
        self.checked(columns.iter().map(value).collect::<Result<_>>().map(Some))
    }

    /// Visits the values of some columns of rows, one row after the other; none of those that the snapshot does not
    /// see. A segment's columns are read once for neighbouring rows: large ones are in no cache.
    ///
    /// # Errors
    /// `Cancelled`, those of `each`, and where a column cannot be read.
    pub(crate) fn each_values(
        &self,
        rows: &[RowId],
        columns: &[usize],
        mut each: impl FnMut(RowId, Option<&[Datum]>) -> Result<()>,
    ) -> Result<()> {
        let mut values = Vec::with_capacity(columns.len());
        let mut check = InterruptCheck::default();
        for rows in rows.chunk_by(|one, next| one.segment == next.segment) {
            check_interrupt()?;
            let segment = self.version.segment(rows[0].segment);
            let bases = match segment {
                Some(segment) => {
                    let base = |column: &usize| self.base_column(segment, *column);
                    self.checked(columns.iter().map(base).collect::<Result<Vec<_>>>())?
                }
                None => Vec::new(),
            };
            for &row in rows {
                check.row()?;
                let Some(segment) = segment.filter(|segment| segment.is_live(row.position)) else {
                    each(row, None)?;
                    continue;
                };
                self.note_row(row, columns.iter().copied())?;
                let of_row = columns.iter().zip(&bases);
                values.clear();
                values.extend(of_row.map(|(&column, base)| {
                    segment.datum_with(base.as_deref(), column, row.position)
                }));
                each(row, Some(&values))?;
            }
        }
        Ok(())
    }

    /// Opens a column of a segment's base, where it has one.
    fn base_column(&self, segment: &SegmentVersion, column: usize) -> Result<Option<Arc<Column>>> {
        let Some(base) = &segment.encoded else { return Ok(None) };
        base.column(&self.version.schema, &self.blobs, column).map(Some)
    }
}
