//! A statement that was begun, until it is answered.

use crate::connection::Outcome;
use crate::runtime;
use futures::future::BoxFuture;
use gadus_engine::Result;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A statement that was submitted: to be awaited, or waited for.
///
/// Dropping it says that nobody is interested any more. A statement that changes something is carried out
/// all the same, and the database stays open until then, unless somebody else has locked or changed the
/// same rows by then.
pub struct Pending(BoxFuture<'static, Result<Outcome>>);

impl Pending {
    pub(crate) fn new(answer: impl Future<Output = Result<Outcome>> + Send + 'static) -> Self {
        Self(Box::pin(answer))
    }

    /// Waits until the statement is answered.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn wait(self) -> Result<Outcome> {
        runtime::wait(self.0)
    }
}

impl Pending {
    /// Has somebody told what the statement gave, on a thread of the database, as soon as it is answered;
    /// does not wait. He may block that thread.
    ///
    /// # Errors
    /// When the system has no thread to give; then he is not told.
    pub fn tell(self, somebody: impl FnOnce(Result<Outcome>) + Send + 'static) -> Result<()> {
        let runtime = runtime::runtime()?;
        runtime.spawn(async move {
            let outcome = self.await;
            runtime.spawn_blocking(move || somebody(outcome));
        });
        Ok(())
    }
}

impl Future for Pending {
    type Output = Result<Outcome>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}
