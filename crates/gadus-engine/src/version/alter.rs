//! Another schema for a table whose rows stay: columns are added, dropped and renamed without being written.

use super::{DatabaseVersion, TableVersion};
use crate::keys::{NamedRun, PRIMARY};
use crate::segment::{SegmentVersion, Source};
use crate::types::TableSchema;
use gadus_base::{CommitNumber, SegmentId, TableId};
use std::sync::Arc;

impl DatabaseVersion {
    pub(super) fn alter_table(
        &mut self,
        id: TableId,
        schema: &Arc<TableSchema>,
        (sources, runs, at): (&[Source], &[NamedRun], CommitNumber),
    ) -> Result<(), &'static str> {
        let is_read = |column: u32| {
            let mut uses = self.readers(id).filter_map(|view| view.reads(id));
            uses.any(|used| used.columns.iter().any(|used| used.is_used && used.id == column))
        };
        let table = self.tables.get(&id).ok_or("changes a table that is not there")?;
        let before = table.schema.clone();
        if schema.id != id || schema.version != before.version + 1 {
            return Err("changes a table that has another shape by now");
        }
        let is_dropped = |column: u32| schema.column_with_id(column).is_none();
        if before.columns.iter().any(|column| is_dropped(column.id) && is_read(column.id)) {
            return Err("drops what a view reads");
        }
        self.refuse_dangling(schema)?;
        let is_renamed = before.name != schema.name;
        if is_renamed && self.names.contains_key(&schema.name) {
            return Err("gives a table a name that is there already");
        }
        self.refuse_homeless(&schema.name)?;
        self.refuse_unknown_enums(schema)?;
        let slot = self.tables.get_mut(&id).ok_or("changes a table that is not there")?;
        Arc::make_mut(slot).alter(schema, (sources, runs), at)?;
        if is_renamed {
            self.names.remove(&before.name);
            self.names.insert(schema.name.clone(), id);
        }
        self.drop_orphans(id);
        self.drop_stale_comments(id);
        self.schema_version += 1;
        Ok(())
    }
}

impl TableVersion {
    /// Takes another schema.
    fn alter(
        &mut self,
        schema: &Arc<TableSchema>,
        (sources, runs): (&[Source], &[NamedRun]),
        at: CommitNumber,
    ) -> Result<(), &'static str> {
        let before = self.schema.clone();
        if sources.len() != schema.columns.len() {
            return Err("says nothing of some columns");
        }
        for (column, source) in schema.columns.iter().zip(sources) {
            let fits = match source {
                Source::Kept(place) => before.columns.get(*place as usize).is_some_and(|old| {
                    old.id == column.id && column.column_type.takes_values_of(old.column_type)
                }),
                Source::Added(value) => column.column_type.admits(value),
            };
            if !fits {
                return Err("takes a column from where it cannot come");
            }
        }
        let columns = |schema: &TableSchema, id: u32| match id {
            PRIMARY => schema.key.iter().map(|column| schema.columns[*column].id).collect(),
            _ => {
                let index = schema.indexes.iter().find(|index| index.id == id);
                index.map(|index| index.columns.clone()).unwrap_or_default()
            }
        };
        let (mut keys, added) = self.keys.altered(schema);
        let is_other = |id: u32| columns(schema, id) != columns(&before, id);
        if !self.segments.is_empty() {
            // A primary key comes with all rows anew, an index with what it has of them.
            let is_given = |id: &u32| *id != PRIMARY && runs.iter().any(|(named, _)| named == id);
            let stays = keys.iter().map(|key| key.shape.id).filter(|id| !added.contains(id));
            if !added.iter().all(is_given) && self.live_rows > 0 || stays.into_iter().any(is_other)
            {
                return Err("gives a key to rows that are there");
            }
        }
        if runs.iter().any(|(id, _)| !added.contains(id)) {
            return Err("adds entries to an index that is there");
        }
        keys.add_runs(runs)?;
        self.keys = keys;
        let stays = (0..).zip(sources).all(|(place, source)| *source == Source::Kept(place))
            && sources.len() == before.columns.len();
        if !stays {
            let relaid = |(id, segment): (&SegmentId, &Arc<SegmentVersion>)| {
                (*id, Arc::new(segment.relaid(sources, at)))
            };
            self.segments = self.segments.iter().map(relaid).collect();
        }
        self.schema = schema.clone();
        self.last_changed = at;
        Ok(())
    }

    /// Lets all rows go.
    pub(super) fn empty_at(&mut self, at: CommitNumber) {
        self.segments.clear();
        self.open = None;
        self.keys = self.keys.emptied();
        self.live_rows = 0;
        self.last_changed = at;
    }
}
