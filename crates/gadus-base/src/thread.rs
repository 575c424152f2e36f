//! Threads, each with a name that a profiler shows.

#![allow(clippy::disallowed_methods)] // the one place that may start a thread

use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{Builder, JoinHandle};

/// Starts a named thread.
///
/// # Errors
/// When the system has no thread to give.
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(body).map_err(|error| {
        let message = format!(
            "the system has no thread for {name}: {error}; raise the limit of processes and threads"
        );
        io::Error::new(error.kind(), message)
    })
}

/// Starts so many threads at once and ends them: for what panics, or waits without end, where the system
/// has none for it.
///
/// # Errors
/// When the system has fewer threads to give.
pub fn check_threads(count: usize) -> io::Result<()> {
    let (ends, has_ended) = mpsc::channel::<()>();
    let has_ended = Arc::new(Mutex::new(has_ended));
    let mut threads = Vec::with_capacity(count);
    let mut started = Ok(());
    for _ in 0..count {
        let has_ended = has_ended.clone();
        // All of them are there at once until the sender is dropped.
        let wait = move || drop(has_ended.lock().map(|has_ended| has_ended.recv()));
        match spawn("worker threads", wait) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                started = Err(error);
                break;
            }
        }
    }
    drop(ends);
    for thread in threads {
        // It does nothing that panics.
        let _ = thread.join();
    }
    started
}
