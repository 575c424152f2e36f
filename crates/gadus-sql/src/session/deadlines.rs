//! Statements that may take so long and no longer (`statement_timeout`).
//!
//! - One thread of a database watches the deadlines of all its sessions' statements. It is started with
//!   the first, sleeps until the next is over, and ends with the database.
//! - A deadline is forgotten when its statement is over, and its rows are read or dropped.

use super::cancel::Flag;
use gadus_base::{Instant, clock, spawn};
use gadus_engine::{Error, ErrorKind, Result};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// The deadlines of a database's statements.
#[derive(Debug, Default)]
pub(crate) struct Deadlines(Arc<Watched>);

#[derive(Debug, Default)]
struct Watched {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    statements: BTreeMap<(Instant, u64), Weak<Flag>>,
    next: u64,
    has_thread: bool,
    stops: bool,
}

/// A deadline that is watched until this is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    watched: Arc<Watched>,
    key: (Instant, u64),
}

impl Deadlines {
    /// Ends the statement of a flag when its deadline is over, if it has one.
    pub(super) fn watch(&self, flag: &Arc<Flag>) -> Result<()> {
        let Some(deadline) = flag.deadline() else { return Ok(()) };
        let mut state = self.0.state.lock();
        if !state.has_thread {
            let watched = self.0.clone();
            spawn("gadus-timeout", move || watched.run()).map_err(|error| {
                let message = "the system has no thread for statement_timeout";
                Error::new(ErrorKind::Limit, message).caused_by(error)
            })?;
            state.has_thread = true;
        }
        state.next += 1;
        let key = (deadline, state.next);
        let is_first = state.statements.first_key_value().is_none_or(|(first, _)| key < *first);
        state.statements.insert(key, Arc::downgrade(flag));
        drop(state);
        if is_first {
            self.0.changed.notify_one();
        }
        flag.is_watched(Watch { watched: self.0.clone(), key });
        Ok(())
    }
}

impl Watched {
    fn run(&self) {
        let mut state = self.state.lock();
        while !state.stops {
            let Some((&(deadline, _), _)) = state.statements.first_key_value() else {
                self.changed.wait(&mut state);
                continue;
            };
            let now = clock().now();
            if deadline > now {
                self.changed.wait_for(&mut state, deadline.since(now));
            } else if let Some((_, flag)) = state.statements.pop_first() {
                // Whoever drops a flag comes back here to have its deadline forgotten.
                drop(state);
                if let Some(flag) = flag.upgrade() {
                    flag.expire();
                }
                state = self.state.lock();
            }
        }
    }
}

impl Drop for Deadlines {
    fn drop(&mut self) {
        self.0.state.lock().stops = true;
        self.0.changed.notify_one();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watched.state.lock().statements.remove(&self.key);
    }
}
