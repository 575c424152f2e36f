//! How calls run statements on the process's runtime.
//!
//! - A synchronous call polls its statement on the calling thread: a point statement costs no
//!   thread switch.
//! - An asynchronous call runs on a thread that may block, because a commit waits for the disk.

use gadus_engine::{Error, ErrorKind, Result};
pub(crate) use gadus_sql::runtime;
use std::future::Future;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs a future on this thread until it ends.
pub(crate) fn wait<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = runtime()?;
    match Handle::try_current().map(|current| current.runtime_flavor()) {
        Err(_) => runtime.block_on(future),
        Ok(RuntimeFlavor::MultiThread) => {
            tokio::task::block_in_place(|| runtime.handle().block_on(future))
        }
        Ok(_) => Err(Error::new(
            ErrorKind::Input,
            "a synchronous call would block the asynchronous runtime that it is made in: \
             use the call's asynchronous twin",
        )),
    }
}

/// Begins to run a future on a thread of the runtime that may block, whatever executor awaits the
/// result.
pub(crate) fn detach<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> impl Future<Output = Result<T>> + Send + 'static {
    let task = runtime().map(|runtime| runtime.spawn_blocking(move || runtime.block_on(future)));
    async move {
        let broke_off = |error| Error::internal(format!("a statement broke off: {error}"));
        task?.await.map_err(broke_off)?
    }
}
