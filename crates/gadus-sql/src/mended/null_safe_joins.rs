//! Joins whose keys are equal if both are NULL, and keep only their own keys.
//!
//! - DataFusion has one way of comparing keys for all keys of a join. Where it finds an equality in a condition it makes a
//!   key of it, also of a join whose keys are null-safe: `a = b` would then hold for two NULLs.
//! - Such joins come from subqueries that depend on the row around, from IS NOT DISTINCT FROM, INTERSECT and EXCEPT.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Rule of DataFusion's that makes keys of conditions, but not of those joins.
#[derive(Debug)]
pub(crate) struct NullSafeJoins(pub(crate) Arc<dyn OptimizerRule + Send + Sync>);

impl NullSafeJoins {
    /// Rules that make keys of conditions.
    pub(crate) const NAMES: [&str; 2] = ["eliminate_cross_join", "extract_equijoin_predicate"];
}

impl OptimizerRule for NullSafeJoins {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        // A rule without an order goes through the plan by itself.
        let goes_through = self.apply_order().is_none();
        let stays = match goes_through {
            true => plan.exists(|node| Ok(is_null_safe(node)))?,
            false => is_null_safe(&plan),
        };
        match (stays, goes_through) {
            (false, _) => self.0.rewrite(plan, config),
            (true, false) => Ok(Transformed::no(plan)),
            (true, true) => plan.map_children(|child| self.rewrite(child, config)),
        }
    }
}

fn is_null_safe(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Join(join) if join.null_equality == NullEquality::NullEqualsNull)
}
