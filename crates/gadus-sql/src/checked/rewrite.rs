//! Rewriting the expressions of a plan with the schema that they are evaluated in.

use crate::value::is_text;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Between, BinaryExpr, Case, Expr, ExprSchemable, LogicalPlan, Operator, cast,
};

/// The plan with each expression rewritten, from the inside out; columns keep their names.
pub(super) fn rewritten(
    plan: LogicalPlan,
    rewrite: &dyn Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<LogicalPlan> {
    rewritten_with_nodes(plan, rewrite, &|_| Ok(None))
}

/// The same, where each node may then be replaced by another that gives the same columns.
pub(crate) fn rewritten_with_nodes(
    plan: LogicalPlan,
    rewrite: &dyn Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
    replaced: &dyn Fn(&LogicalPlan) -> Result<Option<LogicalPlan>>,
) -> Result<LogicalPlan> {
    let mut is_replaced = false;
    let rewritten = plan.transform_up_with_subqueries(|plan| {
        // What it knows of its input may have changed.
        let plan = if is_replaced { plan.recompute_schema()? } else { plan };
        let schema = if let LogicalPlan::TableScan(scan) = &plan {
            DFSchema::clone(&scan.projected_schema)
        } else {
            merge_schema(&plan.inputs())
        };
        let names = NamePreserver::new(&plan);
        let rewritten = plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let rewritten = expr.transform_up(|expr| rewrite(expr, &schema))?;
            Ok(rewritten.update_data(|expr| name.restore(expr)))
        })?;
        let rewritten = match rewritten.transformed {
            true => rewritten.map_data(LogicalPlan::recompute_schema)?,
            false => rewritten,
        };
        match replaced(&rewritten.data)? {
            Some(other) => {
                is_replaced = true;
                Ok(Transformed::yes(other))
            }
            None => Ok(rewritten),
        }
    })?;
    Ok(rewritten.data)
}

/// The values within an expression that come to one type, in groups: what is compared, and what a CASE gives.
pub(crate) fn peers(expr: &mut Expr) -> Vec<Vec<&mut Expr>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => {
            vec![vec![left, right]]
        }
        Expr::Between(Between { expr, low, high, .. }) => vec![vec![expr, low, high]],
        Expr::InList(InList { expr, list, .. }) => {
            vec![std::iter::once(&mut **expr).chain(list).collect()]
        }
        Expr::Case(Case { expr, when_then_expr, else_expr }) => {
            let (mut compared, mut values) = (Vec::new(), Vec::new());
            for (when, then) in when_then_expr {
                compared.push(&mut **when);
                values.push(&mut **then);
            }
            compared.extend(expr.iter_mut().map(|expr| &mut **expr));
            values.extend(else_expr.iter_mut().map(|expr| &mut **expr));
            vec![compared, values]
        }
        _ => Vec::new(),
    }
}

/// Casts texts to a type where they come to one type with values of it: type coercion would choose another, or refuse them.
pub(crate) fn cast_texts_beside(
    expr: &mut Expr,
    schema: &DFSchema,
    is_of: fn(&DataType) -> bool,
    to: &DataType,
) -> bool {
    // What has no type yet is somebody else's business.
    let is = |value: &Expr, kind: fn(&DataType) -> bool| {
        value.get_type(schema).is_ok_and(|data_type| kind(&data_type))
    };
    let mut changed = false;
    for values in peers(expr) {
        if !values.iter().any(|value| is(value, is_of)) {
            continue;
        }
        for value in values.into_iter().filter(|value| is(value, is_text)) {
            *value = cast(std::mem::take(value), to.clone());
            changed = true;
        }
    }
    changed
}

fn compares(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}
