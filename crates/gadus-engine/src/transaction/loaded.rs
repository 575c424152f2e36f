//! What a bulk load made, in the transaction that takes it.
//!
//! - Keys that are there already are found before the transaction is changed: entries of a run are asked for in their
//!   order, so that each page of the table's runs is read once.
//! - Runs of the transaction's own loads are merged as they come, as long as the earlier ones are no larger: a
//!   transaction of many loads has few of each index.

use super::bulk::BulkWriter;
use super::{TableWrites, Transaction};
use crate::blobs::Blobs;
use crate::engine::duplicate_key;
use crate::error::Result;
use crate::interrupt_check::{InterruptCheck, check_interrupt};
use crate::keys::{KeyEntry, KeyRun, KeyShape, NamedRun, TableKey, merge_runs, row_of};
use crate::segment::{EncodedSegment, Row};
use crate::types::{Datum, TableSchema};
use crate::version::{Change, TableVersion};
use gadus_base::{RowId, SegmentId, TableId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a bulk load made.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) segments: Vec<(SegmentId, Arc<EncodedSegment>)>,
    pub(super) runs: Vec<NamedRun>,
    /// The remainder, as rows.
    pub(super) rows: Vec<Row>,
}

/// Loaded segments, and of their rows those that count.
pub(super) struct LoadedRows<'a, W> {
    segments: BTreeMap<SegmentId, &'a Arc<EncodedSegment>>,
    wanted: W,
}

impl Transaction {
    /// Takes the rows of a bulk load into the transaction; returns how many.
    pub fn finish_bulk(&mut self, bulk: BulkWriter) -> Result<u64> {
        let schema = bulk.schema().clone();
        let loaded = bulk.finish()?;
        let table = self.view_table(&schema)?;
        if table.live_rows > 0 {
            let rows = LoadedRows::new(loaded.segments.iter(), |_| true);
            self.refused(&schema, check_loaded(table, &loaded.runs, &rows, &self.blobs))?;
        }
        self.whole_or_not(|transaction| transaction.take_loaded(&schema, loaded))
    }

    fn take_loaded(&mut self, schema: &Arc<TableSchema>, loaded: Loaded) -> Result<u64> {
        let mut rows = loaded.rows.len() as u64;
        if !loaded.segments.is_empty() {
            rows += loaded.segments.iter().map(|(_, base)| u64::from(base.rows())).sum::<u64>();
            let change = Change::AddSegments {
                table: schema.id,
                segments: loaded.segments.clone(),
                runs: loaded.runs.clone(),
            };
            self.apply(&change)?;
            let since = self.state.base.commit;
            let writes = self.writes(schema.id);
            writes.keys_since.get_or_insert(since);
            let rows_of = |(id, base): &(SegmentId, Arc<EncodedSegment>)| (*id, base.rows());
            let segments = loaded.segments.iter().map(rows_of).collect::<Vec<_>>();
            writes.loaded.extend(loaded.segments);
            writes.runs.extend(loaded.runs);
            for (segment, rows) in segments {
                self.note_added(schema, RowId { segment, position: 0 }, rows);
            }
            self.merge_loaded(schema.id)?;
        }
        if !loaded.rows.is_empty() {
            self.insert(schema, loaded.rows)?;
        }
        Ok(rows)
    }

    /// Merges the newest of the transaction's own runs of each index.
    fn merge_loaded(&mut self, table: TableId) -> Result<()> {
        let blobs = self.blobs.clone();
        let indexes = self.writes(table).runs.iter().map(|(index, _)| *index);
        for index in indexes.collect::<BTreeSet<_>>() {
            let writes = self.writes(table);
            let replaced = newest_runs(writes, index);
            if replaced.len() < 2 {
                continue;
            }
            let Some(run) = merge_runs(&replaced, Vec::new(), &blobs, |_| true)? else { continue };
            let run = Arc::new(run);
            let is_replaced = |run: &Arc<KeyRun>| replaced.iter().any(|old| Arc::ptr_eq(old, run));
            writes.runs.retain(|(_, run)| !is_replaced(run));
            writes.runs.push_back((index, run.clone()));
            self.state.view.merge_runs(table, index, (&replaced, run));
        }
        Ok(())
    }
}

/// The newest runs of an index that are together no smaller than the one before them.
fn newest_runs(writes: &TableWrites, index: u32) -> Vec<Arc<KeyRun>> {
    let own = writes.runs.iter().filter(|(id, _)| *id == index).map(|(_, run)| run);
    let mut own = own.cloned().collect::<Vec<_>>();
    let (mut first, mut size) = (own.len(), 0);
    while first > 0 && (first == own.len() || own[first - 1].entries() <= size) {
        first -= 1;
        size += own[first].entries();
    }
    own.split_off(first)
}

impl Loaded {
    /// What an index has of a loaded row.
    pub(super) fn key(
        &self,
        (schema, shape): (&TableSchema, &KeyShape),
        blobs: &Blobs,
        row: RowId,
    ) -> Result<Vec<Datum>> {
        let index = self.segments.binary_search_by_key(&row.segment, |(id, _)| *id);
        let (_, base) = &self.segments[index.expect("asked of loaded segments only")];
        key_of(schema, shape, (base, blobs), row.position)
    }
}

impl<'a, W: Fn(RowId) -> bool> LoadedRows<'a, W> {
    pub(super) fn new(
        segments: impl Iterator<Item = &'a (SegmentId, Arc<EncodedSegment>)>,
        wanted: W,
    ) -> Self {
        Self { segments: segments.map(|(id, base)| (*id, base)).collect(), wanted }
    }

    fn segment(&self, row: RowId) -> Option<&EncodedSegment> {
        let segment = self.segments.get(&row.segment)?;
        (self.wanted)(row).then_some(*segment)
    }
}

/// Refuses two rows with one key; `entries` are in order, and `key` says what the index has of a row.
pub(super) fn check_distinct(
    (schema, shape): (&TableSchema, &KeyShape),
    entries: &[KeyEntry],
    key: impl Fn(RowId) -> Result<Vec<Datum>>,
) -> Result<()> {
    let same = entries.chunk_by(|left, right| left.code == right.code);
    let mut check = InterruptCheck::default();
    for same in same {
        check.row()?;
        if same.len() == 1 {
            continue;
        }
        // Compared as values, not as bytes: -0 is 0, and one NaN is another.
        let mut seen = BTreeSet::new();
        for entry in same {
            let key = key(row_of(entry.row))?;
            if key.iter().any(Datum::is_null) {
                continue;
            }
            if seen.contains(&key) {
                return Err(duplicate_key(schema, shape, &key));
            }
            seen.insert(key);
        }
    }
    Ok(())
}

/// What an index has of a row of a base.
fn key_of(
    schema: &TableSchema,
    shape: &KeyShape,
    (base, blobs): (&EncodedSegment, &Blobs),
    position: u32,
) -> Result<Vec<Datum>> {
    let value = |&column: &usize| Ok(base.column(schema, blobs, column)?.datum(position as usize));
    shape.columns.iter().map(value).collect()
}

/// Refuses loaded rows of which a table has the keys already.
pub(super) fn check_loaded<'a, W: Fn(RowId) -> bool>(
    table: &TableVersion,
    runs: impl IntoIterator<Item = &'a NamedRun>,
    rows: &LoadedRows<'_, W>,
    blobs: &Blobs,
) -> Result<()> {
    for (index, run) in runs {
        let Some(key) = table.keys.get(*index).filter(|key| key.shape.unique) else { continue };
        for (_, page) in run.pages(blobs)? {
            check_interrupt()?;
            for entry in page?.entries() {
                if is_taken(table, key, &entry, blobs)? {
                    check_row(table, key, (rows, row_of(entry.row)), blobs)?;
                }
            }
        }
    }
    Ok(())
}

/// Whether a table may have the key of an entry: by its code, which others have seldom.
fn is_taken(table: &TableVersion, key: &TableKey, entry: &KeyEntry, blobs: &Blobs) -> Result<bool> {
    let mut is_taken = false;
    key.entries.candidates(blobs, &(entry.code..=entry.code), |row| {
        is_taken = table.live(row).is_some();
        Ok(!is_taken)
    })?;
    Ok(is_taken)
}

fn check_row<W: Fn(RowId) -> bool>(
    table: &TableVersion,
    key: &TableKey,
    (rows, row): (&LoadedRows<'_, W>, RowId),
    blobs: &Blobs,
) -> Result<()> {
    let Some(base) = rows.segment(row) else { return Ok(()) };
    let values = key_of(&table.schema, &key.shape, (base, blobs), row.position)?;
    match table.find(key, blobs, &values)? {
        Some(_) => Err(duplicate_key(&table.schema, &key.shape, &values)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
