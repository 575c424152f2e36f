//! Joins that wait for each other.
//!
//! - Where one side of a join is gathered for all partitions, each tells that it is there, and waits for the others, before
//!   scans get the filter of its keys. A partition that is dropped before tells nothing: above, a join by partitions whose
//!   own first side is empty does that, be it hashed or merged, and the others waited for ever.
//! - Below what has several inputs, of which it may leave one unasked, a join has no filter for scans.

use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use std::sync::Arc;

/// The same plan, in which no join waits for a partition that may never be asked.
pub(super) fn without_waiting(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    within(plan, false)
}

fn within(plan: Arc<dyn ExecutionPlan>, may_be_dropped: bool) -> Result<Arc<dyn ExecutionPlan>> {
    let mode = plan.downcast_ref::<HashJoinExec>().map(|join| *join.partition_mode());
    let may_leave_one = plan.children().len() > 1 && !plan.is::<UnionExec>();
    let asks_all = plan.is::<RepartitionExec>()
        || plan.is::<CoalescePartitionsExec>()
        || plan.is::<SortPreservingMergeExec>();
    let children = plan.children().into_iter().cloned().enumerate();
    let children = children.map(|(side, child)| {
        let may_be_dropped = match (mode, side) {
            // It is gathered once for all, and then all partitions ask the other one, or none.
            (Some(PartitionMode::CollectLeft), 0) => false,
            (Some(PartitionMode::CollectLeft), _) => may_be_dropped,
            // The first one is always gathered.
            (Some(PartitionMode::Partitioned), 0) => may_be_dropped,
            _ => may_leave_one || may_be_dropped && !asks_all,
        };
        within(child, may_be_dropped)
    });
    let children = children.collect::<Result<Vec<_>>>()?;
    let plan = replace_children_if_necessary(plan, children)?;
    match mode {
        Some(PartitionMode::CollectLeft) if may_be_dropped => plan.reset_state(),
        _ => Ok(plan),
    }
}
