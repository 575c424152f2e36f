//! Types whose values are not ordered, or not equal, as Arrow compares them.
//!
//! - Arrow compares intervals by their parts: months, then days, then time. Of what SQL says, `1 mon` is `30 days` and
//!   `1 day` is `24:00:00`, and the longer is the greater.
//! - One analyzer rule, the last one, has a *key* of the value compared instead, in all places that compare, order or
//!   group: comparisons, BETWEEN, IN, CASE, joins, DISTINCT, GROUP BY, ORDER BY, windows, `min` and `max`, and the like. What
//!   is given back is the value: of a group, the least of those that are equal.
//! - Values within lists and structures are compared as Arrow does.

mod expressions;
mod functions;
mod relations;

use crate::checked::rewritten;
use datafusion::arrow::datatypes::{DataType, Field, IntervalUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ExprSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;

/// Compares by keys.
#[derive(Debug)]
pub(crate) struct OrderKeys;

impl AnalyzerRule for OrderKeys {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = rewritten(plan, &expressions::by_keys)?;
        let mut is_changed = false;
        let plan = plan.transform_up_with_subqueries(|plan| {
            // What it knows of its input may have changed.
            let plan = if is_changed { plan.recompute_schema()? } else { plan };
            let by_keys = relations::by_keys(&plan)?;
            is_changed |= by_keys.is_some();
            Ok(Transformed::new_transformed(by_keys.unwrap_or(plan), is_changed))
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &'static str {
        "order_keys"
    }
}

/// Orders windows by keys. It runs before type coercion, which refuses a window in the order of what it cannot add to.
#[derive(Debug)]
pub(crate) struct WindowKeys;

impl AnalyzerRule for WindowKeys {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, &expressions::windows_by_keys)
    }

    fn name(&self) -> &'static str {
        "window_keys"
    }
}

/// What values of a type are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// The length of an interval, where a month has 30 days and a day 24 hours.
    Length,
}

impl Key {
    fn of_field(field: &Field) -> Option<Self> {
        match field.data_type() {
            DataType::Interval(IntervalUnit::MonthDayNano) => Some(Self::Length),
            _ => None,
        }
    }

    /// What an expression's values are compared by, if it is something else than they are.
    fn of(expr: &Expr, schema: &DFSchema) -> Result<Option<Self>> {
        match expr {
            Expr::Literal(value, None) if !matches!(value.data_type(), DataType::Interval(_)) => {
                Ok(None)
            }
            Expr::Column(column) => Ok(Self::of_field(schema.field_from_column(column)?)),
            Expr::Alias(alias) => Self::of(&alias.expr, schema),
            expr => Ok(Self::of_field(&expr.to_field(schema)?.1)),
        }
    }
}
