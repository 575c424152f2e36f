//! Folding: overlays and open rows become encoded columns; recent keys become runs, runs merge.
//!
//! - Runs are merged whole when most of their entries name rows that compaction moved or dropped.
//! - The new base is written from an immutable version; the record that installs it names the
//!   commit folded up to, so that later changes stay in the overlay.
//! - A fold holds the checkpoint lock from the version it reads to its record. Two folds then never
//!   undo one another, and the record names a commit that no checkpoint before it has passed: a
//!   recovered overlay does not say when its changes were made, so all of them must be in the base.
//! - Losing such a record in a crash loses nothing: it changes the form, not the content.

use super::Inner;
use super::checkpoint::Alone;
use crate::error::Result;
use crate::keys::{KeyRun, TableKey, merge_runs};
use crate::segment::{SegmentVersion, rebuild_segment};
use crate::version::{Change, TableVersion};
use gadus_base::{SegmentId, TableId};
use gadus_storage::Durability;
use std::sync::Arc;

/// Runs of about one size before they are merged: a lookup then probes few, and each entry is
/// rewritten once for each doubling.
const RUNS_MERGED_MIN: usize = 4;

/// More runs than this are merged whatever their sizes: each opening of a database may bring one,
/// and each costs a lookup one more page.
pub(super) const RUNS_MAX: usize = 8;

impl Inner {
    /// Folds every segment that has something to fold.
    pub(super) fn fold_all(&self) -> Result<()> {
        let version = self.coordinator.newest()?.0;
        for (&table, state) in &version.tables {
            for (&id, segment) in &state.segments {
                if segment.open.is_some() || segment.overlay.patch_count() > 0 {
                    self.fold_segment(table, id, |_| true)?;
                }
            }
            let is_due = |key: &TableKey| {
                key.entries.recent_len() > 0 || key.entries.runs().len() > RUNS_MAX
            };
            if state.keys.iter().any(is_due) {
                self.fold_keys(table)?;
            }
        }
        Ok(())
    }

    /// Writes a segment's changes into a new base, if that is due by then: another instance may have
    /// done so before.
    pub(super) fn fold_segment(
        &self,
        table: TableId,
        id: SegmentId,
        is_due: impl FnOnce(&SegmentVersion) -> bool,
    ) -> Result<()> {
        self.fold_segment_in(&self.alone()?, table, id, is_due)
    }

    /// The same in a turn that the caller has.
    pub(super) fn fold_segment_in(
        &self,
        _: &Alone<'_>,
        table: TableId,
        id: SegmentId,
        is_due: impl FnOnce(&SegmentVersion) -> bool,
    ) -> Result<()> {
        let version = self.coordinator.newest()?.0;
        let Some(state) = version.table(table) else { return Ok(()) };
        let Some(segment) = state.segment(id).filter(|segment| segment.rows > 0) else {
            return Ok(());
        };
        if !is_due(segment) {
            return Ok(());
        }
        let base = Arc::new(rebuild_segment(segment, &state.schema, &self.blobs)?);
        self.blobs.store().sync_data()?;
        let (folded, shape) = (version.commit, state.schema.version);
        self.commit(Durability::Off, |head| {
            let there = head.table(table).is_some_and(|table| {
                // A base that was written for other columns is of no use.
                table.schema.version == shape && table.segment(id).is_some()
            });
            if !there {
                return Ok(Vec::new());
            }
            let oldest_snapshot = self.coordinator.oldest_pin();
            let base = base.clone();
            Ok(vec![Change::ReplaceSegment { table, segment: id, base, folded, oldest_snapshot }])
        })?;
        Ok(())
    }

    /// Writes recent keys as a run, merged with the newest runs while those are no larger, or with
    /// all when most of their entries are stale.
    pub(super) fn fold_keys(&self, table: TableId) -> Result<()> {
        self.fold_keys_in(&self.alone()?, table)
    }

    /// The same in a turn that the caller has.
    pub(super) fn fold_keys_in(&self, _: &Alone<'_>, table: TableId) -> Result<()> {
        let version = self.coordinator.newest()?.0;
        let Some(state) = version.table(table) else { return Ok(()) };
        let mut merged = Vec::new();
        for key in state.keys.iter() {
            merged.extend(self.merge_key(state, key)?);
        }
        if merged.is_empty() {
            return Ok(());
        }
        self.blobs.store().sync_data()?;
        let (written, shape) = (version.commit, state.schema.version);
        self.commit(Durability::Off, |head| {
            let is_same = |state: &&Arc<TableVersion>| state.schema.version == shape;
            let Some(state) = head.table(table).filter(is_same) else { return Ok(Vec::new()) };
            let replace = |merged: &Merged| {
                let index = merged.index;
                let key = state.keys.get(index)?;
                let runs = merged.beside(key.entries.runs());
                Some(Change::ReplaceKeyRuns { table, index, runs, written })
            };
            Ok(merged.iter().filter_map(replace).collect())
        })?;
        Ok(())
    }

    /// Writes what is to be one run of an index, if something is.
    fn merge_key(&self, state: &TableVersion, key: &TableKey) -> Result<Option<Merged>> {
        let recent = key.entries.recent_entries();
        let runs = key.entries.runs();
        let is_stale = state.has_stale_keys(&key.entries);
        if recent.is_empty() && runs.len() <= RUNS_MAX && !is_stale {
            return Ok(None);
        }
        // The oldest runs, which are the largest, stay apart as long as the others are few.
        let mut kept = match runs.len() {
            _ if is_stale => 0,
            count if count > RUNS_MAX => RUNS_MAX / 2,
            count => count,
        };
        let merged = runs[kept..].iter().map(|run| run.entries()).sum::<u64>();
        let mut size = recent.len() as u64 + merged;
        while kept > 0
            && (runs[kept - 1].entries() <= size || runs.len() - kept + 1 < RUNS_MERGED_MIN)
            && runs[kept - 1].entries() <= size.saturating_mul(4)
        {
            kept -= 1;
            size += runs[kept].entries();
        }
        let replaced = runs[kept..].to_vec();
        let run =
            merge_runs(&replaced, recent, &self.blobs, |row| state.segment(row.segment).is_some())?;
        Ok(Some(Merged { index: key.shape.id, kept, replaced, run: run.map(Arc::new) }))
    }
}

/// A run of an index that takes the place of others.
struct Merged {
    index: u32,
    /// Runs that stay before it.
    kept: usize,
    replaced: Vec<Arc<KeyRun>>,
    run: Option<Arc<KeyRun>>,
}

impl Merged {
    /// The runs that there are then: those that came meanwhile stay behind.
    fn beside(&self, runs: &[Arc<KeyRun>]) -> Vec<Arc<KeyRun>> {
        let is_replaced = |run: &&Arc<_>| self.replaced.iter().any(|other| Arc::ptr_eq(run, other));
        let mut runs = runs.iter().filter(|run| !is_replaced(run)).cloned().collect::<Vec<_>>();
        let place = self.kept.min(runs.len());
        runs.splice(place..place, self.run.clone());
        runs
    }
}

#[cfg(test)]
mod tests;
