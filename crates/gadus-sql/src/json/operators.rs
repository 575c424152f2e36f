//! The operators of JSON as calls of functions.

use super::functions::part;
use crate::lists::list_elements;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, lit};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use datafusion_functions_json::udfs::json_as_text_udf;

/// `->` and `#>`, which give documents, and `->>` and `#>>`, which give texts. `?` is a parameter.
#[derive(Debug)]
pub(crate) struct JsonOperators;

impl ExprPlanner for JsonOperators {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        _: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let function = match expr.op {
            BinaryOperator::Arrow | BinaryOperator::HashArrow => part(),
            BinaryOperator::LongArrow | BinaryOperator::HashLongArrow => json_as_text_udf(),
            _ => return Ok(PlannerResult::Original(expr)),
        };
        let is_path = matches!(expr.op, BinaryOperator::HashArrow | BinaryOperator::HashLongArrow);
        let steps = if is_path { steps(&expr.right) } else { None };
        let mut arguments = vec![expr.left];
        arguments.extend(steps.unwrap_or_else(|| vec![expr.right]));
        let call = ScalarFunction::new_udf(function, arguments);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
    }
}

/// The steps of a path that is written as PostgreSQL writes lists: numbers are places in arrays.
fn steps(path: &Expr) -> Option<Vec<Expr>> {
    let Expr::Literal(value, _) = path else { return None };
    let step = |step: Option<String>| {
        let step = step?;
        Some(step.parse::<i64>().map_or_else(|_| lit(step.as_str()), lit))
    };
    list_elements(value.try_as_str()??)?.into_iter().map(step).collect()
}
