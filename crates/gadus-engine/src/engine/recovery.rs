//! Opening a database: the checkpoint's manifest, then the log behind it.
//!
//! - Nothing of a table is read but its manifest, and what lies in memory while it is open: overlays,
//!   rows behind bases, recent keys. Columns and key runs are read when asked.
//! - Values from the log are checked against their columns before they are applied.

use super::checkpoint::Checkpointer;
use super::decided::Followed;
use super::{CacheScope, Options};
use crate::blobs::Blobs;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{KeyIndex, KeyRun};
use crate::segment::{EncodedSegment, Overlay, SegmentVersion};
use crate::types::TableSchema;
use crate::version::{
    Change, DatabaseVersion, Manifest, ManifestTable, SavedSegment, SegmentIds, TableVersion,
    decode_changes, decode_manifest,
};
use gadus_base::{CommitNumber, SegmentId};
use gadus_block::Folder;
use gadus_storage::{
    LogEnd, LogRecord, Options as StoreOptions, Recovered, StorageError, Store, Unsaved,
};
use std::sync::Arc;

/// A recovered database.
pub(super) struct Opened {
    pub(super) blobs: Arc<Blobs>,
    pub(super) version: DatabaseVersion,
    pub(super) checkpointer: Checkpointer,
    /// What was wrong and could be mended.
    pub(super) warnings: Vec<String>,
}

/// Opens a store, and does what was decided for it.
pub(super) fn open(
    folder: Arc<dyn Folder>,
    name: &str,
    options: &Options,
    followed: Followed,
) -> Result<Opened> {
    let store_options = StoreOptions {
        read_only: options.read_only,
        durability: gadus_storage::Durability::Sync,
        log_zone_bytes: u32::try_from(options.log_zone.0).unwrap_or(u32::MAX),
        sharing: options.sharing.clone(),
        gather_from: followed.gather_from,
    };
    let (store, recovered) = match Store::open(folder.clone(), name, store_options.clone()) {
        Err(error) if may_create(&error, options) => {
            match Store::make(folder.clone(), name, &store_options) {
                // Somebody else was faster.
                Err(error) if error.kind == gadus_storage::ErrorKind::AlreadyExists => {}
                made => made?,
            }
            Store::open(folder, name, store_options)?
        }
        opened => opened?,
    };
    let store = Arc::new(store);
    let blobs = match options.cache_scope {
        CacheScope::Process => Blobs::of_process(store, followed.cache),
        // For work that is nobody's: it is one more connection.
        CacheScope::Connection => Blobs::of_connection(store, options.connection_cache),
    };
    let blobs = blobs.announcing(followed.announces).helped_from(followed.helped_from);
    let blobs = Arc::new(blobs);
    let manifest = root_of(&blobs, &recovered)?;
    let (version, unsaved) = replay_from(&blobs, manifest.as_ref(), &recovered)?;
    let checkpointer = manifest.map(|manifest| Checkpointer::of(&blobs, &manifest));
    let mut checkpointer = checkpointer.transpose()?.unwrap_or_default();
    checkpointer.describes(blobs.store().newest_root());
    let store = blobs.store();
    let root_bytes = store.newest_root().map_or(0, |root| root.bytes);
    store.saved(Unsaved::default(), checkpointer.rewritten(root_bytes));
    store.note_recovered(unsaved);
    blobs.store().finish_recovery()?;
    let warnings = recovered.warnings;
    Ok(Opened { blobs, version, checkpointer, warnings })
}

fn may_create(error: &StorageError, options: &Options) -> bool {
    use gadus_storage::ErrorKind as Storage;
    // An unfinished database never held anything: a crash interrupted its creation.
    let absent = matches!(error.kind, Storage::NotFound | Storage::Unfinished);
    absent && options.create && !options.read_only
}

/// What a checkpoint and the records after it make.
pub(crate) fn replay(blobs: &Arc<Blobs>, recovered: &Recovered) -> Result<DatabaseVersion> {
    Ok(replay_from(blobs, root_of(blobs, recovered)?.as_ref(), recovered)?.0)
}

/// What the checkpoint says, where there is one.
fn root_of(blobs: &Blobs, recovered: &Recovered) -> Result<Option<Manifest>> {
    recovered.root.as_ref().map(|root| read_manifest(blobs, root)).transpose()
}

/// Returns the version that a checkpoint and the records lead to, and the bytes that the records add
/// to the next checkpoint.
fn replay_from(
    blobs: &Arc<Blobs>,
    manifest: Option<&Manifest>,
    recovered: &Recovered,
) -> Result<(DatabaseVersion, Unsaved)> {
    let mut unsaved = Unsaved::default();
    let mut version = match manifest {
        Some(manifest) => load(blobs, manifest, recovered.end)?,
        None => DatabaseVersion::empty(SegmentIds::new(blobs.store().clone()), recovered.end),
    };
    for record in &recovered.records {
        let (_, changes) = decode_changes(&record.payload, blobs)?;
        for change in &changes {
            // Together they are no longer than the record.
            unsaved += change.unsaved(0, &version);
        }
        unsaved.bytes += 2 * record.payload.len() as u64;
        // Nobody reads anything older than what is recovered.
        apply(&mut version, record, changes, blobs, CommitNumber(u64::MAX))?;
    }
    version.end = recovered.end;
    Ok((version, unsaved))
}

/// Applies a record's changes to the version before it; `oldest_pin` is the oldest commit that is
/// read here.
pub(crate) fn apply(
    version: &mut DatabaseVersion,
    record: &LogRecord,
    changes: Vec<Change>,
    blobs: &Blobs,
    oldest_pin: CommitNumber,
) -> Result<()> {
    let wrong = |what: &str| {
        Error::new(
            ErrorKind::Corrupt,
            format!(
                "{}: {} in the log {what}; restore the file from a backup",
                blobs.store().describe(),
                record.commit
            ),
        )
    };
    if record.commit != version.commit.next() {
        return Err(wrong("does not follow its predecessor"));
    }
    for mut change in changes {
        check_values(version, &change).map_err(wrong)?;
        if let Change::ReplaceSegment { oldest_snapshot, .. } = &mut change {
            *oldest_snapshot = oldest_pin;
        }
        version.apply(&change, record.commit).map_err(wrong)?;
    }
    version.commit = record.commit;
    version.end = record.end();
    Ok(())
}

pub(super) fn read_manifest(blobs: &Blobs, manifest: &[u8]) -> Result<Manifest> {
    decode_manifest(manifest).map_err(|error| damaged_manifest(blobs, &error.to_string()))
}

fn damaged_manifest(blobs: &Blobs, what: &str) -> Error {
    let file = blobs.store().describe();
    let message =
        format!("{file}: the manifest is damaged: {what}; restore the file from a backup");
    Error::new(ErrorKind::Corrupt, message)
}

/// The version that a manifest describes.
fn load(blobs: &Arc<Blobs>, manifest: &Manifest, end: LogEnd) -> Result<DatabaseVersion> {
    let Manifest { head, tables, views, sequences, definitions } = manifest;
    let mut version = DatabaseVersion::empty(SegmentIds::new(blobs.store().clone()), end);
    version.commit = head.commit;
    version.next_table = head.next_table;
    version.schema_version = head.schema_version;
    for saved in tables {
        let schema = saved.schema.clone();
        if version.names.insert(schema.name.clone(), schema.id).is_some() {
            let what = format!("table \"{}\" is there twice", schema.name);
            return Err(damaged_manifest(blobs, &what));
        }
        let table = load_table(blobs, saved, &version.ids)?;
        version.tables.insert(schema.id, Arc::new(table));
    }
    for view in views {
        if version.names.insert(view.name.clone(), view.id).is_some() {
            let what = format!("view \"{}\" is there twice", view.name);
            return Err(damaged_manifest(blobs, &what));
        }
        version.views.insert(view.id, view.clone());
    }
    for sequence in sequences {
        if version.names.insert(sequence.name.clone(), sequence.id).is_some() {
            let what = format!("sequence \"{}\" is there twice", sequence.name);
            return Err(damaged_manifest(blobs, &what));
        }
        version.sequences.insert(sequence.id, sequence.clone());
    }
    version.definitions = definitions.iter().cloned().collect();
    if !version.definitions.keys().all(|key| version.is_there(key)) {
        return Err(damaged_manifest(blobs, "a comment is about what is not there"));
    }
    Ok(version)
}

fn load_table(blobs: &Blobs, saved: &ManifestTable, ids: &SegmentIds) -> Result<TableVersion> {
    let mut table = TableVersion::empty(saved.schema.clone(), saved.last_changed, ids.clone());
    ids.raise(saved.next_segment);
    for segment in &saved.segments {
        let version = load_segment(blobs, &saved.schema, segment)?;
        table.live_rows += u64::from(version.live_rows());
        table.last_changed = table.last_changed.max(version.last_changed);
        ids.raise(segment.id.0.saturating_add(1));
        table.segments.insert(segment.id, Arc::new(version));
    }
    let open = SegmentId(saved.open);
    table.open = table.segments.contains_key(&open).then_some(open);
    for saved in &saved.keys {
        let runs = saved.runs.iter().map(|run| KeyRun::adopt(run, blobs).map(Arc::new));
        let mut entries = KeyIndex::with_runs(runs.collect::<Result<_>>()?);
        if let Some(recent) = &saved.recent {
            entries.add_recent(&blobs.read_key_page(&recent.blob)?);
        }
        match table.keys.get_mut(saved.index) {
            Some(key) => key.entries = entries,
            // Older manifests have a place for the keys of every table.
            None if entries.runs().is_empty() && entries.recent_len() == 0 => {}
            None => {
                let what = format!("table \"{}\" has no index {}", table.schema.name, saved.index);
                return Err(damaged_manifest(blobs, &what));
            }
        }
    }
    Ok(table)
}

fn load_segment(
    blobs: &Blobs,
    schema: &TableSchema,
    saved: &SavedSegment,
) -> Result<SegmentVersion> {
    let mut version = SegmentVersion::open(saved.id, saved.last_changed);
    if let Some(base) = &saved.base {
        let base = Arc::new(EncodedSegment::adopt(base, blobs)?);
        version = SegmentVersion::encoded(saved.id, base, saved.last_changed);
    }
    if let Some(rows) = &saved.open_rows {
        let bytes = blobs.store().read_blob(&rows.blob)?;
        let decoded = version.decode_open_rows(&bytes, schema);
        decoded.map_err(|error| blobs.damaged(&rows.blob, error))?;
    }
    if let Some(overlay) = &saved.overlay {
        let bytes = blobs.store().read_blob(&overlay.blob)?;
        version.overlay = Overlay::decode(&bytes, version.rows, schema)
            .map_err(|error| blobs.damaged(&overlay.blob, error))?;
    }
    Ok(version)
}

/// Refuses values that their columns cannot hold; later code relies on it.
fn check_values(version: &DatabaseVersion, change: &Change) -> Result<(), &'static str> {
    match change {
        Change::AppendRows { table, rows, .. } => {
            let table = version.table(*table).ok_or("changes a table that is not there")?;
            let whole = rows.iter().all(|row| table.schema.admits(row));
            if whole { Ok(()) } else { Err("holds values that their columns cannot") }
        }
        Change::PatchRows { table, column, patches, .. } => {
            let table = version.table(*table).ok_or("changes a table that is not there")?;
            let column = table.schema.columns.get(*column as usize);
            let column = column.ok_or("changes a column that is not there")?;
            if patches.rows().iter().all(|(_, value)| column.column_type.admits(value)) {
                Ok(())
            } else {
                Err("holds values that their columns cannot")
            }
        }
        _ => Ok(()),
    }
}
