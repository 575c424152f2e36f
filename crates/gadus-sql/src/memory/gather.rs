//! Where plans gather rows: before each batch, they look whether they may, and whether its rows are too wide.

use super::PlanPool;
use super::block_join::{BlockJoinExec, not_to_spill};
use super::coalesce::bounded_filter;
use super::compact::compact;
use super::grace_join::GraceJoinExec;
use super::plan::PlanMemory;
use super::wide_rows::{watched, watched_of_join, watched_passing};
use super::windows::SpillingWindowExec;
use crate::pace::PassingExec;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::{RecordBatchStream, TaskContext};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec,
};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::windows::BoundedWindowAggExec;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::{Stream, StreamExt};
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

/// Has operators look whether they may gather on, and at the width of rows, and bounds the batches of filters; among
/// the last of the rules, because no other knows what it puts in.
#[derive(Debug)]
pub(crate) struct GatherInTurn;

impl PhysicalOptimizerRule for GatherInTurn {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let in_turn = plan.transform_up(|plan| {
            if let Some(filter) = bounded_filter(&*plan)? {
                return Ok(Transformed::yes(filter));
            }
            let gathers = gathers(&*plan);
            let is_watched = plan.is::<RepartitionExec>() || is_spilling_join(&*plan);
            if !gathers && !is_watched {
                return Ok(Transformed::no(plan));
            }
            let (in_turn, watched) = watches(&*plan);
            let children = plan.children().into_iter().cloned().enumerate();
            let children = children.map(|(place, input)| match gathers && place == 0 {
                true => PassingExec::new("GadusInTurn", input, in_turn),
                false => PassingExec::new("GadusRowWidth", input, watched),
            });
            let children = children.map(|child| Arc::new(child) as _).collect();
            replace_children_if_necessary(plan, children).map(Transformed::yes)
        });
        in_turn.map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "gadus_gather_in_turn"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn is_join(plan: &dyn ExecutionPlan) -> bool {
    gathering_join(plan) || is_spilling_join(plan)
}

/// True for a join that looks itself whether it may hold rows.
fn is_spilling_join(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<GraceJoinExec>() || plan.is::<BlockJoinExec>()
}

fn gathering_join(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<HashJoinExec>()
        || plan.is::<NestedLoopJoinExec>()
        || plan.is::<CrossJoinExec>()
        || plan.is::<SortMergeJoinExec>()
}

/// True for an operator that gathers the rows of its first input.
pub(super) fn gathers(plan: &dyn ExecutionPlan) -> bool {
    gathering_join(plan)
        || plan.is::<AggregateExec>()
        || plan.is::<SortExec>()
        || plan.is::<SpillingWindowExec>()
        || plan.is::<BoundedWindowAggExec>()
}

/// Looks at the rows of an input.
type Pass = fn(SendableRecordBatchStream, &TaskContext) -> SendableRecordBatchStream;

/// Returns how an operator looks at the rows that it gathers, and at those of other inputs.
fn watches(plan: &dyn ExecutionPlan) -> (Pass, Pass) {
    let aggregate = plan.downcast_ref::<AggregateExec>();
    match aggregate.map(|aggregate| aggregate.group_expr().is_empty()) {
        Some(true) => (in_turn_unwatched, watched),
        Some(false) => (in_turn, watched),
        None if plan.is::<RepartitionExec>() => (watched_passing, watched_passing),
        None if plan.is::<NestedLoopJoinExec>() => (in_turn_of_nested_loops, watched_of_join),
        None if is_join(plan) => (in_turn_of_join, watched_of_join),
        None => (in_turn_compact, watched),
    }
}

/// Rows of which the operator keeps something else.
fn in_turn(input: SendableRecordBatchStream, task: &TaskContext) -> SendableRecordBatchStream {
    in_turn_unwatched(watched(input, task), task)
}

/// Rows of which the operator keeps something else, and whose widths need no look, or have been looked at before.
pub(super) fn in_turn_unwatched(
    input: SendableRecordBatchStream,
    task: &TaskContext,
) -> SendableRecordBatchStream {
    let Some(pool) = PlanPool::of(task) else { return input };
    Box::pin(InTurn { input, plan: pool.plan(), gathered: Arc::default() })
}

/// Rows that the operator holds as they are.
fn in_turn_compact(
    input: SendableRecordBatchStream,
    task: &TaskContext,
) -> SendableRecordBatchStream {
    in_turn(compacted(input), task)
}

/// Rows that a join holds as they are.
fn in_turn_of_join(
    input: SendableRecordBatchStream,
    task: &TaskContext,
) -> SendableRecordBatchStream {
    in_turn_unwatched(watched_of_join(compacted(input), task), task)
}

/// Passes rows to a nested loop join, with errors after which it does not spill.
fn in_turn_of_nested_loops(
    input: SendableRecordBatchStream,
    task: &TaskContext,
) -> SendableRecordBatchStream {
    let schema = input.schema();
    let rows = input.map(|batch| batch.map_err(not_to_spill));
    in_turn_of_join(Box::pin(RecordBatchStreamAdapter::new(schema, rows)), task)
}

fn compacted(input: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let schema = input.schema();
    let rows = input.map(|batch| batch.and_then(|batch| compact(batch).map_err(Into::into)));
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

struct InTurn {
    input: SendableRecordBatchStream,
    plan: Arc<PlanMemory>,
    gathered: Arc<Gathered>,
}

/// Whether an operator has rows of its input that it may refuse to hold beside what it holds already: then it writes
/// that out. It can do so once for each batch; what it holds while it writes out, and once its input has ended, it
/// must be given.
#[derive(Debug, Default)]
pub(super) struct Gathered(AtomicBool);

impl Gathered {
    /// Whether that is so.
    pub(super) fn has(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether that is so, which it is not any more after this.
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

thread_local! {
    /// Of the operator that has been given a batch on this thread last: the next that it does is to hold it.
    static LAST: RefCell<Option<Arc<Gathered>>> = const { RefCell::new(None) };
}

/// Of the operator that runs on this thread, as long as it has asked for the memory of nothing yet.
pub(super) fn last_gathered() -> Option<Arc<Gathered>> {
    LAST.with_borrow(Clone::clone)
}

impl Stream for InTurn {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        ready!(self.plan.poll_gather(context));
        let polled = self.input.poll_next_unpin(context);
        let is_given = matches!(polled, Poll::Ready(Some(Ok(_))));
        self.gathered.0.store(is_given, Ordering::Relaxed);
        LAST.set(is_given.then(|| self.gathered.clone()));
        polled
    }
}

impl RecordBatchStream for InTurn {
    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }
}
