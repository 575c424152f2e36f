//! The one-way switch after a failure that leaves the durable state unknown.
//!
//! - After a failed sync nobody knows which bytes reached the medium, and the next sync may succeed
//!   although they did not: so nothing may be acknowledged any more until recovery has read what
//!   is there and written it again.

use crate::error::{ErrorKind, StorageError};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the store has failed, and why.
#[derive(Debug, Default)]
pub(crate) struct Poison {
    set: AtomicBool,
    cause: Mutex<Option<StorageError>>,
}

impl Poison {
    /// Poisons, keeps the first cause, and gives the error back to its discoverer.
    pub(crate) fn set(&self, cause: StorageError) -> StorageError {
        self.cause.lock().get_or_insert_with(|| cause.clone());
        self.set.store(true, Ordering::Release);
        cause
    }

    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Fails with kind `Poisoned` once poisoned.
    pub(crate) fn check(&self) -> Result<(), StorageError> {
        if !self.is_set() {
            return Ok(());
        }
        let cause = self.cause.lock();
        let cause = cause.as_ref().expect("the cause is stored before the switch is set");
        Err(StorageError {
            kind: ErrorKind::Poisoned,
            message: format!(
                "an earlier failure left its durable state unknown ({}); close and reopen it, \
                 which recovers every acknowledged commit",
                cause.message
            ),
            file: cause.file.clone(),
            offset: cause.offset,
            source: None,
        })
    }
}
