//! Joins that give their thread back: rows come to them in slices, cut by how long the last one took.
//!
//! - A join goes through all pairs of a batch of its probe side before it returns, and through the next
//!   batch's where none of them fits. Where rows meet many, that takes hours, in which the statement
//!   could not be cancelled, and no other task have the thread.
//! - No plan tells beforehand how many that is, so it is measured.
//! - One row is the least: it keeps the thread for as long as all that it meets.

mod passing;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use passing::PassingExec;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::TaskContext;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use std::sync::Arc;
use stream::PacedStream;

/// Paces the probe side of every join; the last of the rules, because no other knows what it puts in.
#[derive(Debug)]
pub(crate) struct PaceJoins;

impl PhysicalOptimizerRule for PaceJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let paced = plan.transform_up(|plan| {
            if !is_join(&*plan) {
                return Ok(Transformed::no(plan));
            }
            let mut children = plan.children().into_iter().cloned().collect::<Vec<_>>();
            // The build side stands first.
            let Some(probe) = children.pop() else { return Ok(Transformed::no(plan)) };
            children.push(Arc::new(PassingExec::new("GadusPaced", probe, paced)));
            replace_children_if_necessary(plan, children).map(Transformed::yes)
        });
        paced.map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "gadus_pace_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn is_join(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<HashJoinExec>() || plan.is::<NestedLoopJoinExec>() || plan.is::<CrossJoinExec>()
}

fn paced(input: SendableRecordBatchStream, _: &TaskContext) -> SendableRecordBatchStream {
    Box::pin(PacedStream::new(input))
}
