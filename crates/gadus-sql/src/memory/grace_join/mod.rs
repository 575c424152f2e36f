//! Grace hash join: a hash join that spills both of its inputs, divided by the hash of their keys.
//!
//! - Rows with equal keys are in the same partition, and each row is in one. So the join is that of the partitions,
//!   one after the other, and a single partition's hash table is in memory at a time. This holds for joins of every
//!   type and with any further conditions on pairs. For NOT IN of values that may be NULL (`null_aware`), one NULL of
//!   the right input decides about all rows of the left one, so the right one is read first.
//! - A partition whose left rows are still too many is divided again with another seed. Where most rows have one
//!   key, that gains nothing: it is joined by blocks ([`passes`]).
//! - A left input that turns out small is not spilled, and neither is the right one then ([`run`]).
//! - The operator takes the place of a [`HashJoinExec`] only in plans that are made again because a hash join outgrew
//!   the memory ([`replan`](super::replan)).

mod partitions;
mod passes;
mod run;
#[cfg(test)]
mod tests;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{EmissionType, replace_children_if_necessary};
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements,
    Partitioning, PhysicalExpr, PlanProperties, SendableRecordBatchStream,
};
use futures::stream;
use run::{Limits, Run};
use std::fmt;
use std::sync::Arc;

/// A hash join by partitions that are spilled.
#[derive(Debug)]
pub(super) struct GraceJoinExec {
    /// The join with its inputs. It does not run itself: copies of it join the partitions.
    join: HashJoinExec,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl GraceJoinExec {
    /// True if the join of partitions, one after the other, is the join.
    pub(super) fn can_replace(join: &HashJoinExec) -> bool {
        join.fetch().is_none() && (!join.null_aware || join.filter().is_none())
    }

    /// Creates an operator that gives the rows of `join`, for which [`Self::can_replace`] is true.
    pub(super) fn new(join: &HashJoinExec) -> Result<Self> {
        // Its dynamic filter would be that of one partition.
        let join = join.builder().with_partition_mode(PartitionMode::CollectLeft).reset_state();
        let join = join.build()?;
        let properties = PlanProperties::new(
            EquivalenceProperties::new(join.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            join.properties().boundedness,
        );
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(Self { join, properties: Arc::new(properties), metrics })
    }

    fn execute_within(
        &self,
        task: Arc<TaskContext>,
        limits: Limits,
    ) -> Result<SendableRecordBatchStream> {
        let run = Run::new(self.join.builder().build()?, task, limits, &self.metrics)?;
        let rows = stream::try_unfold(run, |mut run| async move {
            Ok(run.next().await?.map(|batch| (batch, run)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

impl DisplayAs for GraceJoinExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(format, DisplayFormatType::TreeRender) {
            return self.join.fmt_as(format, f);
        }
        let on = self.join.on().iter().map(|(left, right)| format!("({left}, {right})"));
        let on = on.collect::<Vec<_>>().join(", ");
        write!(f, "GraceJoinExec: join_type={:?}, on=[{on}]", self.join.join_type())?;
        match self.join.filter() {
            Some(filter) => write!(f, ", filter={}", filter.expression()),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for GraceJoinExec {
    fn name(&self) -> &'static str {
        "GraceJoinExec"
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
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let join = self.join.builder().recompute_properties().with_new_children(children)?;
        Ok(Arc::new(Self::new(&join.build()?)?))
    }

    fn execute(&self, _: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let limits = Limits::of(&task);
        self.execute_within(task, limits)
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
        self.join.try_swapping_with_projection(projection)?.map(with_grace_join).transpose()
    }
}

/// Replaces the hash join at or below the root of a plan that a hash join made of itself.
fn with_grace_join(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return Ok(Arc::new(GraceJoinExec::new(join)?));
    }
    let children = plan.children().into_iter().cloned().map(with_grace_join);
    let children = children.collect::<Result<_>>()?;
    replace_children_if_necessary(plan, children)
}
