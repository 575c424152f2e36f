//! Cancelling the statement that runs, or ending it when its time is over.
//!
//! - Each statement has a flag of its own; a cancellation is for the one that runs at that moment.

use super::deadlines::Watch;
use crate::executor::StepSlots;
use crate::times::StatementTimes;
use futures::{Stream, StreamExt};
use gadus_base::{Instant, Interrupt, clock};
use gadus_engine::{Error, ErrorKind, Reason, Result};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Notify;

/// Lets one thread end what another runs.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    current: parking_lot::Mutex<Arc<Flag>>,
    requests: AtomicU64,
    /// Limit of the next statement, where preparing it is a part of its time.
    prepared: parking_lot::Mutex<Option<Limit>>,
}

/// The flag of one statement.
#[derive(Debug, Default)]
pub(crate) struct Flag {
    set: AtomicBool,
    is_late: AtomicBool,
    notify: Notify,
    limit: Option<Limit>,
    watch: OnceLock<Watch>,
    times: OnceLock<Arc<StatementTimes>>,
    pub(crate) steps: StepSlots,
}

/// How long a statement may take, and when that is over.
#[derive(Debug, Clone, Copy)]
struct Limit {
    time: Duration,
    ends: Instant,
}

impl Limit {
    fn from_now(time: Duration) -> Self {
        Self { time, ends: clock().now().plus(time) }
    }
}

impl Cancel {
    /// What cancels one statement, and none after it.
    pub(crate) fn of(flag: Arc<Flag>) -> Arc<Self> {
        Arc::new(Self { current: parking_lot::Mutex::new(flag), ..Self::default() })
    }

    /// Begins a statement that may take so long, or what preparing it has left of that.
    pub(crate) fn begin(&self, time: Option<Duration>) -> Arc<Flag> {
        let prepared = self.prepared.lock().take();
        self.begin_until(prepared.or_else(|| time.map(Limit::from_now)))
    }

    /// Begins to prepare a statement whose time counts from a moment on; what is left then stays for the statement
    /// itself.
    pub(super) fn begin_preparing(&self, time: Option<Duration>, since: Instant) -> Arc<Flag> {
        let prepared = *self.prepared.lock();
        let limit = |time| Limit { time, ends: since.plus(time) };
        self.begin_until(prepared.or_else(|| time.map(limit)))
    }

    /// Has the next statement end when the one of a flag would have, which has prepared it.
    pub(super) fn keep_limit(&self, preparing: &Flag) {
        *self.prepared.lock() = preparing.limit;
    }

    /// Gives the next statement all of its time.
    pub(super) fn forget_limit(&self) {
        *self.prepared.lock() = None;
    }

    fn begin_until(&self, limit: Option<Limit>) -> Arc<Flag> {
        let flag = Arc::new(Flag { limit, ..Flag::default() });
        *self.current.lock() = flag.clone();
        flag
    }

    /// Cancels the statement that began last.
    pub(crate) fn cancel(&self) {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let flag = self.current.lock().clone();
        flag.end();
    }

    /// Returns the number of requests to cancel, whether or not a statement ran at them.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    /// Goes on with another flag.
    pub(crate) fn replace(&self, flag: Arc<Flag>) {
        *self.current.lock() = flag;
    }

    /// Goes on with the flag from before one that is done with, if no other statement has begun since.
    pub(crate) fn end(&self, done: &Arc<Flag>, before: Arc<Flag>) {
        let mut current = self.current.lock();
        if Arc::ptr_eq(&current, done) {
            *current = before;
        }
    }

    /// The flag of the current statement.
    pub(crate) fn current(&self) -> Arc<Flag> {
        self.current.lock().clone()
    }
}

impl Cancel {
    /// A stream that ends with an error when the statement is cancelled whose turn it is.
    pub(crate) fn guard<T: Send + 'static>(
        cancel: Arc<Self>,
        stream: impl Stream<Item = Result<T>> + Send + 'static,
    ) -> impl Stream<Item = Result<T>> + Send + 'static {
        let stream = Box::pin(stream);
        futures::stream::unfold(Some((stream, cancel)), |state| async move {
            let (mut stream, cancel) = state?;
            let flag = cancel.current();
            match flag.run(async { Ok(stream.next().await) }).await {
                Ok(item) => item.map(|item| (item, Some((stream, cancel)))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

impl Interrupt for Cancel {
    fn is_requested(&self) -> bool {
        self.current.lock().is_set()
    }
}

impl Flag {
    /// Of a statement that begins now and may take so long.
    pub(super) fn with_time(time: Option<Duration>) -> Arc<Self> {
        Arc::new(Self { limit: time.map(Limit::from_now), ..Self::default() })
    }

    /// When the statement's time is over.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.limit.map(|limit| limit.ends)
    }

    /// Sets the zone, the styles and the times of the statement, once.
    pub(super) fn set_times(&self, times: Arc<StatementTimes>) {
        let _ = self.times.set(times);
    }

    /// Returns the zone, the styles and the times of the statement.
    pub(crate) fn times(&self) -> Option<Arc<StatementTimes>> {
        self.times.get().cloned()
    }

    pub(super) fn is_watched(&self, watch: Watch) {
        let _ = self.watch.set(watch);
    }

    /// Ends the statement, whose time is over.
    pub(super) fn expire(&self) {
        self.is_late.store(true, Ordering::SeqCst);
        self.end();
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        self.set.store(true, Ordering::SeqCst);
        self.notify.notify_waiters();
    }

    /// Why the statement was ended.
    pub(crate) fn reason(&self) -> Error {
        let Some(limit) = self.limit.filter(|_| self.is_late.load(Ordering::SeqCst)) else {
            return Error::cancelled();
        };
        let limit = limit.time.as_millis();
        let message = format!("canceling statement due to statement timeout ({limit} ms)");
        Error::new(ErrorKind::Cancelled, message).because(Reason::StatementTimeout)
    }

    /// Ends a statement between two steps that nothing interrupts.
    ///
    /// # Errors
    /// `Cancelled`.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_set() { Err(self.reason()) } else { Ok(()) }
    }

    /// Whether the statement was cancelled, or its time is over.
    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::SeqCst)
    }

    /// Runs a future until it ends or the statement is cancelled.
    pub(crate) async fn run<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        let notified = self.notify.notified();
        let mut notified = std::pin::pin!(notified);
        notified.as_mut().enable();
        if self.set.load(Ordering::Relaxed) {
            return Err(self.reason());
        }
        tokio::select! {
            biased;
            () = notified => Err(self.reason()),
            result = future => result,
        }
    }
}

#[cfg(test)]
mod tests;
