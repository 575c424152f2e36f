//! The watcher of an open database: one thread, asleep until another instance, or this one, wants
//! something of one of its connections, a failed sync poisons the database, or it is time to look whether memory is
//! short.
//!
//! - It takes no lock of the engine: what a connection is asked to do, a thread of its own does.

use super::{Engine, Inner, Threads};
use crate::error::{Error, ErrorKind, Result};
use crate::locks::Locker;
use gadus_base::spawn;
use gadus_locks::{Event, LockTable};
use gadus_storage::Store;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// The thread sleeps no longer: once shared memory is cut off, nothing can wake it.
const MEMORY_LOOK: Duration = Duration::from_secs(1);

/// Events that the watching thread handles.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// Called when a failure has left the durable state unknown.
    when_poisoned: Mutex<Option<Listener>>,
    /// The connections that may be asked to end.
    connections: Mutex<HashMap<u32, Weak<Locker>>>,
    stops: AtomicBool,
}

/// What is called once.
struct Listener(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

impl Engine {
    /// Calls once, from a thread of its own, when a failed sync of this instance or of another has left the durable
    /// state unknown; at once where that is so. What is called must not wait for the database to be closed.
    pub fn when_poisoned(&self, call: impl FnOnce() + Send + 'static) {
        let inner = self.inner();
        *inner.watched.when_poisoned.lock() = Some(Listener(Box::new(call)));
        inner.watched.tell_poison(inner.blobs.store());
    }

    /// Refuses a database that is to be closed and opened again, because a failed sync has left its durable state
    /// unknown.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn check_poison(&self) -> Result<()> {
        Ok(self.inner().blobs.store().check_poison()?)
    }
}

impl Watched {
    /// Calls who wants to know of a failure, if there was one.
    fn tell_poison(&self, store: &Store) {
        if store.is_poisoned()
            && let Some(Listener(call)) = self.when_poisoned.lock().take()
        {
            call();
        }
    }

    pub(crate) fn add(&self, locker: &Arc<Locker>) {
        self.connections.lock().insert(locker.number(), Arc::downgrade(locker));
    }

    pub(crate) fn remove(&self, number: u32) {
        self.connections.lock().remove(&number);
    }

    /// Lets the thread end.
    pub(super) fn stop(&self, table: &LockTable) {
        self.stops.store(true, Ordering::Release);
        table.wake_watcher();
    }

    /// Asks the connections that the events name.
    fn tell(&self, events: Vec<Event>, threads: &Threads) {
        for event in events {
            // Others wait for what its transaction has locked: it ends when the transaction does.
            let Event::End { connection, what } = event else { continue };
            let asked = self.connections.lock().get(&connection).and_then(Weak::upgrade);
            if let Some(locker) = asked {
                // Without a thread to do it, whoever asked sees it go on, and asks again.
                threads.add(spawn("gadus-end", move || locker.asked_to_end(what)));
            }
        }
    }
}

/// Starts the thread; it ends when it is stopped.
pub(super) fn start(inner: &Arc<Inner>) -> Result<JoinHandle<()>> {
    let (watched, table) = (inner.watched.clone(), inner.locks().clone());
    let (cache_size, store) = (inner.cache_size.clone(), inner.blobs.store().clone());
    let threads = inner.threads.clone();
    let watch = move || {
        let mut watcher = table.watcher();
        while !watched.stops.load(Ordering::Acquire) {
            // Damage is found, and told, by whoever locks.
            let patience = cache_size.patience().map_or(MEMORY_LOOK, |time| time.min(MEMORY_LOOK));
            let Ok(events) = watcher.wait(Some(patience)) else { return };
            watched.tell(events, &threads);
            watched.tell_poison(&store);
            cache_size.look();
        }
    };
    spawn("gadus-watch", watch).map_err(|error| {
        let message = "the system has no thread for watching other instances";
        Error::new(ErrorKind::Limit, message).caused_by(error)
    })
}
