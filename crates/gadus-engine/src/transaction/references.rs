//! Rows that refer to others by foreign keys, as a transaction changes both.
//!
//! - When a statement ends, rows that refer to what it has deleted are deleted or changed, too, where their foreign
//!   key says so; then whatever refers to a row that is not there is refused.
//! - At commit this is looked at again where others have changed the other table since. Commits come one after
//!   another, in all processes, so no locks are needed, and changes that a foreign key is not about are in nobody's way.
//! - Rows of the transaction itself were looked at when its statements ended; what others have is looked at without
//!   those that it has deleted.
//! - All rows that refer to what one statement has deleted are found before any of them is changed.

use super::commit::deletes;
use super::locking::conflict;
use super::{TableWrites, Transaction};
use crate::error::{Error, ErrorKind, Result};
use crate::segment::Row;
use crate::types::{ColumnDefinition, Datum, ForeignKey, ReferentialAction, TableSchema};
use crate::version::{DatabaseVersion, TableVersion, missing, still_referenced};
use gadus_base::{RowId, SegmentId, TableId};
use imbl::Vector as Persistent;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Rows at which foreign keys are to be looked when the statement ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Unsettled {
    /// Rows that may refer to others: where they begin, and how many.
    added: Persistent<(TableId, RowId, u32)>,
    /// Rows to which others may refer, and what came in their place.
    removed: Persistent<(TableId, RowId, Option<Row>)>,
}

/// What becomes of the rows that refer to some that were deleted.
#[derive(Debug, Default)]
struct Consequences {
    deleted: BTreeMap<TableId, BTreeSet<RowId>>,
    updated: BTreeMap<(TableId, RowId), BTreeMap<usize, Datum>>,
    /// What nothing may refer to in the end.
    refused: Vec<Refused>,
}

/// Rows, and the values that each is given.
#[derive(Debug, Default)]
struct Given(Vec<RowId>, Vec<Vec<Datum>>);

/// Values that are gone: nothing may refer to them by this foreign key.
#[derive(Debug)]
struct Refused {
    referenced: TableId,
    table: TableId,
    key: ForeignKey,
    values: Vec<Datum>,
}

impl Unsettled {
    pub(super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

impl Transaction {
    /// Inserts whole rows that refer to rows that are there, as a statement of its own.
    pub fn insert_referring(&mut self, schema: &TableSchema, rows: Vec<Row>) -> Result<u64> {
        self.whole_or_not(|transaction| {
            let count = transaction.insert(schema, rows)?;
            transaction.settle_references(&|| Ok(())).map(|_| count)
        })
    }

    /// Rows have come that may refer to others.
    pub(super) fn note_added(&mut self, schema: &TableSchema, first: RowId, count: u32) {
        if !schema.foreign_keys.is_empty() {
            self.state.unsettled.added.push_back((schema.id, first, count));
        }
    }

    /// Rows are gone to which others may refer; `new` came in their place, one each, or nothing.
    pub(super) fn note_removed(
        &mut self,
        schema: &TableSchema,
        rows: impl IntoIterator<Item = RowId>,
        new: &[Row],
    ) {
        if !schema.referenced_by.is_empty() {
            let new = new.iter().cloned().map(Some).chain(std::iter::repeat(None));
            let gone = rows.into_iter().zip(new).map(|(row, new)| (schema.id, row, new));
            self.state.unsettled.removed.extend(gone);
        }
    }

    /// Ends a statement: carries out what foreign keys say of rows that refer to those that it has deleted or changed,
    /// and refuses it where some refer to what is not there; asks `go_on` at each of them. Says which tables were given
    /// other values so.
    ///
    /// # Errors
    /// `ForeignKeyViolation`; those of `go_on`; and as [`Transaction::delete`] and [`Transaction::update`].
    pub fn settle_references(
        &mut self,
        go_on: &dyn Fn() -> Result<()>,
    ) -> Result<Vec<Arc<TableSchema>>> {
        let settled = self.settle_each(go_on);
        self.refused_references(settled)
    }

    fn settle_each(&mut self, go_on: &dyn Fn() -> Result<()>) -> Result<Vec<Arc<TableSchema>>> {
        let (mut changed, mut refused) = (BTreeSet::new(), Vec::new());
        while !self.state.unsettled.removed.is_empty() {
            let removed = std::mem::take(&mut self.state.unsettled.removed);
            let found = self.consequences(&removed, go_on);
            let mut consequences = self.state.pin.checked(found)?;
            refused.append(&mut consequences.refused);
            self.carry_out(consequences, &mut changed)?;
        }
        for refused in &refused {
            go_on()?;
            let is_kept = self.refuse_referring(&self.state.view, refused);
            self.state.pin.checked(is_kept)?;
        }
        for (id, first, count) in std::mem::take(&mut self.state.unsettled.added) {
            let Some(table) = self.state.view.table(id) else { continue };
            let referenced = (&self.state.view, |_: &ForeignKey| true);
            let are_there = self.refuse_missing((table, first, count), referenced, go_on);
            self.state.pin.checked(are_there)?;
        }
        let schema = |id| self.state.view.table(id).map(|table| table.schema.clone());
        Ok(changed.into_iter().filter_map(schema).collect())
    }

    fn consequences(
        &self,
        removed: &Persistent<(TableId, RowId, Option<Row>)>,
        go_on: &dyn Fn() -> Result<()>,
    ) -> Result<Consequences> {
        let mut consequences = Consequences::default();
        for (id, row, new) in removed {
            go_on()?;
            let Some(table) = self.state.view.table(*id) else { continue };
            for referring in self.state.view.references(*id) {
                let gone = (&**table, *row, new.as_ref());
                self.consequences_by(&mut consequences, gone, referring)?;
            }
        }
        Ok(consequences)
    }

    fn consequences_by(
        &self,
        consequences: &mut Consequences,
        (table, row, new): (&TableVersion, RowId, Option<&Row>),
        (referring, key): (&Arc<TableVersion>, &ForeignKey),
    ) -> Result<()> {
        let places = table.schema.places(&key.referenced);
        let values = table.values_of(row, &places, &self.blobs)?;
        let new = new.map(|new| places.iter().map(|&place| new[place].clone()).collect::<Vec<_>>());
        if values.iter().any(Datum::is_null) || new.as_ref() == Some(&values) {
            return Ok(());
        }
        let id = referring.schema.id;
        let action = if new.is_some() { key.on_update } else { key.on_delete };
        let rows = |most| referring.referring_rows(key, &self.blobs, (&values, most));
        match (action, new) {
            (ReferentialAction::NoAction, _) => {
                let (referenced, key) = (table.schema.id, key.clone());
                consequences.refused.push(Refused { referenced, table: id, key, values });
            }
            (ReferentialAction::Restrict, _) => {
                if !rows(1)?.is_empty() {
                    return Err(still_referenced(&table.schema, (&referring.schema, key), &values));
                }
            }
            (ReferentialAction::Cascade, None) => {
                consequences.deleted.entry(id).or_default().extend(rows(usize::MAX)?);
            }
            (ReferentialAction::Cascade | ReferentialAction::SetNull, new) => {
                let places = referring.schema.places(&key.columns);
                let is_null = action == ReferentialAction::SetNull;
                let new = new.filter(|_| !is_null);
                let new = new.unwrap_or_else(|| vec![Datum::Null; places.len()]);
                let columns = places.iter().map(|&place| &referring.schema.columns[place]);
                let unfit = columns.zip(&new).find(|(c, value)| !c.column_type.holds(value));
                let rows = rows(usize::MAX)?;
                if let (Some((column, value)), false) = (unfit, rows.is_empty()) {
                    return Err(out_of_range(&referring.schema, column, value));
                }
                for row in rows {
                    let given = consequences.updated.entry((id, row)).or_default();
                    given.extend(places.iter().copied().zip(new.iter().cloned()));
                }
            }
        }
        Ok(())
    }

    fn carry_out(
        &mut self,
        Consequences { deleted, updated, .. }: Consequences,
        changed: &mut BTreeSet<TableId>,
    ) -> Result<()> {
        // Rows that are given values in the same columns are changed together.
        let mut together: BTreeMap<(TableId, Vec<usize>), Given> = BTreeMap::new();
        for ((id, row), given) in updated {
            if deleted.get(&id).is_none_or(|rows| !rows.contains(&row)) {
                let (columns, values) = given.into_iter().unzip();
                let Given(rows, all) = together.entry((id, columns)).or_default();
                rows.push(row);
                all.push(values);
            }
        }
        let schema = |this: &Self, id| this.state.view.table(id).map(|table| table.schema.clone());
        for (id, rows) in deleted {
            let Some(schema) = schema(self, id) else { continue };
            self.delete(&schema, &rows.into_iter().collect::<Vec<_>>())?;
        }
        for ((id, columns), Given(rows, values)) in together {
            let Some(schema) = schema(self, id) else { continue };
            self.update(&schema, &columns, &rows, &values)?;
            changed.insert(id);
        }
        Ok(())
    }

    /// Refuses rows that refer to what is gone, unless something is there again.
    fn refuse_referring(&self, version: &DatabaseVersion, refused: &Refused) -> Result<()> {
        let Refused { referenced, table, key, values } = refused;
        let (Some(referenced), Some(table)) = (version.table(*referenced), version.table(*table))
        else {
            return Ok(());
        };
        if referenced.referenced_row(key, &self.blobs, values)?.is_some()
            || self.has_added(key, values)?
            || table.referring_rows(key, &self.blobs, (values, 1))?.is_empty()
        {
            return Ok(());
        }
        Err(still_referenced(&referenced.schema, (&table.schema, key), values))
    }

    /// Refuses rows that refer, by some of their foreign keys, to what is not there in a version.
    fn refuse_missing(
        &self,
        (table, first, count): (&TableVersion, RowId, u32),
        (version, is_asked): (&DatabaseVersion, impl Fn(&ForeignKey) -> bool),
        go_on: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        for key in table.schema.foreign_keys.iter().filter(|key| is_asked(key)) {
            let Some(referenced) = version.table(key.table) else {
                return Err(conflict(&table.schema));
            };
            for values in table.referring_values(key, (first, count), &self.blobs)? {
                go_on()?;
                if referenced.referenced_row(key, &self.blobs, &values)?.is_none()
                    && !self.has_added(key, &values)?
                {
                    return Err(missing(&referenced.schema, (&table.schema, key), &values));
                }
            }
        }
        Ok(())
    }

    /// Whether the transaction itself has added a row that has what a foreign key refers to.
    fn has_added(&self, key: &ForeignKey, values: &[Datum]) -> Result<bool> {
        let (view, writes) = (&self.state.view, &self.state.writes);
        let (Some(table), Some(writes)) = (view.table(key.table), writes.get(&key.table)) else {
            return Ok(false);
        };
        let row = table.referenced_row(key, &self.blobs, values)?;
        let is_own = |segment: SegmentId| {
            writes.inserted.contains(&segment)
                || writes.loaded.iter().any(|(loaded, _)| *loaded == segment)
        };
        Ok(row.is_some_and(|row| is_own(row.segment)))
    }

    /// Whether foreign keys are to be looked at again where others have changed tables since.
    pub(super) fn writes_references(&self) -> bool {
        let is_bound = |id| {
            let schema = self.state.view.table(id).map(|table| &table.schema);
            schema.is_some_and(|s| !s.foreign_keys.is_empty() || !s.referenced_by.is_empty())
        };
        self.state.writes.keys().copied().any(is_bound)
    }

    /// Refuses what others have made wrong since: `head` is what they have left, `after` the same with this
    /// transaction's shapes.
    pub(super) fn check_references(
        &self,
        head: &DatabaseVersion,
        mut after: DatabaseVersion,
    ) -> Result<()> {
        for (id, writes) in &self.state.writes {
            let Some(table) = after.table(*id).cloned() else { continue };
            for change in deletes(&table.schema, writes) {
                let applied = after.apply(&change, head.commit.next());
                applied.map_err(|what| Error::internal(format!("a transaction {what}")))?;
            }
        }
        let after = &after;
        for (id, writes) in &self.state.writes {
            let Some(table) = self.state.view.table(*id) else { continue };
            let since = writes.keys_since.unwrap_or(self.state.base.commit);
            let is_changed = |id| head.table(id).is_some_and(|there| there.last_changed > since);
            let is_asked = |key: &ForeignKey| is_changed(key.table);
            if table.schema.foreign_keys.iter().any(is_asked) {
                let loaded = writes.loaded.iter().map(|(segment, _)| *segment);
                for segment in writes.inserted.iter().copied().chain(loaded) {
                    let first = RowId { segment, position: 0 };
                    let rows = (&**table, first, u32::MAX);
                    self.refuse_missing(rows, (after, is_asked), &|| Ok(()))?;
                }
            }
            // Others may have made more of them.
            for (other, key) in after.references(*id) {
                self.check_deleted((table, writes), (head, after), (other.schema.id, key))?;
            }
        }
        Ok(())
    }

    /// The same of rows that were deleted and to which others refer by a foreign key.
    fn check_deleted(
        &self,
        (table, writes): (&TableVersion, &TableWrites),
        (head, after): (&DatabaseVersion, &DatabaseVersion),
        (other, key): (TableId, &ForeignKey),
    ) -> Result<()> {
        let since = writes.deleted_since.unwrap_or(self.state.base.commit);
        if head.table(other).is_none_or(|there| there.last_changed <= since) {
            return Ok(());
        }
        let places = table.schema.places(&key.referenced);
        for (&segment, positions) in &writes.deleted {
            for &position in positions {
                let row = RowId { segment, position };
                let values = table.values_of(row, &places, &self.blobs)?;
                if values.iter().any(Datum::is_null) {
                    continue;
                }
                let (referenced, key) = (table.schema.id, key.clone());
                let refused = Refused { referenced, table: other, key, values };
                self.refuse_referring(after, &refused).map_err(|error| {
                    match refused.key.allows() {
                        // Begun again, it takes along what was added.
                        true => conflict(&table.schema),
                        false => error,
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// The error of a value that a foreign key would hand on to a column of fewer bits.
fn out_of_range(schema: &TableSchema, column: &ColumnDefinition, value: &Datum) -> Error {
    let message = format!(
        "{value} is out of range for column \"{}\" of table \"{}\", of the type {}",
        column.name, schema.name, column.column_type
    );
    Error::new(ErrorKind::OutOfRange, message)
}

impl ForeignKey {
    /// Whether a row to which others refer may go.
    fn allows(&self) -> bool {
        let allows =
            |action| matches!(action, ReferentialAction::Cascade | ReferentialAction::SetNull);
        allows(self.on_delete) || allows(self.on_update)
    }
}
