//! The clients that are there, and how one of them is reached from another's connection.

use crate::error::Failure;
use crate::scram::random;
use gadus::CancelHandle;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Clients take the number for a process's: positive, as those are.
const PROCESS_MAX: u32 = 0x7fff_ffff;

/// Those who have no session's number have one that no session has.
const UNNUMBERED: u32 = 0x4000_0000;

/// The clients of a server.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    by_process: Mutex<HashMap<u32, (u32, CancelHandle)>>,
    connections: AtomicUsize,
}

/// A place among the connections, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    registry: Arc<Registry>,
}

/// A client that was let in, as others reach it.
#[derive(Debug)]
pub(crate) struct Registered {
    registry: Arc<Registry>,
    /// What a request to cancel names: not a process here, but a number.
    pub(crate) process: u32,
    pub(crate) secret: u32,
}

impl Registry {
    /// A place, where there are fewer than so many.
    pub(crate) fn place(self: &Arc<Self>, max: usize) -> Option<Place> {
        let add = |count| (count < max).then_some(count + 1);
        let added = self.connections.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add);
        added.ok().map(|_| Place { registry: self.clone() })
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Lets others cancel what a client runs, by the number of its session where that is free.
    ///
    /// # Errors
    /// When the system has no random numbers to give.
    pub(crate) fn register(
        self: &Arc<Self>,
        cancel: CancelHandle,
        session: Option<u32>,
    ) -> Result<Registered, Failure> {
        let mut clients = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        let secret = u32::from_be_bytes(random()?);
        let is_free = |process: &u32| !clients.contains_key(process);
        let process = match session.filter(is_free) {
            Some(session) => session,
            None => loop {
                let process = u32::from_be_bytes(random()?) & PROCESS_MAX | UNNUMBERED;
                if is_free(&process) {
                    break process;
                }
            },
        };
        clients.insert(process, (secret, cancel));
        Ok(Registered { registry: self.clone(), process, secret })
    }

    /// Cancels what a client runs, for who knows its secret; true where he does.
    pub(crate) fn cancel(&self, process: u32, secret: u32) -> bool {
        let clients = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        let client = clients.get(&process).filter(|(known, _)| *known == secret);
        let cancel = client.map(|(_, cancel)| cancel.clone());
        drop(clients);
        cancel.inspect(CancelHandle::cancel).is_some()
    }

    /// Cancels what all clients run.
    pub(crate) fn cancel_all(&self) {
        let clients = self.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        let all = clients.values().map(|(_, cancel)| cancel.clone()).collect::<Vec<_>>();
        drop(clients);
        for cancel in all {
            cancel.cancel();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.registry.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut clients = self.registry.by_process.lock().unwrap_or_else(PoisonError::into_inner);
        clients.remove(&self.process);
    }
}
