//! What columns get that an INSERT does not give: the value of their DEFAULT.
//!
//! - A value that is the same each time is found once a statement; one that is not, for each row.
//! - The next number of a sequence is taken for all rows of a batch at once, and needs no plan.

use super::Session;
use crate::error::{from_datafusion, input};
use crate::sequences::{Sequences, next_of};
use crate::value::assign_array;
use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::compute::concat;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr as PlannerExpr, LogicalPlan, Volatility};
use datafusion::sql::sqlparser::ast::{Expr, Query, SetExpr, Statement};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use futures::TryStreamExt;
use gadus_engine::{ColumnDefinition, ColumnType, DefaultValue, Result, Snapshot, TableSchema};
use std::sync::Arc;

/// What the columns of a table get that are not given.
pub(super) struct Defaults {
    /// For each column; none where it is given.
    columns: Vec<Option<Filled>>,
}

enum Filled {
    Value(ScalarValue),
    /// The next number of the sequence of a name.
    Numbers(Sequences, String),
    /// An expression that has another value for each row.
    Each(Snapshot, String),
}

/// A DEFAULT, as it is looked at.
pub(super) enum Looked {
    Value(ArrayRef),
    /// The name of the sequence.
    Numbers(String),
    Each,
}

impl Session {
    /// What columns get that are not given, as a statement finds it that begins on this snapshot.
    pub(super) async fn defaults(
        &self,
        snapshot: impl Fn() -> Snapshot,
        schema: &TableSchema,
        given: &[usize],
    ) -> Result<Defaults> {
        let mut columns = Vec::with_capacity(schema.columns.len());
        for (index, column) in schema.columns.iter().enumerate() {
            columns.push(match given.contains(&index) {
                true => None,
                false => Some(self.filled(&snapshot, column).await?),
            });
        }
        Ok(Defaults { columns })
    }

    async fn filled(
        &self,
        snapshot: &impl Fn() -> Snapshot,
        column: &ColumnDefinition,
    ) -> Result<Filled> {
        let Some(DefaultValue(text)) = &column.default else {
            let null = ScalarValue::try_from(column.column_type.arrow());
            return null.map(Filled::Value).map_err(from_datafusion);
        };
        Ok(match self.look_at(snapshot, text).await? {
            Looked::Numbers(name) => Filled::Numbers(self.sequences(snapshot()), name),
            Looked::Each => Filled::Each(snapshot(), text.clone()),
            Looked::Value(value) => {
                let value = assign_array(&value, column.column_type)?;
                Filled::Value(ScalarValue::try_from_array(&value, 0).map_err(from_datafusion)?)
            }
        })
    }

    /// The columns that are not given, for so many rows.
    pub(super) async fn fill(
        &self,
        schema: &TableSchema,
        defaults: &Defaults,
        rows: usize,
    ) -> Result<Vec<Option<ArrayRef>>> {
        let mut arrays = Vec::with_capacity(defaults.columns.len());
        for (column, filled) in schema.columns.iter().zip(&defaults.columns) {
            let array = match filled {
                None => None,
                Some(Filled::Value(value)) => {
                    Some(value.to_array_of_size(rows).map_err(from_datafusion)?)
                }
                Some(Filled::Numbers(sequences, name)) => {
                    let numbers = Int64Array::from(sequences.next(name, rows)?);
                    Some(assign_array(&(Arc::new(numbers) as ArrayRef), column.column_type)?)
                }
                Some(Filled::Each(snapshot, text)) => {
                    let text = format!("{text} FROM range({rows})");
                    let values = self.values(snapshot.clone(), &text).await?;
                    Some(assign_array(&values, column.column_type)?)
                }
            };
            arrays.push(array);
        }
        Ok(arrays)
    }

    /// Refuses a DEFAULT that is no value of its column, when it is made.
    pub(super) async fn check_default(
        &self,
        snapshot: &Snapshot,
        default: &DefaultValue,
        column_type: ColumnType,
    ) -> Result<Looked> {
        let looked = self.look_at(&|| snapshot.clone(), &default.0).await?;
        match &looked {
            Looked::Value(value) => {
                assign_array(value, column_type)?;
            }
            Looked::Numbers(name) => {
                self.sequences(snapshot.clone()).find(name)?;
                let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
                assign_array(&number, column_type)?;
            }
            Looked::Each => {}
        }
        Ok(looked)
    }

    /// The value of a DEFAULT, where it has one that is the same each time.
    async fn look_at(&self, snapshot: &impl Fn() -> Snapshot, text: &str) -> Result<Looked> {
        if let Some(name) = next_of(&expression(text)?) {
            return Ok(Looked::Numbers(name.to_owned()));
        }
        let prepared = super::parse(&format!("SELECT {text}"))?;
        let mut statement = Statement::clone(&prepared.statement);
        let context = self.planner(snapshot(), &mut statement).await?;
        let plan = super::query::plan(&context, statement, &[]).await?;
        if is_volatile(&plan)? {
            return Ok(Looked::Each);
        }
        let stream = self.stream_plan_to_write(&context, &plan).await?;
        let batches: Vec<RecordBatch> = stream.try_collect().await.map_err(from_datafusion)?;
        match batches.iter().find(|batch| batch.num_rows() > 0) {
            Some(batch) if batch.num_columns() == 1 => {
                Ok(Looked::Value(batch.column(0).slice(0, 1)))
            }
            _ => Err(input(format!("{text} is not one value"))),
        }
    }

    /// The values of a query with one column.
    async fn values(&self, snapshot: Snapshot, query: &str) -> Result<ArrayRef> {
        let prepared = super::parse(&format!("SELECT {query}"))?;
        let mut statement = Statement::clone(&prepared.statement);
        let context = self.planner(snapshot, &mut statement).await?;
        let stream = self.stream(&context, statement, &[]).await?;
        let batches: Vec<RecordBatch> = stream.try_collect().await.map_err(from_datafusion)?;
        let columns = batches.iter().map(|batch| &**batch.column(0)).collect::<Vec<_>>();
        Ok(concat(&columns)?)
    }
}

/// Whether an expression of a plan may have another value each time.
fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    let mut is_volatile = false;
    for expr in plan.expressions() {
        let found = expr.apply(|expr| {
            if let PlannerExpr::ScalarFunction(call) = expr {
                is_volatile |= call.func.signature().volatility == Volatility::Volatile;
            }
            Ok(TreeNodeRecursion::Continue)
        });
        found.map_err(from_datafusion)?;
    }
    Ok(is_volatile)
}

/// The expression of a DEFAULT.
pub(crate) fn expression(text: &str) -> Result<Expr> {
    let parser = Parser::new(&GenericDialect {}).try_with_sql(text);
    parser
        .and_then(|mut parser| parser.parse_expr())
        .map_err(|error| crate::error::from_parser(&error))
}

/// Replaces DEFAULT in VALUES by the column's expression.
pub(super) fn expand_defaults(
    source: &mut Query,
    schema: &TableSchema,
    columns: &[usize],
) -> Result<()> {
    let SetExpr::Values(values) = &mut *source.body else { return Ok(()) };
    for row in &mut values.rows {
        for (expr, &column) in row.content.iter_mut().zip(columns) {
            let Expr::Identifier(word) = expr else { continue };
            if super::modify::is_default(word) {
                let text = schema.columns[column].default.as_ref();
                *expr = expression(text.map_or("NULL", |default| default.0.as_str()))?;
            }
        }
    }
    Ok(())
}
