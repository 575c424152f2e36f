//! Conditions over an aggregate without groups, which gives one row of whatever there is.
//!
//! - DataFusion moves a condition that names no column of the aggregate below it, where it decides which rows are
//!   aggregated, not whether the one row is given: `SELECT 7 FROM (SELECT count(*) FROM t) AS n WHERE (SELECT …) > 3`.
//! - A limit of one row above the aggregate changes nothing, and keeps conditions where they are.

use super::is_subquery;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::AnalyzerRule;

/// Keeps conditions above aggregates without groups. It runs before type coercion.
#[derive(Debug, Default)]
pub(crate) struct AboveOneRow;

impl AnalyzerRule for AboveOneRow {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let kept = plan.transform_up_with_subqueries(|plan| {
            let condition = match &plan {
                LogicalPlan::Filter(filter) => Some(&filter.predicate),
                LogicalPlan::Join(join) => join.filter.as_ref(),
                _ => None,
            };
            let parts = condition.map(split_conjunction).unwrap_or_default();
            if !parts.into_iter().any(names_nothing) {
                return Ok(Transformed::no(plan));
            }
            // It is moved to both sides of joins, too.
            plan.map_children(|input| input.transform_up(limited))
        })?;
        Ok(kept.data)
    }

    fn name(&self) -> &'static str {
        "above_one_row"
    }
}

/// Whether a condition holds for all rows or for none, which is known only when it is run.
fn names_nothing(condition: &Expr) -> bool {
    condition.column_refs().is_empty()
        && condition.exists(|expr| Ok(is_subquery(expr))).unwrap_or(true)
}

/// The same row of an aggregate without groups, under a limit.
fn limited(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match &plan {
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => {
            let limited = LogicalPlanBuilder::from(plan).limit(0, Some(1))?;
            limited.build().map(Transformed::yes)
        }
        _ => Ok(Transformed::no(plan)),
    }
}
