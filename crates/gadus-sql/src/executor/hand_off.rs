//! Computation on an asynchronous worker thread without keeping the worker's other tasks waiting.
//!
//! - `tokio::task::block_in_place` moves the worker's queue and its share of the I/O driver to another
//!   thread while the computation runs.
//! - The computation runs under `block_on` of the statements' runtime: that gives it a task budget, so that
//!   operators that yield after so many batches still do, and has the tasks it spawns run there.
//! - On a thread that is no worker (a synchronous call, a thread that may block) nothing is moved.

use super::runtime;
use futures::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// A future or stream each poll of which runs off its worker.
pub(crate) struct HandOff<T>(pub(crate) T);

impl<T: Future + Unpin> Future for HandOff<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        hand_off(|| Pin::new(&mut self.0).poll(context))
    }
}

impl<T: Stream + Unpin> Stream for HandOff<T> {
    type Item = T::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T::Item>> {
        hand_off(|| Pin::new(&mut self.0).poll_next(context))
    }
}

/// Runs one poll or another computation of a statement, off the worker if this thread is one.
pub(crate) fn hand_off<T>(poll: impl FnOnce() -> T) -> T {
    // Only tasks have an id: `block_on` of a synchronous call has none.
    let is_worker = tokio::task::try_id().is_some()
        && Handle::try_current()
            .is_ok_and(|current| current.runtime_flavor() == RuntimeFlavor::MultiThread);
    // A process without a runtime has no statements to run either: their own error says so.
    let (true, Ok(runtime)) = (is_worker, runtime()) else { return poll() };
    let mut poll = Some(poll);
    let polled_once = poll_fn(|_| match poll.take() {
        Some(poll) => Poll::Ready(poll()),
        None => Poll::Pending,
    });
    block_in_place(|| runtime.block_on(polled_once))
}
