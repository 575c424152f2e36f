//! Parts of changes: the rows that they are about, with new values, and expressions over rows in hand.
//!
//! - A change is carried out by the session; only what it reads and computes are plans.
//! - Its parts share their columns: RETURNING names those of the rows that were found.

use super::casts::{converted, typed_output};
use super::json::{read_stored, shown_value};
use super::types::{arrow_type, is_numeric};
use super::{Lowering, Result, Tables, column, column_name, missing, relations, shown};
use crate::numerics::{self, NUMERIC};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::Column;
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState as PlannerState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use gadus_binder::bound::{
    ColumnId, ColumnValue, CommonTable, Relational, RowColumns, Scalar, ScalarKind,
};
use gadus_binder::types::SqlType;
use std::sync::Arc;

/// Name of the column with the numbers of rows; others are called by theirs.
pub(crate) const ROW_COLUMN: &str = "row";

/// Lowers the parts of one change.
pub(crate) struct ChangeLowering<'a>(Lowering<'a>);

impl<'a> ChangeLowering<'a> {
    pub(crate) fn new(
        planner: &'a PlannerState,
        tables: &'a Tables,
        parameters: &'a [SqlType],
    ) -> Self {
        Self(Lowering::new(planner, tables, parameters))
    }

    /// Lowers the common tables that the change reads.
    pub(crate) fn common_tables(&mut self, tables: &[CommonTable]) -> Result<()> {
        self.0.common_tables(tables)
    }

    /// Returns the plan of rows to be inserted: the values in their order, each of the type of its column.
    pub(crate) fn new_rows(
        &mut self,
        input: &Relational,
        values: &[ColumnValue],
    ) -> Result<LogicalPlan> {
        let input = self.0.relational(input)?;
        let items = self.values(&input, values)?;
        match items.is_empty() {
            true => missing("a row without values"),
            false => Ok(LogicalPlanBuilder::from(input).project(items)?.build()?),
        }
    }

    /// Returns the plan of rows to be changed: new values, then all columns of the input if they are wanted, then the
    /// numbers of the rows of the table whose columns `old` are.
    pub(crate) fn changed_rows(
        &mut self,
        (input, old): (&Relational, &RowColumns),
        values: &[ColumnValue],
        carries_all: bool,
    ) -> Result<LogicalPlan> {
        self.0.changed = old.first().map(|(_, id)| *id);
        let input = self.0.relational(input)?;
        let mut items = self.values(&input, values)?;
        let row = Expr::Column(Column::new_unqualified(ROW_COLUMN));
        if carries_all {
            let fields = input.schema().fields().iter();
            let columns = fields.filter(|field| field.name() != ROW_COLUMN);
            items.extend(columns.map(|field| {
                let column = Expr::Column(Column::new_unqualified(field.name()));
                match shown_value(column.clone(), field.data_type()) {
                    Some(shown) => shown.alias(field.name()),
                    None => column,
                }
            }));
        }
        items.push(row);
        Ok(LogicalPlanBuilder::from(input).project(items)?.build()?)
    }

    /// Returns the plan of expressions over rows in hand, whose columns are called by their numbers: those of the rows
    /// for which a condition holds, in their order.
    pub(crate) fn over(
        &mut self,
        rows: Arc<dyn TableProvider>,
        columns: &[ColumnId],
        predicate: Option<&Scalar>,
        items: Items<'_>,
    ) -> Result<LogicalPlan> {
        let schema = rows.schema();
        for (id, field) in columns.iter().zip(schema.fields()) {
            let stored = read_stored(field, column(*id));
            self.0.make(*id, stored.map_or_else(|| field.data_type().clone(), |of| of.data_type));
        }
        let scan = LogicalPlanBuilder::scan("rows", provider_as_source(rows), None)?;
        let named = schema.fields().iter().map(|field| {
            let from = Expr::Column(Column::new(Some("rows"), field.name()));
            let value = read_stored(field, from.clone()).map_or(from, |stored| stored.expr);
            value.alias(field.name())
        });
        let mut input = scan.project(named)?.build()?;
        if let Some(predicate) = predicate {
            let predicate = self.0.condition(predicate, input.schema())?;
            input = relations::filtered(input, predicate)?;
        }
        let row = || Expr::Column(Column::new_unqualified(ROW_COLUMN));
        let (mut lowered, outputs) = match items {
            Items::Values(values) => (self.values(&input, values)?, None),
            Items::Columns(items) => (self.0.items(&input, items)?, Some(items)),
        };
        lowered.push(row());
        let rows = LogicalPlanBuilder::from(input).project(lowered)?;
        let Some(outputs) = outputs else { return Ok(rows.build()?) };
        let rows = rows.sort([row().sort(true, false)])?.build()?;
        let mut shown_items = Vec::with_capacity(outputs.len());
        for (id, output) in outputs {
            let field = rows.schema().field_with_unqualified_name(&column_name(*id))?;
            let other = typed_output(column(*id), field, output.data_type)?;
            shown_items.push(other.unwrap_or_else(|| column(*id)));
        }
        shown(LogicalPlanBuilder::from(rows).project(shown_items)?.build()?)
    }

    /// Lowers values to the types of their columns.
    fn values(&mut self, input: &LogicalPlan, values: &[ColumnValue]) -> Result<Vec<Expr>> {
        let value = |(place, value): (usize, &ColumnValue)| {
            if !value.subscripts.is_empty() {
                return missing("an assignment to elements");
            }
            if matches!(value.value.kind, ScalarKind::Default) {
                return missing("DEFAULT");
            }
            let data_type = value.value.data_type;
            let lowered = self.0.scalar(&value.value, input.schema())?;
            let value = match arrow_type(data_type) {
                Some(wanted) => {
                    let value = converted(lowered, wanted, false)?;
                    shown_value(value.expr.clone(), &value.data_type).unwrap_or(value.expr)
                }
                None if is_numeric(data_type) => {
                    numerics::shown(converted(lowered, NUMERIC, false)?.expr)
                }
                None => return missing(format!("type {data_type}")),
            };
            Ok(value.alias(format!("v{place}")))
        };
        values.iter().enumerate().map(value).collect()
    }
}

/// Expressions over rows in hand.
pub(crate) enum Items<'a> {
    /// Values of columns, then the numbers of the rows.
    Values(&'a [ColumnValue]),
    /// Columns as they leave.
    Columns(&'a [(ColumnId, Scalar)]),
}

/// Returns the schema of rows in hand: their columns by their numbers, then the numbers of the rows.
pub(crate) fn schema_in_hand<'a>(
    columns: impl IntoIterator<Item = (ColumnId, &'a Field)>,
) -> SchemaRef {
    let field = |(id, field): (ColumnId, &Field)| {
        field.clone().with_name(column_name(id)).with_nullable(true)
    };
    let columns = columns.into_iter().map(field);
    let row = Field::new(ROW_COLUMN, DataType::UInt64, false);
    Arc::new(Schema::new(columns.chain([row]).collect::<Vec<_>>()))
}

/// Returns the number of the column that a plan calls by it.
pub(crate) fn column_of_name(name: &str) -> Option<ColumnId> {
    Some(ColumnId(name.strip_prefix('c')?.parse().ok()?))
}
