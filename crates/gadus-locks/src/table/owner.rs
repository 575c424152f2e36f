//! An owner of locks: a connection, and its calls.
//!
//! - What it holds it knows itself, too: locking again what is covered costs nothing shared.
//! - It is used by one thread at a time; only its [`Canceller`] is for others.
//! - Dropping it releases everything.

use super::LockTable;
use super::by_resource::ByResource;
use super::error::{LockError, LockErrorKind};
use super::layout::Connection;
use super::modes::Mode;
use super::partition::Place;
use super::queue::Entry;
use super::request::Asked;
use super::resource::Resource;
use super::state::{Holder, State};
use super::store::{put, put32};
use crate::memory::Mapped;
use crate::steps;
use gadus_base::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a call may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// Until a point in time.
    Until(Instant),
    /// For as long as it takes.
    Forever,
}

/// How long who does not wait for locks waits for somebody who is at work on the table, which takes
/// microseconds unless it is stopped.
const WORK_MAX: Duration = Duration::from_secs(1);

impl Wait {
    /// When to give up entering a partition.
    pub(super) fn end(self) -> Option<Instant> {
        match self {
            Self::No => Some(steps::now().plus(WORK_MAX)),
            Self::Until(end) => Some(end),
            Self::Forever => None,
        }
    }
}

/// How a lock was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// What the owner has now: what it wanted, and what it had before.
    pub mode: Mode,
    /// For how long it slept, if it did.
    pub waited: Option<Duration>,
    /// Deadlocks with this owner in them that were undone during the call, by refusing others.
    pub deadlocks_survived: u32,
}

/// Who holds locks.
#[derive(Debug)]
pub struct LockOwner {
    pub(super) table: Arc<LockTable>,
    pub(super) holder: Holder,
    pub(super) number: u32,
    record: Mapped<Connection>,
    pub(super) held: ByResource<Held>,
    pub(super) cancelled: Arc<AtomicBool>,
    pub(super) entries: Vec<Entry>,
    /// The entries of its record that are in use.
    pub(super) fast_used: u32,
    /// Requests that it has given up, and could not withdraw because somebody held up the table. Its
    /// next call does.
    pub(super) stale: Vec<(Resource, Entry)>,
}

/// A lock as its owner knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    /// The slot of its request, or what the fast path makes of an entry.
    pub(super) slot: u32,
    pub(super) mode: Mode,
}

impl LockTable {
    /// Registers a connection.
    ///
    /// # Errors
    /// `NoSpace` or `Damaged`.
    pub fn register(self: &Arc<Self>) -> Result<LockOwner, LockError> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let (holder, record) = self.take_connection(number)?;
        self.registered.lock().insert(holder.record, number);
        Ok(LockOwner {
            table: self.clone(),
            holder,
            number,
            record,
            held: ByResource::default(),
            cancelled: Arc::default(),
            entries: Vec::new(),
            fast_used: 0,
            stale: Vec::new(),
        })
    }
}

impl LockOwner {
    /// The number of the connection within its instance.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// What names the connection in the whole table, as long as it is there.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.holder.record + 1
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Arc<LockTable> {
        &self.table
    }

    /// What this owner has of a resource.
    #[must_use]
    pub fn mode(&self, resource: Resource) -> Option<Mode> {
        self.held.get(resource).map(|held| held.mode)
    }

    /// What it has locked, in no order.
    pub fn resources(&self) -> impl Iterator<Item = Resource> {
        self.held.iter().map(|(resource, _)| resource)
    }

    /// How many resources it has locked.
    #[must_use]
    pub fn held_count(&self) -> usize {
        self.held.len()
    }

    /// A transaction begins: of several in a deadlock, the one that began last is the victim.
    pub fn begin_transaction(&mut self) {
        put(&self.connection().begun, self.table.draw_ticket());
    }

    /// Locks a resource. Who has it already gets the least mode that covers both.
    ///
    /// # Errors
    /// As [`LockErrorKind`] says; what was held before the call stays held.
    pub fn lock(&mut self, resource: Resource, mode: Mode, wait: Wait) -> Result<Grant, LockError> {
        if !self.stale.is_empty() {
            self.withdraw_stale(wait).map_err(|error| error.about(resource))?;
        }
        let before = self.held.get(resource);
        match before {
            Some(held) if held.mode.covers(mode) => Ok(Grant::at_once(held.mode)),
            None if self.take_fast(resource, mode) => Ok(Grant::at_once(mode)),
            _ => self.lock_by_request(resource, before, mode, wait),
        }
    }

    // Apart, as what follows it is: a function that does all saves and clears more than the fast
    // path needs.
    #[inline(never)]
    fn lock_by_request(
        &mut self,
        resource: Resource,
        before: Option<Held>,
        mode: Mode,
        wait: Wait,
    ) -> Result<Grant, LockError> {
        let asked = match before {
            None => self.acquire(resource, mode, wait),
            Some(held) => self.strengthen(resource, held, mode, wait),
        };
        match asked {
            Ok(Asked::Granted(mode)) => Ok(Grant::at_once(mode)),
            asked => self.insist(asked, resource, before, mode, wait),
        }
    }

    /// Does what is left to do about a request that was not granted at once.
    #[cold]
    fn insist(
        &mut self,
        mut asked: Result<Asked, LockError>,
        resource: Resource,
        before: Option<Held>,
        mode: Mode,
        wait: Wait,
    ) -> Result<Grant, LockError> {
        if let Err(error) = &asked
            && error.kind == LockErrorKind::Timeout
            && self.table.reap_among(&self.entries)
        {
            asked = self.request(resource, mode, wait);
        }
        let result = match asked {
            Ok(Asked::Granted(mode)) => Ok(Grant::at_once(mode)),
            Ok(Asked::MustWait(mine)) => {
                let result = self.wait(resource, &mine, wait);
                match (&result, before) {
                    (Ok(grant), _) => self.note(resource, mine.slot, grant.mode),
                    // Damage ends a wait without an end of the request.
                    (Err(error), None) if error.kind == LockErrorKind::Damaged => {
                        self.note(resource, mine.slot, Mode::Null);
                    }
                    (Err(_), _) => {}
                }
                result
            }
            Err(error) => Err(error),
        };
        result.map_err(|error| error.about(resource))
    }

    /// Strengthens a lock that is held: afterwards it covers `mode`, too.
    ///
    /// # Errors
    /// `NotHeld`, or as [`LockOwner::lock`].
    pub fn convert(
        &mut self,
        resource: Resource,
        mode: Mode,
        wait: Wait,
    ) -> Result<Grant, LockError> {
        if self.held.get(resource).is_none() {
            return Err(not_held().about(resource));
        }
        self.lock(resource, mode, wait)
    }

    /// Lowers a lock to a mode that it covers.
    ///
    /// # Errors
    /// `NotHeld` when it does not cover the mode, or `Damaged`.
    pub fn downgrade(&mut self, resource: Resource, mode: Mode) -> Result<(), LockError> {
        self.withdraw_stale(Wait::Forever)?;
        let held = self.held.get(resource).ok_or_else(|| not_held().about(resource))?;
        if !held.mode.covers(mode) {
            let message = format!("{} does not cover {mode}", held.mode);
            return Err(LockError::new(LockErrorKind::NotHeld, message).about(resource));
        }
        let held = self.with_request(resource, held, Wait::Forever)?;
        let mut inside = self.table.enter(Place::of(resource).partition)?;
        // Who waited is told anew of what still stands in its way.
        inside.change(held.slot, State::granted(mode))?;
        inside.settle(resource)?;
        drop(inside);
        self.note(resource, held.slot, mode);
        Ok(())
    }

    /// Releases a resource.
    ///
    /// # Errors
    /// `NotHeld` or `Damaged`.
    pub fn unlock(&mut self, resource: Resource) -> Result<(), LockError> {
        if !self.stale.is_empty() {
            self.withdraw_stale(Wait::Forever)?;
        }
        let Some(held) = self.held.remove(resource) else {
            return Err(not_held().about(resource));
        };
        if self.release_fast(resource, held) {
            return Ok(());
        }
        self.release_request(resource, held)
    }

    #[inline(never)]
    fn release_request(&mut self, resource: Resource, held: Held) -> Result<(), LockError> {
        let result = match held.entry() {
            Some(at) => self.release_moved(resource, at),
            None => self.table.release(resource, held.slot),
        };
        let Err(error) = result else { return Ok(()) };
        // It is held still.
        self.held.add(resource, held);
        Err(error)
    }

    /// Releases everything.
    ///
    /// # Errors
    /// `Damaged`; what is not damaged is released then, too.
    pub fn release_all(&mut self) -> Result<(), LockError> {
        let mut first = self.withdraw_stale(Wait::Forever).err();
        let mut note = |result: Result<(), LockError>| {
            if let Err(error) = result {
                first.get_or_insert(error);
            }
        };
        for resource in self.held.more().collect::<Vec<_>>() {
            note(self.unlock(resource));
        }
        // From the end: what takes the place of one that is gone was looked at before.
        for at in (0..self.held.few().len()).rev() {
            let (resource, _) = self.held.few()[at];
            note(self.unlock(resource));
        }
        first.map_or(Ok(()), Err)
    }

    /// Deadlocks with this owner in them that were undone by refusing others.
    #[must_use]
    pub fn deadlocks_survived(&self) -> u32 {
        self.connection().survived.load(Ordering::Relaxed)
    }

    /// The record of the connection.
    #[inline]
    pub(super) fn connection(&self) -> &Connection {
        &self.record
    }

    pub(super) fn note(&mut self, resource: Resource, slot: u32, mode: Mode) {
        self.held.set(resource, Held { slot, mode });
    }

    /// Says in shared memory what this owner waits with, for those who look for deadlocks.
    pub(super) fn say_waits_with(&self, link: u32) {
        put32(&self.connection().waits_with, link);
    }
}

impl Grant {
    pub(super) fn at_once(mode: Mode) -> Self {
        Self { mode, waited: None, deadlocks_survived: 0 }
    }
}

impl Drop for LockOwner {
    fn drop(&mut self) {
        if !self.table.process.is_here() {
            // A child's copy of the table: somebody may have been at work in it who is not here.
            return;
        }
        // A record that a request still names stays taken until the instance is cleaned up after.
        if self.release_all().is_ok() {
            self.table.registered.lock().remove(&self.holder.record);
            self.connection().end();
        }
    }
}

fn not_held() -> LockError {
    LockError::new(LockErrorKind::NotHeld, "it is not locked by this owner")
}
