//! The thread behind [`Durability::Relaxed`]: syncs soon after an append.
//!
//! - It sleeps without a deadline while nothing is unsynced: nobody polls.
//! - It ends, after a last sync, when the store is dropped.
//!
//! [`Durability::Relaxed`]: crate::Durability::Relaxed

use super::Shared;
use crate::error::{ErrorKind, StorageError};
use gadus_base::{ProcessMark, spawn};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The promise is 200 ms; the rest is for the sync itself.
const DELAY: Duration = Duration::from_millis(150);

/// A running thread.
#[derive(Debug)]
pub(super) struct RelaxedSync {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
    process: ProcessMark,
}

#[derive(Debug, Default)]
struct Bell {
    /// Set by the first append after a sync; the others need not touch the lock.
    rung: AtomicBool,
    closing: Mutex<bool>,
    changed: Condvar,
}

impl RelaxedSync {
    pub(super) fn start(shared: &Arc<Shared>) -> Result<Self, StorageError> {
        let bell = Arc::new(Bell::default());
        let thread = spawn("gadus-sync", {
            let (bell, shared) = (Arc::clone(&bell), Arc::clone(shared));
            move || bell.sync_until_closed(&shared)
        });
        let thread = thread.map_err(|error| {
            let message = format!("the system gives no thread: {error}");
            StorageError::new(ErrorKind::Io, &shared.files.data_described, message)
        })?;
        Ok(Self { bell, thread: Some(thread), process: ProcessMark::here() })
    }

    /// Something is unsynced.
    pub(super) fn appended(&self) {
        if !self.bell.rung.swap(true, Ordering::AcqRel) {
            let _closing = self.bell.closing.lock();
            self.bell.changed.notify_one();
        }
    }
}

impl Bell {
    fn sync_until_closed(&self, shared: &Shared) {
        let mut closing = self.closing.lock();
        loop {
            while !*closing && !self.rung.load(Ordering::Acquire) {
                self.changed.wait(&mut closing);
            }
            if !*closing {
                self.changed.wait_for(&mut closing, DELAY);
            }
            let last = *closing;
            self.rung.store(false, Ordering::Release);
            drop(closing);
            // A failure has poisoned the store, which the next caller learns.
            let _ = shared.log.group.wait(shared.log.end().position());
            if last {
                return;
            }
            closing = self.closing.lock();
        }
    }
}

impl Drop for RelaxedSync {
    fn drop(&mut self) {
        if !self.process.is_here() {
            // It runs in the parent.
            std::mem::forget(self.thread.take());
            return;
        }
        *self.bell.closing.lock() = true;
        self.bell.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has ended it all the same.
            let _ = thread.join();
        }
    }
}
