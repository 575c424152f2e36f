//! FOREIGN KEY constraints, as statements define and drop them.
//!
//! - An index is over the columns of each, so that rows which refer to one that goes are found by it: one that is
//!   there already, or one that comes and goes with the constraint.
//! - What rows they let pass the engine says, when each statement ends.

use super::Session;
use super::alter::quoted;
use super::checks::{constraint_name, violated};
use super::indexes::free_name;
use super::modify::{folded, target};
use crate::error::{input, unsupported};
use datafusion::sql::sqlparser::ast::{
    ColumnDef, ColumnOption, ConstraintReferenceMatchKind, CreateTable, ForeignKeyConstraint,
    Ident, ReferentialAction as Action, TableConstraint,
};
use gadus_base::TableId;
use gadus_engine::{
    ColumnType, Error, ErrorKind, ForeignKey, Reason, ReferentialAction, Result, Snapshot,
    TableSchema, Transaction, is_temporary, schema_and_name,
};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Session {
    /// Ends a statement that has changed rows: carries out and checks what foreign keys say.
    pub(super) async fn settle(&self, transaction: &mut Transaction) -> Result<()> {
        let flag = self.cancel.current();
        let go_on = || if flag.is_set() { Err(flag.reason()) } else { Ok(()) };
        for schema in transaction.settle_references(&go_on)? {
            let changed = schema.foreign_keys.iter().flat_map(|key| &key.columns);
            let changed = changed.collect::<BTreeSet<_>>();
            for check in &schema.checks {
                let is_touched = check.columns.iter().any(|column| changed.contains(column));
                let is_broken = format!("NOT ({})", check.condition);
                if is_touched && self.has_row(transaction, &schema, &is_broken).await? {
                    return Err(violated(&schema.name, &check.name));
                }
            }
        }
        Ok(())
    }

    /// Adds constraints to a table that is there.
    pub(super) async fn add_foreign_keys(
        &self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        constraints: &[ForeignKeyConstraint],
    ) -> Result<()> {
        if constraints.is_empty() {
            return Ok(());
        }
        let mut after = TableSchema::clone(schema);
        for constraint in constraints {
            add_to(&mut after, &transaction.snapshot(), constraint)?;
        }
        for key in after.foreign_keys.iter().skip(schema.foreign_keys.len()) {
            let referenced = transaction.snapshot().table_by_id(key.table);
            let referenced = referenced.ok_or_else(|| Error::internal("a table that was found"))?;
            // Both stay as they are until the constraint is there.
            transaction.keep_rows(schema)?;
            transaction.keep_rows(referenced.schema())?;
            let missing = missing_in((schema, key), referenced.schema());
            if self.has_rows(transaction, &missing).await? {
                let (table, name) = (&schema.name, &key.name);
                let message = format!(
                    "insert or update on table \"{table}\" violates foreign key constraint \
                     \"{name}\": some row refers to what is not present in table \"{}\"",
                    referenced.schema().name
                );
                return Err(Error::new(ErrorKind::ForeignKeyViolation, message));
            }
        }
        self.reshape_indexed(transaction, schema, after).await
    }
}

/// The query of a row that refers to what is not there. Its tables have names that no column has.
fn missing_in((schema, key): (&TableSchema, &ForeignKey), referenced: &TableSchema) -> String {
    let name = |schema: &TableSchema, id: u32| {
        let place = schema.column_with_id(id);
        place.map_or_else(String::new, |place| quoted(&schema.columns[place].name))
    };
    let own = |id: &u32| format!("\"gadus.referring\".{}", name(schema, *id));
    let there = |id: &u32| format!("\"gadus.referenced\".{}", name(referenced, *id));
    let are_given = key.columns.iter().map(|id| format!("{} IS NOT NULL", own(id)));
    let both = key.columns.iter().zip(&key.referenced);
    let are_equal = both.map(|(id, other)| format!("{} = {}", there(other), own(id)));
    format!(
        "SELECT 1 FROM {} AS \"gadus.referring\" WHERE {} AND NOT EXISTS \
         (SELECT 1 FROM {} AS \"gadus.referenced\" WHERE {}) LIMIT 1",
        quoted(&schema.name),
        are_given.collect::<Vec<_>>().join(" AND "),
        quoted(&referenced.name),
        are_equal.collect::<Vec<_>>().join(" AND ")
    )
}

/// The constraints behind a column.
pub(super) fn of_column(column: &ColumnDef) -> Vec<ForeignKeyConstraint> {
    let of_option = |option: &datafusion::sql::sqlparser::ast::ColumnOptionDef| {
        let ColumnOption::ForeignKey(key) = &option.option else { return None };
        let name = key.name.clone().or_else(|| option.name.clone());
        Some(ForeignKeyConstraint { name, columns: vec![column.name.clone()], ..key.clone() })
    };
    column.options.iter().filter_map(of_option).collect()
}

/// The constraints behind the columns of a table and beside them.
pub(super) fn of_table(create: &CreateTable) -> Vec<ForeignKeyConstraint> {
    let of_columns = create.columns.iter().flat_map(of_column);
    let beside = create.constraints.iter().filter_map(|constraint| match constraint {
        TableConstraint::ForeignKey(key) => Some(key.clone()),
        _ => None,
    });
    of_columns.chain(beside).collect()
}

/// Gives a schema a constraint, and an index for it where it has none.
pub(super) fn add_to(
    schema: &mut TableSchema,
    snapshot: &Snapshot,
    constraint: &ForeignKeyConstraint,
) -> Result<()> {
    let key = foreign_key(schema, snapshot, constraint)?;
    schema.foreign_keys.push(key);
    index_all(schema, snapshot);
    Ok(())
}

/// Gives a schema an index for each constraint that has none.
pub(super) fn index_all(schema: &mut TableSchema, snapshot: &Snapshot) {
    for columns in schema.foreign_keys.iter().map(|key| key.columns.clone()).collect::<Vec<_>>() {
        if schema.index_over(&columns).is_none() {
            let places = columns.iter().filter_map(|id| schema.column_with_id(*id));
            let places = places.collect::<Vec<_>>();
            let name = free_name(schema, snapshot, (&places, "idx"));
            schema.add_index(&name, &places, (false, true));
        }
    }
}

fn foreign_key(
    schema: &TableSchema,
    snapshot: &Snapshot,
    constraint: &ForeignKeyConstraint,
) -> Result<ForeignKey> {
    refuse_options(constraint)?;
    let name = super::table_name(&constraint.foreign_table)?;
    let other;
    // In another schema a table may be called by its name alone while it is made.
    let is_own = name == schema.name
        || (name == schema_and_name(&schema.name).1 && !snapshot.has_relation(&name));
    let referenced = match is_own {
        true => schema,
        false => {
            other = target(snapshot, &constraint.foreign_table)?;
            &*other
        }
    };
    if is_temporary(&schema.name) != is_temporary(&referenced.name) {
        let message = "constraints on temporary tables may reference only temporary tables, and others only others";
        return Err(input(message).because(Reason::InvalidForeignKey));
    }
    let columns = places(schema, &constraint.columns)?;
    let wanted = match constraint.referred_columns.as_slice() {
        [] if referenced.key.is_empty() => {
            let message = format!("there is no primary key for referenced table \"{name}\"");
            return Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownObject));
        }
        [] => referenced.key.clone(),
        names => places(referenced, names)?,
    };
    if columns.len() != wanted.len() {
        let message = "number of referencing and referenced columns for foreign key disagree";
        return Err(input(message).because(Reason::InvalidForeignKey));
    }
    let is_key = |key: &&(u32, Vec<usize>)| {
        key.1.len() == wanted.len() && key.1.iter().all(|place| wanted.contains(place))
    };
    let keys = referenced.unique_keys();
    let Some((_, in_order)) = keys.iter().find(is_key) else {
        let message = format!(
            "there is no unique constraint matching given keys for referenced table \"{name}\""
        );
        return Err(input(message).because(Reason::InvalidForeignKey));
    };
    for (own, other) in columns.iter().zip(&wanted) {
        let (own, other) = (&schema.columns[*own], &referenced.columns[*other]);
        if let (ColumnType::Enum(of), ColumnType::Enum(to)) = (own.column_type, other.column_type)
            && of.name() != to.name()
        {
            let message = format!(
                "key columns \"{}\" and \"{}\" are of incompatible types: {of} and {to}",
                own.name, other.name
            );
            return Err(input(message).because(Reason::TypeMismatch));
        }
    }
    // In the order of the key.
    let beside = |place: &usize| wanted.iter().position(|wanted| wanted == place);
    let own = in_order.iter().filter_map(|place| Some(columns[beside(place)?]));
    Ok(ForeignKey {
        name: constraint_name(schema, constraint.name.as_ref(), &usual_name(schema, &columns))?,
        columns: own.map(|place| schema.columns[place].id).collect(),
        table: referenced.id,
        referenced: in_order.iter().map(|&place| referenced.columns[place].id).collect(),
        on_delete: action(constraint.on_delete)?,
        on_update: action(constraint.on_update)?,
    })
}

/// As PostgreSQL names what has no name.
fn usual_name(schema: &TableSchema, columns: &[usize]) -> String {
    let names = columns.iter().map(|&place| schema.columns[place].name.as_str());
    format!("{}_{}_fkey", schema_and_name(&schema.name).1, names.collect::<Vec<_>>().join("_"))
}

fn places(schema: &TableSchema, names: &[Ident]) -> Result<Vec<usize>> {
    let mut places = Vec::with_capacity(names.len());
    for name in names.iter().map(folded) {
        let place = schema.column_index(&name).ok_or_else(|| {
            let message = format!(
                "column \"{name}\" of relation \"{}\" referenced in foreign key constraint does not \
                 exist",
                schema.name
            );
            Error::new(ErrorKind::NotFound, message).because(Reason::UnknownColumn)
        })?;
        if places.contains(&place) {
            let message = format!("column \"{name}\" appears twice in a foreign key constraint");
            return Err(input(message).because(Reason::InvalidForeignKey));
        }
        places.push(place);
    }
    Ok(places)
}

fn refuse_options(constraint: &ForeignKeyConstraint) -> Result<()> {
    let how = constraint.characteristics.as_ref();
    let what = match &constraint.match_kind {
        // Of one column it is the same as MATCH SIMPLE.
        Some(ConstraintReferenceMatchKind::Full) if constraint.columns.len() > 1 => {
            Some("MATCH FULL of several columns")
        }
        Some(ConstraintReferenceMatchKind::Partial) => Some("MATCH PARTIAL"),
        Some(ConstraintReferenceMatchKind::Full | ConstraintReferenceMatchKind::Simple) | None => {
            None
        }
    };
    let what = what.or_else(|| {
        let is_deferrable = how.is_some_and(|how| how.deferrable == Some(true));
        is_deferrable.then_some("a constraint that is DEFERRABLE")
    });
    let what = what.or_else(|| {
        let is_ignored = how.is_some_and(|how| how.enforced == Some(false));
        is_ignored.then_some("a foreign key that is NOT ENFORCED")
    });
    what.map_or(Ok(()), |what| Err(unsupported(what)))
}

fn action(action: Option<Action>) -> Result<ReferentialAction> {
    match action {
        None | Some(Action::NoAction) => Ok(ReferentialAction::NoAction),
        Some(Action::Restrict) => Ok(ReferentialAction::Restrict),
        Some(Action::Cascade) => Ok(ReferentialAction::Cascade),
        Some(Action::SetNull) => Ok(ReferentialAction::SetNull),
        Some(Action::SetDefault) => Err(unsupported("SET DEFAULT of a foreign key")),
    }
}

/// Takes constraints from a schema, and the indexes that came with them.
pub(super) fn remove_from(schema: &mut TableSchema, is_gone: impl Fn(&ForeignKey) -> bool) {
    schema.foreign_keys.retain(|key| !is_gone(key));
    let keys = schema.foreign_keys.clone();
    schema.indexes.retain(|index| {
        index.unique || !index.constraint || keys.iter().any(|key| key.columns == index.columns)
    });
}

/// Takes from other tables the constraints that refer to some of a table.
pub(super) fn drop_referring(
    transaction: &mut Transaction,
    table: TableId,
    is_gone: impl Fn(&TableSchema, &ForeignKey) -> bool,
) -> Result<()> {
    let snapshot = transaction.snapshot();
    let referring = snapshot.table_by_id(table).map(|table| table.schema().referenced_by.clone());
    for other in referring.unwrap_or_default().into_iter().filter(|other| *other != table) {
        let Some(other) = snapshot.table_by_id(other) else { continue };
        let schema = other.schema();
        if schema.references_to(table).any(|key| is_gone(schema, key)) {
            let mut after = TableSchema::clone(schema);
            remove_from(&mut after, |key| key.table == table && is_gone(schema, key));
            transaction.alter_table(&after, &[])?;
        }
    }
    Ok(())
}

/// Takes from a shape, and from other tables, the constraints that refer to what the shape has no more.
pub(super) fn drop_dangling(transaction: &mut Transaction, after: &mut TableSchema) -> Result<()> {
    let own = after.references_to(after.id);
    let own = own.filter(|key| after.unique_over(&key.referenced).is_none());
    let own = own.map(|key| key.name.clone()).collect::<Vec<_>>();
    remove_from(after, |key| own.contains(&key.name));
    let is_gone = |_: &TableSchema, key: &ForeignKey| after.unique_over(&key.referenced).is_none();
    drop_referring(transaction, after.id, is_gone)
}

/// A constraint as statements say it.
pub fn foreign_key_definition(
    snapshot: &Snapshot,
    schema: &TableSchema,
    key: &ForeignKey,
) -> String {
    let names = |schema: &TableSchema, columns: &[u32]| {
        let places = columns.iter().filter_map(|id| schema.column_with_id(*id));
        let names = places.map(|place| crate::postgres::quoted(&schema.columns[place].name));
        names.collect::<Vec<_>>().join(", ")
    };
    let other = snapshot.table_by_id(key.table);
    let other = other.as_ref().map_or(schema, |other| other.schema());
    let mut text = format!(
        "FOREIGN KEY ({}) REFERENCES {}({})",
        names(schema, &key.columns),
        crate::postgres::quoted(&other.name),
        names(other, &key.referenced)
    );
    for (when, action) in [("ON UPDATE", key.on_update), ("ON DELETE", key.on_delete)] {
        let action = match action {
            ReferentialAction::NoAction => continue,
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
        };
        text = format!("{text} {when} {action}");
    }
    text
}
