//! A table as one snapshot sees it.

use super::{Change, SegmentIds};
use crate::blobs::Blobs;
use crate::error::Result;
use crate::keys::{KeyIndex, NamedRun, TableKey, TableKeys};
use crate::segment::{EncodedSegment, Lineage, Patches, Row, SegmentVersion};
use crate::types::{Datum, TableSchema};
use gadus_base::{CommitNumber, RowId, SegmentId};
use imbl::OrdMap;
use std::sync::Arc;

/// Entries without a row that are let be: half a megabyte of runs.
const STALE_KEYS_MIN: u64 = 65_536;

/// The segments and keys of a table.
#[derive(Debug, Clone)]
pub(crate) struct TableVersion {
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) segments: OrdMap<SegmentId, Arc<SegmentVersion>>,
    /// The segment that takes inserted rows, while one does.
    pub(crate) open: Option<SegmentId>,
    pub(crate) keys: TableKeys,
    pub(crate) live_rows: u64,
    pub(crate) last_changed: CommitNumber,
    ids: SegmentIds,
}

impl TableVersion {
    pub(crate) fn empty(schema: Arc<TableSchema>, at: CommitNumber, ids: SegmentIds) -> Self {
        let keys = TableKeys::of(&schema);
        Self {
            schema,
            segments: OrdMap::new(),
            open: None,
            keys,
            live_rows: 0,
            last_changed: at,
            ids,
        }
    }

    /// Takes the next segment id.
    pub(crate) fn reserve_segment(&self) -> Result<SegmentId> {
        self.ids.take()
    }

    pub(crate) fn segment(&self, id: SegmentId) -> Option<&Arc<SegmentVersion>> {
        self.segments.get(&id)
    }

    /// The segment of a live row.
    pub(crate) fn live(&self, row: RowId) -> Option<&Arc<SegmentVersion>> {
        self.segment(row.segment).filter(|segment| segment.is_live(row.position))
    }

    /// The live row with the given primary key, of which there is at most one.
    pub(crate) fn find_key(&self, blobs: &Blobs, key: &[Datum]) -> Result<Option<RowId>> {
        match self.keys.primary() {
            Some(primary) => self.find(primary, blobs, key),
            None => Ok(None),
        }
    }

    /// A live row with these values in the columns of an index; none is equal to NULL.
    pub(crate) fn find(
        &self,
        key: &TableKey,
        blobs: &Blobs,
        values: &[Datum],
    ) -> Result<Option<RowId>> {
        if values.iter().any(Datum::is_null) {
            return Ok(None);
        }
        let mut found = None;
        self.each_with(key, blobs, values, |row| {
            found = Some(row);
            false
        })?;
        Ok(found)
    }

    /// Hands the live rows with these values in the columns of an index to `visit`, until it returns false.
    pub(crate) fn each_with(
        &self,
        key: &TableKey,
        blobs: &Blobs,
        values: &[Datum],
        mut visit: impl FnMut(RowId) -> bool,
    ) -> Result<()> {
        let code = key.shape.code(values.iter());
        key.entries.candidates(blobs, &(code..=code), |row| {
            let Some(segment) = self.live(row) else { return Ok(true) };
            for (&column, wanted) in key.shape.columns.iter().zip(values) {
                if segment.datum(&self.schema, blobs, column, row.position)? != *wanted {
                    return Ok(true);
                }
            }
            Ok(visit(row))
        })
    }

    /// Whether the entries of rows that compaction moved or dropped outweigh the others.
    pub(crate) fn has_stale_keys(&self, entries: &KeyIndex) -> bool {
        let positions = self.segments.values().map(|segment| u64::from(segment.rows)).sum::<u64>();
        entries.run_entries() > 2 * positions + STALE_KEYS_MIN
    }

    pub(crate) fn apply(
        &mut self,
        change: &Change,
        at: CommitNumber,
        lineage: Lineage,
    ) -> Result<(), &'static str> {
        self.last_changed = at;
        match change {
            Change::AppendRows { first, rows, .. } => self.append(*first, rows, at),
            Change::PatchRows { segment, column, patches, .. } => {
                self.patch(*segment, *column, patches, at, lineage)
            }
            Change::DeleteRows { segment, positions, .. } => {
                let slot = self.segment_mut(*segment)?;
                let mut deleted = 0;
                for &position in positions {
                    if position >= slot.rows {
                        return Err("deletes a row that is not there");
                    }
                    deleted += u64::from(slot.overlay.delete(position, at, lineage));
                }
                slot.last_changed = at;
                self.live_rows -= deleted;
                Ok(())
            }
            Change::AddSegments { segments, runs, .. } => self.add(segments, runs, at),
            Change::MoveRows { removed, added, runs, .. } => {
                self.remove_moved(removed, added, runs)?;
                self.add(added, runs, at)
            }
            Change::ReplaceSegment { segment, base, folded, oldest_snapshot, .. } => {
                let slot = self.segment_mut(*segment)?;
                if base.rows() > slot.rows
                    || base.rows() < slot.encoded_rows()
                    || (base.rows() < slot.rows && slot.open.is_none())
                {
                    return Err("folds other rows than are there");
                }
                slot.overlay = slot.overlay.after_fold(*folded, *oldest_snapshot);
                slot.encoded = Some(base.clone());
                if base.rows() == slot.rows {
                    slot.open = None;
                }
                slot.last_changed = at;
                Ok(())
            }
            Change::ReplaceKeyRuns { index, runs, written, .. } => {
                let key = self.keys.get_mut(*index).ok_or("names an index that is not there")?;
                key.entries.replace_runs(runs.clone(), *written);
                Ok(())
            }
            Change::CreateTable(_)
            | Change::DropTable(_)
            | Change::AlterTable { .. }
            | Change::EmptyTable(_)
            | Change::SetView(_)
            | Change::DropView(_)
            | Change::SetSequence { .. }
            | Change::SetDefinition { .. }
            | Change::DropSequence(_)
            | Change::PlaceSequence { .. } => Err("is no change of one table"),
        }
    }

    fn segment_mut(&mut self, id: SegmentId) -> Result<&mut SegmentVersion, &'static str> {
        let slot = self.segments.get_mut(&id).ok_or("changes a segment that is not there")?;
        Ok(Arc::make_mut(slot))
    }

    fn add(
        &mut self,
        segments: &[(SegmentId, Arc<EncodedSegment>)],
        runs: &[NamedRun],
        at: CommitNumber,
    ) -> Result<(), &'static str> {
        for (id, base) in segments {
            self.ids.raise(id.0.saturating_add(1));
            self.live_rows += u64::from(base.rows());
            let version = SegmentVersion::encoded(*id, base.clone(), at);
            if self.segments.insert(*id, Arc::new(version)).is_some() {
                return Err("adds a segment that is there already");
            }
        }
        self.keys.add_runs(runs)
    }

    /// Drops segments whose live rows are all in others to be added.
    fn remove_moved(
        &mut self,
        removed: &[SegmentId],
        added: &[(SegmentId, Arc<EncodedSegment>)],
        runs: &[NamedRun],
    ) -> Result<(), &'static str> {
        let mut live = 0;
        for id in removed {
            if self.open == Some(*id) {
                self.open = None;
            }
            let gone = self.segments.remove(id).ok_or("moves rows that are not there")?;
            live += u64::from(gone.live_rows());
        }
        let moved = added.iter().map(|(_, base)| u64::from(base.rows())).sum::<u64>();
        let entries = |key: &TableKey| {
            let of_key = runs.iter().filter(|(id, _)| *id == key.shape.id);
            of_key.map(|(_, run)| run.entries()).sum::<u64>()
        };
        if moved != live || self.keys.iter().any(|key| entries(key) != moved) {
            return Err("moves other rows than are there");
        }
        self.live_rows -= live;
        Ok(())
    }

    fn append(&mut self, first: RowId, rows: &[Row], at: CommitNumber) -> Result<(), &'static str> {
        if !self.segments.contains_key(&first.segment) {
            self.ids.raise(first.segment.0.saturating_add(1));
            let segment = SegmentVersion::open(first.segment, at);
            self.segments.insert(first.segment, Arc::new(segment));
            self.open = Some(first.segment);
        }
        for (position, row) in (first.position..).zip(rows) {
            self.keys.insert(row, RowId { segment: first.segment, position }, at);
        }
        let slot = self.segment_mut(first.segment)?;
        if slot.rows != first.position
            || slot.rows as usize + rows.len() > crate::segment::SEGMENT_ROWS_MAX as usize
        {
            return Err("appends rows at another place than the segment's end");
        }
        slot.append(rows.iter().cloned(), at);
        if slot.rows == crate::segment::SEGMENT_ROWS_MAX {
            self.open = None;
        }
        self.live_rows += rows.len() as u64;
        Ok(())
    }

    fn patch(
        &mut self,
        segment: SegmentId,
        column: u32,
        patches: &Arc<Patches>,
        at: CommitNumber,
        lineage: Lineage,
    ) -> Result<(), &'static str> {
        let slot = self.segment_mut(segment)?;
        if patches.positions().any(|position| position >= slot.rows) {
            return Err("patches a row that is not there");
        }
        slot.overlay.patch(column, patches, at, lineage);
        slot.last_changed = at;
        Ok(())
    }
}
