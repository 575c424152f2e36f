//! A copy of a database as it is at one moment, while others go on.
//!
//! - All tables are read from one snapshot, and are written to a new database in one transaction: whatever happens,
//!   it has all of them or none.
//! - The copy has no log to replay, and nothing in it that was deleted.

use super::{Engine, Options};
use crate::error::{Error, ErrorKind, Result};
use crate::scan::ScanRequest;
use crate::snapshot::{Snapshot, Table};
use crate::transaction::Transaction;
use crate::types::{DefinitionKey, Sequence, TableSchema, ViewSchema, is_temporary};
use gadus_base::{CommitNumber, TableId};
use gadus_block::{Destination, FileFolder, Folder};
use gadus_storage::Store;
use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackedUp {
    /// The last commit that is in the copy.
    pub commit: CommitNumber,
    /// Tables, those of users among them.
    pub tables: usize,
    /// Rows of all tables.
    pub rows: u64,
}

impl Engine {
    /// Copies the database to the file at a path, which appears there when all of it is written, with the
    /// mode of this database's file.
    ///
    /// # Errors
    /// As [`Engine::back_up`]; `Input` when the path names no regular file.
    pub fn back_up_to(
        &self,
        path: &Path,
        progress: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<BackedUp> {
        let failed = |error| unwritable(path, &error);
        self.back_up_into(Destination::open(path).map_err(failed)?, path, progress)
    }

    /// Copies the database as [`Engine::back_up_to`] does, to a place that was resolved from `path`.
    ///
    /// # Errors
    /// As [`Engine::back_up_to`].
    pub fn back_up_into(
        &self,
        place: Destination,
        path: &Path,
        progress: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<BackedUp> {
        let Destination::File(file) = place else {
            let message =
                format!("{}: not a regular file; a backup is a file of its own", path.display());
            return Err(Error::new(ErrorKind::Input, message));
        };
        let Some(name) = file.name().to_str().map(str::to_owned) else {
            return Err(unwritable(path, &io::ErrorKind::InvalidFilename.into()));
        };
        if file.replaces() {
            return Err(unwritable(path, &io::ErrorKind::AlreadyExists.into()));
        }
        let folder: Arc<dyn Folder> = Arc::new(FileFolder::new(file.folder()));
        let copied = self.back_up(&folder, &name, progress)?;
        let source = Path::new(self.blobs.store().describe());
        file.appear_new(Some(source), &[Store::LOG_ENDING])
            .map_err(|error| unwritable(path, &error))?;
        Ok(copied)
    }

    /// Copies the database as it is now to a new one; calls `progress` with (rows copied, rows in all), and gives
    /// up where that fails. What is left of a copy that failed is removed.
    ///
    /// # Errors
    /// `AlreadyExists` where there is a file of that name, `SnapshotTooOld` where others change so much meanwhile
    /// that the snapshot is given up.
    pub fn back_up(
        &self,
        folder: &Arc<dyn Folder>,
        name: &str,
        mut progress: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<BackedUp> {
        let snapshot = self.snapshot()?;
        if folder.exists(name).map_err(gadus_storage::StorageError::from)? {
            let message = format!("{}: there is a file already", folder.describe(name));
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
        let target = Self::open(folder.clone(), name, Options::default())?;
        let copied = copy(&snapshot, &target, &mut progress);
        drop(target);
        if copied.is_err() {
            // Why it failed is told; that its rest is in the way, the next backup says.
            let _ = Self::remove(folder, name, None);
        }
        copied
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    let path = path.display();
    let (kind, message) = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            (ErrorKind::AlreadyExists, format!("{path}: there is a file already"))
        }
        io::ErrorKind::NotFound => (ErrorKind::NotFound, format!("{path}: {error}")),
        io::ErrorKind::PermissionDenied => {
            (ErrorKind::PermissionDenied, format!("{path}: {error}"))
        }
        io::ErrorKind::StorageFull => (ErrorKind::NoSpace, format!("{path}: {error}")),
        io::ErrorKind::InvalidInput
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::NotADirectory => (ErrorKind::Input, format!("{path}: {error}")),
        _ => (ErrorKind::Io, format!("{path}: {error}")),
    };
    Error::new(kind, message)
}

fn copy(
    snapshot: &Snapshot,
    target: &Engine,
    progress: &mut dyn FnMut(u64, u64) -> Result<()>,
) -> Result<BackedUp> {
    let mut tables = snapshot.tables();
    tables.retain(|table| !is_temporary(&table.schema().name));
    let all = tables.iter().map(Table::about_rows).sum::<u64>();
    let mut rows = 0;
    let mut transaction = target.begin()?;
    // What tables stand in and are made of; schemas come first.
    for (key, text) in snapshot.definitions() {
        if matches!(key, DefinitionKey::Schema(_) | DefinitionKey::Type(_)) {
            transaction.define(key.clone(), Some(text))?;
        }
    }
    let mut ids = HashMap::new();
    for table in &tables {
        let id = copy_table(table, &mut transaction, &mut |count| {
            rows += count;
            progress(rows, all)
        })?;
        ids.insert(table.id(), id);
    }
    copy_foreign_keys(&tables, &mut transaction, &ids)?;
    copy_sequences(snapshot, &mut transaction, &mut ids)?;
    copy_views(snapshot, &mut transaction, &mut ids)?;
    copy_definitions(snapshot, &mut transaction, &ids)?;
    transaction.commit()?;
    target.checkpoint()?;
    Ok(BackedUp { commit: snapshot.commit(), tables: tables.len(), rows })
}

fn copy_table(
    table: &Table,
    transaction: &mut Transaction,
    copied: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<TableId> {
    // What it refers to may come behind it, and has another number there.
    let (foreign_keys, referenced_by) = (Vec::new(), Vec::new());
    let alone = TableSchema { foreign_keys, referenced_by, ..TableSchema::clone(table.schema()) };
    let shape = transaction.create_table(&alone)?;
    let mut bulk = transaction.bulk(&shape)?;
    let projection = (0..shape.columns.len()).collect();
    let scan = table.scan(ScanRequest { projection, ..ScanRequest::default() })?;
    for morsel in 0..scan.morsels() {
        let mut pushed = Ok(());
        scan.morsel(morsel, |batch| {
            pushed = bulk.push(&batch).and_then(|()| copied(batch.num_rows() as u64));
            match pushed {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        pushed?;
    }
    transaction.finish_bulk(bulk)?;
    Ok(shape.id)
}

/// Has the copies of tables refer to one another as the tables do.
fn copy_foreign_keys(
    tables: &[Table],
    transaction: &mut Transaction,
    ids: &HashMap<TableId, TableId>,
) -> Result<()> {
    for table in tables.iter().filter(|table| !table.schema().foreign_keys.is_empty()) {
        let copied = transaction.snapshot().table_by_id(ids[&table.id()]);
        let copied = copied.ok_or_else(|| Error::internal("a table that was copied is gone"))?;
        let mut after = TableSchema::clone(copied.schema());
        drop(copied);
        after.foreign_keys.clone_from(&table.schema().foreign_keys);
        after.foreign_keys.iter_mut().for_each(|key| key.table = ids[&key.table]);
        transaction.alter_table(&after, &[])?;
    }
    Ok(())
}

/// Creates the sequences, where they have come to; columns of the copy have the numbers that they had.
fn copy_sequences(
    snapshot: &Snapshot,
    transaction: &mut Transaction,
    ids: &mut HashMap<TableId, TableId>,
) -> Result<()> {
    for sequence in snapshot.sequences().filter(|sequence| !is_temporary(&sequence.name)) {
        let owner = sequence.owner.and_then(|(table, column)| Some((*ids.get(&table)?, column)));
        let copy = Sequence { owner, ..Sequence::clone(sequence) };
        ids.insert(sequence.id, transaction.create_sequence(&copy)?.id);
    }
    Ok(())
}

/// Keeps the functions and comments of what is there by now.
fn copy_definitions(
    snapshot: &Snapshot,
    transaction: &mut Transaction,
    ids: &HashMap<TableId, TableId>,
) -> Result<()> {
    for (key, text) in snapshot.definitions() {
        if key.relation().is_some_and(|id| !ids.contains_key(&id)) {
            // Of what goes with a session.
            continue;
        }
        let id = |id: &TableId| {
            ids.get(id).copied().ok_or_else(|| Error::internal("a comment on what was not copied"))
        };
        let key = match key {
            DefinitionKey::CommentOnRelation(of) => DefinitionKey::CommentOnRelation(id(of)?),
            DefinitionKey::CommentOnColumn(of, column) => {
                DefinitionKey::CommentOnColumn(id(of)?, *column)
            }
            DefinitionKey::CommentOnIndex(of, index) => {
                DefinitionKey::CommentOnIndex(id(of)?, *index)
            }
            DefinitionKey::Function(_)
            | DefinitionKey::CommentOnFunction(_)
            | DefinitionKey::Schema(_)
            | DefinitionKey::CommentOnSchema(_)
            | DefinitionKey::Type(_)
            | DefinitionKey::CommentOnType(_)
            | DefinitionKey::CommentOnDatabase => key.clone(),
        };
        transaction.define(key, Some(text))?;
    }
    Ok(())
}

/// Creates the views, each behind what it reads; `ids` says what that is called in the copy.
fn copy_views(
    snapshot: &Snapshot,
    transaction: &mut Transaction,
    ids: &mut HashMap<TableId, TableId>,
) -> Result<()> {
    let mut rest = snapshot.views().cloned().collect::<Vec<_>>();
    rest.retain(|view| !is_temporary(&view.name));
    while !rest.is_empty() {
        let before = rest.len();
        let mut later = Vec::new();
        for view in rest {
            if !view.uses.iter().all(|used| ids.contains_key(&used.id)) {
                later.push(view);
                continue;
            }
            let mut copy = ViewSchema::clone(&view);
            copy.uses.iter_mut().for_each(|used| used.id = ids[&used.id]);
            ids.insert(view.id, transaction.create_view(&copy, false)?.id);
        }
        rest = later;
        if rest.len() == before {
            return Err(Error::internal("views read one another"));
        }
    }
    Ok(())
}
