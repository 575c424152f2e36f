//! What a transaction sees of others, and what it may not have missed of them.
//!
//! - A serializable transaction that has written compares what it has read with the newest version when it commits: its
//!   place among all others is then that of its commit. One that has written nothing has its place at its snapshot.
//! - What tells of other rows without being a read is noted as one: a key that is refused, and what is undone. What is
//!   done is looked at when it commits, as under each level.

use super::reads::{Place, Reads, not_serializable};
use super::{State, TableWrites, Transaction};
use crate::coordinator::Pin;
use crate::engine::check_keys;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::segment::Row;
use crate::types::TableSchema;
use crate::version::{DatabaseVersion, TableVersion};
use std::sync::Arc;

/// What a transaction sees of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// What was committed before it began.
    #[default]
    Snapshot,
    /// In each statement what was committed before that.
    ReadCommitted,
    /// What was committed before its first statement that reads; it commits only where what it has read is the same
    /// still. Those that are serializable are then as if they had run one after the other.
    Serializable,
}

impl Transaction {
    /// Says what the transaction sees of others.
    ///
    /// # Errors
    /// `Input` where it is to become serializable, or to be so no more, and has read or written something.
    pub fn set_isolation(&mut self, isolation: Isolation) -> Result<()> {
        let is_noting = |isolation| isolation == Isolation::Serializable;
        if is_noting(isolation) != is_noting(self.isolation) {
            if !self.is_unused() || self.is_marked {
                let message = "SET TRANSACTION ISOLATION LEVEL must be called before any query: SERIALIZABLE \
                               is said when a transaction begins";
                return Err(Error::new(ErrorKind::Input, message).because(Reason::OpenTransaction));
            }
            let reads = || Arc::new(Reads::of(self.state.base.clone()));
            self.reads = is_noting(isolation).then(reads);
        }
        self.isolation = isolation;
        Ok(())
    }

    /// What the transaction sees of others.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Begins a statement: under READ COMMITTED, on the newest visible version. Costs what the
    /// transaction has written, where others have committed meanwhile. A serializable transaction that has read nothing
    /// does so, too: the less it can have missed, the less often it is refused.
    ///
    /// # Errors
    /// `Conflict` when others have changed the shape of a table that the transaction has written.
    pub fn refresh(&mut self) -> Result<()> {
        match self.isolation {
            Isolation::Serializable if self.is_unused() && !self.is_marked => self.begin_again(),
            Isolation::Snapshot | Isolation::Serializable => Ok(()),
            Isolation::ReadCommitted => self.see_newest(),
        }
    }

    /// Begins a transaction of one statement again, with the locks that it has: nobody has seen what it has read.
    ///
    /// # Errors
    /// As [`Transaction::refresh`].
    pub fn begin_again(&mut self) -> Result<()> {
        self.see_newest()?;
        if self.reads.is_some() {
            self.reads = Some(Arc::new(Reads::of(self.state.base.clone())));
        }
        Ok(())
    }

    /// Whether nothing was read and nothing written.
    fn is_unused(&self) -> bool {
        let was_read = self.was_read || self.state.pin.was_read();
        let is_noted = self.reads.as_ref().is_some_and(|reads| !reads.is_empty());
        !was_read && !is_noted && self.is_empty()
    }

    /// Compares what was read with the newest visible version; gives it, so that under the commit lock only what came
    /// since is to be looked at. What is not read until then is not read any more.
    pub(super) fn compare_reads(&self) -> Result<Option<Compared<'_>>> {
        let Some(reads) = &self.reads else { return Ok(None) };
        reads.close();
        let (version, pin) = self.inner.coordinator.pin()?;
        let compared = Compared { transaction: self, reads, version, pin: Arc::new(pin) };
        self.state.pin.checked(compared.refuse_changed(&self.state.base, &compared.version))?;
        Ok(Some(compared))
    }

    /// Who is refused learns of what is there: that counts as read.
    pub(super) fn refused<T>(&self, schema: &TableSchema, outcome: Result<T>) -> Result<T> {
        if let (Some(reads), Err(error)) = (&self.reads, &outcome)
            && error.kind() == ErrorKind::UniqueViolation
        {
            reads.note_all(self.view_table(schema)?)?;
        }
        outcome
    }

    /// The same of foreign keys.
    pub(super) fn refused_references<T>(&self, outcome: Result<T>) -> Result<T> {
        if let (Some(reads), Err(error)) = (&self.reads, &outcome)
            && error.kind() == ErrorKind::ForeignKeyViolation
        {
            self.note_references(reads)?;
        }
        outcome
    }

    /// The error of keys that cannot be locked: those that others have inserted since the snapshot are no answer to a
    /// transaction that is as if it had run at one moment.
    pub(super) fn refused_keys(&self, schema: &TableSchema, rows: &[Row], error: Error) -> Error {
        if self.reads.is_none() || error.kind() != ErrorKind::UniqueViolation {
            return error;
        }
        let there = self.view_table(schema).and_then(|table| check_keys(table, rows, &self.blobs));
        match self.refused(schema, self.state.pin.checked(there)) {
            Ok(()) => not_serializable("table", &schema.name),
            Err(error) => error,
        }
    }

    /// What is undone was carried out for a while, which told of keys that were not there, and of rows to which others
    /// refer; nobody looks at these when the transaction commits. The rows that it changed stay locked.
    pub(super) fn note_undone(&self, stays: &State) {
        let Some(reads) = &self.reads else { return };
        for (id, writes) in &self.state.writes {
            let Some(base) = self.state.base.table(*id) else { continue };
            if self.note_undone_in(reads, base, writes, stays).is_err() {
                // What cannot be read counts as read. That it is closed cannot be: nobody commits yet.
                let _ = reads.note_all(base);
            }
        }
    }

    fn note_undone_in(
        &self,
        reads: &Reads,
        base: &TableVersion,
        writes: &TableWrites,
        stays: &State,
    ) -> Result<()> {
        let id = base.schema.id;
        let Some(table) = self.state.view.table(id) else { return reads.note_all(base) };
        if table.schema.version != base.schema.version {
            return reads.note_all(base);
        }
        let (before, kept) = (stays.view.table(id), stays.writes.get(&id));
        if before.is_some_and(|before| Arc::ptr_eq(before, table)) {
            return Ok(());
        }
        let loaded = kept.map_or(0, |kept| kept.loaded.len());
        for segment in writes.inserted.iter().filter_map(|id| table.segment(*id)) {
            let known = before.and_then(|before| before.segment(segment.id));
            for position in known.map_or(0, |known| known.rows)..segment.rows {
                let row = segment.row(&table.schema, &self.blobs, position)?;
                for key in table.keys.unique() {
                    let values = key.shape.values(&row).cloned().collect::<Vec<_>>();
                    reads.note_key(base, &key.shape.columns, &values, [])?;
                }
            }
        }
        if writes.loaded.len() > loaded {
            let keys = table.keys.unique().flat_map(|key| key.shape.columns.clone());
            reads.note(base, &[], keys)?;
        }
        let refers = !base.schema.foreign_keys.is_empty() || !base.schema.referenced_by.is_empty();
        if refers { self.note_references(reads) } else { Ok(()) }
    }

    /// All tables that refer to others, and those to which others refer.
    fn note_references(&self, reads: &Reads) -> Result<()> {
        let mut tables = self.state.base.tables.values();
        tables.try_for_each(|table| {
            let schema = &table.schema;
            let refers = !schema.foreign_keys.is_empty() || !schema.referenced_by.is_empty();
            if refers { reads.note_all(table) } else { Ok(()) }
        })
    }
}

/// Reads that are the same in a version, which is kept.
pub(super) struct Compared<'a> {
    transaction: &'a Transaction,
    reads: &'a Reads,
    version: Arc<DatabaseVersion>,
    pin: Arc<Pin>,
}

impl Compared<'_> {
    /// Refuses where they are not in the head.
    ///
    /// # Errors
    /// `Conflict`.
    pub(super) fn refuse_since(&self, head: &DatabaseVersion) -> Result<()> {
        self.pin.checked(self.refuse_changed(&self.version, head))
    }

    fn refuse_changed(&self, before: &DatabaseVersion, after: &DatabaseVersion) -> Result<()> {
        let place = Place { blobs: &self.transaction.blobs, pin: &self.pin };
        self.reads.refuse_changed(before, after, place)
    }
}
