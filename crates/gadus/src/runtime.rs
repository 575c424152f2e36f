//! The threads on which statements run in parallel: one tokio runtime for all databases of a process.
//!
//! - Made when the first statement runs, kept until the process ends.
//! - A synchronous call polls its statement on the calling thread: a point statement costs no
//!   thread switch.
//! - An asynchronous call runs on a thread that may block, because a commit waits for the disk.

use gadus_base::ProcessMark;
use gadus_engine::{Error, ErrorKind, Result};
use std::future::Future;
use std::sync::{Mutex, OnceLock, PoisonError};
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};

/// Statements that may wait at once, each on a thread that is made when it is needed: who waits for a lock
/// must not keep its holder from the thread that he commits on.
const WAITING_MAX: usize = 32_768;

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

/// Forks, one within the other, after which a process still has a runtime.
const FORKS_MAX: usize = 8;

/// The runtime of this process: threads are not forked, so a child has one of its own.
pub(crate) fn runtime() -> Result<&'static Runtime> {
    static RUNTIMES: [OnceLock<Runtime>; FORKS_MAX] = [const { OnceLock::new() }; FORKS_MAX];
    // A second runtime made in a race could not be dropped inside somebody's asynchronous code.
    static MAKING: [Mutex<()>; FORKS_MAX] = [const { Mutex::new(()) }; FORKS_MAX];
    let forks = ProcessMark::here().forks() as usize;
    let (Some(runtime), Some(making)) = (RUNTIMES.get(forks), MAKING.get(forks)) else {
        let message = "a process that was forked, from one that was forked, and so on, too often";
        return Err(Error::new(ErrorKind::Limit, message));
    };
    if let Some(runtime) = runtime.get() {
        return Ok(runtime);
    }
    let _making = making.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = runtime.get() {
        return Ok(runtime);
    }
    let mut builder = Builder::new_multi_thread();
    builder.thread_name("gadus").max_blocking_threads(WAITING_MAX).enable_all();
    let made = builder.build();
    let made = made.map_err(|error| {
        Error::new(ErrorKind::Limit, format!("cannot start threads for statements: {error}"))
    })?;
    Ok(runtime.get_or_init(|| made))
}
