//! Threads on which statements compute: one tokio runtime for all databases of a process, and the rule that
//! no statement keeps a thread from other tasks.
//!
//! - The runtime starts with the first statement and lasts until the process ends. A forked child has a
//!   runtime of its own, because threads are not forked.
//! - The tasks that DataFusion spawns for a plan run here, whatever runtime polls the plan's root. A server
//!   thus serves connections, timers and cancel requests on workers that never run a plan's tasks.
//! - A statement polled on a worker of another runtime hands that worker's other tasks to another thread
//!   first (`hand_off`), and so does a plan's task that was slow before (`slow_tasks`): the kernel then
//!   schedules the long computation, preemptively, and the workers stay free.
//! - Planning rules and functions that compute for long learn from the thread that their statement was
//!   cancelled (`cancellation`).

mod cancellation;
mod documents;
mod hand_off;
mod large_plans;
mod long_steps;
mod numerics;
mod planning;
mod requirements;
mod slow_tasks;
mod step_slots;
mod task;
#[cfg(test)]
mod tests;

pub(crate) use cancellation::{WorkFor, check_cancelled, statement_times};
pub(crate) use hand_off::{HandOff, hand_off};
pub(crate) use large_plans::{apart, is_large_statement, logical_plan, physical_plan};
pub(crate) use long_steps::apart_if_long;
pub(crate) use numerics::refuse_numerics_within;
pub(crate) use planning::{Cancellable, CancellableExpressions, is_planning};
pub(crate) use requirements::CancellableRequirements;
pub(crate) use step_slots::StepSlots;

use gadus_base::{ProcessMark, check_threads};
use gadus_engine::{Error, ErrorKind, Result};
use std::io;
use std::num::NonZero;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Statements that may block at once, each on a thread of its own that starts when it is needed: a statement
/// that waits for a lock must not keep the lock's holder from a thread to commit on.
const BLOCKED_STATEMENTS_MAX: usize = 32_768;

/// Threads beside the workers that a process needs to start: one for statements that block, one for timeouts.
const SPARE_THREADS: usize = 2;

/// How long a thread for statements that block stays when there are none.
const KEEP_ALIVE: Duration = Duration::from_secs(3600);

/// Nested forks after which a process still gets a runtime.
const FORKS_MAX: usize = 8;

/// Returns the runtime of this process.
///
/// # Errors
/// `Limit` when the system has no thread left, or the process descends from too many forks.
pub fn runtime() -> Result<&'static Runtime> {
    static RUNTIMES: [OnceLock<Runtime>; FORKS_MAX] = [const { OnceLock::new() }; FORKS_MAX];
    // A second runtime, started in a race, could not be dropped within asynchronous code.
    static STARTING: [Mutex<()>; FORKS_MAX] = [const { Mutex::new(()) }; FORKS_MAX];
    let forks = ProcessMark::here().forks() as usize;
    let (Some(runtime), Some(starting)) = (RUNTIMES.get(forks), STARTING.get(forks)) else {
        let message = format!(
            "process is more than {FORKS_MAX} nested forks deep; open the database before forking less"
        );
        return Err(Error::new(ErrorKind::Limit, message));
    };
    if let Some(runtime) = runtime.get() {
        return Ok(runtime);
    }
    let _starting = starting.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = runtime.get() {
        return Ok(runtime);
    }
    slow_tasks::install();
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    check_threads(workers + SPARE_THREADS).map_err(no_threads)?;
    let mut builder = Builder::new_multi_thread();
    builder.thread_name("gadus").max_blocking_threads(BLOCKED_STATEMENTS_MAX).enable_all();
    builder.worker_threads(workers).thread_keep_alive(KEEP_ALIVE);
    let started = builder.build().map_err(no_threads)?;
    // The first thread for statements that block: where the system later has no more, they take turns.
    drop(started.spawn_blocking(|| {}));
    Ok(runtime.get_or_init(|| started))
}

fn no_threads(error: io::Error) -> Error {
    let message =
        "the system has no threads for statements; raise the limit of processes and threads";
    Error::new(ErrorKind::Limit, message).caused_by(error)
}
