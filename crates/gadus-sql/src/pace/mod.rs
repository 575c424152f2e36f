//! Joins that give their thread back: rows come to them in slices, cut by how long the last one took.
//!
//! - A join goes through all pairs of a batch of its probe side before it returns, and through the next
//!   batch's where none of them fits. Where rows meet many, that takes hours, in which the statement
//!   could not be cancelled, and no other task have the thread.
//! - No plan tells beforehand how many that is, so it is measured.
//! - One row is the least: it keeps the thread for as long as all that it meets.

mod stream;
#[cfg(test)]
mod tests;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{CardinalityEffect, replace_children_if_necessary};
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr, PlanProperties,
    SendableRecordBatchStream,
};
use std::fmt;
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
            children.push(Arc::new(PacedExec { input: probe }));
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

/// The rows of its input, in slices.
#[derive(Debug)]
struct PacedExec {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for PacedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GadusPaced")
    }
}

impl ExecutionPlan for PacedExec {
    fn name(&self) -> &'static str {
        "GadusPaced"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.pop().unwrap_or_else(|| self.input.clone());
        Ok(Arc::new(Self { input }))
    }

    fn execute(
        &self,
        partition: usize,
        task: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        Ok(Box::pin(PacedStream::new(self.input.execute(partition, task)?)))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(inputs[0].clone())
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }
}
