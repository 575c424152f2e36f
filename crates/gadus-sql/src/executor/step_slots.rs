//! Slow steps of a statement that run at the same time: a few, however many tasks its plan has.
//!
//! - Each runs on a thread of its own. Forty at once, as of a UNION of twenty scans, have all other threads of the
//!   process wait for their turns of the processors, up to 86 ms on two.
//! - A step that goes on after its statement was cancelled keeps its slot: so each statement has its own.
//! - There are more slots than processors, as some steps wait for the disk.

use futures::FutureExt;
use futures::future::BoxFuture;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::thread;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Slow steps of a statement at the same time, for each processor.
const STEPS_PER_PROCESSOR: usize = 2;

/// The slots of a statement, made when its first slow step needs one.
#[derive(Debug, Default)]
pub(crate) struct StepSlots(OnceLock<Arc<Semaphore>>);

impl StepSlots {
    fn get(&self) -> &Arc<Semaphore> {
        self.0.get_or_init(|| Arc::new(Semaphore::new(steps_max())))
    }
}

/// Returns the slow steps of a statement that run at the same time.
pub(super) fn steps_max() -> usize {
    STEPS_PER_PROCESSOR * thread::available_parallelism().map_or(1, NonZero::get)
}

/// A task's turn among the slow steps of its statement.
#[derive(Default)]
pub(super) struct Turn(Option<BoxFuture<'static, Result<OwnedSemaphorePermit, AcquireError>>>);

impl Turn {
    /// Returns a slot when it is the task's turn. Slots are never closed.
    pub(super) fn poll(
        &mut self,
        slots: &StepSlots,
        context: &mut Context<'_>,
    ) -> Poll<Option<OwnedSemaphorePermit>> {
        let slots = slots.get();
        let waiting = match &mut self.0 {
            Some(waiting) => waiting,
            None => match slots.clone().try_acquire_owned() {
                Ok(slot) => return Poll::Ready(Some(slot)),
                Err(_) => self.0.insert(slots.clone().acquire_owned().boxed()),
            },
        };
        let slot = ready!(waiting.poll_unpin(context));
        self.0 = None;
        Poll::Ready(slot.ok())
    }
}
