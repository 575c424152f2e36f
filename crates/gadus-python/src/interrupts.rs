//! Ctrl-C while a statement runs.
//!
//! - Python tells no native code of a signal: its own handler notes it, for the interpreter to act on
//!   later. It also writes the signal's number to a descriptor, if told to (`signal.set_wakeup_fd`). While
//!   a statement of the main thread runs, that is a pipe of ours, which a thread reads and cancels the
//!   statement.
//! - What stood there before, an event loop's descriptor, gets the numbers behind the statement, and is
//!   put back: its loop has waited for the statement, too.

use crate::errors::exception;
use crate::progress::Bar;
use gadus::{CancelHandle, Error, ErrorKind, Result};
use gadus_base::ProcessMark;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::mem::take;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The number of Ctrl-C's signal.
const INTERRUPT: u8 = 2;
/// What no signal has as its number.
const MARK: u8 = 0;
/// A thread that reads a pipe has had its turn by then.
const SETTLING_MAX: Duration = Duration::from_secs(1);

/// The statements of a connection, as they are watched.
#[derive(Clone)]
pub(crate) struct Watched {
    pub(crate) handle: CancelHandle,
    pub(crate) shows_progress: bool,
}

/// Does what may take time, without the interpreter's lock; Ctrl-C ends it. The outer error is that of a
/// signal's handler.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    statement: &Watched,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<Result<T>> {
    let watching = match is_main_thread() {
        true => Watching::begin(py, statement.handle.clone())?,
        false => None,
    };
    let result = py.detach(|| {
        // Ends, with its thread, before the interpreter's lock is taken again.
        let _bar = statement.shows_progress.then(|| Bar::begin(statement.handle.clone()));
        work()
    });
    if let Some(watching) = watching {
        let watcher = watching.end(py)?;
        // The handlers of signals that came meanwhile: Ctrl-C's raises KeyboardInterrupt.
        py.check_signals().inspect_err(|_| py.detach(|| watcher.settle()))?;
    }
    Ok(result)
}

/// On Linux the main thread's id is the process's.
fn is_main_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// What the thread that reads the pipe acts on.
#[derive(Default)]
struct Running {
    statement: Option<CancelHandle>,
    /// The signals that came since it began.
    signals: Vec<u8>,
    /// How many marks were read.
    marks: u64,
}

/// The pipe and its thread; one a process, since threads are not forked.
struct Watcher {
    writer: PipeWriter,
    running: Arc<Mutex<Running>>,
    /// A mark was read.
    marked: Arc<Condvar>,
}

/// A statement that runs, until it ended.
struct Watching {
    watcher: &'static Watcher,
    before: RawFd,
}

impl Watching {
    /// None where somebody else's interpreter has the signals.
    fn begin(py: Python<'_>, statement: CancelHandle) -> PyResult<Option<Self>> {
        let watcher = watcher(py)?;
        let Ok(before) = set_wakeup(py, watcher.writer.as_raw_fd()) else { return Ok(None) };
        let mut running = watcher.running.lock().unwrap_or_else(PoisonError::into_inner);
        (running.statement, running.signals) = (Some(statement), Vec::new());
        Ok(Some(Self { watcher, before }))
    }

    fn end(self, py: Python<'_>) -> PyResult<&'static Watcher> {
        set_wakeup(py, self.before)?;
        self.watcher.running.lock().unwrap_or_else(PoisonError::into_inner).statement = None;
        if self.before >= 0 {
            // One that came at the end may not be read yet.
            py.detach(|| self.watcher.settle());
        }
        let mut running = self.watcher.running.lock().unwrap_or_else(PoisonError::into_inner);
        let signals = take(&mut running.signals);
        drop(running);
        if self.before >= 0 && !signals.is_empty() {
            // As much as a handler would have: a full pipe wakes its reader anyway.
            let written = py.import("os")?.call_method1("write", (self.before, &signals[..]));
            drop(written);
        }
        Ok(self.watcher)
    }
}

/// Has Python write signals' numbers to a descriptor; returns the one before.
fn set_wakeup(py: Python<'_>, descriptor: RawFd) -> PyResult<RawFd> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUNCTION.import(py, "signal", "set_wakeup_fd")?.call1((descriptor,))?.extract()
}

/// The watcher of this process.
fn watcher(py: Python<'_>) -> PyResult<&'static Watcher> {
    static WATCHERS: Mutex<Vec<(u32, &'static Watcher)>> = Mutex::new(Vec::new());
    let forks = ProcessMark::here().forks();
    let mut watchers = WATCHERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, watcher)) = watchers.iter().find(|(mark, _)| *mark == forks) {
        return Ok(watcher);
    }
    // One a process: kept until it ends.
    let watcher: &'static Watcher = Box::leak(Box::new(Watcher::start(py)?));
    watchers.push((forks, watcher));
    Ok(watcher)
}

impl Watcher {
    fn start(py: Python<'_>) -> PyResult<Self> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            let message = format!("cannot watch for Ctrl-C: {what}: {error}");
            exception(py, &Error::new(ErrorKind::Limit, message))
        };
        let (reader, writer) = pipe().map_err(|error| failed("pipe", &error))?;
        // A handler of signals may not wait.
        let flags = fcntl_getfl(&writer).map_err(|error| failed("fcntl", &error))?;
        fcntl_setfl(&writer, flags | OFlags::NONBLOCK).map_err(|error| failed("fcntl", &error))?;
        let running = Arc::<Mutex<Running>>::default();
        let marked = Arc::<Condvar>::default();
        let watched = (running.clone(), marked.clone());
        gadus_base::spawn("gadus-interrupts", move || watch(reader, &watched.0, &watched.1))
            .map_err(|error| failed("thread", &error))?;
        Ok(Self { writer, running, marked })
    }

    /// Waits until the signals that came are read, so that none of them ends the next statement.
    fn settle(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = running.marks;
        if (&self.writer).write_all(&[MARK]).is_ok() {
            let missing = |running: &mut Running| running.marks == marks;
            let waited = self.marked.wait_timeout_while(running, SETTLING_MAX, missing);
            drop(waited);
        }
    }
}

/// Cancels what runs when Ctrl-C comes, until the process ends.
fn watch(mut reader: PipeReader, running: &Mutex<Running>, marked: &Condvar) {
    let mut signals = [0; 16];
    while let Ok(count @ 1..) = reader.read(&mut signals) {
        let signals = signals.get(..count).unwrap_or_default();
        let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
        if signals.contains(&MARK) {
            running.marks += 1;
            marked.notify_all();
        }
        running.signals.extend(signals.iter().filter(|signal| **signal != MARK));
        if signals.contains(&INTERRUPT)
            && let Some(statement) = &running.statement
        {
            statement.cancel();
        }
    }
}
