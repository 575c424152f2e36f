//! Versions of the database: immutable, persistent, one for each commit.
//!
//! - A version shares what it does not change with the one before.
//! - One function applies changes, for commits and for recovery alike, so that both give the same
//!   state.
//! - Tables, views and sequences share names and ids.

mod alter;
mod change;
mod change_bytes;
mod definitions;
mod manifest;
mod positions;
mod references;
mod segment_ids;
mod sequences;
mod table;
mod unsaved;
mod views;

pub(crate) use change::Change;
pub(crate) use change_bytes::{decode_changes, encode_commit};
pub(crate) use manifest::{
    Manifest, ManifestHead, ManifestTable, PartImage, SavedKeys, SavedSegment, decode_manifest,
    encode_manifest,
};
pub(crate) use references::{missing, still_referenced};
pub(crate) use segment_ids::{PRIVATE_SEGMENTS, SegmentIds};
pub(crate) use table::TableVersion;

use crate::keys::KeyRun;
use crate::segment::Lineage;
use crate::types::{DefinitionKey, IndexDefinition, Sequence, TableSchema, ViewSchema};
use gadus_base::{CommitNumber, TableId};
use gadus_storage::{ExtentRef, LogEnd};
use imbl::OrdMap;
use std::sync::Arc;

/// The whole database as of one commit.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseVersion {
    pub(crate) commit: CommitNumber,
    /// The end of that commit's record in the log.
    pub(crate) end: LogEnd,
    pub(crate) tables: OrdMap<TableId, Arc<TableVersion>>,
    pub(crate) views: OrdMap<TableId, Arc<ViewSchema>>,
    pub(crate) sequences: OrdMap<TableId, Arc<Sequence>>,
    /// Functions and comments.
    pub(crate) definitions: OrdMap<DefinitionKey, Arc<str>>,
    /// Names of tables, views and sequences, exact.
    pub(crate) names: OrdMap<String, TableId>,
    pub(crate) next_table: TableId,
    /// Rises with each change of any table's shape: what plans are keyed by.
    pub(crate) schema_version: u64,
    pub(crate) ids: SegmentIds,
    lineage: Lineage,
}

impl DatabaseVersion {
    pub(crate) fn empty(ids: SegmentIds, end: LogEnd) -> Self {
        Self {
            commit: CommitNumber(0),
            end,
            tables: OrdMap::new(),
            views: OrdMap::new(),
            sequences: OrdMap::new(),
            definitions: OrdMap::new(),
            names: OrdMap::new(),
            next_table: TableId(1),
            schema_version: 0,
            ids,
            lineage: Lineage::Head,
        }
    }

    /// The same version, to be changed for the eyes of one transaction.
    pub(crate) fn private(&self) -> Self {
        Self { lineage: Lineage::Private, ..self.clone() }
    }

    pub(crate) fn table(&self, id: TableId) -> Option<&Arc<TableVersion>> {
        self.tables.get(&id)
    }

    pub(crate) fn table_named(&self, name: &str) -> Option<&Arc<TableVersion>> {
        self.tables.get(self.names.get(name)?)
    }

    /// The index with this exact name, of whatever table.
    pub(crate) fn index_named(&self, name: &str) -> Option<(&Arc<TableVersion>, &IndexDefinition)> {
        self.tables.values().find_map(|table| Some((table, table.schema.index_named(name)?)))
    }

    /// The extents of its bases and key runs.
    pub(crate) fn extents(&self) -> impl Iterator<Item = ExtentRef> {
        self.tables.values().flat_map(|table| {
            let bases = table.segments.values().filter_map(|segment| segment.encoded.as_ref());
            let bases = bases.flat_map(|base| base.extents()).map(|extent| extent.reference());
            bases.chain(table.keys.runs().flat_map(|run| run.extents()))
        })
    }

    /// Applies one change of commit `at`; says what is wrong when it does not fit this version.
    pub(crate) fn apply(&mut self, change: &Change, at: CommitNumber) -> Result<(), &'static str> {
        match change {
            Change::CreateTable(schema) => self.create_table(schema, at),
            Change::DropTable(id) => {
                self.refuse_read(*id)?;
                self.refuse_referenced(*id)?;
                let table = self.tables.remove(id).ok_or("drops a table that is not there")?;
                self.names.remove(&table.schema.name);
                self.drop_orphans(*id);
                self.drop_stale_comments(*id);
                self.schema_version += 1;
                Ok(())
            }
            Change::AlterTable { table, schema, sources, runs } => {
                self.alter_table(*table, schema, (sources, runs, at))
            }
            Change::EmptyTable(table) => {
                let slot = self.tables.get_mut(table).ok_or("changes a table that is not there")?;
                Arc::make_mut(slot).empty_at(at);
                Ok(())
            }
            Change::SetView(view) => self.set_view(view),
            Change::DropView(id) => self.drop_view(*id),
            Change::SetSequence { sequence, begins_anew } => {
                self.set_sequence(sequence, *begins_anew)
            }
            Change::DropSequence(id) => self.drop_sequence(*id),
            Change::SetDefinition { key, text } => self.set_definition(key, text.as_ref()),
            Change::PlaceSequence { sequence, position } => {
                self.place_sequence(*sequence, *position)
            }
            Change::AppendRows { table, .. }
            | Change::PatchRows { table, .. }
            | Change::DeleteRows { table, .. }
            | Change::AddSegments { table, .. }
            | Change::ReplaceSegment { table, .. }
            | Change::ReplaceKeyRuns { table, .. }
            | Change::MoveRows { table, .. } => {
                let slot = self.tables.get_mut(table).ok_or("changes a table that is not there")?;
                Arc::make_mut(slot).apply(change, at, self.lineage)
            }
        }
    }

    /// Puts one run of an index in the place of those whose entries it has.
    pub(crate) fn merge_runs(
        &mut self,
        table: TableId,
        index: u32,
        (replaced, run): (&[Arc<KeyRun>], Arc<KeyRun>),
    ) {
        let key =
            self.tables.get_mut(&table).and_then(|slot| Arc::make_mut(slot).keys.get_mut(index));
        if let Some(key) = key {
            key.entries.merge_runs(replaced, run);
        }
    }

    /// The same version with slots for further rows that no other version has filled.
    pub(crate) fn with_own_open_rows(&self) -> Self {
        let mut version = self.clone();
        for (id, table) in &self.tables {
            let Some(open) = table.open else { continue };
            let mut table = TableVersion::clone(table);
            if let Some(segment) = table.segments.get_mut(&open) {
                Arc::make_mut(segment).own_open_rows();
            }
            version.tables.insert(*id, Arc::new(table));
        }
        version
    }

    fn create_table(
        &mut self,
        schema: &Arc<TableSchema>,
        at: CommitNumber,
    ) -> Result<(), &'static str> {
        if schema.id < self.next_table || self.names.contains_key(&schema.name) {
            return Err("creates a table that is there already");
        }
        self.refuse_dangling(schema)?;
        self.refuse_homeless(&schema.name)?;
        self.refuse_unknown_enums(schema)?;
        self.next_table = TableId(schema.id.0 + 1);
        self.names.insert(schema.name.clone(), schema.id);
        self.tables
            .insert(schema.id, Arc::new(TableVersion::empty(schema.clone(), at, self.ids.clone())));
        self.schema_version += 1;
        Ok(())
    }
}
