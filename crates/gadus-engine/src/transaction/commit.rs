//! Committing a transaction: its writes become changes of the appended head.
//!
//! - Nothing is evaluated again: what another commit changed since the snapshot is a conflict.
//! - A commit without writes appends nothing.

use super::definitions::check_definition;
use super::loaded::{LoadedRows, check_loaded};
use super::locking::{conflict, is_unchanged};
use super::{TableWrites, Transaction};
use crate::blobs::Blobs;
use crate::engine::{append_changes, check_keys, same_shape};
use crate::error::{Error, ErrorKind, Result};
use crate::interrupt_check::InterruptCheck;
use crate::keys::NamedRun;
use crate::segment::{Lineage, Row};
use crate::types::TableSchema;
use crate::version::{Change, DatabaseVersion, TableVersion};
use gadus_base::{CommitNumber, RowId, SegmentId, TableId};
use std::sync::Arc;

impl Transaction {
    /// Commits; returns the commit's number, or none when nothing was written.
    ///
    /// An error leaves the database as it was, and the transaction is gone.
    pub fn commit(mut self) -> Result<Option<CommitNumber>> {
        if !self.state.unsettled.is_empty() {
            self.settle_references(&|| Ok(()))?;
        }
        if self.is_empty() {
            return Ok(None);
        }
        let names_extents =
            |shape: &Change| matches!(shape, Change::AlterTable { runs, .. } if !runs.is_empty());
        if self.state.writes.values().any(|writes| !writes.loaded.is_empty())
            || self.state.shapes.iter().any(names_extents)
        {
            // The record names extents: they must be durable before it.
            self.inner.blobs.store().sync_data()?;
        }
        let inserted = self.inserted_rows()?;
        let compared = self.compare_reads()?;
        self.inner.commit(self.durability, |head| {
            compared.as_ref().map_or(Ok(()), |compared| compared.refuse_since(head))?;
            // What has changed since is known of snapshots that are kept.
            self.state.pin.checked(self.changes(head, inserted))
        })
    }

    /// Rows that the transaction inserted and did not delete, as it sees them now.
    fn inserted_rows(&self) -> Result<Vec<(Arc<TableSchema>, Vec<Row>)>> {
        let mut all = Vec::new();
        let mut check = InterruptCheck::default();
        for (id, writes) in &self.state.writes {
            let Some(table) = self.state.view.table(*id) else { continue };
            let mut rows = Vec::new();
            for segment in writes.inserted.iter().filter_map(|id| table.segment(*id)) {
                for position in (0..segment.rows).filter(|&position| segment.is_live(position)) {
                    check.row()?;
                    let row = segment.row(&table.schema, &self.blobs, position)?;
                    rows.push(Row::from(row));
                }
            }
            all.push((table.schema.clone(), rows));
        }
        Ok(all)
    }

    fn changes(
        &self,
        head: &DatabaseVersion,
        inserted: Vec<(Arc<TableSchema>, Vec<Row>)>,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        let mut shaped = head.private();
        for change in &self.state.shapes {
            check_shape(&shaped, change)?;
            check_definition(&self.state.base, head, change)?;
            shaped.apply(change, head.commit.next()).map_err(|what| {
                Error::new(ErrorKind::Conflict, format!("this transaction {what}; run it again"))
            })?;
            changes.push(change.clone());
        }
        for (schema, rows) in inserted {
            let writes = &self.state.writes[&schema.id];
            let table = same_shape(&shaped, &schema)?;
            if table.last_changed > self.state.base.commit {
                check_conflicts(table, writes, self.state.base.commit)?;
            }
            add_writes(&schema, writes, &self.state.view, &mut changes);
            // A newer snapshot says nothing of keys: not all of them are locked.
            let keys_since = writes.keys_since.unwrap_or(self.state.base.commit);
            if table.last_changed > keys_since && table.keys.unique().next().is_some() {
                self.check_inserted_keys(table, writes, &rows)?;
            }
            changes.extend(append_changes(table, rows)?);
        }
        if self.writes_references() {
            self.check_references(head, shaped)?;
        }
        Ok(changes)
    }

    /// Refuses keys that other commits added since the snapshot.
    fn check_inserted_keys(
        &self,
        head: &Arc<TableVersion>,
        writes: &TableWrites,
        rows: &[Row],
    ) -> Result<()> {
        let blobs: &Blobs = &self.blobs;
        // A key that this transaction deletes may be inserted again by it.
        let mut without = TableVersion::clone(head);
        for change in deletes(&head.schema, writes) {
            without
                .apply(&change, head.last_changed.next(), Lineage::Private)
                .map_err(|what| Error::internal(format!("a transaction {what}")))?;
        }
        check_keys(&without, rows, blobs)?;
        let is_live = |row: RowId| {
            let deleted = writes.deleted.get(&row.segment);
            !deleted.is_some_and(|rows| rows.contains(&row.position))
        };
        let loaded = LoadedRows::new(writes.loaded.iter(), is_live);
        check_loaded(&without, &writes.runs, &loaded, blobs)
    }
}

/// Whether a table or view may still be created as the transaction did.
fn check_shape(head: &DatabaseVersion, change: &Change) -> Result<()> {
    let (what, name, id, is_new) = match change {
        Change::CreateTable(schema) => ("table", &schema.name, schema.id, true),
        Change::SetView(view) => ("view", &view.name, view.id, view.version == 1),
        Change::SetSequence { sequence, .. } => {
            ("sequence", &sequence.name, sequence.id, sequence.version == 1)
        }
        Change::AlterTable { schema, .. } => return check_indexes(head, schema, Some(schema.id)),
        _ => return Ok(()),
    };
    if let Change::SetView(view) = change
        && !is_new
        && head.views.get(&id).is_none_or(|there| there.version + 1 != view.version)
    {
        let message = format!("view \"{name}\" was changed or dropped meanwhile; try again");
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    if let Change::SetSequence { sequence, .. } = change
        && !is_new
        && head.sequences.get(&id).is_none_or(|there| there.version + 1 != sequence.version)
    {
        let message = format!("sequence \"{name}\" was changed or dropped meanwhile; try again");
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    if let Change::CreateTable(schema) = change {
        check_indexes(head, schema, None)?;
    }
    if is_new && (head.names.contains_key(name) || head.index_named(name).is_some()) {
        let message = format!("{what} \"{name}\" was created by another transaction meanwhile");
        return Err(Error::new(ErrorKind::AlreadyExists, message));
    }
    if is_new && id < head.next_table {
        let message = format!(
            "another table or view was created while \"{name}\" was; run the transaction again"
        );
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    Ok(())
}

/// Refuses indexes whose names others have taken; a table that is there already may have them.
fn check_indexes(head: &DatabaseVersion, schema: &TableSchema, own: Option<TableId>) -> Result<()> {
    for index in &schema.indexes {
        let there = head.index_named(&index.name);
        let is_other = there.is_some_and(|(table, _)| Some(table.schema.id) != own);
        if is_other || head.names.contains_key(&index.name) {
            let message =
                format!("\"{}\" was created by another transaction meanwhile", index.name);
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
    }
    Ok(())
}

/// Refuses rows that another commit changed, deleted or moved since the snapshot.
fn check_conflicts(
    head: &TableVersion,
    writes: &TableWrites,
    snapshot: CommitNumber,
) -> Result<()> {
    let own = |segment: &SegmentId| writes.loaded.iter().any(|(id, _)| id == segment);
    let stays =
        |segment: SegmentId| move |position| is_unchanged(head, segment, position, snapshot);
    let mut patched = writes.patched.iter();
    let mut deleted = writes.deleted.iter();
    let unchanged = patched.all(|((segment, _), rows)| own(segment) || rows.all(stays(*segment)))
        && deleted.all(|(segment, rows)| own(segment) || rows.iter().copied().all(stays(*segment)));
    if unchanged { Ok(()) } else { Err(conflict(&head.schema)) }
}

pub(super) fn deletes(schema: &TableSchema, writes: &TableWrites) -> Vec<Change> {
    let own = |segment: &SegmentId| writes.loaded.iter().any(|(id, _)| id == segment);
    let change = |(&segment, positions): (&SegmentId, &imbl::OrdSet<u32>)| Change::DeleteRows {
        table: schema.id,
        segment,
        positions: positions.iter().copied().collect(),
    };
    writes.deleted.iter().filter(|(segment, _)| !own(segment)).map(change).collect()
}

/// Loaded segments, then patches and deletes, which may fall on them.
pub(super) fn add_writes(
    schema: &TableSchema,
    writes: &TableWrites,
    view: &DatabaseVersion,
    changes: &mut Vec<Change>,
) {
    let table = schema.id;
    let state = view.table(table).expect("a table with writes is in the view");
    if !writes.loaded.is_empty() {
        let segments = writes.loaded.iter().cloned().collect();
        // An index may have been dropped since.
        let is_there = |(index, _): &&NamedRun| state.keys.get(*index).is_some();
        let runs = writes.runs.iter().filter(is_there).cloned().collect();
        changes.push(Change::AddSegments { table, segments, runs });
    }
    for (&(segment, column), patched) in &writes.patched {
        let overlay = &state.segment(segment).expect("patched rows are in the view").overlay;
        let patches = patched.patches(column, overlay);
        changes.push(Change::PatchRows { table, segment, column, patches });
    }
    for (&segment, positions) in &writes.deleted {
        let positions = positions.iter().copied().collect();
        changes.push(Change::DeleteRows { table, segment, positions });
    }
}
