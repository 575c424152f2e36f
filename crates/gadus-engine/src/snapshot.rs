//! What readers hold: a version of the whole database, and tables in it.
//!
//! - Immutable and free to clone; the version is pinned until the last clone is dropped.
//! - A read is checked after it is done: the pin may be given up by then, and what it kept be gone.
//! - Where they belong to a serializable transaction, what is read through them is noted ([`Reads`]), before it is read.

mod row_reads;

use crate::blobs::Blobs;
use crate::coordinator::Pin;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::scan::{Predicate, Scan, ScanRequest};
use crate::transaction::Reads;
use crate::types::{
    Datum, DefinitionKey, Enum, Sequence, TableSchema, ViewSchema, schema_and_name,
};
use crate::version::{DatabaseVersion, TableVersion};
use gadus_base::{CommitNumber, RowId, TableId};
use std::sync::Arc;

/// The database as of one commit, with a transaction's own changes where it belongs to one.
#[derive(Debug, Clone)]
pub struct Snapshot {
    version: Arc<DatabaseVersion>,
    blobs: Arc<Blobs>,
    pin: Arc<Pin>,
    reads: Option<Arc<Reads>>,
}

/// A table as a snapshot sees it.
#[derive(Debug, Clone)]
pub struct Table {
    version: Arc<TableVersion>,
    blobs: Arc<Blobs>,
    /// Held so that nothing the table needs is forgotten.
    pin: Arc<Pin>,
    reads: Option<Arc<Reads>>,
    /// The columns that are looked at of rows that a question finds, where it is noted; none is all.
    of_found: Option<Arc<[usize]>>,
}

impl Snapshot {
    /// A version, and who notes what is read of it.
    pub(crate) fn new(
        version: Arc<DatabaseVersion>,
        blobs: Arc<Blobs>,
        pin: Arc<Pin>,
        reads: Option<Arc<Reads>>,
    ) -> Self {
        Self { version, blobs, pin, reads }
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
        self.pin.mark_read();
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

    /// The enumeration of this name, as it is kept.
    #[must_use]
    pub fn find_enum(&self, name: &str) -> Option<&'static Enum> {
        Enum::of_definition(name, self.definition(&DefinitionKey::Type(name.to_owned()))?)
    }

    /// All enumerations, by their names.
    pub fn enums(&self) -> impl Iterator<Item = &'static Enum> {
        self.definitions().filter_map(|(key, text)| match key {
            DefinitionKey::Type(name) => Enum::of_definition(name, text),
            _ => None,
        })
    }

    /// The enumerations of a schema that is not the main one, by their names as they are kept.
    pub fn enums_of_schema(&self, schema: &str) -> impl Iterator<Item = &String> {
        self.version.types_of_schema(schema)
    }

    /// The tables and views that have columns of an enumeration.
    pub fn users_of_enum(&self, name: &str) -> impl Iterator<Item = TableId> {
        self.version.users_of_type(name)
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
        Table::new(version.clone(), self.blobs.clone(), self.pin.clone(), self.reads.clone())
    }
}

impl Table {
    /// A version, and who notes what is read of it.
    pub(crate) fn new(
        version: Arc<TableVersion>,
        blobs: Arc<Blobs>,
        pin: Arc<Pin>,
        reads: Option<Arc<Reads>>,
    ) -> Self {
        Self { version, blobs, pin, reads, of_found: None }
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
    pub fn rows(&self) -> Result<u64> {
        self.note(&[], [])?;
        self.checked(Ok(self.version.live_rows))
    }

    /// The same for estimates, of which no answer is made: it does not count as read.
    #[must_use]
    pub fn about_rows(&self) -> u64 {
        self.version.live_rows
    }

    /// Segments of the table.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.version.segments.len()
    }

    /// Prepares a scan; sketches are looked at here.
    pub fn scan(&self, request: ScanRequest) -> Result<Scan> {
        self.note(&request.predicates, request.projection.iter().copied())?;
        self.checked(Scan::new(self.clone(), request))
    }

    /// The same table for who looks only at these columns of rows that a question finds, beside those by which it finds
    /// them: what others do to the rest does not matter to him.
    #[must_use]
    pub fn for_columns(mut self, columns: &[usize]) -> Self {
        self.of_found = self.reads.as_ref().map(|_| columns.into());
        self
    }

    /// Notes that rows which pass some predicates are looked for, and these of their columns looked at.
    pub(crate) fn note(
        &self,
        predicates: &[Predicate],
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<()> {
        let Some(reads) = &self.reads else { return Ok(()) };
        reads.note(&self.version, predicates, columns)
    }

    /// Notes that rows which a question finds are looked for, and these of their columns looked at beside those of
    /// [`Table::for_columns`].
    pub(crate) fn note_found(
        &self,
        predicates: &[Predicate],
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<()> {
        let Some(reads) = &self.reads else { return Ok(()) };
        let all = (0..self.schema().columns.len()).collect::<Vec<_>>();
        let of_found = self.of_found.as_deref().unwrap_or(&all);
        reads.note(&self.version, predicates, columns.into_iter().chain(of_found.iter().copied()))
    }

    /// Notes that columns of found rows are looked at, where nobody has said so before: of whichever rows.
    pub(crate) fn note_of_found(&self, columns: &[usize]) -> Result<()> {
        let Some(said) = &self.of_found else { return Ok(()) };
        match columns.iter().all(|column| said.contains(column)) {
            true => Ok(()),
            false => self.note(&[], columns.iter().copied()),
        }
    }

    /// Notes that all of it is looked at.
    pub(crate) fn note_all(&self) -> Result<()> {
        let Some(reads) = &self.reads else { return Ok(()) };
        reads.note_all(&self.version)
    }

    fn note_key(&self, key: &[usize], values: &[Datum]) -> Result<()> {
        let Some(reads) = &self.reads else { return Ok(()) };
        reads.note_key(&self.version, key, values, [])
    }

    fn note_row(&self, row: RowId, columns: impl IntoIterator<Item = usize>) -> Result<()> {
        let Some(reads) = &self.reads else { return Ok(()) };
        self.checked(reads.note_row(&self.version, row, &self.blobs, columns))
    }
}
