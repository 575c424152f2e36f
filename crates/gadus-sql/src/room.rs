//! Room on the stack for statements that are deep.
//!
//! - Planners go through a tree by recursion, some 34 KiB a level at worst, in builds without optimisation. Nearly all statements are
//!   shallow and run on the stack of their caller; a deep one gets a stack of its own for each step.

use futures::Stream;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Bytes of such a stack; memory is used as far as it is reached.
const ROOM_BYTES: usize = 128 << 20;

/// Carries out what is deep on a stack of its own, anything else right here.
pub(crate) fn with_room<T>(is_deep: bool, work: impl FnOnce() -> T) -> T {
    if is_deep { stacker::grow(ROOM_BYTES, work) } else { work() }
}

/// A future or a stream of which each step has room.
pub(crate) struct Roomy<T>(pub(crate) T);

impl<T: Future + Unpin> Future for Roomy<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        with_room(true, || Pin::new(&mut self.0).poll(context))
    }
}

impl<T: Stream + Unpin> Stream for Roomy<T> {
    type Item = T::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T::Item>> {
        with_room(true, || Pin::new(&mut self.0).poll_next(context))
    }
}
