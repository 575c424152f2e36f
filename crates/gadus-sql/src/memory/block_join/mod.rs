//! Block nested loop join: a join without an equality of which neither input has to fit into memory.
//!
//! - The left input is read in blocks that fit, and each is joined with all rows of the right one, which are spilled
//!   and read back for each block. What becomes of a left row, matched or not, is known at the end of its block. So
//!   the rows of all blocks are those of the join, for each type whose unmatched rows are left ones only.
//! - Types that keep unmatched right rows are those with the inputs swapped. A full join is a left join, and then a
//!   left anti join with the inputs swapped, for which the left one is spilled, too ([`run`]).
//! - A left input of one block is joined at once, and the right one is not spilled, except by a full join.
//! - The operator takes the place of nested loop and cross joins only in plans that are made again because one outgrew
//!   the memory ([`replan`](super::replan)). DataFusion 55.2 spills nested loop joins itself, but then duplicates
//!   unmatched rows per thread or drops them, and fails where the left input cannot be executed twice. So a refused
//!   reservation reaches it as an error after which it does not spill ([`not_to_spill`]).

mod run;
#[cfg(test)]
mod tests;

use super::PlanPool;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, JoinType, Result, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{EmissionType, replace_children_if_necessary};
use datafusion::physical_plan::joins::{
    CrossJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements,
    Partitioning, PhysicalExpr, PlanProperties, SendableRecordBatchStream,
};
use futures::stream;
use run::Run;
use std::fmt;
use std::sync::Arc;

/// A nested loop join by blocks of its left input.
#[derive(Debug)]
pub(super) struct BlockJoinExec {
    /// The join with its inputs, none of whose unmatched rows are right ones, unless it is a full one. It does not
    /// run itself: copies of it join the blocks.
    join: NestedLoopJoinExec,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
    /// Bytes of a block, where it is not the memory that says it.
    block_bytes: Option<u64>,
}

impl BlockJoinExec {
    fn new(join: NestedLoopJoinExec) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(join.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            join.properties().boundedness,
        );
        let metrics = ExecutionPlanMetricsSet::new();
        Self { join, properties: Arc::new(properties), metrics, block_bytes: None }
    }
}

#[cfg(test)]
impl BlockJoinExec {
    /// The same, with blocks of so many bytes.
    fn within(&self, block_bytes: u64) -> Result<Self> {
        Ok(Self { block_bytes: Some(block_bytes), ..Self::new(copy(&self.join)?) })
    }
}

/// True for joins that [`with_block_join`] replaces.
pub(super) fn can_be_block_join(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<NestedLoopJoinExec>() || plan.is::<CrossJoinExec>()
}

/// Returns what gives the rows of a nested loop or cross join by blocks; none for other operators.
pub(super) fn with_block_join(plan: &dyn ExecutionPlan) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(join) = plan.downcast_ref::<CrossJoinExec>() {
        let (left, right) = (join.left().clone(), join.right().clone());
        let join = NestedLoopJoinExecBuilder::new(left, right, JoinType::Inner).build()?;
        return Ok(Some(Arc::new(BlockJoinExec::new(join))));
    }
    let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() else { return Ok(None) };
    let is_of_right = matches!(
        join.join_type(),
        JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark
    );
    match is_of_right {
        true => replaced(join.swap_inputs()?).map(Some),
        false => Ok(Some(Arc::new(BlockJoinExec::new(copy(join)?)))),
    }
}

fn copy(join: &NestedLoopJoinExec) -> Result<NestedLoopJoinExec> {
    NestedLoopJoinExecBuilder::from(join).build()
}

/// Replaces the join at or below the root of a plan that a nested loop join made of itself.
fn replaced(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
        return Ok(Arc::new(BlockJoinExec::new(copy(join)?)));
    }
    let children = plan.children().into_iter().cloned().map(replaced);
    let children = children.collect::<Result<_>>()?;
    replace_children_if_necessary(plan, children)
}

/// Returns an error that a nested loop join passes on, rather than spill.
pub(super) fn not_to_spill(error: DataFusionError) -> DataFusionError {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => {
            DataFusionError::External(Box::new(crate::error::from_datafusion(error)))
        }
        _ => error,
    }
}

impl DisplayAs for BlockJoinExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(format, DisplayFormatType::TreeRender) {
            return self.join.fmt_as(format, f);
        }
        write!(f, "BlockJoinExec: join_type={:?}", self.join.join_type())?;
        match self.join.filter() {
            Some(filter) => write!(f, ", filter={}", filter.expression()),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for BlockJoinExec {
    fn name(&self) -> &'static str {
        "BlockJoinExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition; 2])
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.join.children()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.join.apply_expressions(visit)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut input = |of: &Arc<dyn ExecutionPlan>| children.pop().unwrap_or_else(|| of.clone());
        let (right, left) = (input(self.join.right()), input(self.join.left()));
        let join = NestedLoopJoinExecBuilder::new(left, right, *self.join.join_type());
        let join = join.with_filter(self.join.filter().cloned());
        let join = join.with_projection_ref(self.join.projection().clone());
        Ok(Arc::new(Self::new(join.build()?)))
    }

    fn execute(&self, _: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let block_bytes = self.block_bytes;
        let block_bytes = block_bytes
            .unwrap_or_else(|| PlanPool::of(&task).map_or(u64::MAX, PlanPool::table_bytes));
        let run = Run::new(copy(&self.join)?, task, block_bytes, &self.metrics);
        let rows = stream::try_unfold(run, |mut run| async move {
            Ok(run.next().await?.map(|batch| (batch, run)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn child_stats_requests(&self, _: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(None); 2]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        request: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.join.statistics_from_inputs(inputs, request)
    }

    /// Columns that are not needed are not spilled.
    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        self.join.try_swapping_with_projection(projection)?.map(replaced).transpose()
    }
}
