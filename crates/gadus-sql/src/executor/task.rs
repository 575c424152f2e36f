//! Work of a statement in a task of its own, off the runtime's workers and with room on the stack.

use super::HandOff;
use crate::room::Roomy;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use gadus_base::Account;
use std::future::poll_fn;
use std::panic::resume_unwind;

/// Spawns work once it is awaited, charged to the caller's account; it ends early when the result is dropped.
pub(super) fn in_task<T: Send + 'static>(
    work: BoxFuture<'static, Result<T>>,
) -> BoxFuture<'static, Result<T>> {
    let account = Account::current();
    let mut work = HandOff(Roomy(work));
    let work = poll_fn(move |context| match &account {
        Some(account) => account.charge(|| work.poll_unpin(context)),
        None => work.poll_unpin(context),
    });
    let done = async move {
        let done = SpawnedTask::spawn(work).await;
        done.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(error) => Err(DataFusionError::External(Box::new(error))),
        })
    };
    done.boxed()
}
