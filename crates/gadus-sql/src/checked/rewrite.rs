//! Rewriting the expressions of a plan with the schema that they are evaluated in.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The plan with each expression rewritten, from the inside out; columns keep their names.
pub(super) fn rewritten(
    plan: LogicalPlan,
    rewrite: &dyn Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<LogicalPlan> {
    let rewritten = plan.transform_up_with_subqueries(|plan| {
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
        if rewritten.transformed {
            return rewritten.map_data(LogicalPlan::recompute_schema);
        }
        Ok(rewritten)
    })?;
    Ok(rewritten.data)
}
