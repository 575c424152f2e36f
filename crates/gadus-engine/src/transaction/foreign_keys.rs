//! Foreign keys in the shapes that a transaction gives to tables.
//!
//! - Whoever adds one sees to it that the rows that are there are right; both tables stay as they are until it commits.
//! - A table to which others refer is told so: its shape changes with theirs.

use super::Transaction;
use crate::error::{Error, ErrorKind, Reason, Result};
use crate::types::{ColumnType, ForeignKey, TableSchema};
use gadus_base::TableId;
use std::collections::BTreeSet;

impl Transaction {
    /// Refuses a shape whose foreign keys cannot be, or that lacks what others refer to.
    pub(super) fn refuse_foreign_keys(&self, after: &TableSchema) -> Result<()> {
        for key in &after.foreign_keys {
            let other = self.state.view.table(key.table).map(|table| table.schema.clone());
            let own = (key.table == after.id).then_some(after);
            let referenced = own.or(other.as_deref());
            let referenced =
                referenced.filter(|other| other.unique_over(&key.referenced).is_some());
            let Some(referenced) = referenced else {
                let before = self.state.view.table(after.id).map(|table| &table.schema);
                if own.is_some() && before.is_some_and(|was| was.foreign_keys.contains(key)) {
                    return Err(depended("a key", after, &[(after, key)]));
                }
                let message = format!(
                    "there is no unique constraint matching given keys for foreign key \"{}\"",
                    key.name
                );
                return Err(
                    Error::new(ErrorKind::Input, message).because(Reason::InvalidForeignKey)
                );
            };
            refuse_types((after, key), referenced)?;
        }
        for (other, key) in self.state.view.referring(after.id) {
            if after.unique_over(&key.referenced).is_none() {
                return Err(depended("a key", after, &[(&other.schema, key)]));
            }
            refuse_types((&other.schema, key), after)?;
        }
        Ok(())
    }

    /// Refuses to drop a table to which others refer.
    pub(super) fn refuse_referenced(&self, schema: &TableSchema) -> Result<()> {
        let referring = self.state.view.referring(schema.id);
        let referring = referring.map(|(other, key)| (&*other.schema, key)).collect::<Vec<_>>();
        match referring.is_empty() {
            true => Ok(()),
            false => Err(depended("table", schema, &referring)),
        }
    }

    /// Tells the tables to which a table referred, or refers now, which of the two it is.
    pub(super) fn tell_referenced(
        &mut self,
        id: TableId,
        before: Option<&TableSchema>,
        after: Option<&TableSchema>,
    ) -> Result<()> {
        let keys = [before, after].into_iter().flatten().flat_map(|schema| &schema.foreign_keys);
        let others = keys.map(|key| key.table).filter(|other| *other != id);
        for other in others.collect::<BTreeSet<_>>() {
            let Some(table) = self.state.view.table(other) else { continue };
            let before = table.schema.clone();
            let mut schema = TableSchema::clone(&before);
            let refers = after.is_some_and(|after| after.references_to(other).next().is_some());
            if schema.set_referenced_by(id, refers) {
                self.reshape_table(&before, &schema, &[])?;
            }
        }
        Ok(())
    }
}

impl TableSchema {
    /// Says whether a table refers to this one; returns whether that is news.
    pub(super) fn set_referenced_by(&mut self, other: TableId, refers: bool) -> bool {
        let before = self.referenced_by.len();
        self.referenced_by.retain(|id| *id != other);
        let was = self.referenced_by.len() < before;
        if refers {
            self.referenced_by.push(other);
        }
        was != refers
    }

    /// The same for the table itself.
    pub(super) fn settle_own_references(&mut self) {
        let refers = self.references_to(self.id).next().is_some();
        self.set_referenced_by(self.id, refers);
    }
}

fn refuse_types((schema, key): (&TableSchema, &ForeignKey), to: &TableSchema) -> Result<()> {
    let columns = schema.places(&key.columns).into_iter().map(|place| &schema.columns[place]);
    let others = to.places(&key.referenced).into_iter().map(|place| &to.columns[place]);
    for (column, other) in columns.zip(others) {
        if !ColumnType::keeps_like(column.column_type, other.column_type) {
            let message = format!(
                "foreign key constraint \"{}\" cannot be implemented: key columns \"{}\" and \"{}\" \
                 are of incompatible types: {} and {}",
                key.name, column.name, other.name, column.column_type, other.column_type
            );
            return Err(Error::new(ErrorKind::Input, message).because(Reason::TypeMismatch));
        }
    }
    Ok(())
}

fn depended(what: &str, schema: &TableSchema, referring: &[(&TableSchema, &ForeignKey)]) -> Error {
    let named = |(other, key): &(&TableSchema, &ForeignKey)| {
        format!("constraint {} on table {}", key.name, other.name)
    };
    let named = referring.iter().map(named).collect::<Vec<_>>().join(", ");
    let of = if what == "table" { "" } else { "of table " };
    let message = format!(
        "cannot drop {what} {of}{} because other objects depend on it: {named}; DROP … CASCADE drops \
         them, too",
        schema.name
    );
    Error::new(ErrorKind::Input, message).because(Reason::Depended)
}
