//! The statement that a thread works for, so that long computations learn that it was cancelled.
//!
//! - With it go the time zone and the styles of the statement's session, which functions of times read.
//! - Between two yields, planning rules and functions look at it: neither has a way of its own to the session. Loops
//!   of the engine over rows learn of it as an [interrupt](Interrupt).
//! - It is set while a future or stream of the statement is polled, and for the tasks that it spawns.

use crate::error::to_datafusion;
use crate::session::Cancel;
use crate::times::StatementTimes;
use datafusion::common::Result;
use futures::Stream;
use gadus_base::{Interrupt, interruptible};
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

thread_local! {
    static CURRENT: RefCell<Option<Arc<Cancel>>> = const { RefCell::new(None) };
}

/// Returns what cancels the statement that this thread works for.
pub(super) fn current() -> Option<Arc<Cancel>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Works for a statement until `work` returns.
pub(super) fn work_for<T>(cancel: Option<&Arc<Cancel>>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Arc<Cancel>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _restore = Restore(CURRENT.replace(cancel.cloned()));
    let source = cancel.map(|cancel| cancel.clone() as Arc<dyn Interrupt>);
    interruptible(source, work)
}

/// Ends a long computation of a statement that was cancelled, or whose time is over.
///
/// # Errors
/// `Cancelled`.
pub(crate) fn check_cancelled() -> Result<()> {
    let flag = CURRENT.with_borrow(|cancel| cancel.as_ref().map(|cancel| cancel.current()));
    match flag.filter(|flag| flag.is_set()) {
        Some(flag) => Err(to_datafusion(flag.reason())),
        None => Ok(()),
    }
}

/// Returns the zone, the styles and the times of the statement that this thread works for: those of a session that has set
/// nothing if it works for none.
pub(crate) fn statement_times() -> Arc<StatementTimes> {
    let current = CURRENT.with_borrow(|cancel| cancel.as_ref().map(|cancel| cancel.current()));
    current.and_then(|flag| flag.times()).unwrap_or_default()
}

/// A future or stream whose polls work for a statement.
pub(crate) struct WorkFor<T> {
    pub(crate) cancel: Arc<Cancel>,
    pub(crate) work: T,
}

impl<T: Future + Unpin> Future for WorkFor<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        let Self { cancel, work } = &mut *self;
        work_for(Some(cancel), || Pin::new(work).poll(context))
    }
}

impl<T: Stream + Unpin> Stream for WorkFor<T> {
    type Item = T::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T::Item>> {
        let Self { cancel, work } = &mut *self;
        work_for(Some(cancel), || Pin::new(work).poll_next(context))
    }
}
