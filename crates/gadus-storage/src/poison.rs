//! The one-way switch after a failure that leaves the durable state unknown.
//!
//! - After a failed sync nobody knows which bytes reached the medium, and the next sync may succeed
//!   although they did not: so nothing may be acknowledged any more until recovery has read what
//!   is there and written it again.
//! - It holds for every instance: recovery comes when all have closed the database. So all are woken to learn of
//!   it, and nobody joins meanwhile.

use crate::error::{ErrorKind, StorageError};
use crate::peers::Peers;
use gadus_locks::InstanceDescription;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Instances that an error names.
const NAMED_MAX: usize = 5;

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
            // Also those have to close the database that write nothing.
            self.peers.instances().ring_all();
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

    /// Refuses an instance that joins others, naming them: what is durable is found by recovery alone, once all
    /// have closed the database.
    pub(crate) fn check_joining(&self) -> Result<(), StorageError> {
        if !self.is_set() {
            return Ok(());
        }
        let me = self.peers.me();
        let others = self.peers.instances().living().into_iter().filter(|other| other.owner != me);
        let named =
            |other: InstanceDescription| format!("process {} ({})", other.pid, other.program);
        let others = others.take(NAMED_MAX).map(named).collect::<Vec<_>>().join(", ");
        let message = format!(
            "a failed sync left its durable state unknown, and it is recovered once all have closed it; it is \
             still open in {others}; close it there"
        );
        Err(StorageError::new(ErrorKind::Poisoned, &self.described, message))
    }

    /// Fails with kind `Poisoned` once poisoned, and with `Corrupt` where the shared memory is not to be believed.
    pub(crate) fn check(&self) -> Result<(), StorageError> {
        self.peers.check_memory_cached(&self.described)?;
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
