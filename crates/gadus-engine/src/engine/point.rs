//! Statements of one or few rows, named by key: evaluated under the commit lock, without a
//! transaction's private version.
//!
//! - What has to be read is read before the lock as well, so that under it the blobs are cached.
//! - What a transaction of somebody else has locked is refused; the caller waits for it, and tries
//!   again.

use super::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::interrupt_check::InterruptCheck;
use crate::keys::{KeyHash, KeyShape, TableKeys};
use crate::locks::{Locker, What};
use crate::segment::{Patches, Row, column_number, fitting};
use crate::types::{Datum, TableSchema, VALUE_BYTES_MAX};
use crate::version::{Change, DatabaseVersion, TableVersion};
use gadus_base::{RowId, TableId};
use gadus_locks::Mode;
use gadus_storage::Durability;
use std::sync::Arc;

/// What to do with a row that was found.
#[derive(Debug, Clone)]
pub enum RowChange {
    /// Nothing.
    Keep,
    /// Delete it.
    Delete,
    /// Give columns new values; none of them is indexed.
    Update(Vec<(usize, Datum)>),
}

/// How a statement outside transactions commits.
#[derive(Debug, Clone, Copy)]
pub struct Autocommit<'a> {
    /// What the commit waits for.
    pub durability: Durability,
    /// Whose locks are not in its way: those of the connection that has waited for them.
    pub locker: Option<&'a Locker>,
}

impl From<Durability> for Autocommit<'_> {
    fn from(durability: Durability) -> Self {
        Self { durability, locker: None }
    }
}

impl Engine {
    /// Inserts whole rows into a table and commits.
    ///
    /// `schema` is the shape that the rows were made for.
    pub fn insert_rows<'a>(
        &self,
        schema: &TableSchema,
        rows: Vec<Row>,
        how: impl Into<Autocommit<'a>>,
    ) -> Result<u64> {
        let Autocommit { durability, locker } = how.into();
        let count = rows.len() as u64;
        rows.iter().try_for_each(|row| check_row(schema, row))?;
        let inner = self.inner();
        if has_unique(schema) || !schema.foreign_keys.is_empty() {
            // Pinned, because blobs are read.
            let (visible, pin) = inner.coordinator.pin()?;
            // Of another shape by now, it is refused under the lock.
            if let Ok(table) = same_shape(&visible, schema) {
                pin.checked(check_keys(table, &rows, &self.blobs))?;
                let found = pin.checked(visible.refuse_missing(schema, &rows, &self.blobs));
                // What they refer to may have come since.
                match found {
                    Err(error) if error.kind() != ErrorKind::ForeignKeyViolation => {
                        return Err(error);
                    }
                    _ => {}
                }
            }
        }
        inner.commit(durability, |head| {
            let table = same_shape(head, schema)?;
            inserts(schema.id, &table.keys, &rows)
                .iter()
                .try_for_each(|what| Locker::refuse_kept(inner.locks(), *what, locker))?;
            check_keys(table, &rows, &self.blobs)?;
            head.refuse_missing(schema, &rows, &self.blobs)?;
            append_changes(table, rows)
        })?;
        Ok(count)
    }

    /// Finds the row with a key, lets `decide` say what becomes of it, and commits.
    ///
    /// `decide` may be called more than once; the last answer counts. Returns rows changed.
    pub fn change_row<'a>(
        &self,
        schema: &TableSchema,
        key: &[Datum],
        how: impl Into<Autocommit<'a>>,
        mut decide: impl FnMut(&[Datum]) -> Result<RowChange>,
    ) -> Result<u64> {
        let Autocommit { durability, locker } = how.into();
        let inner = self.inner();
        let mut evaluate = |version: &DatabaseVersion| -> Result<Option<(RowId, RowChange)>> {
            let table = same_shape(version, schema)?;
            let Some(row) = table.find_key(&self.blobs, key)? else { return Ok(None) };
            let segment = table.live(row).expect("a found row is live");
            let values = segment.row(schema, &self.blobs, row.position)?;
            Ok(Some((row, decide(&values)?)))
        };
        // Outside the lock first: this brings what it reads into the cache.
        {
            let (visible, pin) = inner.coordinator.pin()?;
            pin.checked(evaluate(&visible))?;
        }
        let committed = inner.commit(durability, |head| {
            let Some((row, change)) = evaluate(head)? else { return Ok(Vec::new()) };
            Locker::refuse_kept(inner.locks(), What::Row(schema.id, row, Mode::Exclusive), locker)?;
            row_changes(schema, row, change)
        })?;
        Ok(u64::from(committed.is_some()))
    }
}

/// Whether two rows of a table may be in each other's way.
fn has_unique(schema: &TableSchema) -> bool {
    !schema.key.is_empty() || schema.indexes.iter().any(|index| index.unique)
}

/// What others must not keep for rows to be inserted.
pub(crate) fn inserts(table: TableId, keys: &TableKeys, rows: &[Row]) -> Vec<What> {
    let keys = rows.iter().flat_map(|row| {
        let unique = keys.unique().map(|key| &key.shape);
        let values = unique.filter(|shape| !shape.values(row).any(Datum::is_null));
        values.map(|shape| What::Key(table, shape.id, KeyHash::of(shape.values(row))))
    });
    std::iter::once(What::Rows(table)).chain(keys).collect()
}

fn row_changes(schema: &TableSchema, row: RowId, change: RowChange) -> Result<Vec<Change>> {
    let (table, segment) = (schema.id, row.segment);
    match change {
        RowChange::Keep => Ok(Vec::new()),
        RowChange::Delete if !schema.referenced_by.is_empty() => Err(by_transaction()),
        RowChange::Delete => {
            Ok(vec![Change::DeleteRows { table, segment, positions: vec![row.position] }])
        }
        RowChange::Update(values) => values
            .into_iter()
            .map(|(column, value)| {
                check_value(schema, column, &value)?;
                if schema.is_indexed(column) {
                    return Err(Error::internal("a key is changed by a transaction only"));
                }
                let column = column_number(column);
                let patches = Patches::new(vec![(row.position, value)]);
                Ok(Change::PatchRows { table, segment, column, patches })
            })
            .collect(),
    }
}

/// What foreign keys say is a transaction's to see to.
fn by_transaction() -> Error {
    Error::internal("a row to which others may refer is deleted by a transaction only")
}

/// The table, if it still has the shape that a statement was made for.
pub(crate) fn same_shape<'a>(
    version: &'a DatabaseVersion,
    schema: &TableSchema,
) -> Result<&'a Arc<TableVersion>> {
    version.table(schema.id).filter(|table| table.schema.version == schema.version).ok_or_else(
        || {
            Error::new(
                ErrorKind::Conflict,
                format!("table \"{}\" was changed or dropped meanwhile; try again", schema.name),
            )
        },
    )
}

/// Refuses rows of a wrong length or with NULL where none may be.
pub(crate) fn check_row(schema: &TableSchema, row: &[Datum]) -> Result<()> {
    if row.len() != schema.columns.len() {
        return Err(Error::internal("a row has a value for each column"));
    }
    row.iter().enumerate().try_for_each(|(column, value)| check_value(schema, column, value))
}

pub(crate) fn check_value(schema: &TableSchema, column: usize, value: &Datum) -> Result<()> {
    let definition = &schema.columns[column];
    if value.is_null() && !definition.nullable {
        return Err(not_null(schema, &definition.name));
    }
    check_length(&definition.name, value)
}

/// Refuses a value that could be written, and not be read again.
pub(crate) fn check_length(column: &str, value: &Datum) -> Result<()> {
    match value {
        Datum::Bytes(bytes) if bytes.len() > VALUE_BYTES_MAX => Err(too_long(column, bytes.len())),
        _ => Ok(()),
    }
}

/// Longer values could be written, and not be read again.
pub(crate) fn too_long(column: &str, bytes: usize) -> Error {
    let message =
        format!("column \"{column}\": a value of {bytes} bytes; {VALUE_BYTES_MAX} are possible");
    Error::new(ErrorKind::Limit, message)
}

pub(crate) fn not_null(schema: &TableSchema, column: &str) -> Error {
    Error::new(
        ErrorKind::NotNullViolation,
        format!("column \"{column}\" of table \"{}\" must not be NULL", schema.name),
    )
}

/// Refuses rows whose key is there already, or twice among themselves.
pub(crate) fn check_keys(
    table: &TableVersion,
    rows: &[Row],
    blobs: &crate::blobs::Blobs,
) -> Result<()> {
    let mut check = InterruptCheck::default();
    for key in table.keys.unique() {
        let mut seen = std::collections::BTreeSet::new();
        for row in rows {
            check.row()?;
            let values = key.shape.values(row).cloned().collect::<Vec<_>>();
            let is_there = table.find(key, blobs, &values)?.is_some();
            let is_alone = rows.len() == 1 || values.iter().any(Datum::is_null);
            if is_there || (!is_alone && !seen.insert(values.clone())) {
                return Err(duplicate_key(&table.schema, &key.shape, &values));
            }
        }
    }
    Ok(())
}

pub(crate) fn duplicate_key(schema: &TableSchema, shape: &KeyShape, key: &[Datum]) -> Error {
    let names = shape.columns.iter().map(|&column| schema.columns[column].name.as_str());
    let values = key.iter().map(Datum::to_string);
    Error::new(
        ErrorKind::UniqueViolation,
        format!(
            "a row with ({}) = ({}) is in table \"{}\" already",
            names.collect::<Vec<_>>().join(", "),
            values.collect::<Vec<_>>().join(", "),
            schema.name
        ),
    )
}

/// Changes that append rows at the end of a table, in as many segments as they need.
pub(crate) fn append_changes(table: &TableVersion, rows: Vec<Row>) -> Result<Vec<Change>> {
    // Taken from the front: no row is moved once for each segment before it.
    let mut rows = rows.into_iter();
    let mut changes = Vec::new();
    let mut open = table.open.and_then(|id| table.segment(id)).map(|segment| &**segment);
    while !rows.as_slice().is_empty() {
        let into = open.take();
        let fits = fitting(into, rows.as_slice());
        let (first, room) = match into.filter(|_| fits > 0) {
            Some(segment) => (RowId { segment: segment.id, position: segment.rows }, fits),
            None => {
                let first = RowId { segment: table.reserve_segment()?, position: 0 };
                (first, fitting(None, rows.as_slice()))
            }
        };
        let appended = rows.by_ref().take(room).collect();
        changes.push(Change::AppendRows { table: table.schema.id, first, rows: appended });
    }
    Ok(changes)
}
