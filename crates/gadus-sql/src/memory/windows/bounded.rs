//! A `BoundedWindowAggExec` over the columns that its expressions refer to.

use super::columns::{NeededColumns, evaluated};
use super::output::{ResultColumn, Results};
use super::waiting_rows::SharedRows;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::metrics::Time;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, get_ordered_partition_by_indices};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputOrderMode,
    PhysicalExpr, PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The operator over other columns.
#[derive(Debug)]
pub(super) struct Bounded {
    window: Arc<dyn ExecutionPlan>,
    needed: Arc<NeededColumns>,
}

impl Bounded {
    /// None for an operator whose input is not sorted by PARTITION BY.
    pub(super) fn new(window: &BoundedWindowAggExec) -> Result<Option<Self>> {
        if window.input_order_mode != InputOrderMode::Sorted || window.state_observer().is_some() {
            return Ok(None);
        }
        let (input, expressions) = (window.input(), window.window_expr());
        let partition_by =
            expressions.first().map_or(&[][..], |expression| expression.partition_by());
        let referred = expressions.iter().map(|expression| evaluated(expression, &input.schema()));
        let mut referred = referred.collect::<Option<Vec<_>>>().map(|all| all.concat());
        if let Some(referred) = &mut referred {
            referred.extend_from_slice(partition_by);
        }
        let needed = NeededColumns::new(&input.schema(), referred.as_deref());
        let properties = properties(input, needed.schema().clone())?;
        let input: Arc<dyn ExecutionPlan> =
            Arc::new(Columns { properties, rows: Mutex::default() });
        if get_ordered_partition_by_indices(partition_by, &input)?.len() < partition_by.len() {
            return Ok(None);
        }
        let can_repartition = !window.partition_keys().is_empty();
        let mode = InputOrderMode::Sorted;
        let window =
            BoundedWindowAggExec::try_new(expressions.to_vec(), input, mode, can_repartition)?;
        Ok(Some(Self { window: Arc::new(window), needed: Arc::new(needed) }))
    }

    pub(super) fn needed(&self) -> &Arc<NeededColumns> {
        &self.needed
    }

    /// Evaluates the expressions on rows as they come, and adds these to the queue.
    pub(super) fn evaluate(
        &self,
        mut input: SendableRecordBatchStream,
        rows: SharedRows,
        partition: usize,
        task: Arc<TaskContext>,
        time: Time,
    ) -> Result<BoxStream<'static, Result<Results>>> {
        let (needed, schema) = (self.needed.clone(), self.needed.schema().clone());
        let (account, input_columns) = (rows.lock().account(), schema.fields().len());
        let columns = futures::stream::poll_fn(move |context| {
            let next = input.poll_next_unpin(context);
            next.map(|next| {
                next.map(|batch| {
                    let batch = batch?;
                    let columns = needed.of(&batch)?;
                    rows.lock().push(batch)?;
                    Ok(columns)
                })
            })
        });
        let columns = Box::pin(RecordBatchStreamAdapter::new(schema, columns));
        let [input] = self.window.children()[..] else {
            return internal_err!("a window has one input");
        };
        let properties = input.properties().clone();
        let input = Arc::new(Columns { properties, rows: Mutex::new(Some(columns)) });
        let window = replace_children_if_necessary(self.window.clone(), vec![input])?;
        let (rows, mut counted) = (window.execute(partition, task)?, 0);
        let results = rows.map(move |batch| {
            // The operator has its own figures, which are not shown.
            let all = window.metrics().and_then(|metrics| metrics.elapsed_compute()).unwrap_or(0);
            time.add_duration(Duration::from_nanos(all.saturating_sub(counted) as u64));
            counted = all;
            let batch = batch?;
            let columns = batch.columns()[input_columns..].iter().cloned().map(ResultColumn::Rows);
            Results::new(columns.collect(), Vec::new(), batch.num_rows(), account.new_empty())
        });
        Ok(results.boxed())
    }
}

/// What is known of the rows of an input also holds for some of its columns.
fn properties(input: &Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Result<Arc<PlanProperties>> {
    let known = input.equivalence_properties();
    let orderings = known.oeq_class().iter().cloned();
    let mut properties = EquivalenceProperties::new_with_orderings(schema, orderings);
    for class in known.eq_group().iter() {
        let mut members = class.iter();
        if let Some(first) = members.next() {
            for other in members {
                properties.add_equal_conditions(first.clone(), other.clone())?;
            }
        }
    }
    properties.add_constants(known.constants())?;
    let of_input = PlanProperties::clone(input.properties());
    Ok(Arc::new(of_input.with_eq_properties(properties)))
}

/// The input of the operator: rows that are given once.
struct Columns {
    properties: Arc<PlanProperties>,
    rows: Mutex<Option<SendableRecordBatchStream>>,
}

impl fmt::Debug for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WindowColumns")
    }
}

impl DisplayAs for Columns {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WindowColumns")
    }
}

impl ExecutionPlan for Columns {
    fn name(&self) -> &'static str {
        "WindowColumns"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        match self.rows.lock().take() {
            Some(rows) => Ok(rows),
            None => internal_err!("the input of a window is read twice"),
        }
    }
}
