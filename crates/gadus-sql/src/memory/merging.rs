//! Plans that are made again, with merge joins, when the table of a hash join outgrows the memory.
//!
//! - How large the input of a join is, no plan knows for sure. A plan with hash joins of which an operator is refused
//!   memory, a join or what the joins left none for, is made once more, with all joins that may be by merging sorted
//!   inputs, which can be written out.
//! - Only before rows have been given: the same ones might come again, and others not at all.
//! - Numbers that a sequence has given to the first plan are not given again, as after any statement that fails.
//! - A join that cannot be merged, as one with further conditions on pairs, fails as before.

use super::joins::may_merge;
use super::pool::PlanPool;
use super::run;
use crate::mended::FiltersByName;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigExtension;
use datafusion::common::{DataFusionError, Result, extensions_options};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::stream::{EmptyRecordBatchStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use datafusion::prelude::SessionContext;
use futures::{StreamExt, stream};
use std::sync::Arc;

extensions_options! {
    /// How joins are planned.
    pub(super) struct JoinOptions {
        /// Whether all joins that may be merge sorted inputs.
        pub always_merge: bool, default = false
    }
}

impl ConfigExtension for JoinOptions {
    const PREFIX: &'static str = "gadus_joins";
}

/// What a plan is made again of.
#[derive(Clone)]
pub(crate) struct Replan {
    context: SessionContext,
    plan: LogicalPlan,
    /// Whether it is a kept plan's: optimised already, and to be bound as that one is.
    is_kept: bool,
}

impl std::fmt::Debug for Replan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replan").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Replan {
    pub(crate) fn new(context: &SessionContext, plan: LogicalPlan) -> Self {
        Self { context: context.clone(), plan, is_kept: false }
    }

    /// Of the logical plan that a kept plan was made of.
    pub(crate) fn of_kept(context: SessionContext, plan: LogicalPlan) -> Self {
        Self { context, plan, is_kept: true }
    }

    async fn merging(self) -> Result<Arc<dyn ExecutionPlan>> {
        let mut planner = self.context.state();
        let options = JoinOptions { always_merge: true };
        planner.config_mut().options_mut().extensions.insert(options);
        if !self.is_kept {
            return planner.create_physical_plan(&self.plan).await;
        }
        let plan = planner.query_planner().create_physical_plan(&self.plan, &planner).await?;
        FiltersByName::anew(reset_plan_states(plan)?, planner.config_options())
    }
}

/// True if a plan has a hash join that can be a merge join.
pub(crate) fn has_mergeable_joins(plan: &dyn ExecutionPlan) -> bool {
    plan.downcast_ref::<HashJoinExec>().is_some_and(may_merge)
        || plan.children().into_iter().any(|child| has_mergeable_joins(&**child))
}

/// Begins to run a plan in such a task, which is made again if a hash join outgrows the memory.
pub(crate) fn run_or_merge(
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    replan: impl FnOnce() -> Option<Replan>,
) -> Result<SendableRecordBatchStream> {
    let replan = if has_mergeable_joins(&*plan) { replan() } else { None };
    let rows = run(plan, task.clone())?;
    if replan.is_none() {
        return Ok(rows);
    }
    let schema = rows.schema();
    let running = Running { schema: schema.clone(), rows, task, replan };
    let rows = stream::unfold(running, |mut running| async move {
        running.next().await.map(|batch| (batch, running))
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
}

struct Running {
    schema: SchemaRef,
    rows: SendableRecordBatchStream,
    task: Arc<TaskContext>,
    /// None once rows have been given, or the plan was made again.
    replan: Option<Replan>,
}

impl Running {
    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        loop {
            match self.rows.next().await? {
                Err(error) if is_refused(&error, &self.task) => {
                    let Some(replan) = self.replan.take() else { return Some(Err(error)) };
                    // What the plan holds is given up before the other one begins.
                    self.rows = Box::pin(EmptyRecordBatchStream::new(self.schema.clone()));
                    match merge(replan, self.task.clone()).await {
                        Ok(rows) => self.rows = rows,
                        Err(error) => return Some(Err(error)),
                    }
                }
                Ok(batch) => {
                    if batch.num_rows() > 0 {
                        self.replan = None;
                    }
                    return Some(self.with_schema(batch));
                }
                error => return Some(error),
            }
        }
    }

    /// Returns rows under the schema that was announced: joins may differ in what they know of NULLs.
    fn with_schema(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if batch.schema_ref() == &self.schema {
            return Ok(batch);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = batch.columns().to_vec();
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

async fn merge(replan: Replan, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
    let plan = replan.merging().await?;
    if let Some(pool) = PlanPool::of(&task) {
        pool.begin();
    }
    run(plan, task)
}

fn is_refused(error: &DataFusionError, task: &TaskContext) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
        && PlanPool::of(task).is_some_and(PlanPool::has_refused)
}
