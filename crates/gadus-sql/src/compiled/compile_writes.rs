//! INSERT, UPDATE and DELETE, from their parse trees.

use super::compile::{column, filter, key_operands, named, operand, target};
use super::modify::ModifyQuery;
use super::point::{Assigned, Insert, PointDelete, PointUpdate, Source};
use super::{Compiled, Operand};
use crate::sequences::next_of;
use crate::session::{column_index, expression, target_columns};
use datafusion::sql::sqlparser::ast::{
    self, AssignmentTarget, BinaryOperator, Delete, Expr, FromTable, SetExpr, TableObject, Update,
};
use gadus_engine::{
    ColumnDefinition, ColumnType, Datum, DefaultValue, Identity, Snapshot, TableSchema,
};

pub(super) fn insert_rows(insert: &ast::Insert, snapshot: &Snapshot) -> Option<Compiled> {
    let plain = insert.or.is_none()
        && !insert.ignore
        && insert.table_alias.is_none()
        && !insert.overwrite
        && insert.assignments.is_empty()
        && insert.partitioned.is_none()
        && insert.after_columns.is_empty()
        && insert.on.is_none()
        && insert.returning.is_none()
        && insert.settings.is_none();
    let TableObject::TableName(name) = &insert.table else { return None };
    let query = insert.source.as_ref().filter(|_| plain)?;
    let bare = query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none();
    let SetExpr::Values(values) = &*query.body else { return None };
    let target = named(name, snapshot).filter(|_| bare)?;
    let is_computed = |column: &ColumnDefinition| column.generated.is_some();
    if !target.schema.checks.is_empty() || target.schema.columns.iter().any(is_computed) {
        return None;
    }
    let mut columns = target_columns(&target.schema, &insert.columns).ok()?;
    if insert.columns.is_empty() {
        // The first ones.
        columns.truncate(values.rows.first()?.content.len());
    }
    // What may not be given is refused elsewhere.
    if columns.iter().any(|column| is_generated(&target.schema, *column)) {
        return None;
    }
    let sources = sources(&target.schema, &columns)?;
    let mut rows = Vec::with_capacity(values.rows.len());
    for row in &values.rows {
        if row.content.len() != columns.len() {
            return None;
        }
        rows.push(row.content.iter().map(operand).collect::<Option<Vec<_>>>()?);
    }
    Some(Compiled::Insert(Insert::new(target, sources, rows)))
}

pub(super) fn update_rows(update: &Update, snapshot: &Snapshot) -> Option<Compiled> {
    let plain = update.from.is_none()
        && update.returning.is_none()
        && update.or.is_none()
        && update.order_by.is_empty()
        && update.limit.is_none();
    let target = target(&update.table, snapshot).filter(|_| plain)?;
    let selection = update.selection.as_ref()?;
    let mut assigned = Vec::new();
    for assignment in &update.assignments {
        let AssignmentTarget::ColumnName(name) = &assignment.target else { return None };
        let column = column_index(&target.schema, name).ok()?;
        if target.schema.is_indexed(column)
            || is_checked(&target.schema, column)
            || is_generated(&target.schema, column)
            || assigned.iter().any(|known: &Assigned| known.column() == column)
        {
            return None;
        }
        assigned.push(match operand(&assignment.value) {
            Some(operand) => Assigned::Value { column, operand },
            None => step(&assignment.value, column, &target.schema)?,
        });
    }
    Some(match key_operands(selection, &target.schema) {
        Some(key) => Compiled::Update(PointUpdate { target, key, assigned }),
        None => {
            let filter = filter(Some(selection), &target.schema)?;
            Compiled::Modify(ModifyQuery::update(target, filter, assigned))
        }
    })
}

/// What all columns get where some are given, and the sequences among it; none where a DEFAULT is to be evaluated.
fn sources(schema: &TableSchema, given: &[usize]) -> Option<(Vec<Source>, Vec<String>)> {
    let mut sequences = Vec::new();
    let source = |(place, column): (usize, &ColumnDefinition)| {
        if let Some(given) = given.iter().position(|&given| given == place) {
            return Some(Source::Given(given));
        }
        let Some(DefaultValue(text)) = &column.default else {
            return Some(Source::Default(Datum::Null));
        };
        let default = expression(text).ok()?;
        if let Some(name) = next_of(&default) {
            sequences.push(name.to_owned());
            return Some(Source::Numbers(sequences.len() - 1));
        }
        match operand(&default)? {
            Operand::Literal(value) => value.assign(column.column_type).ok().map(Source::Default),
            Operand::Parameter { .. } => None,
        }
    };
    let sources = schema.columns.iter().enumerate().map(source).collect::<Option<_>>()?;
    Some((sources, sequences))
}

/// Whether a column may be given no values.
fn is_generated(schema: &TableSchema, column: usize) -> bool {
    let column = &schema.columns[column];
    column.identity == Some(Identity::Always) || column.generated.is_some()
}

/// Whether a condition of the table, or what it generates, is about a column.
fn is_checked(schema: &TableSchema, column: usize) -> bool {
    let id = schema.columns[column].id;
    schema.checks.iter().any(|check| check.columns.contains(&id))
        || schema.generated_from(id).next().is_some()
}

/// `column = column + operand`, or minus, on a 64-bit integer.
fn step(value: &Expr, assigned: usize, schema: &TableSchema) -> Option<Assigned> {
    let Expr::BinaryOp { left, op, right } = value else { return None };
    let subtract = match op {
        BinaryOperator::Plus => false,
        BinaryOperator::Minus => true,
        _ => return None,
    };
    let source = column(left, schema)?;
    let is_integer = |column: usize| schema.columns[column].column_type == ColumnType::Int64;
    if !is_integer(source) || !is_integer(assigned) {
        return None;
    }
    Some(Assigned::Step { column: assigned, source, operand: operand(right)?, subtract })
}

pub(super) fn delete_rows(delete: &Delete, snapshot: &Snapshot) -> Option<Compiled> {
    let plain = delete.tables.is_empty()
        && delete.using.is_none()
        && delete.returning.is_none()
        && delete.order_by.is_empty()
        && delete.limit.is_none();
    let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
    let [table] = tables.as_slice() else { return None };
    let target = target(table, snapshot).filter(|_| plain)?;
    if !target.schema.referenced_by.is_empty() {
        return None;
    }
    let selection = delete.selection.as_ref()?;
    Some(match key_operands(selection, &target.schema) {
        Some(key) => Compiled::Delete(PointDelete { target, key }),
        None => {
            let filter = filter(Some(selection), &target.schema)?;
            Compiled::Modify(ModifyQuery::delete(target, filter))
        }
    })
}
