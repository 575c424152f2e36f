//! Expressions over rows that a statement has in hand: those that it has written, or is about to.
//!
//! - Rows of several relations stand beside each other, the first of each together, and are called as the
//!   statement calls them. What is asked of them leaves in their order.
//! - Subqueries among the expressions read the snapshot that they are given.

use super::Session;
use super::columns::{Headings, name_apart};
use super::modify::folded;
use super::users::HIDDEN_PREFIX;
use crate::error::{from_datafusion, from_parser, input, unsupported};
use crate::memory::Gathered;
use crate::rows::RowStream;
use crate::value::Value;
use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::MemTable;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, Query, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    Statement, WildcardAdditionalOptions,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_engine::{Error, ROW_ID_COLUMN, Result, Snapshot, TableSchema};
use std::sync::Arc;

/// Rows under a name.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) name: Ident,
    schema: SchemaRef,
    /// Columns of rows, several times.
    pieces: Vec<Vec<ArrayRef>>,
}

/// What is asked of rows: expressions of those that a condition lets pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asks<'a> {
    pub(super) items: &'a [SelectItem],
    pub(super) selection: Option<&'a Expr>,
    pub(super) parameters: &'a [Value],
}

impl Relation {
    pub(super) fn new(name: Ident, schema: SchemaRef, pieces: Vec<Vec<ArrayRef>>) -> Self {
        Self { name, schema, pieces }
    }

    /// Whole rows of a table.
    pub(super) fn of_table(name: Ident, table: &TableSchema, pieces: Vec<Vec<ArrayRef>>) -> Self {
        Self { name, schema: table.arrow(), pieces }
    }

    /// For each of its columns the item of a list that gives it.
    fn columns(&self) -> impl Iterator<Item = SelectItem> {
        self.schema.fields().iter().map(|field| {
            let column = Ident::with_quote('"', field.name());
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(vec![self.name.clone(), column]))
        })
    }

    /// Its rows as a table, with their places.
    fn table(&self) -> Result<MemTable> {
        let place = Arc::new(Field::new(ROW_ID_COLUMN, DataType::UInt64, false));
        let fields = self.schema.fields().iter().cloned().chain([place]).collect::<Vec<_>>();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let mut first = 0;
        let mut batches = Vec::with_capacity(self.pieces.len());
        for columns in &self.pieces {
            let rows = columns.first().map_or(0, |column| column.len() as u64);
            let places: ArrayRef = Arc::new(UInt64Array::from_iter_values(first..first + rows));
            let columns = columns.iter().cloned().chain([places]).collect();
            batches.push(RecordBatch::try_new(schema.clone(), columns)?);
            first += rows;
        }
        MemTable::try_new(schema, vec![batches]).map_err(from_datafusion)
    }
}

impl Session {
    /// Evaluates expressions over rows; `*` is all columns of all relations.
    pub(super) async fn evaluate_over(
        &self,
        snapshot: Snapshot,
        relations: &[Relation],
        asks: Asks<'_>,
    ) -> Result<RowStream> {
        let mut frames = (*self.frames()).clone();
        let mut from = Vec::with_capacity(relations.len());
        for (number, relation) in relations.iter().enumerate() {
            let name = format!("{HIDDEN_PREFIX}rows{number}");
            from.push((format!("\"{name}\""), relation.name.clone()));
            frames.insert(name, Arc::new(relation.table()?));
        }
        let mut query = query_over(&from)?;
        if let SetExpr::Select(select) = &mut *query.body {
            select.projection = asks.items.to_vec();
            select.selection = asks.selection.cloned();
        }
        let mut statement = Statement::Query(Box::new(query));
        let mut headings = Headings::of(&statement);
        if headings.has_all() {
            let of_items = Headings::of_items(&statement);
            name_apart(&mut statement);
            headings = Headings::of_each(expand(&mut statement, of_items, relations)?);
        }
        let context = self.planner_with(Arc::new(frames), snapshot, &mut statement).await?;
        let stream = self.stream(&context, statement, asks.parameters).await?;
        let schema = stream.schema();
        // Whatever fails does so before anything is committed.
        let batches = Gathered::new(&self.shared.memory).collect(stream).await?;
        Ok(RowStream::ready(schema, batches).with_headings(&headings))
    }
}

/// A query of relations by their names in a catalog and those by which expressions call them, as yet without
/// a list: rows that stand in the same place are joined.
fn query_over(from: &[(String, Ident)]) -> Result<Query> {
    let Some((_, first)) = from.first() else {
        return Err(Error::internal("expressions over no relation"));
    };
    let mut text = String::new();
    for (name, alias) in from {
        text = match text.is_empty() {
            true => format!("SELECT 1 FROM {name} AS {alias}"),
            false => format!(
                "{text} JOIN {name} AS {alias} ON {alias}.{ROW_ID_COLUMN} = {first}.{ROW_ID_COLUMN}"
            ),
        };
    }
    text = format!("{text} ORDER BY {first}.{ROW_ID_COLUMN}");
    let parsed = Parser::parse_sql(&GenericDialect {}, &text).map_err(|error| from_parser(&error));
    match parsed?.pop() {
        Some(Statement::Query(query)) => Ok(*query),
        _ => Err(Error::internal("a query was expected")),
    }
}

/// Puts the columns in the place of `*`, which has none of what is added to rows in hand; gives their headings.
fn expand(
    statement: &mut Statement,
    of_items: Vec<Option<String>>,
    relations: &[Relation],
) -> Result<Vec<Option<String>>> {
    let Statement::Query(query) = statement else { return Ok(Vec::new()) };
    let SetExpr::Select(select) = &mut *query.body else { return Ok(Vec::new()) };
    let (mut items, mut headings) = (Vec::new(), Vec::new());
    for (item, heading) in std::mem::take(&mut select.projection).into_iter().zip(of_items) {
        let meant = match &item {
            SelectItem::Wildcard(options) => {
                refuse_changed(options)?;
                relations
            }
            SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(name),
                options,
            ) => {
                refuse_changed(options)?;
                let place = relations.iter().position(|relation| is_called(relation, name));
                let place = place.ok_or_else(|| {
                    input(format!("{name}.* names no table that the statement reads or changes"))
                })?;
                &relations[place..=place]
            }
            _ => {
                items.push(item);
                headings.push(heading);
                continue;
            }
        };
        for relation in meant {
            items.extend(relation.columns());
            headings
                .extend(relation.schema.fields().iter().map(|field| Some(field.name().clone())));
        }
    }
    select.projection = items;
    Ok(headings)
}

fn is_called(relation: &Relation, name: &ObjectName) -> bool {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.is_some_and(|last| folded(last) == folded(&relation.name))
}

fn refuse_changed(options: &WildcardAdditionalOptions) -> Result<()> {
    match *options == WildcardAdditionalOptions::default() {
        true => Ok(()),
        false => Err(unsupported("RETURNING with a changed *: name the columns; it")),
    }
}
