//! Threads of an open database, which are waited for when it is closed.

use parking_lot::Mutex;
use std::mem;
use std::thread::{self, JoinHandle};

/// Threads that keep the database open until they end.
#[derive(Debug, Default)]
pub(crate) struct Threads(Mutex<Vec<JoinHandle<()>>>);

impl Threads {
    /// Adds threads that end by themselves, or are told to when the database is closed.
    pub(crate) fn add(&self, threads: impl IntoIterator<Item = JoinHandle<()>>) {
        let mut all = self.0.lock();
        all.retain(|thread| !thread.is_finished());
        all.extend(threads);
    }

    /// Waits for all, also for those that others of them add meanwhile, but for the one that calls.
    pub(super) fn join(&self) {
        let me = thread::current().id();
        loop {
            let last = self.0.lock().pop();
            let Some(last) = last else { return };
            if last.thread().id() != me {
                // A panic of the thread has been reported by the runtime; closing goes on.
                let _ = last.join();
            }
        }
    }

    /// Waits for none: in a forked child they do not run.
    pub(super) fn forget(&self) {
        if let Some(mut threads) = self.0.try_lock() {
            threads.drain(..).for_each(mem::forget);
        }
    }
}
