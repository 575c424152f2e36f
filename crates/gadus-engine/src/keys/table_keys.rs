//! All indexes of a table as one snapshot sees them.

use super::{KeyIndex, KeyRun, KeyShape, PRIMARY};
use crate::types::{Datum, TableSchema};
use gadus_base::{CommitNumber, RowId};
use std::sync::Arc;

/// A run of the index with this number.
pub(crate) type NamedRun = (u32, Arc<KeyRun>);

/// The indexes of a table, the primary key's first.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableKeys {
    all: Vec<TableKey>,
}

/// An index with its entries.
#[derive(Debug, Clone)]
pub(crate) struct TableKey {
    pub(crate) shape: Arc<KeyShape>,
    pub(crate) entries: KeyIndex,
}

impl TableKeys {
    /// The indexes of a table without rows.
    pub(crate) fn of(schema: &TableSchema) -> Self {
        let key = |shape| TableKey { shape: Arc::new(shape), entries: KeyIndex::default() };
        Self { all: KeyShape::all(schema).into_iter().map(key).collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &TableKey> {
        self.all.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Those of which no two rows have the same values.
    pub(crate) fn unique(&self) -> impl Iterator<Item = &TableKey> {
        self.all.iter().filter(|key| key.shape.unique)
    }

    pub(crate) fn primary(&self) -> Option<&TableKey> {
        self.get(PRIMARY)
    }

    pub(crate) fn get(&self, id: u32) -> Option<&TableKey> {
        self.all.iter().find(|key| key.shape.id == id)
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut TableKey> {
        self.all.iter_mut().find(|key| key.shape.id == id)
    }

    /// Adds the entries of a row given whole.
    pub(crate) fn insert(&mut self, values: &[Datum], row: RowId, at: CommitNumber) {
        for key in &mut self.all {
            let code = key.shape.code(key.shape.values(values));
            key.entries.insert(code, row, at);
        }
    }

    /// Adds runs; says what is wrong when there is no such index.
    pub(crate) fn add_runs(&mut self, runs: &[NamedRun]) -> Result<(), &'static str> {
        for (id, run) in runs {
            let key = self.get_mut(*id).ok_or("names an index that is not there")?;
            key.entries.add_run(run.clone());
        }
        Ok(())
    }

    /// All runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &Arc<KeyRun>> {
        self.all.iter().flat_map(|key| key.entries.runs())
    }

    /// The same indexes without entries.
    pub(crate) fn emptied(&self) -> Self {
        let empty = |key: &TableKey| TableKey { entries: KeyIndex::default(), ..key.clone() };
        Self { all: self.all.iter().map(empty).collect() }
    }

    /// The same entries for another schema: indexes that stay are those of the same numbers. Says which of its
    /// indexes are new.
    pub(crate) fn altered(&self, schema: &TableSchema) -> (Self, Vec<u32>) {
        let mut altered = Self::of(schema);
        let mut added = Vec::new();
        for key in &mut altered.all {
            match self.get(key.shape.id) {
                Some(before) => key.entries = before.entries.clone(),
                None => added.push(key.shape.id),
            }
        }
        (altered, added)
    }
}
