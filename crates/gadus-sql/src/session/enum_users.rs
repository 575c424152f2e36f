//! What depends on an enumeration: columns, views, and texts of tables that name it.

use super::alter::drop_columns;
use super::defaults::expression;
use super::views::drop_readers;
use crate::enums::{each_type, is_named};
use datafusion::sql::sqlparser::ast::{DataType, Ident, ObjectName, Statement, VisitMut};
use gadus_engine::{
    ColumnType, Enum, Error, Result, Snapshot, TableSchema, Transaction, ViewSchema,
    schema_and_name,
};
use std::sync::Arc;

/// What depends on an enumeration.
pub(super) enum User {
    /// A column of a table, by its number.
    Column(Arc<TableSchema>, u32),
    /// A view that gives values of it, or names it.
    View(Arc<ViewSchema>),
    /// A default, a condition or a generated column of a table that names it.
    Text { table: Arc<TableSchema>, what: String },
}

impl User {
    fn shown(&self) -> String {
        match self {
            Self::Column(table, id) => {
                let place = table.column_with_id(*id);
                let column = place.map_or("", |place| &table.columns[place].name);
                format!("column {column} of table {}", table.name)
            }
            Self::View(view) => format!("view {}", view.name),
            Self::Text { table, what } => format!("{what} of table {}", table.name),
        }
    }

    /// Drops a column or a view, with what depends on it.
    pub(super) fn drop(&self, transaction: &mut Transaction) -> Result<()> {
        match self {
            Self::Column(table, id) => {
                // As those before have left it.
                let snapshot = transaction.snapshot();
                let Some(now) = snapshot.table_by_id(table.id) else { return Ok(()) };
                let now = now.schema().clone();
                drop(snapshot);
                let Some(place) = now.column_with_id(*id) else { return Ok(()) };
                let name = Ident::with_quote('"', &now.columns[place].name);
                drop_columns(transaction, &now, &[name], (false, true))
            }
            Self::View(view) => match transaction.snapshot().view_by_id(view.id) {
                None => Ok(()),
                Some(view) => {
                    drop_readers(transaction, view.id)?;
                    transaction.drop_view(&view.name)
                }
            },
            Self::Text { .. } => Ok(()),
        }
    }
}

/// The names of what depends.
pub(super) fn shown(users: &[User]) -> String {
    let mut shown = users.iter().map(User::shown).collect::<Vec<_>>();
    shown.dedup();
    shown.join(", ")
}

/// The columns of an enumeration, and the views that give values of it.
pub(super) fn users(snapshot: &Snapshot, name: &str) -> Vec<User> {
    let mut users = Vec::new();
    for id in snapshot.users_of_enum(name) {
        if let Some(table) = snapshot.table_by_id(id) {
            let table = table.schema();
            let columns = table.columns.iter().filter(|column| is_of(column.column_type, name));
            users.extend(columns.map(|column| User::Column(table.clone(), column.id)));
        } else if let Some(view) = snapshot.view_by_id(id) {
            users.push(User::View(view));
        }
    }
    users
}

fn is_of(column_type: ColumnType, name: &str) -> bool {
    matches!(column_type, ColumnType::Enum(of) if of.name() == name)
}

/// The texts of tables and views that name a type. Bodies of functions are only looked at when they are called, as in
/// PostgreSQL.
pub(super) fn texts(snapshot: &Snapshot, name: &str) -> Result<Vec<User>> {
    let mut found = Vec::new();
    for table in snapshot.tables() {
        let table = table.schema();
        let mut look = |text: &str, what: String| {
            if text_with_type(text, (name, None))?.is_some() {
                found.push(User::Text { table: table.clone(), what });
            }
            Ok::<_, Error>(())
        };
        for column in &table.columns {
            if let Some(default) = &column.default {
                look(&default.0, format!("default of column {}", column.name))?;
            }
            if let Some(generated) = &column.generated {
                look(&generated.expression, format!("generated column {}", column.name))?;
            }
        }
        for check in &table.checks {
            look(&check.condition, format!("constraint {}", check.name))?;
        }
    }
    for view in snapshot.views() {
        if query_with_type(&view.query, (name, None))?.is_some() {
            found.push(User::View(view.clone()));
        }
    }
    Ok(found)
}

/// Gives columns of a type another: one of more labels, or the same of another name.
pub(super) fn change_users(
    transaction: &mut Transaction,
    name: &str,
    new: &'static Enum,
) -> Result<()> {
    let snapshot = transaction.snapshot();
    let ids = snapshot.users_of_enum(name).collect::<Vec<_>>();
    drop(snapshot);
    let is_it = |of: ColumnType| is_of(of, name);
    for id in ids {
        let snapshot = transaction.snapshot();
        if let Some(table) = snapshot.table_by_id(id) {
            let mut after = TableSchema::clone(table.schema());
            drop((table, snapshot));
            let columns = after.columns.iter_mut().filter(|column| is_it(column.column_type));
            columns.for_each(|column| column.column_type = ColumnType::Enum(new));
            transaction.alter_table(&after, &[])?;
        } else if let Some(view) = snapshot.view_by_id(id) {
            let mut after = ViewSchema::clone(&view);
            drop(snapshot);
            for column in after.columns.iter_mut().filter(|one| one.column_type.is_some_and(is_it))
            {
                column.column_type = Some(ColumnType::Enum(new));
            }
            transaction.create_view(&after, true)?;
        }
    }
    Ok(())
}

/// Calls a type by another name wherever a text of a table or a view names it.
pub(super) fn rename_in_texts(
    transaction: &mut Transaction,
    of: &Enum,
    new: &'static Enum,
) -> Result<()> {
    let names = (of.name(), Some(new));
    for text in texts(&transaction.snapshot(), of.name())? {
        match text {
            User::Text { table, .. } => {
                // One of several of the same table may have renamed all of them.
                let now = transaction.snapshot().table_by_id(table.id);
                let Some(now) = now.map(|now| now.schema().clone()) else { continue };
                let mut after = TableSchema::clone(&now);
                let defaults = after.columns.iter_mut().map(|column| {
                    let default = column.default.as_mut().map(|default| &mut default.0);
                    let generated = column.generated.as_mut().map(|one| &mut one.expression);
                    default.into_iter().chain(generated)
                });
                let checks = after.checks.iter_mut().map(|check| &mut check.condition);
                for text in defaults.flatten().chain(checks) {
                    if let Some(renamed) = text_with_type(text, names)? {
                        *text = renamed;
                    }
                }
                if after != *now {
                    transaction.alter_table(&after, &[])?;
                }
            }
            User::Column(..) => {}
            User::View(view) => {
                let Some(query) = query_with_type(&view.query, names)? else { continue };
                let after = ViewSchema { query, ..ViewSchema::clone(&view) };
                transaction.create_view(&after, true)?;
            }
        }
    }
    Ok(())
}

/// The text of an expression in which a type has another name, where one is given; none where it does not name it.
fn text_with_type(text: &str, names: (&str, Option<&Enum>)) -> Result<Option<String>> {
    let mut expr = expression(text)?;
    Ok(with_type(&mut expr, names)?.then(|| expr.to_string()))
}

/// The same of a query.
fn query_with_type(text: &str, names: (&str, Option<&Enum>)) -> Result<Option<String>> {
    let mut statement = Statement::clone(super::parse(text)?.statement());
    Ok(with_type(&mut statement, names)?.then(|| statement.to_string()))
}

fn with_type(part: &mut impl VisitMut, (name, new): (&str, Option<&Enum>)) -> Result<bool> {
    let mut names_it = false;
    each_type(part, |data_type| {
        if is_named(data_type, name) {
            names_it = true;
            if let Some(new) = new {
                *data_type = DataType::Custom(object_name(new), Vec::new());
            }
        }
        Ok(())
    })?;
    Ok(names_it)
}

/// The name of a type as statements write it.
fn object_name(of: &Enum) -> ObjectName {
    let (schema, name) = schema_and_name(of.name());
    let parts = schema.into_iter().chain([name]);
    ObjectName::from(parts.map(|part| Ident::with_quote('"', part)).collect::<Vec<_>>())
}
