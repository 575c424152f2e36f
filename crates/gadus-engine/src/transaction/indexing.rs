//! What an index that is new has of the rows that are there.
//!
//! - Rows are read once, while nobody else changes them; others go on reading.
//! - Rows that the transaction itself has written have no lasting places yet, so an index is made before them, or
//!   with the table anew.

use super::Transaction;
use super::loaded::check_distinct;
use crate::blobs::Blobs;
use crate::error::{Error, Result};
use crate::interrupt_check::check_interrupt;
use crate::keys::{KeyEntry, KeyShape, NamedRun, PRIMARY, row_code, write_run};
use crate::segment::SegmentVersion;
use crate::types::{Datum, TableSchema};
use crate::vector::{Rows, Vector};
use crate::version::TableVersion;
use gadus_base::RowId;
use std::sync::Arc;

impl Transaction {
    /// Whether the transaction has written rows of a table.
    #[must_use]
    pub fn has_written(&self, schema: &TableSchema) -> bool {
        self.state.writes.contains_key(&schema.id)
    }

    /// Writes runs of the indexes that `after` has and `before` has not.
    pub(super) fn write_indexes(
        &mut self,
        before: &TableSchema,
        after: &TableSchema,
    ) -> Result<Vec<NamedRun>> {
        let is_new = |shape: &KeyShape| {
            shape.id != PRIMARY && before.indexes.iter().all(|index| index.id != shape.id)
        };
        let shapes = KeyShape::all(after).into_iter().filter(is_new).collect::<Vec<_>>();
        if shapes.is_empty() || self.view_table(before)?.live_rows == 0 {
            return Ok(Vec::new());
        }
        if self.has_written(before) {
            return Err(Error::internal("an index is made before rows are written"));
        }
        self.keep_rows(before)?;
        let table = self.view_table(before)?.clone();
        let mut runs = Vec::new();
        for mut shape in shapes {
            let run = Arc::new(write_run(&self.entries(&table, after, &mut shape)?, &self.blobs)?);
            runs.push((shape.id, run));
        }
        Ok(runs)
    }

    /// The entries of all rows, in order.
    fn entries(
        &self,
        table: &TableVersion,
        after: &TableSchema,
        shape: &mut KeyShape,
    ) -> Result<Vec<KeyEntry>> {
        // Columns may stand elsewhere by then.
        let place = |column: &usize| {
            let id = after.columns[*column].id;
            table
                .schema
                .column_with_id(id)
                .ok_or_else(|| Error::internal("an index of a column that is added with it"))
        };
        shape.columns = shape.columns.iter().map(place).collect::<Result<_>>()?;
        let mut entries = Vec::with_capacity(usize::try_from(table.live_rows).unwrap_or(0));
        for segment in table.segments.values() {
            check_interrupt()?;
            let added = self.add_entries(table, (segment, shape), &mut entries);
            self.state.pin.checked(added)?;
        }
        entries.sort_unstable();
        if shape.unique {
            let key = |row| key_of_row(table, shape, &self.blobs, row);
            let checked = check_distinct((&table.schema, shape), &entries, key);
            self.state.pin.checked(checked)?;
        }
        Ok(entries)
    }

    fn add_entries(
        &self,
        table: &TableVersion,
        (segment, shape): (&SegmentVersion, &KeyShape),
        entries: &mut Vec<KeyEntry>,
    ) -> Result<()> {
        let live = (0..segment.rows).filter(|&position| segment.is_live(position));
        let live = live.collect::<Vec<_>>();
        if live.is_empty() {
            return Ok(());
        }
        let vector = |&column: &usize| {
            segment.vector(&table.schema, &self.blobs, column, Rows::Positions(&live))
        };
        let columns = shape.columns.iter().map(vector).collect::<Result<Vec<Vector>>>()?;
        let mut values: Vec<Datum> = Vec::with_capacity(columns.len());
        for (place, &position) in live.iter().enumerate() {
            values.clear();
            values.extend(columns.iter().map(|column| column.datum(place)));
            let row = row_code(RowId { segment: segment.id, position });
            entries.push(KeyEntry { code: shape.code(values.iter()), row });
        }
        Ok(())
    }
}

/// What an index has of a row.
fn key_of_row(
    table: &TableVersion,
    shape: &KeyShape,
    blobs: &Blobs,
    row: RowId,
) -> Result<Vec<Datum>> {
    let no_row = || Error::internal("an entry of a row that is not there");
    let segment = table.segment(row.segment).ok_or_else(no_row)?;
    let value = |&column: &usize| segment.datum(&table.schema, blobs, column, row.position);
    shape.columns.iter().map(value).collect()
}
