//! Checkpoints: the whole state named by one manifest, so that the log before it can be recycled.
//!
//! - Bases and key runs are named as they are: only records bring new ones, so that all instances
//!   have the same. Where many rows or keys lie in memory, they are folded first.
//! - What lies in memory is written as it is: overlays, rows behind bases and recent keys; each only
//!   where it changed since the last checkpoint. On a full disk a piece that still says the same of
//!   all live rows is named again instead.
//! - Readers and writers go on: the version that is written is immutable.
//! - What the last checkpoint names is held here until the next is complete, so that its extents
//!   are not given to others while its header still names them.

mod part;

use super::Inner;
use super::recovery;
use crate::blobs::Blobs;
use crate::error::{ErrorKind, Result};
use crate::keys::{KeyPage, KeyRun, TableKey};
use crate::segment::{EncodedSegment, SegmentVersion};
use crate::types::TableSchema;
use crate::version::{
    DatabaseVersion, Manifest, ManifestHead, ManifestTable, PartImage, SavedKeys, SavedSegment,
    TableVersion, encode_manifest,
};
use gadus_base::{CommitNumber, SegmentId, TableId};
use gadus_storage::{BlobRef, CheckpointTurn, EXTENT_UNIT_BYTES, ExtentRef, Remaining, Rewritten};
use parking_lot::MutexGuard;
use part::Part;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Rows behind a segment's base that a checkpoint writes as they are, for opening to read. Measured: four
/// thousand rows of ten columns, half of them text, add about 2 ms to an opening that takes 11.
const OPEN_ROWS_MAX: u32 = 4_096;

/// Bytes of such rows that a checkpoint writes as they are, each time again, for opening to read. Beyond
/// that they are encoded, unless that would rewrite a base more than four times as large.
const OPEN_BYTES_MAX: u64 = 32 << 20;

/// Recent keys of a table that a checkpoint writes as they are, for opening to read: about those of two
/// such segments.
const RECENT_KEYS_MAX: usize = 8_192;

/// What the last checkpoint named.
#[derive(Debug, Default)]
pub(super) struct Checkpointer {
    segments: HashMap<(TableId, SegmentId), SegmentCheckpoint>,
    /// By table, and by the number of the index.
    keys: HashMap<(TableId, u32), KeysCheckpoint>,
    commit: Option<CommitNumber>,
    /// The root that the rest is about.
    root: Option<BlobRef>,
}

/// A segment as the last checkpoint named it.
#[derive(Debug, Clone)]
struct SegmentCheckpoint {
    last_changed: CommitNumber,
    base: Option<Arc<EncodedSegment>>,
    overlay: Option<Part>,
    open_rows: Option<Part>,
}

/// An index as the last checkpoint named it.
#[derive(Debug, Clone)]
struct KeysCheckpoint {
    last_changed: CommitNumber,
    runs: Vec<Arc<KeyRun>>,
    recent: Option<Part>,
}

impl Checkpointer {
    /// What the checkpoint with this manifest named.
    pub(super) fn of(blobs: &Blobs, manifest: &Manifest) -> Result<Self> {
        let Manifest { head, tables, .. } = manifest;
        let adopt = |part: Option<PartImage>| part.map(|part| Part::adopt(part, blobs)).transpose();
        let mut named = Self { commit: Some(head.commit), ..Self::default() };
        for table in tables {
            let id = table.schema.id;
            for segment in &table.segments {
                let base = segment.base.as_ref();
                let base = base.map(|base| EncodedSegment::adopt(base, blobs));
                let saved = SegmentCheckpoint {
                    last_changed: segment.last_changed,
                    base: base.transpose()?.map(Arc::new),
                    overlay: adopt(segment.overlay)?,
                    open_rows: adopt(segment.open_rows)?,
                };
                named.segments.insert((id, segment.id), saved);
            }
            for saved in &table.keys {
                let runs = saved.runs.iter().map(|run| KeyRun::adopt(run, blobs).map(Arc::new));
                let keys = KeysCheckpoint {
                    last_changed: table.last_changed,
                    runs: runs.collect::<Result<_>>()?,
                    recent: adopt(saved.recent)?,
                };
                named.keys.insert((id, saved.index), keys);
            }
        }
        Ok(named)
    }

    /// What is here is about the checkpoint with this root.
    pub(super) fn describes(&mut self, root: Option<BlobRef>) {
        self.root = root;
    }

    /// Returns the sizes of the pieces that the next checkpoint may write again, with a root of such a
    /// size, and of those that segments have not had yet.
    pub(super) fn rewritten(&self, root_bytes: u64) -> Rewritten {
        let bytes = |part: &Option<Part>| part.as_ref().map_or(0, Part::bytes);
        let segments = self.segments.values();
        let overlays = segments.clone().map(|saved| bytes(&saved.overlay).max(EXTENT_UNIT_BYTES));
        let root = root_bytes.next_multiple_of(EXTENT_UNIT_BYTES);
        // What the last root takes is free only after two of them.
        let always = overlays.chain([root, root]);
        let rows = segments.map(|saved| bytes(&saved.open_rows));
        let rows = rows.chain(self.keys.values().map(|keys| bytes(&keys.recent)));
        Rewritten {
            always: always.clone().sum(),
            of_rows: rows.clone().sum(),
            largest: always.chain(rows).max().unwrap_or(0),
        }
    }

    /// All that the last checkpoint names.
    pub(super) fn extents(&self) -> Vec<ExtentRef> {
        let segments = self.segments.values();
        let parts = segments.clone().flat_map(|saved| [&saved.overlay, &saved.open_rows]);
        let parts = parts.chain(self.keys.values().map(|keys| &keys.recent)).flatten();
        let bases = segments.filter_map(|saved| saved.base.as_ref());
        let bases = bases.flat_map(|base| base.extents()).map(|extent| extent.reference());
        let runs = self.keys.values().flat_map(|keys| &keys.runs).flat_map(|run| run.extents());
        parts.map(|part| part.extent.reference()).chain(bases).chain(runs).collect()
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
        let views = version.views.values().cloned().collect();
        let sequences = version.sequences.values().cloned().collect();
        let kept = version.definitions.iter();
        let definitions = kept.map(|(key, text)| (key.clone(), text.clone())).collect();
        Ok((encode_manifest(&Manifest { head, tables, views, sequences, definitions }), next))
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
                saved => SegmentCheckpoint::write(segment, &table.schema, saved, blobs)?,
            };
            segments.push(saved.image(segment.id));
            next.segments.insert((id, segment.id), saved);
        }
        let mut keys = Vec::new();
        for key in table.keys.iter() {
            let index = key.shape.id;
            let saved = match self.keys.get(&(id, index)) {
                Some(saved) if saved.last_changed == table.last_changed => saved.clone(),
                saved => KeysCheckpoint::write(table, key, saved, blobs)?,
            };
            keys.push(saved.image(index));
            next.keys.insert((id, index), saved);
        }
        let manifest = ManifestTable {
            schema: table.schema.clone(),
            next_segment,
            open: table.open.map_or(0, |segment| segment.0),
            last_changed: table.last_changed,
            segments,
            keys,
        };
        Ok(manifest)
    }
}

impl SegmentCheckpoint {
    fn write(
        segment: &SegmentVersion,
        schema: &TableSchema,
        last: Option<&Self>,
        blobs: &Blobs,
    ) -> Result<Self> {
        let overlay = Some(&segment.overlay).filter(|overlay| !overlay.is_empty());
        let overlay = overlay.map(|overlay| Part::write(&overlay.encode(), blobs)).transpose()?;
        let last = last.and_then(|last| last.open_rows.as_ref());
        let open_rows = segment.encode_open_rows().map(|rows| {
            let holds = |there: &[u8]| segment.open_rows_are(there, schema);
            Part::write_or_keep(&rows, last, holds, blobs)
        });
        Ok(Self {
            last_changed: segment.last_changed,
            base: segment.encoded.clone(),
            overlay,
            open_rows: open_rows.transpose()?,
        })
    }

    fn image(&self, id: SegmentId) -> SavedSegment {
        SavedSegment {
            id,
            last_changed: self.last_changed,
            base: self.base.as_ref().map(|base| base.image(id)),
            overlay: self.overlay.as_ref().map(Part::image),
            open_rows: self.open_rows.as_ref().map(Part::image),
        }
    }
}

impl KeysCheckpoint {
    fn write(
        table: &TableVersion,
        key: &TableKey,
        last: Option<&Self>,
        blobs: &Blobs,
    ) -> Result<Self> {
        let last = last.and_then(|last| last.recent.as_ref());
        let recent = Some(key.entries.recent_entries()).filter(|entries| !entries.is_empty());
        let recent = recent.map(|entries| {
            let page = KeyPage::encode(&entries);
            Part::write_or_keep(&page, last, |there| there == page, blobs)
        });
        Ok(Self {
            last_changed: table.last_changed,
            runs: key.entries.runs().to_vec(),
            recent: recent.transpose()?,
        })
    }

    fn image(&self, index: u32) -> SavedKeys {
        SavedKeys {
            index,
            runs: self.runs.iter().map(|run| run.image()).collect(),
            recent: self.recent.as_ref().map(Part::image),
        }
    }
}

/// The right to write checkpoints and to fold, held: nobody else does, here or elsewhere.
pub(super) struct Alone<'a> {
    checkpointer: MutexGuard<'a, Checkpointer>,
    _turn: CheckpointTurn<'a>,
}

impl Alone<'_> {
    /// What the newest checkpoint names.
    pub(super) fn extents(&self) -> Vec<ExtentRef> {
        self.checkpointer.extents()
    }
}

impl Inner {
    /// Waits until no other checkpoint, fold or move of rows is under way.
    pub(super) fn alone(&self) -> Result<Alone<'_>> {
        self.coordinator.check_usable()?;
        let mut checkpointer = self.checkpointer.lock();
        let turn = self.blobs.store().checkpoint_turn()?;
        let store = self.blobs.store();
        if let Some(root) = store.newest_root().filter(|root| Some(*root) != checkpointer.root) {
            // Another instance has written it, or what it names could not be read the last time.
            let manifest = recovery::read_manifest(&self.blobs, &store.read_blob(&root)?)?;
            *checkpointer = Checkpointer::of(&self.blobs, &manifest)?;
            checkpointer.describes(Some(root));
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
        if !is_due(alone.checkpointer.commit.unwrap_or(CommitNumber(0))) {
            return Ok(());
        }
        let _reserve = self.blobs.store().use_reserve(Remaining::Nothing);
        self.drop_empty_segments(&alone)?;
        self.fold_much(&alone)?;
        let checkpointer = &mut *alone.checkpointer;
        let store = self.blobs.store();
        // Before the version is taken: an extent that comes and goes after it is named by the log.
        let unsaved = store.checkpoint_begins();
        let (version, end) = self.coordinator.newest()?;
        store.wait_durable(end.position())?;
        let (manifest, next) = checkpointer.write(&version, &self.blobs)?;
        // Before free space is found: what is free is given back but for what the next one needs.
        store.saved(unsaved, next.rewritten(manifest.len() as u64));
        let written = store.checkpoint(&manifest, version.commit, end.position());
        written.inspect_err(|_| store.note_unsaved(unsaved))?;
        let named = next.extents();
        store.named(named.iter().copied());
        *checkpointer = next;
        checkpointer.describes(store.newest_root());
        self.limit_snapshots(&named);
        if store.is_shared() {
            store.find_free_space(|| self.coordinator.newest().is_ok());
        }
        Ok(())
    }

    /// Gives up snapshots that keep too much from being used again; after a checkpoint that names
    /// `named`, in its turn.
    fn limit_snapshots(&self, named: &[ExtentRef]) {
        let (store, coordinator) = (self.blobs.store(), &self.coordinator);
        let bytes_max = self.snapshot_space_max.load(Ordering::Relaxed);
        let oldest = coordinator.oldest_pin();
        store.limit_snapshots(bytes_max, oldest, |commit| {
            let named = named.iter().copied();
            coordinator.with_extents_from(commit, |used| used.into_iter().chain(named).collect())
        });
        let readable_from = store.readable_from();
        if oldest < readable_from {
            coordinator.with_extents_from(readable_from, |mut used| {
                used.extend(named);
                store.disown(used);
            });
        }
    }

    /// Folds what lies in memory where it is more than opening is to read. On a full disk the
    /// checkpoint writes it as it is, for which space is kept.
    fn fold_much(&self, alone: &Alone<'_>) -> Result<()> {
        let _reserve = self.blobs.store().use_reserve(Remaining::ForCheckpoint);
        match self.fold_each_much(alone) {
            Err(error) if error.kind() == ErrorKind::NoSpace => Ok(()),
            folded => folded,
        }
    }

    fn fold_each_much(&self, alone: &Alone<'_>) -> Result<()> {
        let version = self.coordinator.newest()?.0;
        for (&table, state) in &version.tables {
            let is_much = |segment: &SegmentVersion| {
                segment.rows - segment.encoded_rows() > OPEN_ROWS_MAX
                    || segment.open_bytes() > OPEN_BYTES_MAX.max(segment.encoded_bytes() / 4)
            };
            for (&id, _) in state.segments.iter().filter(|(_, segment)| is_much(segment)) {
                self.fold_segment_in(alone, table, id, is_much)?;
            }
            if state.keys.iter().any(|key| key.entries.recent_len() > RECENT_KEYS_MAX) {
                self.fold_keys_in(alone, table)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
