//! Plans that are made again when their operators turn out to need more memory than there is.
//!
//! - How large the input of a join is, and how wide its rows are, no plan knows for sure. A plan of which an operator
//!   is refused memory, a join or what the joins left none for, is made once more with joins that spill: by merging
//!   sorted inputs, by partitions of both inputs ([`grace_join`](super::grace_join)) where a join cannot be merged, as
//!   one with further conditions on pairs, or by blocks ([`block_join`](super::block_join)) without an equality. Sorts
//!   that keep their first rows only sort all of them then, and spill ([`sorts`](super::sorts)). A plan whose rows are
//!   too wide for its batches is made again with fewer rows per batch ([`wide_rows`](super::wide_rows)), and with one
//!   partition if its joins or sorts spill, too: each partition of those holds batches, and merges runs, of its own.
//! - Only before rows have been given: the same ones might come again, and others not at all.
//! - Numbers that a sequence has given to the first plan are not given again, as after any statement that fails.
//! - NOT IN of values that may be NULL does not spill: it fails as before.

use super::blocks::with_schema;
use super::gather::gathers;
use super::pool::PlanPool;
use super::{joins, run, sorts};
use crate::mended::FiltersByName;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::config::{ConfigExtension, ConfigNonZeroUsize, ConfigOptions};
use datafusion::common::{DataFusionError, Result, extensions_options};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::{EmptyRecordBatchStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use datafusion::prelude::SessionContext;
use futures::{StreamExt, stream};
use gadus_base::counted;
use parking_lot::Mutex;
use std::sync::Arc;

extensions_options! {
    /// How joins and sorts are planned.
    pub(super) struct SpillOptions {
        /// True if all that can spill do, however small they seem.
        pub always: bool, default = false
    }
}

impl ConfigExtension for SpillOptions {
    const PREFIX: &'static str = "gadus_spills";
}

impl SpillOptions {
    /// Tells whether all joins and sorts that can spill do, however small they seem.
    pub(super) fn is_always(config: &ConfigOptions) -> bool {
        config.extensions.get::<Self>().is_some_and(|options| options.always)
    }
}

/// Plans of one statement that are made at most, after the first one.
const REPLANS_MAX: u32 = 5;

/// Where the rows of a plan with smaller batches are too wide as well, its batches get so much smaller at least.
const GROWTH: usize = 16;

/// If rows are wide, a partial aggregate looks at so many batches, and rows, first. If nearly all of these rows are groups
/// of their own, it passes the others on as they are.
const PROBED_BATCHES: usize = 8;
const PROBED_ROWS_MIN: usize = 16;
const PROBED_RATIO: f64 = 0.9;

/// What a plan that is made again has other than the first one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Changes {
    /// True if all joins and sorts that can spill do.
    spills: bool,
    /// Rows per batch, where those of the session are too many.
    batch_rows: Option<usize>,
    /// Spilled runs that are merged at a time, where the usual number is too large.
    merged_runs: Option<usize>,
}

impl Changes {
    /// The same with what helps a plan that failed in a task; none where nothing does.
    fn after_failure(self, pool: &PlanPool, can_spill: bool) -> Option<Self> {
        let batch_rows = match (pool.smaller_batches(), self.batch_rows) {
            // Rows that grow, as those of a recursive query may, would have a plan made for each length.
            (Some(asked), Some(before)) => Some(asked.min(before / GROWTH).max(1)),
            (asked, before) => asked.or(before),
        };
        let spills = self.spills || (can_spill && pool.has_refused());
        let merged_runs = pool.smaller_batches().map(|_| pool.merged_runs());
        let merged_runs = merged_runs.into_iter().chain(self.merged_runs).min();
        let changed = Self { spills, batch_rows, merged_runs };
        (changed != self).then_some(changed)
    }

    fn in_words(self) -> Option<String> {
        let spills = "joins and sorts that outgrew the memory limit spill";
        let spills = self.spills.then(|| spills.to_owned());
        let batches = self.batch_rows.map(|rows| {
            format!("rows too wide for full batches come {} at a time", counted(rows as u64))
        });
        let changes = spills.into_iter().chain(batches).collect::<Vec<_>>();
        (!changes.is_empty()).then(|| changes.join("; "))
    }
}

/// What a plan is made again of.
#[derive(Clone)]
pub(crate) struct Replan {
    context: SessionContext,
    plan: Arc<LogicalPlan>,
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
        Self { context: context.clone(), plan: Arc::new(plan), is_kept: false }
    }

    /// Of the logical plan that a kept plan was made of.
    pub(crate) fn of_kept(context: SessionContext, plan: LogicalPlan) -> Self {
        Self { context, plan: Arc::new(plan), is_kept: true }
    }

    /// Makes the plan, and what it runs in beside what `task` has.
    async fn with_changes(
        &self,
        changes: Changes,
        task: &TaskContext,
    ) -> Result<(Arc<dyn ExecutionPlan>, TaskContext)> {
        let mut planner = self.context.state();
        let config = planner.config_mut().options_mut();
        config.extensions.insert(SpillOptions { always: changes.spills });
        if let Some(rows) = changes.batch_rows {
            config.execution.batch_size = ConfigNonZeroUsize::try_new(rows)?;
            let execution = &mut config.execution;
            // Groups that a partial aggregate gives when memory is short are not counted while they wait to be taken.
            execution.skip_partial_aggregation_probe_rows_threshold =
                (PROBED_BATCHES * rows).max(PROBED_ROWS_MIN);
            execution.skip_partial_aggregation_probe_ratio_threshold = PROBED_RATIO;
            if changes.spills {
                execution.target_partitions = 1;
            }
        }
        let mut runtime = task.runtime_env();
        if let (Some(runs), Some(pool)) = (changes.merged_runs, PlanPool::of(task)) {
            runtime = Arc::new(pool.merging(&runtime, runs));
        }
        let task = TaskContext::from(&planner).with_runtime(runtime);
        if !self.is_kept {
            return Ok((planner.create_physical_plan(&self.plan).await?, task));
        }
        let plan = planner.query_planner().create_physical_plan(&self.plan, &planner).await?;
        let plan = FiltersByName::anew(reset_plan_states(plan)?, planner.config_options())?;
        Ok((plan, task))
    }
}

/// True if a plan has an operator for which it may be made again.
pub(crate) fn may_replan(plan: &dyn ExecutionPlan) -> bool {
    gathers(plan)
        || plan.is::<RepartitionExec>()
        || plan.children().into_iter().any(|child| may_replan(&**child))
}

/// True if a plan has a join or a sort that another plan can spill.
fn can_spill(plan: &dyn ExecutionPlan) -> bool {
    let is_one = joins::may_spill(plan) || sorts::may_spill(plan);
    is_one || plan.children().into_iter().any(|child| can_spill(&**child))
}

/// Begins to run a plan in such a task, which is made again if it needs more memory than there is.
pub(crate) fn run_or_replan(
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    replan: impl FnOnce() -> Option<Replan>,
) -> Result<SendableRecordBatchStream> {
    run_observed(plan, task, replan, None)
}

/// The same; `observed` has the plan that ran in the end.
pub(crate) fn run_observed(
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    replan: impl FnOnce() -> Option<Replan>,
    observed: Option<Arc<LastPlan>>,
) -> Result<SendableRecordBatchStream> {
    let replan = if may_replan(&*plan) { replan() } else { None };
    let can_spill = can_spill(&*plan);
    let rows = run(plan, task.clone(), false)?;
    if replan.is_none() {
        return Ok(rows);
    }
    let schema = rows.schema();
    let running = Running {
        schema: schema.clone(),
        rows,
        task,
        replan,
        can_spill,
        changes: Changes::default(),
        replans: 0,
        observed,
    };
    let rows = stream::unfold(running, |mut running| async move {
        running.next().await.map(|batch| (batch, running))
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
}

/// The plan that a statement has been run with last, and how it differs from the first one.
#[derive(Debug)]
pub(crate) struct LastPlan(Mutex<(Arc<dyn ExecutionPlan>, Changes)>);

impl LastPlan {
    pub(crate) fn new(first: Arc<dyn ExecutionPlan>) -> Arc<Self> {
        Arc::new(Self(Mutex::new((first, Changes::default()))))
    }

    /// Returns the plan, and in words why it is not the first one.
    pub(crate) fn take(&self) -> (Arc<dyn ExecutionPlan>, Option<String>) {
        let (plan, changes) = &*self.0.lock();
        (plan.clone(), changes.in_words())
    }
}

struct Running {
    schema: SchemaRef,
    rows: SendableRecordBatchStream,
    task: Arc<TaskContext>,
    /// None once rows have been given.
    replan: Option<Replan>,
    can_spill: bool,
    /// What the plan has other than the first one, and how often it was made again.
    changes: Changes,
    replans: u32,
    observed: Option<Arc<LastPlan>>,
}

impl Running {
    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        loop {
            match self.rows.next().await? {
                Err(error) => {
                    let Some(changes) = self.changes_after(&error) else { return Some(Err(error)) };
                    if let Err(error) = self.run_again(changes).await {
                        return Some(Err(error));
                    }
                }
                Ok(batch) => {
                    if batch.num_rows() > 0 {
                        self.replan = None;
                        if let Some(pool) = PlanPool::of(&self.task) {
                            pool.give();
                        }
                    }
                    return Some(self.with_schema(batch));
                }
            }
        }
    }

    /// Returns what a plan has to have that does not fail with such an error; none where that cannot be made.
    fn changes_after(&self, error: &DataFusionError) -> Option<Changes> {
        let pool = PlanPool::of(&self.task)?;
        let is_refused = matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
            || pool.has_refused()
            || pool.smaller_batches().is_some();
        if !is_refused || self.replan.is_none() || self.replans == REPLANS_MAX {
            return None;
        }
        self.changes.after_failure(pool, self.can_spill)
    }

    async fn run_again(&mut self, changes: Changes) -> Result<()> {
        let Some(replan) = &self.replan else { return Ok(()) };
        // What the plan holds is given up before the other one begins.
        self.rows = Box::pin(EmptyRecordBatchStream::new(self.schema.clone()));
        let (plan, task) = replan.with_changes(changes, &self.task).await?;
        if let Some(pool) = PlanPool::of(&task) {
            pool.begin();
        }
        (self.changes, self.replans) = (changes, self.replans + 1);
        if let Some(observed) = &self.observed {
            *observed.0.lock() = (plan.clone(), changes);
        }
        self.rows = run(plan, Arc::new(task), true)?;
        Ok(())
    }

    /// Returns rows under the schema that was announced: joins may differ in what they know of NULLs.
    fn with_schema(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if batch.schema_ref() == &self.schema {
            return Ok(batch);
        }
        with_schema(&self.schema, &batch)
    }
}
