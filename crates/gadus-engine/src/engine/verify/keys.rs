//! The check of a table's indexes: each has every row once, and no two rows have one key where it is unique.
//!
//! - Lookups rest on order: pages sorted within and among themselves, and named by their first
//!   code. That is proven here for whole runs, so that no row needs a lookup of its own.
//! - Keeps 25 bytes for each row and index in memory.

use super::Problem;
use super::table::{Place, TableCheck};
use crate::error::Error;
use crate::keys::{KeyCode, KeyEntry, KeyRun, KeyShape, PRIMARY, TableKey, row_code, row_of};
use crate::types::Datum;
use gadus_base::RowId;

/// The entries that a table's rows must have in an index, and how often the index has them.
#[derive(Debug, Clone, Default)]
pub(super) struct LiveKeys {
    /// Sorted before anything is found.
    entries: Vec<KeyEntry>,
    times: Vec<u8>,
}

impl LiveKeys {
    pub(super) fn add(&mut self, code: KeyCode, row: RowId) {
        self.entries.push(KeyEntry { code, row: row_code(row) });
    }

    fn sort(&mut self) {
        self.entries.sort_unstable();
        self.times = vec![0; self.entries.len()];
    }

    /// Counts an entry of the index, if it is that of a live row; `from` is where the last one was
    /// found. Entries come in order, so that the next is near.
    fn count(&mut self, entry: KeyEntry, from: usize) -> usize {
        let rest = &self.entries[from..];
        let mut bound = 1;
        while rest.get(bound).is_some_and(|other| *other < entry) {
            bound *= 2;
        }
        let near = &rest[..rest.len().min(bound + 1)];
        let at = from + near.partition_point(|other| *other < entry);
        if self.entries.get(at) == Some(&entry) {
            self.times[at] = self.times[at].saturating_add(1);
        }
        at
    }
}

impl TableCheck<'_, '_> {
    pub(super) fn keys(&mut self, key: &TableKey, mut keys: LiveKeys) {
        keys.sort();
        let mut at = 0;
        for entry in key.entries.recent_entries() {
            at = keys.count(entry, at);
        }
        let mut complete = true;
        let name = self.name_of(&key.shape);
        for run in key.entries.runs() {
            complete &= self.run_of_keys(&name, run, &mut keys);
        }
        for (entry, &times) in keys.entries.iter().zip(&keys.times) {
            // What is missing may be in a page that could not be read.
            if times > 1 || (times == 0 && complete) {
                let row = row_of(entry.row);
                let message =
                    format!("row {} is {times} times in the {name}, not once", row.position);
                self.problem(Place { segment: Some(row.segment), ..Place::default() }, message);
            }
        }
        if !key.shape.unique {
            return;
        }
        for group in keys.entries.chunk_by(|one, other| one.code == other.code) {
            if group.len() > 1 {
                let rows: Vec<RowId> = group.iter().map(|entry| row_of(entry.row)).collect();
                if let Err(error) = self.different_keys(&key.shape, &rows) {
                    self.unreadable(Place::default(), Problem::unreadable(&error));
                }
            }
        }
    }

    /// What an index is called in messages.
    fn name_of(&self, shape: &KeyShape) -> String {
        let index = self.table.schema.indexes.iter().find(|index| index.id == shape.id);
        match index {
            Some(index) if shape.id != PRIMARY => format!("index \"{}\"", index.name),
            _ => "key index".to_owned(),
        }
    }

    /// Reads a run and counts its entries; false when part of it cannot be read.
    fn run_of_keys(&mut self, name: &str, run: &KeyRun, keys: &mut LiveKeys) -> bool {
        let pages = match run.pages(self.course.blobs) {
            Ok(pages) => pages,
            Err(error) => {
                let place = Place { offset: Some(run.offset()), ..Place::default() };
                self.unreadable(place, Problem::unreadable(&error));
                return false;
            }
        };
        let (mut complete, mut ordered) = (true, true);
        let (mut count, mut at, mut last) = (0, 0, KeyEntry::default());
        for (offset, page) in pages {
            let page = match page {
                Ok(page) => page,
                Err(error) => {
                    complete = false;
                    let place = Place { offset: Some(offset), ..Place::default() };
                    self.unreadable(place, Problem::unreadable(&error));
                    continue;
                }
            };
            for entry in page.entries() {
                if entry < last {
                    ordered = false;
                    at = 0;
                }
                at = keys.count(entry, at);
                last = entry;
            }
            count += page.len() as u64;
        }
        if !ordered || (complete && count != run.entries()) {
            let message = format!("a run of its {name} is out of order");
            self.problem(Place { offset: Some(run.offset()), ..Place::default() }, message);
        }
        complete
    }

    /// Rows whose keys have one hash, which happens to different keys, too.
    fn different_keys(&mut self, shape: &KeyShape, rows: &[RowId]) -> Result<(), Error> {
        let (table, blobs) = (self.table, self.course.blobs);
        let mut keys = Vec::new();
        for &row in rows {
            let Some(segment) = table.segment(row.segment) else { continue };
            let columns = shape.columns.iter();
            let key = columns
                .map(|&column| segment.datum(&table.schema, blobs, column, row.position))
                .collect::<Result<Vec<_>, _>>()?;
            if key.iter().any(Datum::is_null) {
                continue;
            }
            keys.push((key, row));
        }
        keys.sort_unstable_by(|one, other| {
            (&one.0, row_code(one.1)).cmp(&(&other.0, row_code(other.1)))
        });
        for pair in keys.windows(2) {
            let ((one, first), (other, second)) = (&pair[0], &pair[1]);
            if one == other {
                let message = format!("row {} has the key of row {first:?}", second.position);
                self.problem(Place { segment: Some(second.segment), ..Place::default() }, message);
            }
        }
        Ok(())
    }
}
