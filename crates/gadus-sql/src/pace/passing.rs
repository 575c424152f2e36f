//! An operator that passes rows on, and may take its time.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PhysicalExpr,
    PlanProperties, SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// Wraps the stream of an input.
type Pass =
    Arc<dyn Fn(SendableRecordBatchStream, &TaskContext) -> SendableRecordBatchStream + Send + Sync>;

/// An operator that gives the rows of its input as they are, by a stream of its own.
pub(crate) struct PassingExec {
    name: &'static str,
    input: Arc<dyn ExecutionPlan>,
    pass: Pass,
    /// Whether filters are moved below it.
    lets_filters: bool,
    /// Whether it tells nobody which of its columns are the same in all rows.
    hides_constants: bool,
    properties: Arc<PlanProperties>,
}

impl PassingExec {
    pub(crate) fn new(
        name: &'static str,
        input: Arc<dyn ExecutionPlan>,
        pass: impl Fn(SendableRecordBatchStream, &TaskContext) -> SendableRecordBatchStream
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let properties = input.properties().clone();
        let pass = Arc::new(pass);
        Self { name, input, pass, lets_filters: true, hides_constants: false, properties }
    }

    /// The same, which no filter is moved below.
    pub(crate) fn without_filters(self) -> Self {
        Self { lets_filters: false, ..self }
    }

    /// The same, which tells nobody which of its columns are the same in all rows.
    pub(crate) fn without_constants(self) -> Self {
        let properties = hiding_constants(&self.input);
        Self { hides_constants: true, properties, ..self }
    }
}

fn hiding_constants(input: &Arc<dyn ExecutionPlan>) -> Arc<PlanProperties> {
    let orders = input.equivalence_properties().oeq_class().iter().cloned();
    let known = EquivalenceProperties::new_with_orderings(input.schema(), orders);
    let properties = PlanProperties::clone(input.properties());
    Arc::new(properties.with_eq_properties(known))
}

impl fmt::Debug for PassingExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name).field("input", &self.input).finish_non_exhaustive()
    }
}

impl DisplayAs for PassingExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl ExecutionPlan for PassingExec {
    fn name(&self) -> &str {
        self.name
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
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
        let properties = match self.hides_constants {
            true => hiding_constants(&input),
            false => input.properties().clone(),
        };
        let Self { name, lets_filters, hides_constants, .. } = *self;
        let pass = self.pass.clone();
        Ok(Arc::new(Self { name, input, pass, lets_filters, hides_constants, properties }))
    }

    fn execute(
        &self,
        partition: usize,
        task: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        Ok((self.pass)(self.input.execute(partition, task.clone())?, &task))
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

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        match self.lets_filters {
            true => FilterDescription::from_children(filters, &self.children()),
            false => Ok(FilterDescription::all_unsupported(&filters, &self.children())),
        }
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }
}
