//! The operator that stands for one of DataFusion's.

use super::bounded::Bounded;
use super::columns::NeededColumns;
use super::output::Output;
use super::partitions::Partitioned;
use super::waiting_rows::WaitingRows;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::OrderingRequirements;
use datafusion::physical_plan::execution_plan::{CardinalityEffect, replace_children_if_necessary};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, SpillMetrics,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements,
    PhysicalExpr, PlanProperties, SendableRecordBatchStream,
};
use futures::stream;
use std::fmt;
use std::sync::Arc;

/// A window operator whose waiting rows spill. It is shown, ordered and distributed as the one it stands for.
#[derive(Debug)]
pub(in crate::memory) struct SpillingWindowExec {
    /// The operator that it stands for, with the same input.
    window: Arc<dyn ExecutionPlan>,
    evaluation: Arc<Evaluation>,
    metrics: ExecutionPlanMetricsSet,
}

#[derive(Debug)]
enum Evaluation {
    Partitioned(Partitioned),
    Bounded(Bounded),
}

impl Evaluation {
    fn of(window: &dyn ExecutionPlan) -> Option<Self> {
        if let Some(window) = window.downcast_ref::<WindowAggExec>() {
            let partitioned = Partitioned::new(window.window_expr(), &window.input().schema());
            return Some(Self::Partitioned(partitioned));
        }
        match window.downcast_ref::<BoundedWindowAggExec>() {
            Some(window) => Bounded::new(window).map(Self::Bounded),
            None => None,
        }
    }

    fn needed(&self) -> &Arc<NeededColumns> {
        match self {
            Self::Partitioned(partitioned) => partitioned.needed(),
            Self::Bounded(bounded) => bounded.needed(),
        }
    }
}

impl SpillingWindowExec {
    /// Returns what stands for a window operator; none for any other one.
    pub(super) fn replacing(window: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let evaluation = Evaluation::of(&**window)?;
        let metrics = ExecutionPlanMetricsSet::new();
        Some(Self { window: window.clone(), evaluation: Arc::new(evaluation), metrics })
    }
}

impl DisplayAs for SpillingWindowExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.window.fmt_as(format, f)
    }
}

impl ExecutionPlan for SpillingWindowExec {
    fn name(&self) -> &str {
        self.window.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.window.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.window.children()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.window.apply_expressions(visit)
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.window.maintains_input_order()
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        self.window.required_input_ordering()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        self.input_distribution_requirements().into_per_child()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        self.window.input_distribution_requirements()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let window = replace_children_if_necessary(self.window.clone(), children)?;
        let metrics = ExecutionPlanMetricsSet::new();
        // Expressions stay as they are, and so do the columns of the input.
        Ok(Arc::new(Self { window, evaluation: self.evaluation.clone(), metrics }))
    }

    fn execute(
        &self,
        partition: usize,
        task: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let [child] = self.window.children()[..] else {
            return internal_err!("a window has one input");
        };
        let input = child.execute(partition, task.clone())?;
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let spills = SpillMetrics::new(&self.metrics, partition);
        let needed = self.evaluation.needed().clone();
        let rows = WaitingRows::new(input.schema(), needed, spills, &task).shared();
        let time = metrics.elapsed_compute().clone();
        let results = match &*self.evaluation {
            Evaluation::Partitioned(partitioned) => {
                let batch_rows = task.session_config().batch_size();
                partitioned.evaluate(input, rows.clone(), batch_rows, time)
            }
            Evaluation::Bounded(bounded) => bounded.evaluate(input, rows.clone(), time),
        };
        let schema = self.schema();
        let output = Output::new(schema.clone(), rows, results, metrics);
        let batches = stream::try_unfold(output, |mut output| async move {
            let batch = output.next().await?;
            Ok(batch.map(|batch| (batch, output)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.window.child_stats_requests(partition)
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        arguments: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.window.statistics_from_inputs(inputs, arguments)
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }
}
