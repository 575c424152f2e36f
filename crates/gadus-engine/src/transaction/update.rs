//! New values for columns of rows.
//!
//! - Where no index has the columns, rows stay where they are and are patched.
//! - What one statement gives many rows goes to the commit as it is; else the view has what was given last.

use super::Transaction;
use crate::engine::check_value;
use crate::error::Result;
use crate::interrupt_check::{InterruptCheck, check_interrupt};
use crate::segment::{Overlay, Patches, Row, column_number, is_large, row_bytes};
use crate::types::{Datum, TableSchema};
use crate::version::Change;
use gadus_base::{RowId, SegmentId, TableId};
use gadus_locks::Mode;
use imbl::OrdSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of rows that are read between two checks of the memory that they take.
const CHECKED_BYTES: u64 = 1 << 20;

/// What a transaction gave rows of a segment's column.
#[derive(Debug, Clone)]
pub(super) enum Patched {
    Once(Arc<Patches>),
    /// Several times, or few: the values are in the view.
    Rows(OrdSet<u32>),
}

impl Patched {
    fn new(patches: Arc<Patches>) -> Self {
        if patches.is_indexed() {
            Self::Once(patches)
        } else {
            Self::Rows(patches.positions().collect())
        }
    }

    fn add(&mut self, patches: &Patches) {
        match self {
            Self::Rows(rows) => rows.extend(patches.positions()),
            Self::Once(before) => {
                *self = Self::Rows(before.positions().chain(patches.positions()).collect());
            }
        }
    }

    /// Whether it is so of all positions.
    pub(super) fn all(&self, mut is_so: impl FnMut(u32) -> bool) -> bool {
        match self {
            Self::Once(patches) => patches.positions().all(is_so),
            Self::Rows(rows) => rows.iter().all(|&position| is_so(position)),
        }
    }

    /// What the rows have now, given what the view has of their segment.
    pub(super) fn patches(&self, column: u32, view: &Overlay) -> Arc<Patches> {
        let value = |&position: &u32| {
            let value = view.patched(column, position).expect("patched in the view");
            (position, value.clone())
        };
        match self {
            Self::Once(patches) => patches.clone(),
            Self::Rows(rows) => Patches::new(rows.iter().map(value).collect()),
        }
    }
}

impl Transaction {
    /// Gives columns of rows new values; `values[i]` belongs to `rows[i]`, in the order of
    /// `columns`. Returns how many rows were changed.
    ///
    /// Rows whose values in an index change, or are large, are deleted and inserted again, after all others.
    pub fn update(
        &mut self,
        schema: &TableSchema,
        columns: &[usize],
        rows: &[RowId],
        values: &[Vec<Datum>],
    ) -> Result<u64> {
        let values = values.iter().map(Vec::as_slice);
        self.update_each(schema, columns, rows.iter().copied().zip(values))
    }

    /// The same of rows with their values.
    pub(crate) fn update_each<'a>(
        &mut self,
        schema: &TableSchema,
        columns: &[usize],
        rows: impl Iterator<Item = (RowId, &'a [Datum])>,
    ) -> Result<u64> {
        let rows = rows.collect::<Vec<_>>();
        let (mut check, mut bytes) = (InterruptCheck::default(), 0);
        for (_, values) in &rows {
            check.row()?;
            bytes += row_bytes(values);
            for (&column, value) in columns.iter().zip(*values) {
                check_value(schema, column, value)?;
            }
        }
        self.check_values(bytes)?;
        if columns.iter().any(|column| schema.is_indexed(*column)) {
            return self.update_keys(schema, columns, &rows);
        }
        let moves = |(_, values): &(RowId, &[Datum])| values.iter().any(is_large);
        if !rows.iter().any(moves) {
            return self.patch(schema, columns, &rows);
        }
        let (moved, stay) = rows.into_iter().partition::<Vec<_>, _>(moves);
        self.whole_or_not(|transaction| {
            let count = transaction.patch(schema, columns, &stay)?;
            Ok(count + transaction.update_keys(schema, columns, &moved)?)
        })
    }

    /// Gives columns that are in no index new values, where the rows are.
    fn patch(
        &mut self,
        schema: &TableSchema,
        columns: &[usize],
        rows: &[(RowId, &[Datum])],
    ) -> Result<u64> {
        let places = rows.iter().map(|(row, _)| *row).collect::<Vec<_>>();
        self.lock_rows(schema, &places, Mode::Exclusive)?;
        let table = self.view_table(schema)?;
        let mut count = 0;
        // Of each segment those of each column.
        let mut patches: BTreeMap<SegmentId, Vec<Vec<(u32, Datum)>>> = BTreeMap::new();
        for rows in rows.chunk_by(|(one, _), (next, _)| one.segment == next.segment) {
            let id = rows[0].0.segment;
            let Some(segment) = table.segment(id) else { continue };
            check_interrupt()?;
            let of_segment = patches.entry(id).or_insert_with(|| vec![Vec::new(); columns.len()]);
            for (RowId { position, .. }, values) in rows {
                if segment.is_live(*position) {
                    count += 1;
                    let each = of_segment.iter_mut().zip(*values);
                    each.for_each(|(column, value)| column.push((*position, value.clone())));
                }
            }
        }
        for (segment, of_segment) in patches {
            for (&column, patches) in columns.iter().zip(of_segment) {
                self.patch_column(schema.id, segment, column_number(column), patches)?;
            }
        }
        Ok(count)
    }

    fn patch_column(
        &mut self,
        table: TableId,
        segment: SegmentId,
        column: u32,
        patches: Vec<(u32, Datum)>,
    ) -> Result<()> {
        if patches.is_empty() {
            return Ok(());
        }
        check_interrupt()?;
        let patches = Patches::new(patches);
        self.apply(&Change::PatchRows { table, segment, column, patches: patches.clone() })?;
        let writes = self.writes(table);
        if writes.inserted.contains(&segment) {
            return Ok(());
        }
        match writes.patched.get_mut(&(segment, column)) {
            Some(before) => before.add(&patches),
            None => {
                writes.patched.insert((segment, column), Patched::new(patches));
            }
        }
        Ok(())
    }

    /// Gives rows new values by other rows in their place.
    fn update_keys(
        &mut self,
        schema: &TableSchema,
        columns: &[usize],
        rows: &[(RowId, &[Datum])],
    ) -> Result<u64> {
        let table = self.table_to_write(schema)?;
        let width = schema.columns.len();
        let kept = (0..width).filter(|column| !columns.contains(column)).collect::<Vec<_>>();
        let places = rows.iter().map(|(row, _)| *row).collect::<Vec<_>>();
        let mut given = rows.iter().map(|(_, values)| *values);
        let mut replaced = Vec::new();
        let mut inserted: Vec<Row> = Vec::new();
        let (mut bytes, mut checked) = (0, 0);
        table.each_values(&places, &kept, |row, old| {
            let given = given.next().expect("each place is of a row with its values");
            let Some(old) = old else { return Ok(()) };
            let mut whole = vec![Datum::Null; width];
            let changed = columns.iter().zip(given);
            for (&column, value) in kept.iter().zip(old).chain(changed) {
                whole[column] = value.clone();
            }
            bytes += row_bytes(&whole);
            if bytes - checked > CHECKED_BYTES {
                checked = bytes;
                self.check_values(bytes)?;
            }
            replaced.push(row);
            inserted.push(Row::from(whole));
            Ok(())
        })?;
        self.whole_or_not(|transaction| {
            transaction.delete_rows(schema, &replaced)?;
            transaction.note_removed(schema, replaced, &inserted);
            transaction.insert(schema, inserted)
        })
    }
}
