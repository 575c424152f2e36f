//! Threads, each with a name that a profiler shows.

#![allow(clippy::disallowed_methods)] // the one place that may start a thread

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a named thread.
///
/// # Errors
/// When the system has no thread to give.
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(body)
}
