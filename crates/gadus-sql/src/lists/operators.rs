//! Operators beside lists, structures and maps: `&&`, and texts that stand beside them as literals, which mean what
//! columns take them for.

use crate::checked::peers;
use crate::value::is_text;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::functions_nested::array_has::array_has_any_udf;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, cast};
use datafusion::sql::sqlparser::ast::BinaryOperator;

/// What DataFusion asks while it reads a statement.
#[derive(Debug)]
pub(crate) struct ListOperators;

impl ExprPlanner for ListOperators {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator::{ArrowAt, AtArrow, Eq, Gt, GtEq, Lt, LtEq, NotEq, PGOverlap};
        let RawBinaryExpr { op, mut left, mut right } = expr;
        if matches!(op, ArrowAt | AtArrow | Eq | Gt | GtEq | Lt | LtEq | NotEq | PGOverlap) {
            mean(vec![&mut left, &mut right], schema);
        }
        if op != PGOverlap {
            return Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }));
        }
        let call = ScalarFunction::new_udf(array_has_any_udf(), vec![left, right]);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
    }
}

/// The same for what is no operator, as IN; before type coercion.
pub(crate) fn beside(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut changed = false;
    for values in peers(&mut expr) {
        changed |= mean(values, schema);
    }
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// Casts literals that are texts among values that are made of others; whether there is one.
fn mean(mut values: Vec<&mut Expr>, schema: &DFSchema) -> bool {
    let is_literal =
        |value: &Expr| matches!(value, Expr::Literal(literal, _) if is_text(&literal.data_type()));
    if !values.iter().any(|value| is_literal(value)) {
        return false;
    }
    // What has no type yet is somebody else's business.
    let nested = |value: &&mut Expr| value.get_type(schema).ok().filter(DataType::is_nested);
    let Some(to) = values.iter().find_map(nested) else { return false };
    for value in values.iter_mut().filter(|value| is_literal(value)) {
        **value = cast(std::mem::take(&mut **value), to.clone());
    }
    true
}
