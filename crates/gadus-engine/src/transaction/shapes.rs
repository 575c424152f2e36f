//! What a transaction does to the catalog: tables and views, created, changed and dropped.

use super::locking::conflict;
use super::{TableWrites, Transaction};
use crate::engine::{check_length, same_shape};
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::locks::What;
use crate::segment::{EncodedSegment, Source, column_number};
use crate::types::{
    ColumnDefinition, Datum, IndexDefinition, TableSchema, UsedColumn, ViewSchema, schema_and_name,
};
use crate::version::{Change, TableVersion};
use gadus_base::TableId;
use std::sync::Arc;

impl Transaction {
    /// Creates a table and returns its schema with the id it was given.
    pub fn create_table(&mut self, schema: &TableSchema) -> Result<Arc<TableSchema>> {
        schema.check()?;
        self.refuse_taken(&schema.name)?;
        for index in &schema.indexes {
            self.refuse_taken(&index.name)?;
        }
        let id = self.state.view.next_table;
        let mut schema = TableSchema { id, ..schema.clone() };
        let own = schema.foreign_keys.iter_mut().filter(|key| key.table == TableId(0));
        own.for_each(|key| key.table = id);
        schema.settle_own_references();
        self.refuse_foreign_keys(&schema)?;
        let schema = Arc::new(schema);
        self.reshape(Change::CreateTable(schema.clone()))?;
        self.tell_referenced(id, None, Some(&schema))?;
        Ok(schema)
    }

    /// Drops a table with its rows.
    ///
    /// # Errors
    /// `NotFound`, or `Input` where views read it, or foreign keys of other tables refer to it.
    pub fn drop_table(&mut self, name: &str) -> Result<()> {
        let id = self.table_id(name)?;
        self.refuse_read("table", name, id)?;
        let schema = self.schema_of(id)?;
        self.refuse_referenced(&schema)?;
        self.lock(What::Shape(id))?;
        self.reshape(Change::DropTable(id))?;
        self.state.writes.remove(&id);
        self.tell_referenced(id, Some(&schema), None)?;
        Ok(())
    }

    /// Gives a table another schema: columns are known by their numbers, may be renamed, moved, dropped and added.
    /// Rows that are there have these values, or NULL, in the columns that are added; indexes that are new get what
    /// they are to have of these rows. Returns the schema with its version.
    ///
    /// Whether rows are as the new schema says is the caller's to see, after [`Transaction::keep_rows`].
    ///
    /// # Errors
    /// `AlreadyExists` where another table has the new name, `Input` where views read what is dropped, or foreign keys
    /// refer to it,
    /// `UniqueViolation` where two rows have what a new index has once.
    pub fn alter_table(
        &mut self,
        after: &TableSchema,
        values: &[(u32, Datum)],
    ) -> Result<Arc<TableSchema>> {
        let before = self.schema_of(after.id)?;
        // Others say themselves that they refer to it.
        let mut after =
            TableSchema { referenced_by: before.referenced_by.clone(), ..after.clone() };
        after.settle_own_references();
        self.reshape_table(&before, &after, values)
    }

    /// The same where it is said, too, who refers to the table.
    pub(super) fn reshape_table(
        &mut self,
        before: &TableSchema,
        after: &TableSchema,
        values: &[(u32, Datum)],
    ) -> Result<Arc<TableSchema>> {
        after.check()?;
        self.refuse_foreign_keys(after)?;
        for (id, value) in values {
            let name = after.column_with_id(*id).map_or("", |at| &after.columns[at].name);
            check_length(name, value)?;
        }
        if before.name != after.name {
            self.refuse_taken(&after.name)?;
        }
        let is_new = |index: &&IndexDefinition| before.index_named(&index.name).is_none();
        for index in after.indexes.iter().filter(is_new) {
            self.refuse_taken(&index.name)?;
        }
        self.refuse_read_columns(before, after)?;
        self.lock(What::Shape(after.id))?;
        let source = |column: &ColumnDefinition| match before.column_with_id(column.id) {
            Some(place) => Source::Kept(column_number(place)),
            None => {
                let value = values.iter().find(|(id, _)| *id == column.id);
                Source::Added(value.map_or(Datum::Null, |(_, value)| value.clone()))
            }
        };
        let sources = after.columns.iter().map(source).collect::<Vec<_>>();
        let schema = Arc::new(TableSchema { version: before.version + 1, ..after.clone() });
        let runs = self.write_indexes(before, &schema)?;
        let (table, moved) = (after.id, sources.clone());
        self.reshape(Change::AlterTable { table, schema: schema.clone(), sources, runs })?;
        if let Some(writes) = self.state.writes.get_mut(&table) {
            writes.relay(&moved);
        }
        self.tell_referenced(table, Some(before), Some(&schema))?;
        Ok(schema)
    }

    /// Takes all rows from a table; returns how many.
    ///
    /// # Errors
    /// `Locked` with what to wait for, or `Conflict` when its shape was changed since the snapshot.
    pub fn empty_table(&mut self, schema: &TableSchema) -> Result<u64> {
        let rows = self.table(schema)?.rows()?;
        self.lock(What::Shape(schema.id))?;
        // Others may refer to it since; from now on nobody does.
        let head = self.inner.coordinator.lock()?.version.clone();
        let before = self.state.base.table(schema.id);
        let stays = before.map_or(Ok(()), |before| same_shape(&head, &before.schema).map(drop));
        self.inner.coordinator.once_visible(stays)?;
        self.reshape(Change::EmptyTable(schema.id))?;
        self.state.writes.remove(&schema.id);
        Ok(rows)
    }

    /// Keeps others from changing rows of a table until the transaction ends.
    ///
    /// # Errors
    /// `Locked` with what to wait for, or `Conflict` when they were changed since the snapshot.
    pub fn keep_rows(&mut self, schema: &TableSchema) -> Result<()> {
        self.lock(What::Shape(schema.id))?;
        self.view_table(schema)?;
        let head = self.inner.coordinator.lock()?.version.clone();
        // Also of one that this transaction has given another shape: its rows were others' until then.
        let is_changed = |table: &Arc<TableVersion>| table.last_changed > self.state.base.commit;
        let unchanged = match head.table(schema.id).is_some_and(is_changed) {
            true => Err(conflict(schema)),
            false => Ok(()),
        };
        self.inner.coordinator.once_visible(unchanged)
    }

    fn schema_of(&self, id: TableId) -> Result<Arc<TableSchema>> {
        let table = self.state.view.table(id).map(|table| table.schema.clone());
        table.ok_or_else(|| {
            let message = "the table was dropped meanwhile; try again";
            Error::new(ErrorKind::Conflict, message)
        })
    }

    /// Refuses to drop columns that views read.
    fn refuse_read_columns(&self, before: &TableSchema, after: &TableSchema) -> Result<()> {
        let is_dropped = |column: &&ColumnDefinition| after.column_with_id(column.id).is_none();
        for column in before.columns.iter().filter(is_dropped) {
            let reads = |view: &&Arc<ViewSchema>| {
                let columns = view.reads(before.id).map(|used| used.columns.as_slice());
                let is_it = |used: &UsedColumn| used.is_used && used.id == column.id;
                columns.unwrap_or_default().iter().any(is_it)
            };
            if let Some(view) = self.state.view.readers(before.id).find(reads) {
                let message = format!(
                    "cannot drop column {} of table {} because other objects depend on it: view {}; \
                     DROP … CASCADE drops them, too",
                    column.name, before.name, view.name
                );
                return Err(Error::new(ErrorKind::Input, message).because(Reason::Depended));
            }
        }
        Ok(())
    }

    /// Creates a view, or gives the one of this name another query where that is asked for; returns it with the
    /// id it was given.
    ///
    /// # Errors
    /// `AlreadyExists`, or `Input` where the name is that of a table, or the view would read itself.
    pub fn create_view(&mut self, view: &ViewSchema, replace: bool) -> Result<Arc<ViewSchema>> {
        let there = self.state.view.view_named(&view.name).filter(|_| replace).cloned();
        let (id, version) = match &there {
            Some(there) => (there.id, there.version + 1),
            None if self.state.view.table_named(&view.name).is_some() && replace => {
                let message = format!("\"{}\" is not a view", view.name);
                return Err(Error::new(ErrorKind::Input, message).because(Reason::WrongObject));
            }
            None => {
                self.refuse_taken(&view.name)?;
                (self.state.view.next_table, 1)
            }
        };
        if view.uses.iter().any(|used| self.state.view.leads_to(used.id, id)) {
            let message =
                format!("infinite recursion detected in rules for relation \"{}\"", view.name);
            return Err(Error::new(ErrorKind::Input, message).because(Reason::ReadsItself));
        }
        let view = Arc::new(ViewSchema { id, version, ..view.clone() });
        self.reshape(Change::SetView(view.clone()))?;
        Ok(view)
    }

    /// Drops a view.
    ///
    /// # Errors
    /// `NotFound`, or `Input` where it is a table, or other views read it.
    pub fn drop_view(&mut self, name: &str) -> Result<()> {
        let Some(view) = self.state.view.view_named(name) else {
            if self.state.view.names.contains_key(name) {
                let message = format!("\"{name}\" is not a view; use DROP TABLE to remove a table");
                return Err(Error::new(ErrorKind::Input, message).because(Reason::WrongObject));
            }
            let message = format!("view \"{name}\" does not exist");
            return Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable));
        };
        let id = view.id;
        self.refuse_read("view", name, id)?;
        self.reshape(Change::DropView(id))
    }

    /// The table of a name that is to be changed.
    fn table_id(&self, name: &str) -> Result<TableId> {
        if let Some(table) = self.state.view.table_named(name) {
            return Ok(table.schema.id);
        }
        if self.state.view.view_named(name).is_some() {
            let message = format!("\"{name}\" is not a table; use DROP VIEW to remove a view");
            return Err(Error::new(ErrorKind::Input, message).because(Reason::WrongObject));
        }
        if self.state.view.sequence_named(name).is_some() {
            let message =
                format!("\"{name}\" is not a table; use DROP SEQUENCE to remove a sequence");
            return Err(Error::new(ErrorKind::Input, message).because(Reason::WrongObject));
        }
        let message = format!("table \"{name}\" does not exist");
        Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable))
    }

    pub(super) fn refuse_taken(&self, name: &str) -> Result<()> {
        if let Some(schema) = schema_and_name(name).0
            && !self.state.view.has_schema(schema)
        {
            let message = format!("schema \"{schema}\" does not exist");
            return Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownSchema));
        }
        if !self.state.view.names.contains_key(name) && self.state.view.index_named(name).is_none()
        {
            return Ok(());
        }
        let message = format!("relation \"{name}\" already exists");
        Err(Error::new(ErrorKind::AlreadyExists, message))
    }

    /// Refuses to drop what views read.
    fn refuse_read(&self, what: &str, name: &str, id: TableId) -> Result<()> {
        let readers = self.state.view.readers(id).map(|view| view.name.as_str());
        let readers = readers.collect::<Vec<_>>();
        if readers.is_empty() {
            return Ok(());
        }
        let message = format!(
            "cannot drop {what} {name} because other objects depend on it: view {}; DROP … CASCADE \
             drops them, too",
            readers.join(", view ")
        );
        Err(Error::new(ErrorKind::Input, message).because(Reason::Depended))
    }

    /// Changes the catalog for the transaction, and for everybody when it commits.
    pub(super) fn reshape(&mut self, change: Change) -> Result<()> {
        self.apply(&change)?;
        self.state.view.schema_version = self.inner.private_schema_version();
        self.state.shapes.push_back(change);
        Ok(())
    }
}

impl TableWrites {
    /// The same writes where columns come from these sources.
    fn relay(&mut self, sources: &[Source]) {
        let patched = std::mem::take(&mut self.patched);
        for ((segment, column), positions) in patched {
            let place = sources.iter().position(|source| *source == Source::Kept(column));
            if let Some(place) = place {
                self.patched.insert((segment, column_number(place)), positions);
            }
        }
        let stays = (0..).zip(sources).all(|(place, source)| *source == Source::Kept(place));
        if !stays {
            let relaid =
                |(id, base): &(_, Arc<EncodedSegment>)| (*id, Arc::new(base.relaid(sources)));
            self.loaded = self.loaded.iter().map(relaid).collect();
        }
    }
}
