//! Cancelling the statement that runs.
//!
//! - Each statement has a number; a cancellation names the one that runs at that moment.

use futures::{Stream, StreamExt};
use gadus_engine::{Error, ErrorKind, Result};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Lets one thread end what another runs.
#[derive(Debug, Default)]
pub(crate) struct Cancel {
    current: parking_lot::Mutex<Arc<Flag>>,
}

/// The flag of one statement.
#[derive(Debug, Default)]
pub(crate) struct Flag {
    set: AtomicBool,
    notify: Notify,
}

impl Cancel {
    /// Begins a statement.
    pub(crate) fn begin(&self) -> Arc<Flag> {
        let flag = Arc::new(Flag::default());
        *self.current.lock() = flag.clone();
        flag
    }

    /// Cancels the statement that began last.
    pub(crate) fn cancel(&self) {
        let flag = self.current.lock().clone();
        flag.set.store(true, Ordering::SeqCst);
        flag.notify.notify_waiters();
    }

    /// A stream of the current statement that ends with an error when it is cancelled.
    pub(crate) fn guard<T: Send + 'static>(
        cancel: &Arc<Self>,
        stream: impl Stream<Item = Result<T>> + Send + 'static,
    ) -> impl Stream<Item = Result<T>> + Send + 'static {
        let flag = cancel.current.lock().clone();
        let stream = Box::pin(stream);
        futures::stream::unfold(Some((stream, flag)), |state| async move {
            let (mut stream, flag) = state?;
            match flag.run(async { Ok(stream.next().await) }).await {
                Ok(item) => item.map(|item| (item, Some((stream, flag)))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

impl Flag {
    /// Whether the statement was cancelled.
    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::SeqCst)
    }

    /// Runs a future until it ends or the statement is cancelled.
    pub(crate) async fn run<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        let notified = self.notify.notified();
        let mut notified = std::pin::pin!(notified);
        notified.as_mut().enable();
        if self.set.load(Ordering::Relaxed) {
            return Err(cancelled());
        }
        tokio::select! {
            biased;
            () = notified => Err(cancelled()),
            result = future => result,
        }
    }
}

pub(super) fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "the statement was cancelled")
}
