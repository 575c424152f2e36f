//! Orders that DataFusion makes and then does not see.
//!
//! - Behind `a`, it does not know `abs(b - a)` again, nor that a union is in the order of two columns which are one in a part
//!   of it: its last look at a plan refused `ORDER BY a, abs(b - a)` for an operator that stands right above such a sort.
//! - Or it leaves a sort away, because a column is the same everywhere, and does not know that any more.
//! - What it refuses for an order alone is looked at once more: a sort has the order that it says, a union that of all its
//!   parts. What is in no order then is sorted.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::{
    LexOrdering, LexRequirement, PhysicalSortExpr, PhysicalSortRequirement,
};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::sanity_checker::check_plan_sanity;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::sync::Arc;

/// The last look at a plan.
#[derive(Debug)]
pub(crate) struct OrdersSeen;

impl OrdersSeen {
    pub(crate) const NAME: &str = "SanityCheckPlan";
}

impl PhysicalOptimizerRule for OrdersSeen {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let sorted =
            plan.transform_up(|node| match check_plan_sanity(&node, &config.optimizer) {
                Err(error) if error.message().contains("does not satisfy order requirements") => {
                    sorted(node)
                }
                Err(error) => Err(error),
                Ok(()) => Ok(Transformed::no(node)),
            })?;
        Ok(sorted.data)
    }

    fn name(&self) -> &str {
        Self::NAME
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// An operator whose inputs are in the orders that it requires.
fn sorted(node: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let mut is_changed = false;
    let mut children = node.children().into_iter().cloned().collect::<Vec<_>>();
    for (child, required) in children.iter_mut().zip(node.required_input_ordering()) {
        let Some(required) = required.map(|required| required.into_single()) else { continue };
        if !is_in_order(child, &required)? {
            let sort = SortExec::new(required.into(), child.clone());
            *child = Arc::new(sort.with_preserve_partitioning(true));
            is_changed = true;
        }
    }
    match is_changed {
        true => replace_children_if_necessary(node, children).map(Transformed::yes),
        false => Ok(Transformed::no(node)),
    }
}

fn is_in_order(plan: &Arc<dyn ExecutionPlan>, required: &LexRequirement) -> Result<bool> {
    if plan.equivalence_properties().ordering_satisfy_requirement(required.clone())? {
        return Ok(true);
    }
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        return Ok(begins_with(sort.expr(), required));
    }
    if let Some(merge) = plan.downcast_ref::<SortPreservingMergeExec>() {
        return Ok(begins_with(merge.expr(), required));
    }
    let is_union = plan.is::<UnionExec>();
    for part in plan.children() {
        if !is_union || !is_in_order(part, required)? {
            return Ok(false);
        }
    }
    Ok(is_union)
}

fn begins_with(order: &LexOrdering, required: &LexRequirement) -> bool {
    let is_same = |(one, required): (&PhysicalSortExpr, &PhysicalSortRequirement)| {
        one.expr.eq(&required.expr) && required.options.is_none_or(|options| options == one.options)
    };
    order.len() >= required.len() && order.iter().zip(required.iter()).all(is_same)
}
