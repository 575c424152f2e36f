//! What a serializable transaction has read, and whether others have changed it.
//!
//! - All reads of a transaction go through handles that note them here: [`Snapshot`](crate::Snapshot),
//!   [`Table`](crate::Table), and the transaction itself for rows that it finds by key.
//! - What is noted is a predicate and the columns that were looked at. Only constants of a question are predicates;
//!   what a plan leaves out for other reasons counts as read. More may be noted than was read, never less.
//! - At commit the predicates are held against all that others have changed since the snapshot ([`compared`]):
//!   precision locking. What the transaction itself has written is in nobody's way.
//! - Rows that are read only in order to be changed need no note: whoever else changes them is in conflict.

mod compared;
mod difference;
mod of_table;

use crate::blobs::Blobs;
use crate::coordinator::Pin;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::scan::{Comparison, Predicate, Test};
use crate::types::{Datum, ViewSchema};
use crate::version::{DatabaseVersion, TableVersion};
use gadus_base::{RowId, TableId};
use of_table::TableReads;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Notes what is read of one snapshot.
#[derive(Debug)]
pub(crate) struct Reads {
    /// The snapshot; tables that it has not are the transaction's own.
    base: Arc<DatabaseVersion>,
    noted: Mutex<Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    tables: BTreeMap<TableId, TableReads>,
    /// The transaction has compared them, and commits.
    is_closed: bool,
}

/// Where the two versions that are compared are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) blobs: &'a Arc<Blobs>,
    pub(crate) pin: &'a Arc<Pin>,
}

impl Reads {
    pub(crate) fn of(base: Arc<DatabaseVersion>) -> Self {
        Self { base, noted: Mutex::default() }
    }

    /// Whether nothing is noted.
    pub(crate) fn is_empty(&self) -> bool {
        self.noted.lock().tables.is_empty()
    }

    /// Rows that pass some predicates were looked for, and these columns of them looked at; without columns, how
    /// many they are.
    ///
    /// # Errors
    /// `Input` where the transaction has committed, and did not read this before.
    pub(crate) fn note(
        &self,
        table: &TableVersion,
        predicates: &[Predicate],
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<()> {
        let Some(base) = self.base.table(table.schema.id) else { return Ok(()) };
        let noted = &mut *self.noted.lock();
        let reads = noted.tables.entry(table.schema.id).or_default();
        let is_new = match base.schema.version == table.schema.version {
            true => reads.add(predicates, columns),
            // The columns of a shape that the transaction has given it are not those of others.
            false => reads.add(&[], 0..base.schema.columns.len()),
        };
        if is_new && noted.is_closed {
            let message = format!(
                "rows of table \"{}\" are read for a SERIALIZABLE transaction that has ended: read them before",
                table.schema.name
            );
            return Err(Error::new(ErrorKind::Input, message).because(Reason::NotInState));
        }
        Ok(())
    }

    /// Rows with these values in some columns were looked for; none is equal to NULL.
    pub(crate) fn note_key(
        &self,
        table: &TableVersion,
        key: &[usize],
        values: &[Datum],
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<()> {
        match values.iter().any(Datum::is_null) {
            true => Ok(()),
            false => self.note(table, &equal(key, values), columns),
        }
    }

    /// Columns of a row that the snapshot has, and others may change.
    pub(crate) fn note_row(
        &self,
        table: &TableVersion,
        row: RowId,
        blobs: &Blobs,
        columns: impl IntoIterator<Item = usize>,
    ) -> Result<()> {
        let base = self.base.table(table.schema.id);
        let is_others = base.is_some_and(|base| base.live(row).is_some());
        let Some(segment) = table.live(row).filter(|_| is_others) else { return Ok(()) };
        let key = &table.schema.key;
        if key.is_empty() {
            // Rows move: a place does not tell which of them it was.
            return self.note(table, &[], columns);
        }
        let value = |&column: &usize| segment.datum(&table.schema, blobs, column, row.position);
        let values = key.iter().map(value).collect::<Result<Vec<_>>>()?;
        self.note_key(table, key, &values, columns)
    }

    /// All that a table has.
    pub(crate) fn note_all(&self, table: &TableVersion) -> Result<()> {
        self.note(table, &[], 0..table.schema.columns.len())
    }

    /// Refuses where what was read is not the same in two versions; `before` has it as the snapshot has.
    ///
    /// # Errors
    /// `Conflict`.
    pub(crate) fn refuse_changed(
        &self,
        before: &DatabaseVersion,
        after: &DatabaseVersion,
        place: Place<'_>,
    ) -> Result<()> {
        let noted = self.noted.lock();
        if !noted.tables.is_empty()
            && before.schema_version != after.schema_version
            && let Some(view) = changed_view(before, after)
        {
            return Err(not_serializable("view", &view.name));
        }
        for (id, reads) in &noted.tables {
            let Some(was) = before.table(*id) else { continue };
            let is_same_shape = |now: &&Arc<TableVersion>| now.schema.version == was.schema.version;
            let is_same = match after.table(*id).filter(is_same_shape) {
                None => false,
                Some(now) if now.last_changed <= before.commit => true,
                Some(now) => reads.are_same((was, before.commit), now, place)?,
            };
            if !is_same {
                return Err(not_serializable("table", &was.schema.name));
            }
        }
        Ok(())
    }

    /// The transaction commits: what was not read yet is not read for it any more.
    pub(crate) fn close(&self) {
        self.noted.lock().is_closed = true;
    }
}

fn equal(columns: &[usize], values: &[Datum]) -> Vec<Predicate> {
    let equal = |(&column, value): (&usize, &Datum)| Predicate {
        column,
        test: Test::Compare(Comparison::Equal, value.clone()),
    };
    columns.iter().zip(values).map(equal).collect()
}

/// A view that is not what it was: queries may have read it, which are noted by its tables.
fn changed_view<'a>(
    before: &'a DatabaseVersion,
    after: &DatabaseVersion,
) -> Option<&'a Arc<ViewSchema>> {
    let is_same = |view: &ViewSchema| {
        after.views.get(&view.id).is_some_and(|now| now.version == view.version)
    };
    before.views.values().find(|view| !is_same(view))
}

/// As PostgreSQL says it: programs look for these words.
pub(super) fn not_serializable(what: &str, name: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!(
            "could not serialize access due to read/write dependencies among transactions: another transaction \
             changed what this one has read of {what} \"{name}\"; run the transaction again"
        ),
    )
}
