//! Columns that are the same in all rows, and NULL in those that an outer join adds.
//!
//! - In `t LEFT JOIN (SELECT id, TRUE AS c FROM u) …`, DataFusion believes of the join what it knows of its input: that `c` is
//!   the same everywhere. It then leaves it out of an ORDER BY.
//! - Before it sorts and divides what joins read, such inputs of outer joins get an operator above them that does not tell.

use crate::pace::PassingExec;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::sync::Arc;

/// Hides constants from outer joins that add NULLs to them.
#[derive(Debug)]
pub(crate) struct NoConstants;

impl PhysicalOptimizerRule for NoConstants {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let hidden = plan.transform_up(|plan| {
            let are_added = match join_type(&*plan) {
                Some(JoinType::Left) => [false, true],
                Some(JoinType::Right) => [true, false],
                Some(JoinType::Full) => [true, true],
                _ => return Ok(Transformed::no(plan)),
            };
            let mut children = plan.children().into_iter().cloned().collect::<Vec<_>>();
            let mut is_changed = false;
            for (child, are_added) in children.iter_mut().zip(are_added) {
                if are_added && !child.equivalence_properties().constants().is_empty() {
                    let passing = PassingExec::new("GadusOuter", child.clone(), |rows, _| rows);
                    *child = Arc::new(passing.without_constants());
                    is_changed = true;
                }
            }
            match is_changed {
                true => replace_children_if_necessary(plan, children).map(Transformed::yes),
                false => Ok(Transformed::no(plan)),
            }
        });
        hidden.map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "gadus_no_constants"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn join_type(plan: &dyn ExecutionPlan) -> Option<JoinType> {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return Some(*join.join_type());
    }
    if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
        return Some(*join.join_type());
    }
    plan.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type)
}
