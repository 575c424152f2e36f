//! CREATE INDEX, DROP INDEX, and UNIQUE constraints, which are indexes.
//!
//! - An index is over columns as they are: the order in which it has them serves whoever asks for the other one, too.
//! - One that is new is written from the rows that are there, while nobody else changes them; where the transaction
//!   itself has written rows of the table, the table is written anew.

use super::define::is_of_bytes;
use super::modify::{folded, table_name, target};
use super::{Outcome, Session, foreign_keys};
use crate::error::{input, unsupported};
use crate::names::beside;
use datafusion::sql::sqlparser::ast::{
    ColumnOption, CreateIndex, CreateTable, Expr, Ident, IndexColumn, IndexType,
    NullsDistinctOption, ObjectName, TableConstraint, UniqueConstraint,
};
use gadus_engine::{
    ColumnType, Error, ErrorKind, ForeignKey, IndexDefinition, Reason, Result, Snapshot,
    TableSchema, Transaction,
};
use std::sync::Arc;

/// An index, as a statement asks for it.
pub(super) struct Wanted {
    name: Option<String>,
    columns: Vec<usize>,
    unique: bool,
    constraint: bool,
}

impl Wanted {
    /// Creates an index that is no constraint, and gets a name that no other has.
    pub(super) fn unnamed(columns: Vec<usize>, unique: bool) -> Self {
        Self { name: None, columns, unique, constraint: false }
    }
}

impl Session {
    pub(super) async fn create_index(
        &self,
        transaction: &mut Transaction,
        create: &CreateIndex,
    ) -> Result<Outcome> {
        refuse_kinds(create)?;
        let snapshot = transaction.snapshot();
        let schema = target(&snapshot, &create.table_name)?;
        let name = create.name.as_ref().map(table_name).transpose()?;
        if let Some(name) = &name
            && create.if_not_exists
            && (owner_of(&snapshot, name).is_some() || snapshot.has_relation(name))
        {
            return Ok(Outcome::Done("CREATE INDEX"));
        }
        let columns = places(&schema, &create.columns)?;
        let wanted = Wanted { name, columns, unique: create.unique, constraint: false };
        drop(snapshot);
        self.add_indexes(transaction, &schema, vec![wanted]).await?;
        Ok(Outcome::Done("CREATE INDEX"))
    }

    /// Adds indexes to a table that is there.
    pub(super) async fn add_indexes(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        wanted: Vec<Wanted>,
    ) -> Result<()> {
        if wanted.is_empty() {
            return Ok(());
        }
        for name in wanted.iter().filter_map(|wanted| wanted.name.as_ref()) {
            if schema.index_named(&beside(&schema.name, name)).is_some() {
                let message = format!("relation \"{name}\" already exists");
                return Err(Error::new(ErrorKind::AlreadyExists, message));
            }
        }
        let mut after = TableSchema::clone(schema);
        add_to(&mut after, &transaction.snapshot(), wanted);
        self.reshape_indexed(transaction, schema, after).await
    }

    /// Gives a table a shape with further indexes.
    pub(super) async fn reshape_indexed(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        after: TableSchema,
    ) -> Result<()> {
        let is_new = |id| schema.indexes.iter().all(|index| index.id != id);
        if after.indexes.iter().any(|index| is_new(index.id)) && transaction.has_written(schema) {
            let items = schema.columns.iter().map(|column| super::alter::quoted(&column.name));
            let items = items.collect();
            return self.rewrite(transaction, schema, (after, items)).await;
        }
        transaction.alter_table(&after, &[]).map(|_| ())
    }
}

/// Gives a schema indexes, each with a name that no other has.
pub(super) fn add_to(schema: &mut TableSchema, snapshot: &Snapshot, wanted: Vec<Wanted>) {
    for Wanted { name, columns, unique, constraint } in wanted {
        let ending = if constraint { "key" } else { "idx" };
        let name = name.unwrap_or_else(|| free_name(schema, snapshot, (&columns, ending)));
        let name = beside(&schema.name, &name);
        schema.add_index(&name, &columns, (unique, constraint));
    }
}

/// The UNIQUE constraints behind columns and beside them.
pub(super) fn of_table(create: &CreateTable, schema: &TableSchema) -> Result<Vec<Wanted>> {
    let mut wanted = Vec::new();
    for (place, column) in create.columns.iter().enumerate() {
        for option in &column.options {
            if let ColumnOption::Unique(unique) = &option.option {
                let name = unique.name.as_ref().or(option.name.as_ref());
                wanted.push(of_column(place, unique, name)?);
            }
        }
    }
    for constraint in &create.constraints {
        if let TableConstraint::Unique(unique) = constraint {
            wanted.push(of_constraint(unique, schema)?);
        }
    }
    Ok(wanted)
}

/// A UNIQUE constraint behind a column.
pub(super) fn of_column(
    place: usize,
    unique: &UniqueConstraint,
    name: Option<&Ident>,
) -> Result<Wanted> {
    refuse_options(unique)?;
    let name = name.map(folded);
    Ok(Wanted { name, columns: vec![place], unique: true, constraint: true })
}

/// A UNIQUE constraint of a table.
pub(super) fn of_constraint(unique: &UniqueConstraint, schema: &TableSchema) -> Result<Wanted> {
    refuse_options(unique)?;
    let columns = places(schema, &unique.columns)?;
    let name = unique.name.as_ref().or(unique.index_name.as_ref()).map(folded);
    Ok(Wanted { name, columns, unique: true, constraint: true })
}

pub(super) fn drop_indexes(
    transaction: &mut Transaction,
    names: &[ObjectName],
    (if_exists, cascade): (bool, bool),
) -> Result<Outcome> {
    for name in names {
        let name = table_name(name)?;
        let Some(schema) = owner_of(&transaction.snapshot(), &name) else {
            if if_exists {
                continue;
            }
            let message = format!("index \"{name}\" does not exist");
            return Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownObject));
        };
        if schema.index_named(&name).is_some_and(|index| index.constraint && index.unique) {
            return Err(required_by(&name, &schema, &name));
        }
        let mut after = TableSchema::clone(&schema);
        after.indexes.retain(|index| index.name != name);
        if cascade {
            foreign_keys::drop_dangling(transaction, &mut after)?;
        }
        let is_bare = |key: &&ForeignKey| after.index_over(&key.columns).is_none();
        if let Some(key) = after.foreign_keys.iter().find(is_bare) {
            let index =
                schema.index_named(&name).filter(|index| !index.unique && !index.constraint);
            let Some(index) = index else { return Err(required_by(&name, &schema, &key.name)) };
            // It stays as the constraint's own, and goes with it.
            let places = index.columns.iter().filter_map(|id| schema.column_with_id(*id));
            let places = places.collect::<Vec<_>>();
            let name = free_name(&schema, &transaction.snapshot(), (&places, "idx"));
            let kept = IndexDefinition { name, constraint: true, ..index.clone() };
            let place = after.indexes.partition_point(|other| other.id < kept.id);
            after.indexes.insert(place, kept);
        }
        transaction.alter_table(&after, &[])?;
    }
    Ok(Outcome::Done("DROP INDEX"))
}

fn required_by(index: &str, schema: &TableSchema, constraint: &str) -> Error {
    let message = format!(
        "cannot drop index {index} because constraint {constraint} on table {} requires it: ALTER TABLE … DROP \
         CONSTRAINT drops both",
        schema.name
    );
    input(message).because(Reason::Depended)
}

/// Gives an index another name.
pub(super) fn rename_index(
    transaction: &mut Transaction,
    name: &ObjectName,
    new: &ObjectName,
) -> Result<Outcome> {
    let name = table_name(name)?;
    let new = beside(&name, &table_name(new)?);
    let Some(schema) = owner_of(&transaction.snapshot(), &name) else {
        let message = format!("relation \"{name}\" does not exist");
        return Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownTable));
    };
    let mut after = TableSchema::clone(&schema);
    let index = after.indexes.iter_mut().find(|index| index.name == name);
    index.ok_or_else(|| Error::internal("an index that was found is not there"))?.name = new;
    transaction.alter_table(&after, &[])?;
    Ok(Outcome::Done("ALTER INDEX"))
}

/// The table that has the index of this name.
fn owner_of(snapshot: &Snapshot, name: &str) -> Option<Arc<TableSchema>> {
    let tables = snapshot.tables();
    let owner = tables.iter().find(|table| table.schema().index_named(name).is_some());
    owner.map(|table| table.schema().clone())
}

/// The places of the columns that an index is over.
fn places(schema: &TableSchema, columns: &[IndexColumn]) -> Result<Vec<usize>> {
    let mut places = Vec::with_capacity(columns.len());
    for IndexColumn { column, operator_class } in columns {
        let expr = match &column.expr {
            Expr::Collate { expr, collation } if is_of_bytes(collation) => expr,
            expr => expr,
        };
        let Expr::Identifier(name) = expr else {
            return Err(unsupported("an index over anything but columns"));
        };
        let place = schema.column_index(&folded(name)).ok_or_else(|| {
            let message = format!("column \"{}\" does not exist", folded(name));
            Error::new(ErrorKind::NotFound, message).because(Reason::UnknownColumn)
        })?;
        let of = schema.columns[place].column_type;
        if let Some(class) = operator_class.as_ref().filter(|class| !is_known_class(of, class)) {
            return Err(unsupported(&format!("operator class {class} of type {of}")));
        }
        if places.contains(&place) {
            let message = format!("column \"{}\" appears twice in an index", folded(name));
            return Err(input(message).because(Reason::DuplicateColumn));
        }
        places.push(place);
    }
    Ok(places)
}

/// Returns true for operator classes by which values are equal that are equal otherwise, too: the order of an index serves
/// lookups alone.
fn is_known_class(of: ColumnType, class: &ObjectName) -> bool {
    let class = class.to_string().to_ascii_lowercase();
    let classes: &[&str] = match of {
        ColumnType::Int16 => &["int2_ops"],
        ColumnType::Int32 => &["int4_ops"],
        ColumnType::Int64 => &["int8_ops"],
        ColumnType::Text | ColumnType::Characters(_) => &[
            "text_ops",
            "text_pattern_ops",
            "varchar_ops",
            "varchar_pattern_ops",
            "bpchar_ops",
            "bpchar_pattern_ops",
        ],
        _ => &[],
    };
    classes.contains(&class.as_str())
}

fn refuse_kinds(create: &CreateIndex) -> Result<()> {
    let what = match create {
        CreateIndex { using: Some(IndexType::BTree | IndexType::Hash) | None, .. } => None,
        CreateIndex { using: Some(other), .. } => Some(format!("an index USING {other}")),
    };
    let what = what.or_else(|| {
        let others = [
            (create.predicate.is_some(), "an index of some rows (WHERE)"),
            (!create.include.is_empty(), "INCLUDE in an index"),
            (!create.with.is_empty(), "WITH in an index"),
            (create.nulls_distinct == Some(false), "NULLS NOT DISTINCT"),
        ];
        others.into_iter().find(|(is, _)| *is).map(|(_, what)| what.to_owned())
    });
    what.map_or(Ok(()), |what| Err(unsupported(&what)))
}

fn refuse_options(unique: &UniqueConstraint) -> Result<()> {
    if unique.nulls_distinct == NullsDistinctOption::NotDistinct {
        return Err(unsupported("NULLS NOT DISTINCT"));
    }
    match &unique.characteristics {
        Some(how) if how.deferrable == Some(true) => {
            Err(unsupported("a constraint that is DEFERRABLE"))
        }
        _ => Ok(()),
    }
}

/// As PostgreSQL names what has no name.
pub(super) fn free_name(
    schema: &TableSchema,
    snapshot: &Snapshot,
    (columns, ending): (&[usize], &str),
) -> String {
    let names = columns.iter().map(|&place| schema.columns[place].name.as_str());
    let base = format!("{}_{}_{ending}", schema.name, names.collect::<Vec<_>>().join("_"));
    let is_free = |name: &String| {
        schema.index_named(name).is_none()
            && owner_of(snapshot, name).is_none()
            && !snapshot.has_relation(name)
    };
    let numbered = (1..).map(|number| format!("{base}{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(is_free).unwrap_or(base)
}
