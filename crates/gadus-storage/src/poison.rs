//! The one-way switch after a failure that leaves the durable state unknown.
//!
//! - After a failed sync nobody knows which bytes reached the medium, and the next sync may succeed
//!   although they did not: so nothing may be acknowledged any more until recovery has read what
//!   is there and written it again.
//! - It holds for every instance: recovery comes when all have closed the database.

use crate::error::{ErrorKind, StorageError};
use crate::peers::Peers;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether the database has failed, and why.
#[derive(Debug)]
pub(crate) struct Poison {
    peers: Arc<Peers>,
    described: String,
    /// The failure that this instance met first.
    cause: Mutex<Option<StorageError>>,
}

impl Poison {
    pub(crate) fn new(peers: Arc<Peers>, described: String) -> Self {
        Self { peers, described, cause: Mutex::default() }
    }

    fn switch(&self) -> &AtomicU32 {
        &self.peers.state().poison
    }

    /// Poisons, keeps the first cause, and gives the error back to its discoverer.
    pub(crate) fn set(&self, cause: StorageError) -> StorageError {
        if cause.kind != ErrorKind::Poisoned {
            self.cause.lock().get_or_insert_with(|| cause.clone());
            self.switch().store(1, Ordering::Release);
        }
        match cause.kind {
            // The kind promises that the store goes on.
            ErrorKind::NoSpace => StorageError { kind: ErrorKind::Poisoned, ..cause },
            _ => cause,
        }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.switch().load(Ordering::Acquire) != 0
    }

    /// Fails with kind `Poisoned` once poisoned.
    pub(crate) fn check(&self) -> Result<(), StorageError> {
        if !self.is_set() {
            return Ok(());
        }
        let cause = self.cause.lock().clone();
        let cause = cause.unwrap_or_else(|| {
            StorageError::new(ErrorKind::Io, &self.described, "another process met it")
        });
        Err(StorageError {
            kind: ErrorKind::Poisoned,
            message: format!(
                "an earlier failure left its durable state unknown ({}); close and reopen it, \
                 which recovers every acknowledged commit",
                cause.message
            ),
            file: cause.file,
            offset: cause.offset,
            source: None,
        })
    }
}
