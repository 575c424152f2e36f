//! What a transaction locks, and what it looks at then.
//!
//! - Rows before it changes them, keys before it inserts them, tables before it drops them. Its own
//!   rows, which nobody else sees, need no locks.
//! - What others hold is refused with the lock to wait for ([`Error::blocked`]).

use super::{Isolation, Transaction};
use crate::engine::{duplicate_key, inserts, same_shape};
use crate::error::{Error, ErrorKind, Result};
use crate::interrupt_check::InterruptCheck;
use crate::locks::{Locker, What};
use crate::segment::Row;
use crate::types::TableSchema;
use crate::version::{DatabaseVersion, PRIVATE_SEGMENTS, TableVersion};
use gadus_base::{CommitNumber, RowId, SegmentId};
use gadus_locks::Mode;
use std::sync::Arc;

/// Keys of more inserted rows are not locked one by one: a key that somebody else has inserted
/// first is found at commit.
const KEYS_LOCKED_MAX: usize = 1_000;

impl Transaction {
    /// Locks rows, which then stay as they are until the transaction ends: [`Mode::Exclusive`], or
    /// [`Mode::Shared`] with others who keep them as they are.
    ///
    /// # Errors
    /// `Locked` with what to wait for, or `Conflict` when a row was changed since the snapshot.
    pub fn lock_rows(&mut self, schema: &TableSchema, rows: &[RowId], mode: Mode) -> Result<()> {
        let rows = rows.iter().filter(|row| row.segment.0 < PRIVATE_SEGMENTS).collect::<Vec<_>>();
        if rows.is_empty() {
            return Ok(());
        }
        self.locker()?.lock_rows(schema.id, rows.iter().copied(), mode)?;
        // Whoever looked for these locks before they were taken has committed by now.
        let head = self.inner.coordinator.lock()?.version.clone();
        self.inner.coordinator.once_visible(self.check_rows(&head, schema, &rows))
    }

    /// Locks a table until the transaction ends.
    ///
    /// # Errors
    /// `Locked` with what to wait for.
    pub fn lock_table(&mut self, schema: &TableSchema, mode: Mode) -> Result<()> {
        if self.state.base.table(schema.id).is_none() {
            // Created by this transaction: nobody else sees it.
            return Ok(());
        }
        self.lock(What::Table(schema.id, mode))
    }

    /// Refuses rows that have changed since the snapshot.
    fn check_rows(
        &self,
        head: &DatabaseVersion,
        schema: &TableSchema,
        rows: &[&RowId],
    ) -> Result<()> {
        let Some(table) = self.changed_since(head, schema)? else { return Ok(()) };
        let since = self.state.base.commit;
        // Also at rows that were locked before, by the lock of a whole segment or after a wait.
        let stays = |row: &RowId| {
            self.is_loaded(schema, row.segment)
                || is_unchanged(table, row.segment, row.position, since)
        };
        if rows.iter().copied().all(stays) { Ok(()) } else { Err(conflict(schema)) }
    }

    /// Locks rows that nobody has locked, in order, until there are enough; says which. What has
    /// changed since a snapshot is passed over, too; where statements see newer ones, it is a
    /// `Conflict`.
    ///
    /// # Errors
    /// As [`Transaction::lock_rows`], but for `Locked`.
    pub fn lock_free_rows(
        &mut self,
        schema: &TableSchema,
        rows: &[RowId],
        enough: usize,
        mode: Mode,
    ) -> Result<Vec<RowId>> {
        let (mut locked, mut rest) = (Vec::new(), rows.iter());
        while locked.len() < enough {
            let mut batch = Vec::new();
            for &row in rest.by_ref() {
                match self.lock(What::Row(schema.id, row, mode)) {
                    Ok(()) => batch.push(row),
                    Err(error) if error.kind() == ErrorKind::Locked => {}
                    Err(error) => return Err(error),
                }
                if locked.len() + batch.len() == enough {
                    break;
                }
            }
            if batch.is_empty() {
                break;
            }
            match self.lock_rows(schema, &batch, mode) {
                Ok(()) => locked.append(&mut batch),
                Err(error)
                    if error.kind() == ErrorKind::Conflict
                        && self.isolation() != Isolation::ReadCommitted =>
                {
                    let unchanged = |row: &RowId| self.lock_rows(schema, &[*row], mode).is_ok();
                    locked.extend(batch.into_iter().filter(unchanged));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(locked)
    }

    /// Locks the keys of rows to be inserted, and refuses those that others have inserted meanwhile.
    pub(super) fn lock_keys(&mut self, schema: &TableSchema, rows: &[Row]) -> Result<()> {
        let keys = self.view_table(schema)?.keys.clone();
        if keys.unique().next().is_none() || rows.len() > KEYS_LOCKED_MAX {
            return self.lock(What::Rows(schema.id));
        }
        for what in inserts(schema.id, &keys, rows) {
            self.lock(what)?;
        }
        // Also of keys that were locked before: who has waited for a lock has not looked yet.
        let head = self.inner.coordinator.lock()?.version.clone();
        self.inner.coordinator.once_visible(self.check_keys(&head, schema, rows))
    }

    /// Refuses the keys of rows that are there since the snapshot.
    fn check_keys(&self, head: &DatabaseVersion, schema: &TableSchema, rows: &[Row]) -> Result<()> {
        let Some(table) = self.changed_since(head, schema)? else { return Ok(()) };
        let mut check = InterruptCheck::default();
        for key in table.keys.unique() {
            for row in rows {
                check.row()?;
                let values = key.shape.values(row).cloned().collect::<Vec<_>>();
                let there = self.state.pin.checked(table.find(key, &self.blobs, &values))?;
                // What the transaction itself has deleted may come again.
                if there.is_some_and(|there| !self.has_deleted(schema, there)) {
                    return Err(duplicate_key(schema, &key.shape, &values));
                }
            }
        }
        Ok(())
    }

    /// Locks something.
    pub(super) fn lock(&mut self, what: What) -> Result<()> {
        self.locker()?.lock(what)
    }

    /// Who locks for this transaction.
    ///
    /// # Errors
    /// `Limit` when there is no room for another connection.
    pub fn locker(&mut self) -> Result<&Arc<Locker>> {
        if self.locker.is_none() {
            let locker = Locker::new(self.inner.clone())?;
            locker.begin()?;
            self.locker = Some(locker);
        }
        Ok(self.locker.as_ref().expect("set above"))
    }

    /// The table as it is now, if it was changed since the snapshot; refused where its shape was.
    pub(super) fn changed_since<'a>(
        &self,
        head: &'a DatabaseVersion,
        schema: &TableSchema,
    ) -> Result<Option<&'a Arc<TableVersion>>> {
        let since = self.state.base.commit;
        // Created by this transaction: nobody else sees it. One that it has given another shape, nobody else
        // changes since; what was changed before is found at commit.
        let before = self.state.base.table(schema.id);
        if before.is_none_or(|before| before.schema.version != schema.version) {
            return self.view_table(schema).map(|_| None);
        }
        Ok(Some(same_shape(head, schema)?).filter(|table| table.last_changed > since))
    }

    fn is_loaded(&self, schema: &TableSchema, segment: SegmentId) -> bool {
        let writes = self.state.writes.get(&schema.id);
        writes.is_some_and(|writes| writes.loaded.iter().any(|(id, _)| *id == segment))
    }

    fn has_deleted(&self, schema: &TableSchema, row: RowId) -> bool {
        let deleted = self.state.writes.get(&schema.id).and_then(|w| w.deleted.get(&row.segment));
        deleted.is_some_and(|positions| positions.contains(&row.position))
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(locker) = &self.locker {
            locker.end();
        }
    }
}

/// Whether a row is where it was and has not been changed since a commit.
pub(super) fn is_unchanged(
    head: &TableVersion,
    segment: SegmentId,
    position: u32,
    since: CommitNumber,
) -> bool {
    head.segment(segment).is_some_and(|segment| {
        segment.overlay.changed_at(position).is_none_or(|commit| commit <= since)
    })
}

pub(super) fn conflict(schema: &TableSchema) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!(
            "another transaction changed a row of table \"{}\" that this one changes, too; run the \
             transaction again",
            schema.name
        ),
    )
}
