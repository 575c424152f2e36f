//! What readers hold: a version of the whole database, and tables in it.
//!
//! - Immutable and free to clone; the version is pinned until the last clone is dropped.
//! - A read is checked after it is done: the pin may be given up by then, and what it kept be gone.

use crate::blobs::Blobs;
use crate::coordinator::Pin;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::scan::{Scan, ScanRequest};
use crate::types::{Datum, DefinitionKey, Sequence, TableSchema, ViewSchema, schema_and_name};
use crate::version::{DatabaseVersion, TableVersion};
use gadus_base::{CommitNumber, RowId, TableId};
use std::sync::Arc;

/// The database as of one commit, with a transaction's own changes where it belongs to one.
#[derive(Debug, Clone)]
pub struct Snapshot {
    version: Arc<DatabaseVersion>,
    blobs: Arc<Blobs>,
    pin: Arc<Pin>,
}

/// A table as a snapshot sees it.
#[derive(Debug, Clone)]
pub struct Table {
    version: Arc<TableVersion>,
    blobs: Arc<Blobs>,
    /// Held so that nothing the table needs is forgotten.
    pin: Arc<Pin>,
}

impl Snapshot {
    pub(crate) fn new(version: Arc<DatabaseVersion>, blobs: Arc<Blobs>, pin: Arc<Pin>) -> Self {
        Self { version, blobs, pin }
    }

    /// The commit that the snapshot shows.
    #[must_use]
    pub fn commit(&self) -> CommitNumber {
        self.version.commit
    }

    /// Rises with each change of any table's shape.
    #[must_use]
    pub fn schema_version(&self) -> u64 {
        self.version.schema_version
    }

    /// The table with this exact name, if there is one.
    #[must_use]
    pub fn find_table(&self, name: &str) -> Option<Table> {
        self.version.table_named(name).map(|table| self.hold(table))
    }

    /// The table with this exact name.
    pub fn table(&self, name: &str) -> Result<Table> {
        self.find_table(name).ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("table \"{name}\" does not exist"))
                .because(Reason::UnknownTable)
        })
    }

    /// The table with this id, if it is still there.
    #[must_use]
    pub fn table_by_id(&self, id: TableId) -> Option<Table> {
        self.version.table(id).map(|table| self.hold(table))
    }

    /// All tables, by name.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let ids = self.version.names.values();
        ids.filter_map(|id| self.version.table(*id)).map(|table| self.hold(table)).collect()
    }

    /// Whether a table, a view or a sequence has this exact name.
    #[must_use]
    pub fn has_relation(&self, name: &str) -> bool {
        self.version.names.contains_key(name)
    }

    /// The view with this exact name, if there is one.
    #[must_use]
    pub fn find_view(&self, name: &str) -> Option<Arc<ViewSchema>> {
        self.version.view_named(name).cloned()
    }

    /// The view with this id, if it is still there.
    #[must_use]
    pub fn view_by_id(&self, id: TableId) -> Option<Arc<ViewSchema>> {
        self.version.views.get(&id).cloned()
    }

    /// All views, in the order in which they were created.
    pub fn views(&self) -> impl Iterator<Item = &Arc<ViewSchema>> {
        self.version.views.values()
    }

    /// The sequence with this exact name, if there is one.
    #[must_use]
    pub fn find_sequence(&self, name: &str) -> Option<&Arc<Sequence>> {
        self.version.sequence_named(name)
    }

    /// The sequence with this id, if it is still there.
    #[must_use]
    pub fn sequence_by_id(&self, id: TableId) -> Option<&Arc<Sequence>> {
        self.version.sequences.get(&id)
    }

    /// The functions and comments that the catalog keeps, in the order of their keys.
    pub fn definitions(&self) -> impl Iterator<Item = (&DefinitionKey, &Arc<str>)> {
        self.version.definitions.iter()
    }

    /// Whether there is a schema.
    #[must_use]
    pub fn has_schema(&self, name: &str) -> bool {
        self.version.has_schema(name)
    }

    /// The relations of a schema that is not the main one: their names, as they are kept, and their ids.
    pub fn of_schema(&self, schema: &str) -> impl Iterator<Item = (&String, TableId)> {
        self.version.of_schema(schema)
    }

    /// The relations of all schemas whose names begin so: their names, as they are kept.
    pub fn of_schemas_from(&self, prefix: &'static str) -> impl Iterator<Item = &String> {
        let all = self.version.names.range(prefix.to_owned()..).map(|(name, _)| name);
        let all = all.take_while(move |name| name.starts_with(prefix));
        all.filter(|name| schema_and_name(name).0.is_some())
    }

    /// The names of all schemas but the main one, and those of sessions.
    pub fn schemas(&self) -> impl Iterator<Item = &str> {
        self.version.definitions.keys().filter_map(|key| match key {
            DefinitionKey::Schema(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// What the catalog keeps under a key.
    #[must_use]
    pub fn definition(&self, key: &DefinitionKey) -> Option<&Arc<str>> {
        self.version.definitions.get(key)
    }

    /// All sequences, in the order in which they were created.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<Sequence>> {
        self.version.sequences.values()
    }

    /// The sequences that go with a table.
    pub fn owned_sequences(&self, table: TableId) -> impl Iterator<Item = &Arc<Sequence>> {
        self.version.owned_sequences(table)
    }

    /// The views that read a table or a view.
    pub fn readers(&self, id: TableId) -> impl Iterator<Item = &Arc<ViewSchema>> {
        self.version.readers(id)
    }

    fn hold(&self, version: &Arc<TableVersion>) -> Table {
        Table::new(version.clone(), self.blobs.clone(), self.pin.clone())
    }
}

impl Table {
    pub(crate) fn new(version: Arc<TableVersion>, blobs: Arc<Blobs>, pin: Arc<Pin>) -> Self {
        Self { version, blobs, pin }
    }

    pub(crate) fn version(&self) -> &Arc<TableVersion> {
        &self.version
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// What was read of the table, unless that may be gone.
    pub(crate) fn checked<T>(&self, read: Result<T>) -> Result<T> {
        self.pin.checked(read)
    }

    /// The table's id.
    #[must_use]
    pub fn id(&self) -> TableId {
        self.version.schema.id
    }

    /// The table's columns and key.
    #[must_use]
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.version.schema
    }

    /// Rows that the snapshot sees.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.version.live_rows
    }

    /// Segments of the table.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.version.segments.len()
    }

    /// Prepares a scan; sketches are looked at here.
    pub fn scan(&self, request: ScanRequest) -> Result<Scan> {
        self.checked(Scan::new(self.clone(), request))
    }

    /// The row with this primary key, if there is one.
    pub fn find_key(&self, key: &[Datum]) -> Result<Option<RowId>> {
        if key.len() != self.schema().key.len() || key.is_empty() {
            return Err(Error::internal("a key has a value for each key column"));
        }
        self.checked(self.version.find_key(&self.blobs, key))
    }

    /// A row with these values in the columns of an index, by its number; the primary key's is 0. None is equal to
    /// NULL.
    pub fn find_in(&self, index: u32, values: &[Datum]) -> Result<Option<RowId>> {
        let key = self.version.keys.get(index);
        let key = key.filter(|key| key.shape.columns.len() == values.len());
        let key = key.ok_or_else(|| Error::internal("a value for each column of an index"))?;
        self.checked(self.version.find(key, &self.blobs, values))
    }

    /// The values of a row that the snapshot sees.
    pub fn row(&self, row: RowId) -> Result<Option<Vec<Datum>>> {
        let Some(segment) = self.version.live(row) else { return Ok(None) };
        self.checked(segment.row(&self.version.schema, &self.blobs, row.position).map(Some))
    }

    /// The values of some columns of a row that the snapshot sees.
    pub fn values(&self, row: RowId, columns: &[usize]) -> Result<Option<Vec<Datum>>> {
        let Some(segment) = self.version.live(row) else { return Ok(None) };
        let value = |&column: &usize| {
            segment.datum(&self.version.schema, &self.blobs, column, row.position)
        };
        self.checked(columns.iter().map(value).collect::<Result<_>>().map(Some))
    }
}
