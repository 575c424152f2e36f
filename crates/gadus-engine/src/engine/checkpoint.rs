//! Checkpoints: the whole state named by one manifest, so that the log before it can be recycled.
//!
//! - Only what changed since the last checkpoint is written: overlays of changed segments, images of
//!   segments with open rows, recent keys. Unchanged segments are named again.
//! - Readers and writers go on: the version that is written is immutable.
//! - What the last checkpoint wrote is held here until the next is complete, so that its extents
//!   are not given to others while its header still names them.

use super::{Inner, recovery};
use crate::blobs::Blobs;
use crate::error::Result;
use crate::keys::{KeyRun, write_run};
use crate::segment::{EncodedSegment, Overlay, SegmentVersion, rebuild_segment};
use crate::types::TableSchema;
use crate::version::{
    DatabaseVersion, ManifestHead, ManifestTable, SavedSegment, TableVersion, encode_manifest,
};
use gadus_base::{CommitNumber, SegmentId, TableId};
use gadus_storage::{BlobRef, CheckpointTurn, Extent, ExtentRef};
use parking_lot::MutexGuard;
use std::collections::HashMap;
use std::sync::Arc;

/// What the last checkpoint wrote.
#[derive(Debug, Default)]
pub(super) struct Checkpointer {
    segments: HashMap<(TableId, SegmentId), SegmentCheckpoint>,
    keys: HashMap<TableId, KeysCheckpoint>,
    commit: Option<CommitNumber>,
    /// The root that the rest is about.
    root: Option<BlobRef>,
}

/// A segment as the last checkpoint named it.
#[derive(Debug, Clone)]
struct SegmentCheckpoint {
    last_changed: CommitNumber,
    base: Arc<EncodedSegment>,
    overlay: Option<(Arc<Extent>, BlobRef)>,
}

/// Recent keys as the last checkpoint wrote them.
#[derive(Debug, Clone)]
struct KeysCheckpoint {
    last_changed: CommitNumber,
    recent: Option<Arc<KeyRun>>,
}

impl Checkpointer {
    /// What is here is about the checkpoint with this root.
    pub(super) fn describes(&mut self, root: Option<BlobRef>) {
        self.root = root;
    }

    /// A manifest has been loaded: the version is what the last checkpoint wrote.
    pub(super) fn loaded(&mut self, version: &DatabaseVersion) {
        self.commit = Some(version.commit);
        for (&table, tables) in &version.tables {
            for (&id, segment) in &tables.segments {
                if let Some(base) = &segment.encoded {
                    self.segments.entry((table, id)).or_insert_with(|| SegmentCheckpoint {
                        last_changed: segment.last_changed,
                        base: base.clone(),
                        overlay: None,
                    });
                }
            }
        }
    }

    /// An overlay has been loaded from its blob.
    pub(super) fn loaded_overlay(
        &mut self,
        table: TableId,
        segment: &SegmentVersion,
        extent: Arc<Extent>,
        blob: BlobRef,
    ) {
        let Some(base) = segment.encoded.clone() else { return };
        let saved = SegmentCheckpoint {
            last_changed: segment.last_changed,
            base,
            overlay: Some((extent, blob)),
        };
        self.segments.insert((table, segment.id), saved);
    }

    /// What the last checkpoint names beside what the version itself names.
    pub(super) fn extents(&self) -> Vec<ExtentRef> {
        let overlays = self.segments.values().filter_map(|saved| saved.overlay.as_ref());
        let overlays = overlays.map(|(extent, _)| extent.reference());
        let bases = self.segments.values().flat_map(|saved| saved.base.extents());
        let bases = bases.map(|extent| extent.reference());
        let recent = self.keys.values().filter_map(|keys| keys.recent.as_ref());
        overlays.chain(bases).chain(recent.flat_map(|run| run.extents())).collect()
    }

    /// Writes what changed and returns the manifest with what the next checkpoint needs to know.
    fn write(&self, version: &DatabaseVersion, blobs: &Blobs) -> Result<(Vec<u8>, Self)> {
        let mut next = Self { commit: Some(version.commit), ..Self::default() };
        let mut tables = Vec::with_capacity(version.tables.len());
        for table in version.tables.values() {
            tables.push(self.write_table(table, version.ids.next(), blobs, &mut next)?);
        }
        let head = ManifestHead {
            commit: version.commit,
            next_table: version.next_table,
            schema_version: version.schema_version,
        };
        Ok((encode_manifest(&head, &tables), next))
    }

    fn write_table(
        &self,
        table: &TableVersion,
        next_segment: u32,
        blobs: &Blobs,
        next: &mut Self,
    ) -> Result<ManifestTable> {
        let id = table.schema.id;
        let mut segments = Vec::with_capacity(table.segments.len());
        for segment in table.segments.values().filter(|segment| segment.rows > 0) {
            let saved = match self.segments.get(&(id, segment.id)) {
                Some(saved) if saved.last_changed == segment.last_changed => saved.clone(),
                _ => write_segment(segment, &table.schema, blobs)?,
            };
            segments.push(SavedSegment {
                image: saved.base.image(segment.id),
                last_changed: saved.last_changed,
                overlay: saved.overlay.as_ref().map(|(extent, blob)| (extent.reference(), *blob)),
            });
            next.segments.insert((id, segment.id), saved);
        }
        let keys = match self.keys.get(&id) {
            Some(keys) if keys.last_changed == table.last_changed => keys.clone(),
            _ => {
                let entries = table.keys.recent_entries();
                let recent =
                    if entries.is_empty() { None } else { Some(write_run(&entries, blobs)?) };
                KeysCheckpoint { last_changed: table.last_changed, recent: recent.map(Arc::new) }
            }
        };
        let runs = table.keys.runs().iter().chain(&keys.recent).map(|run| run.image()).collect();
        next.keys.insert(id, keys);
        Ok(ManifestTable {
            schema: table.schema.clone(),
            next_segment,
            open: table.open.map_or(0, |segment| segment.0),
            segments,
            runs,
        })
    }
}

/// Writes a changed segment: its overlay beside the base, or a new image where rows are open.
fn write_segment(
    segment: &SegmentVersion,
    schema: &TableSchema,
    blobs: &Blobs,
) -> Result<SegmentCheckpoint> {
    let (base, overlay) = match &segment.encoded {
        Some(base) if base.rows() == segment.rows => (base.clone(), segment.overlay.clone()),
        _ => {
            let image = Arc::new(rebuild_segment(segment, schema, blobs)?);
            // All patches are in the image; deletes stay beside it.
            (image, segment.overlay.after_fold(CommitNumber(u64::MAX), CommitNumber(u64::MAX)))
        }
    };
    let overlay = if overlay.is_empty() { None } else { Some(write_overlay(&overlay, blobs)?) };
    Ok(SegmentCheckpoint { last_changed: segment.last_changed, base, overlay })
}

fn write_overlay(overlay: &Overlay, blobs: &Blobs) -> Result<(Arc<Extent>, BlobRef)> {
    let (extent, references) = blobs.store().write_extent(&[&overlay.encode()])?;
    Ok((extent, references[0]))
}

/// The right to write checkpoints and to fold, held: nobody else does, here or elsewhere.
pub(super) struct Alone<'a> {
    checkpointer: MutexGuard<'a, Checkpointer>,
    _turn: CheckpointTurn<'a>,
}

impl Alone<'_> {
    /// What the newest checkpoint names beside what the version itself names.
    pub(super) fn extents(&self) -> Vec<ExtentRef> {
        self.checkpointer.extents()
    }
}

impl Inner {
    /// Waits until no other checkpoint, fold or move of rows is under way.
    pub(super) fn alone(&self) -> Result<Alone<'_>> {
        let mut checkpointer = self.checkpointer.lock();
        let turn = self.blobs.store().checkpoint_turn()?;
        let store = self.blobs.store();
        if let Some(root) = store.newest_root().filter(|root| Some(*root) != checkpointer.root) {
            // Another instance has written it, or what it names could not be read the last time.
            let mut fresh = Checkpointer::default();
            let manifest = store.read_blob(&root)?;
            recovery::load(&self.blobs, &manifest, store.log_end(), &mut fresh)?;
            fresh.describes(Some(root));
            *checkpointer = fresh;
        }
        Ok(Alone { checkpointer, _turn: turn })
    }

    /// Writes a checkpoint of the newest commit.
    pub(super) fn checkpoint(&self) -> Result<()> {
        self.checkpoint_if(|_| true)
    }

    /// Writes a checkpoint unless another instance has done so meanwhile.
    pub(super) fn checkpoint_if_due(&self) -> Result<()> {
        let store = self.blobs.store();
        self.checkpoint_if(|_| store.log_bytes_since_checkpoint() > self.options.checkpoint_log.0)
    }

    /// Writes a checkpoint unless the last one holds everything.
    pub(super) fn checkpoint_unless_clean(&self) -> Result<()> {
        let head = self.coordinator.newest()?.0.commit;
        self.checkpoint_if(|saved| saved != head)
    }

    fn checkpoint_if(&self, is_due: impl FnOnce(CommitNumber) -> bool) -> Result<()> {
        let mut alone = self.alone()?;
        let checkpointer = &mut *alone.checkpointer;
        if !is_due(checkpointer.commit.unwrap_or(CommitNumber(0))) {
            return Ok(());
        }
        let store = self.blobs.store();
        // Before the version is taken: an extent that comes and goes after it is named by the log.
        store.checkpoint_begins();
        let (version, end) = self.coordinator.newest()?;
        store.wait_durable(end.position())?;
        let (manifest, next) = checkpointer.write(&version, &self.blobs)?;
        store.checkpoint(&manifest, version.commit, end.position())?;
        store.named(next.extents());
        *checkpointer = next;
        checkpointer.describes(store.newest_root());
        if store.is_shared() {
            store.find_free_space(|| self.coordinator.newest().is_ok());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
