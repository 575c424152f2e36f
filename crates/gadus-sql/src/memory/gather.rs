//! Where plans gather rows: before each batch, they look whether they may, and whether its rows are too wide.

use super::PlanPool;
use super::coalesce::bounded_filter;
use super::compact::compact;
use super::grace_join::GraceJoinExec;
use super::plan::PlanMemory;
use super::wide_rows::watched;
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

/// Has operators look whether they may gather on, and at the width of rows, and bounds the batches of filters; among the last of the rules, because no other knows what
/// it puts in.
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
            let is_watched = plan.is::<RepartitionExec>() || plan.is::<GraceJoinExec>();
            if !gathers && !is_watched {
                return Ok(Transformed::no(plan));
            }
            let in_turn = if plan.is::<AggregateExec>() { in_turn } else { in_turn_compact };
            let children = plan.children().into_iter().cloned().enumerate();
            let children = children.map(|(place, input)| match gathers && place == 0 {
                true => Arc::new(PassingExec::new("GadusInTurn", input, in_turn)) as _,
                false => Arc::new(PassingExec::new("GadusRowWidth", input, watched)) as _,
            });
            let children = children.collect();
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

/// True for an operator that gathers the rows of its first input.
pub(super) fn gathers(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<HashJoinExec>()
        || plan.is::<NestedLoopJoinExec>()
        || plan.is::<CrossJoinExec>()
        || plan.is::<SortMergeJoinExec>()
        || plan.is::<AggregateExec>()
        || plan.is::<SortExec>()
        || plan.is::<SpillingWindowExec>()
        || plan.is::<BoundedWindowAggExec>()
}

/// Rows of which the operator keeps something else.
fn in_turn(input: SendableRecordBatchStream, task: &TaskContext) -> SendableRecordBatchStream {
    in_turn_unwatched(watched(input, task), task)
}

/// Rows of which the operator keeps something else, and whose widths have been looked at before.
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
    let schema = input.schema();
    let rows = input.map(|batch| batch.and_then(|batch| compact(batch).map_err(Into::into)));
    in_turn(Box::pin(RecordBatchStreamAdapter::new(schema, rows)), task)
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
