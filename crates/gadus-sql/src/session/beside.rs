//! Tables that an UPDATE or DELETE reads beside the one that it changes: FROM and USING.
//!
//! - A row that several of theirs match is changed once, by whichever comes first.
//! - Where RETURNING may speak of them, their columns are read with the rows, behind marks.

use super::modify::row_ids;
use super::relations::Relation;
use crate::error::unsupported;
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    Ident, JoinConstraint, JoinOperator, SelectItem, TableAlias, TableFactor, TableWithJoins,
};
use gadus_engine::{Error, Result};
use std::collections::HashSet;
use std::sync::Arc;

/// What the mark before a table's columns begins with.
const MARK: &str = "gadus.mark";

/// The tables, and by what names RETURNING may call them.
#[derive(Default)]
pub(super) struct Beside<'a> {
    tables: &'a [TableWithJoins],
    names: Vec<Ident>,
}

impl<'a> Beside<'a> {
    /// Tables behind FROM or USING, for a statement that may have a RETURNING.
    pub(super) fn of(
        tables: Option<&'a Vec<TableWithJoins>>,
        returning: Option<&[SelectItem]>,
    ) -> Result<Self> {
        let tables = tables.map_or(&[][..], Vec::as_slice);
        let mut names = Vec::new();
        if let Some(items) = returning {
            for table in tables {
                add_names(table, &mut names)?;
            }
            let is_all = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_));
            if items.iter().any(is_all) && tables.iter().any(has_merged_columns) {
                return Err(unsupported(
                    "RETURNING * beside a join with USING or NATURAL: name the columns; it",
                ));
            }
        }
        Ok(Self { tables, names })
    }

    pub(super) fn is_none(&self) -> bool {
        self.tables.is_empty()
    }

    /// What follows the changed table behind FROM.
    pub(super) fn text(&self) -> String {
        self.tables.iter().map(|table| format!(", {table}")).collect()
    }

    /// What reads their columns, each table's behind a mark.
    pub(super) fn items(&self) -> impl Iterator<Item = String> {
        let both = |(number, name): (usize, &Ident)| {
            [format!("0 AS \"{MARK}{number}\""), format!("{name}.*")]
        };
        self.names.iter().enumerate().flat_map(both)
    }

    /// Their columns in the rows that were found.
    pub(super) fn relations(
        &self,
        schema: &SchemaRef,
        found: &[RecordBatch],
    ) -> Result<Vec<Relation>> {
        let place = |number: usize| {
            let mark = format!("{MARK}{number}");
            schema.index_of(&mark).map_err(|_| Error::internal("a table's columns have no mark"))
        };
        let mut relations = Vec::with_capacity(self.names.len());
        for (number, name) in self.names.iter().enumerate() {
            let first = place(number)? + 1;
            // Behind the last are the row ids.
            let is_last = number + 1 == self.names.len();
            let end = if is_last { schema.fields().len() - 1 } else { place(number + 1)? };
            let fields = schema.fields()[first..end].to_vec();
            let pieces = found.iter().map(|batch| batch.columns()[first..end].to_vec()).collect();
            relations.push(Relation::new(name.clone(), Arc::new(Schema::new(fields)), pieces));
        }
        Ok(relations)
    }

    /// Each row once.
    pub(super) fn once(&self, found: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
        if self.is_none() {
            return Ok(found);
        }
        let mut seen = HashSet::new();
        let first = |batch: RecordBatch| {
            let is_first = row_ids(&batch)?.into_iter().map(|id| Some(seen.insert(id.to_u64())));
            Ok(filter_record_batch(&batch, &is_first.collect::<BooleanArray>())?)
        };
        found.into_iter().map(first).collect()
    }
}

fn add_names(table: &TableWithJoins, names: &mut Vec<Ident>) -> Result<()> {
    let joined = table.joins.iter().map(|join| &join.relation);
    for factor in std::iter::once(&table.relation).chain(joined) {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                add_names(table_with_joins, names)?;
            }
            TableFactor::Table { alias: Some(TableAlias { name, .. }), .. }
            | TableFactor::Derived { alias: Some(TableAlias { name, .. }), .. }
            | TableFactor::Function { alias: Some(TableAlias { name, .. }), .. }
            | TableFactor::UNNEST { alias: Some(TableAlias { name, .. }), .. } => {
                names.push(name.clone());
            }
            TableFactor::Table { name, alias: None, .. } => {
                let last = name.0.last().and_then(|part| part.as_ident());
                names.extend(last.cloned());
            }
            _ => {
                let message = "RETURNING beside a table without a name: give it one with AS; it";
                return Err(unsupported(message));
            }
        }
    }
    Ok(())
}

/// Whether `*` of a join has fewer columns than its tables.
fn has_merged_columns(table: &TableWithJoins) -> bool {
    let is_merged = |constraint: &JoinConstraint| {
        matches!(constraint, JoinConstraint::Using(_) | JoinConstraint::Natural)
    };
    let nested = |factor: &TableFactor| match factor {
        TableFactor::NestedJoin { table_with_joins, .. } => has_merged_columns(table_with_joins),
        _ => false,
    };
    nested(&table.relation)
        || table.joins.iter().any(|join| {
            let constraint = match &join.join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint) => Some(constraint),
                _ => None,
            };
            constraint.is_some_and(is_merged) || nested(&join.relation)
        })
}
