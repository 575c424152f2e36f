//! Types whose values are not ordered, or not equal, as Arrow compares them.
//!
//! - Arrow compares intervals by their parts: months, then days, then time. Of what SQL says, `1 mon` is `30 days` and
//!   `1 day` is `24:00:00`, and the longer is the greater. Labels of an enumeration it compares as texts.
//! - One analyzer rule, the last one, has a *key* of the value compared instead, in all places that compare, order or
//!   group: comparisons, BETWEEN, IN, CASE, joins, DISTINCT, GROUP BY, ORDER BY, windows, `min` and `max`, and the like. What
//!   is given back is the value: of a group, the least of those that are equal.
//! - Values within lists and structures are compared as Arrow does.

mod calls;
mod expressions;
mod functions;
mod relations;

pub(crate) use calls::given_by_keys;
pub(crate) use expressions::windows_by_keys;
pub(crate) use functions::lengths;

use crate::checked::rewritten_with_nodes;
use crate::value::is_text;
use datafusion::arrow::datatypes::{DataType, Field, IntervalUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, ExprSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use gadus_engine::Enum;

/// Compares by keys.
#[derive(Debug)]
pub(crate) struct OrderKeys;

impl AnalyzerRule for OrderKeys {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten_with_nodes(plan, &expressions::by_keys, &relations::by_keys)
    }

    fn name(&self) -> &'static str {
        "order_keys"
    }
}

/// What values of a type are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// The length of an interval, where a month has 30 days and a day 24 hours.
    Length,
    /// The place of a label among those of its enumeration.
    Place(&'static Enum),
}

impl Key {
    fn of_field(field: &Field) -> Option<Self> {
        match field.data_type() {
            DataType::Interval(IntervalUnit::MonthDayNano) => Some(Self::Length),
            text if is_text(text) => Enum::of_field(field).map(Self::Place),
            _ => None,
        }
    }

    /// Whether values are equal whose keys are, and only those, though they are not the same for Arrow.
    fn decides_equality(self) -> bool {
        matches!(self, Self::Length)
    }

    /// What tells whether an expression's values are equal, if it is something else than they are.
    fn of_equality(expr: &Expr, schema: &DFSchema) -> Result<Option<Self>> {
        Ok(Self::of(expr, schema)?.filter(|key| key.decides_equality()))
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
