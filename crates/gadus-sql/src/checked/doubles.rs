//! Decimals beside doubles become doubles, as in PostgreSQL.
//!
//! - Where one of two values that are compared is a double and the other a decimal, as `1.5` is,
//!   DataFusion makes decimals of both: it then compares digits that the double does not have, and fails at
//!   NaN and at large values. An analyzer rule makes them doubles before.

use super::rewrite::rewritten;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{
    Between, BinaryExpr, Case, Expr, ExprSchemable, LogicalPlan, Operator, cast,
};
use datafusion::optimizer::AnalyzerRule;

/// Makes doubles of decimals beside doubles. It runs before type coercion.
#[derive(Debug)]
pub(crate) struct DoublesBesideDecimals;

impl AnalyzerRule for DoublesBesideDecimals {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, &rewrite)
    }

    fn name(&self) -> &'static str {
        "doubles_beside_decimals"
    }
}

fn rewrite(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let changed = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => {
            become_doubles(vec![left, right], schema)?
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            become_doubles(vec![expr, low, high], schema)?
        }
        Expr::InList(InList { expr, list, .. }) => {
            become_doubles(std::iter::once(&mut **expr).chain(list).collect(), schema)?
        }
        Expr::Case(Case { expr, when_then_expr, else_expr }) => {
            let (mut compared, mut values) = (Vec::new(), Vec::new());
            for (when, then) in when_then_expr {
                compared.push(&mut **when);
                values.push(&mut **then);
            }
            compared.extend(expr.iter_mut().map(|expr| &mut **expr));
            values.extend(else_expr.iter_mut().map(|expr| &mut **expr));
            become_doubles(compared, schema)? | become_doubles(values, schema)?
        }
        _ => false,
    };
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// Makes doubles of decimals where there is a double among values that come to one type; returns whether
/// it did.
fn become_doubles(mut values: Vec<&mut Expr>, schema: &DFSchema) -> Result<bool> {
    // What has no type yet is somebody else's business.
    let types = values.iter().map(|value| value.get_type(schema)).collect::<Result<Vec<_>>>();
    let types = types.unwrap_or_default();
    if !types.iter().any(|one| matches!(one, DataType::Float32 | DataType::Float64)) {
        return Ok(false);
    }
    let mut changed = false;
    for (value, data_type) in values.iter_mut().zip(types) {
        if matches!(data_type, DataType::Decimal128(..) | DataType::Decimal256(..)) {
            **value = as_double(std::mem::take(*value))?;
            changed = true;
        }
    }
    Ok(changed)
}

fn compares(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn as_double(expr: Expr) -> Result<Expr> {
    Ok(match expr {
        Expr::Literal(value, metadata) => {
            Expr::Literal(value.cast_to(&DataType::Float64)?, metadata)
        }
        expr => cast(expr, DataType::Float64),
    })
}
