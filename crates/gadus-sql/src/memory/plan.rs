//! The memory of one plan, and whether somebody waits for its rows.

use super::{Memory, PlanPool};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{RecordBatchStream, TaskContext};
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::{Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

/// What one run of a plan holds.
#[derive(Debug)]
pub(super) struct PlanMemory {
    pub(super) memory: Memory,
    /// Those that came first have the least.
    pub(super) number: u64,
    held: AtomicU64,
}

impl PlanMemory {
    /// Of a run that begins now.
    pub(super) fn new(memory: Memory) -> Arc<Self> {
        let number = memory.0.numbers.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { memory, number, held: AtomicU64::new(0) })
    }

    pub(super) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    pub(super) fn hold(&self, bytes: u64) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        self.memory.hold(bytes);
    }

    pub(super) fn release(&self, bytes: u64) {
        // What an earlier run of the plan held may be given up late.
        let less = |held: u64| Some(held.saturating_sub(bytes));
        let _ = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        self.memory.release(bytes);
    }

    /// Whether an operator that holds so much writes it out, rather than hold more.
    pub(super) fn is_to_spill(&self, held: u64) -> bool {
        self.memory.is_to_spill(self.held(), held)
    }

    pub(super) fn poll_gather(&self, context: &Context<'_>) -> Poll<()> {
        self.memory.poll_gather(self, context)
    }
}

/// The rows of a plan that runs in such a task; while somebody waits for them, it has its turn.
pub(crate) fn awaited(
    task: &TaskContext,
    rows: SendableRecordBatchStream,
) -> SendableRecordBatchStream {
    match PlanPool::of(task) {
        Some(pool) => Box::pin(Awaited { rows, plan: pool.plan(), is_awaited: false }),
        None => rows,
    }
}

struct Awaited {
    rows: SendableRecordBatchStream,
    plan: Arc<PlanMemory>,
    is_awaited: bool,
}

impl Awaited {
    fn set(&mut self, is_awaited: bool) {
        if self.is_awaited != is_awaited {
            self.is_awaited = is_awaited;
            self.plan.memory.await_plan(self.plan.number, is_awaited);
        }
    }
}

impl Stream for Awaited {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.rows.poll_next_unpin(context);
        self.as_mut().get_mut().set(polled.is_pending());
        polled
    }
}

impl RecordBatchStream for Awaited {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.set(false);
    }
}
