//! Cooperative scheduling: operators that give their thread back within a turn of some milliseconds.
//!
//! - A join goes through all pairs of a batch of its probe side before it polls that side again. If rows
//!   match many, that takes hours, during which the statement could not be cancelled and no other task had
//!   the thread. No plan foresees how many pairs that is: the probe side is cut into slices by the time the
//!   last slice took.
//! - The smallest slice is one row, which takes as long as all rows that it meets. So the output of each
//!   operator that multiplies rows has yield points, too (`yielding`).
//! - Scans have them as well: what is computed of a batch of long texts takes milliseconds, and operators go through
//!   many batches in a turn if few of their rows pass.

mod passing;
mod stream;
#[cfg(test)]
mod tests;
mod yielding;

pub(crate) use passing::PassingExec;
pub(crate) use stream::TURN;
pub(crate) use yielding::yielding;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::TaskContext;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, PiecewiseMergeJoinExec, SortMergeJoinExec,
};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::unnest::UnnestExec;
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
            if !multiplies_rows(&*plan) {
                return Ok(Transformed::no(plan));
            }
            let plan = if is_sliced_join(&*plan) { with_sliced_probe_side(plan)? } else { plan };
            let yielding = PassingExec::new("GadusYielding", plan, |rows, _| yielding(rows));
            Ok(Transformed::yes(Arc::new(yielding) as _))
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

/// True if a batch of the operator's input may become any number of batches.
fn multiplies_rows(plan: &dyn ExecutionPlan) -> bool {
    is_sliced_join(plan)
        || plan.is::<SortMergeJoinExec>()
        || plan.is::<PiecewiseMergeJoinExec>()
        || plan.is::<UnnestExec>()
        || plan.is::<RecursiveQueryExec>()
}

/// True if the join goes through all of its build side for a batch of its probe side.
fn is_sliced_join(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<HashJoinExec>() || plan.is::<NestedLoopJoinExec>() || plan.is::<CrossJoinExec>()
}

fn with_sliced_probe_side(join: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let mut children = join.children().into_iter().cloned().collect::<Vec<_>>();
    // The build side stands first.
    if let Some(probe) = children.pop() {
        children.push(Arc::new(PassingExec::new("GadusPaced", probe, paced)));
    }
    replace_children_if_necessary(join, children)
}

fn paced(input: SendableRecordBatchStream, _: &TaskContext) -> SendableRecordBatchStream {
    Box::pin(PacedStream::new(input))
}
