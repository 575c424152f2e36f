//! DataFusion's rule that sorts and repartitions what operators read, with a look at the cancellation at each
//! operator.
//!
//! - An operator's orders and those of all operators below it are compared with each other: the rule takes the
//!   cube of the depth of a plan. As one call, it would end only when it is done.
//! - The steps and their order are those of `EnsureRequirements` of DataFusion 55.2.

use super::cancellation::check_cancelled;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::ensure_requirements::enforce_distribution::{
    DistributionContext, PlanWithKeyRequirements, adjust_input_keys_ordering, ensure_distribution,
    reorder_join_keys_to_inputs,
};
use datafusion::physical_optimizer::ensure_requirements::enforce_sorting::replace_with_order_preserving_variants::{
    OrderPreservationContext, replace_with_order_preserving_variants,
};
use datafusion::physical_optimizer::ensure_requirements::enforce_sorting::sort_pushdown::{
    SortPushDown, assign_initial_requirements, pushdown_sorts,
};
use datafusion::physical_optimizer::ensure_requirements::enforce_sorting::{
    PlanWithCorrespondingCoalescePartitions, PlanWithCorrespondingSort, ensure_sorting,
    parallelize_sorts, replace_with_partial_sort,
};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// `EnsureRequirements`, which ends when its statement is cancelled.
#[derive(Debug)]
pub(crate) struct CancellableRequirements;

impl CancellableRequirements {
    /// The name of DataFusion's rule, for which it stands.
    pub(crate) const NAME: &str = "EnsureRequirements";
}

impl PhysicalOptimizerRule for CancellableRequirements {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = reorder_join_keys(plan, config)?;
        let distributed = DistributionContext::new_default(plan).transform_up(|node| {
            check_cancelled()?;
            ensure_distribution(node, config)
        })?;
        let sorted = PlanWithCorrespondingSort::new_default(distributed.data.plan);
        let sorted = each(sorted, ensure_sorting)?.plan;
        let plan = parallelize_and_preserve_order(sorted, config)?;
        check_cancelled()?;
        let mut sorts = SortPushDown::new_default(plan);
        assign_initial_requirements(&mut sorts);
        let plan = pushdown_sorts(sorts)?.plan;
        each(plan, |plan| replace_with_partial_sort(plan).map(Transformed::yes))
    }

    fn name(&self) -> &str {
        Self::NAME
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Orders the keys of joins as their inputs are divided already.
fn reorder_join_keys(
    plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    if !config.optimizer.top_down_join_key_reordering {
        return each(plan, |plan| reorder_join_keys_to_inputs(plan).map(Transformed::yes));
    }
    let required = PlanWithKeyRequirements::new_default(plan).transform_down(|node| {
        check_cancelled()?;
        adjust_input_keys_ordering(node)
    });
    required.map(|required| required.data.plan)
}

/// Sorts partitions apart before they are merged, and keeps orders that operators find.
fn parallelize_and_preserve_order(
    mut plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    if config.optimizer.repartition_sorts {
        let coalesced = PlanWithCorrespondingCoalescePartitions::new_default(plan);
        plan = each(coalesced, parallelize_sorts)?.plan;
    }
    let preserve = |node| replace_with_order_preserving_variants(node, false, true, config);
    each(OrderPreservationContext::new_default(plan), preserve).map(|preserved| preserved.plan)
}

/// Applies a step to each operator, from the inputs up.
fn each<T: TreeNode>(tree: T, step: impl Fn(T) -> Result<Transformed<T>>) -> Result<T> {
    let transformed = tree.transform_up(|node| {
        check_cancelled()?;
        step(node)
    });
    transformed.map(|transformed| transformed.data)
}
