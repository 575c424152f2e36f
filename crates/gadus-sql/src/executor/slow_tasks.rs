//! Tasks of plans that compute for long between two yields.
//!
//! - An operator such as a sort or a window works through all that it has gathered in one step. No rule
//!   about plans foresees each such step, so the time of each step is measured: after one longer than
//!   `STEP`, the task's next steps run off the worker. Short steps stay where they are, because a hand-over
//!   costs some microseconds. Of one statement only so many run at the same time ([`step_slots`](super::step_slots)).

use super::cancellation::{current, work_for};
use super::hand_off::hand_off;
use super::step_slots::Turn;
use crate::session::{Cancel, Flag};
use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures::FutureExt;
use futures::future::BoxFuture;
use gadus_base::clock;
use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Time of a step after which the next ones run off the worker: a hundred times what a hand-over costs.
const STEP: Duration = Duration::from_millis(1);

type Output = Box<dyn Any + Send>;

/// Has all tasks that DataFusion spawns in this process measured.
pub(super) fn install() {
    // It is set already in a forked child, which inherits it, and where another library of the process
    // uses DataFusion's only slot: its tasks then run unmeasured.
    let _ = set_join_set_tracer(&MeasureTasks);
}

struct MeasureTasks;

impl JoinSetTracer for MeasureTasks {
    fn trace_future(&self, task: BoxFuture<'static, Output>) -> BoxFuture<'static, Output> {
        let cancel = current();
        let statement = cancel.as_ref().map(|cancel| cancel.current());
        MeasuredTask { task, cancel, statement, turn: Turn::default(), is_slow: false }.boxed()
    }

    fn trace_block(
        &self,
        block: Box<dyn FnOnce() -> Output + Send>,
    ) -> Box<dyn FnOnce() -> Output + Send> {
        block
    }
}

struct MeasuredTask {
    task: BoxFuture<'static, Output>,
    /// Cancels the statement that has spawned it.
    cancel: Option<Arc<Cancel>>,
    /// That statement, among whose slow steps this task's have turns.
    statement: Option<Arc<Flag>>,
    turn: Turn,
    /// The last step took longer than `STEP`.
    is_slow: bool,
}

impl Future for MeasuredTask {
    type Output = Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Output> {
        let Self { task, cancel, statement, turn, is_slow } = &mut *self;
        let _slot = match statement {
            Some(statement) if *is_slow => ready!(turn.poll(&statement.steps, context)),
            _ => None,
        };
        let began = clock().now();
        let mut poll = || work_for(cancel.as_ref(), || task.poll_unpin(context));
        let polled = if *is_slow { hand_off(poll) } else { poll() };
        *is_slow = began.elapsed() > STEP;
        polled
    }
}
