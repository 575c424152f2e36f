//! An owner of locks: a connection, and its calls.
//!
//! - What it holds it knows itself, too: locking again what is covered costs nothing shared.
//! - It is used by one thread at a time; only its [`Canceller`] is for others.
//! - Dropping it releases everything.

use super::LockTable;
use super::error::{LockError, LockErrorKind, LockHolder};
use super::layout::Connection;
use super::modes::Mode;
use super::partition::{Inside, Place};
use super::queue::{self, Edge, Entry};
use super::resource::{Hashed, Resource};
use super::state::{Holder, State, Status};
use super::statistics::Counter;
use super::store::{put, put32};
use gadus_base::{Instant, clock};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
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
            Self::No => Some(clock().now().plus(WORK_MAX)),
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
    pub(super) held: HashMap<Resource, Held, BuildHasherDefault<Hashed>>,
    pub(super) cancelled: Arc<AtomicBool>,
    pub(super) entries: Vec<Entry>,
    /// The entries of its record that are in use.
    pub(super) fast_used: u32,
    /// Requests that it has given up, and could not withdraw because somebody held up the table. Its
    /// next call does.
    pub(super) stale: Vec<(Resource, Entry)>,
}

/// What became of a request.
#[derive(Debug)]
pub(super) enum Asked {
    Granted(Grant),
    MustWait(Entry),
}

/// A lock as its owner knows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
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
        let holder = self.take_connection(number)?;
        self.registered.lock().insert(holder.record, number);
        Ok(LockOwner {
            table: self.clone(),
            holder,
            number,
            held: HashMap::default(),
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

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Arc<LockTable> {
        &self.table
    }

    /// What this owner has of a resource.
    #[must_use]
    pub fn mode(&self, resource: Resource) -> Option<Mode> {
        self.held.get(&resource).map(|held| held.mode)
    }

    /// What it has locked, in no order.
    pub fn resources(&self) -> impl Iterator<Item = Resource> {
        self.held.keys().copied()
    }

    /// How many resources it has locked.
    #[must_use]
    pub fn held_count(&self) -> usize {
        self.held.len()
    }

    /// A transaction begins: of several in a deadlock, the one that began last is the victim.
    pub fn begin_transaction(&mut self) {
        if let Ok(connection) = self.connection() {
            put(&connection.begun, self.table.draw_ticket());
        }
    }

    /// Locks a resource. Who has it already gets the least mode that covers both.
    ///
    /// # Errors
    /// As [`LockErrorKind`] says; what was held before the call stays held.
    pub fn lock(&mut self, resource: Resource, mode: Mode, wait: Wait) -> Result<Grant, LockError> {
        self.withdraw_stale(wait).map_err(|error| error.about(resource))?;
        let before = self.held.get(&resource).copied();
        if let Some(held) = before
            && held.mode.covers(mode)
        {
            return Ok(Grant::at_once(held.mode));
        }
        let mut asked = self.request(resource, mode, wait);
        if let Err(error) = &asked
            && error.kind == LockErrorKind::Timeout
            && self.table.reap_among(&self.entries)
        {
            asked = self.request(resource, mode, wait);
        }
        let result = match asked {
            Ok(Asked::Granted(grant)) => Ok(grant),
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
        if !self.held.contains_key(&resource) {
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
        let held = self.held.get(&resource).copied().ok_or_else(|| not_held().about(resource))?;
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
        self.withdraw_stale(Wait::Forever)?;
        let held = self.held.get(&resource).copied().ok_or_else(|| not_held().about(resource))?;
        if !self.release_fast(resource, held)? {
            let mut inside = self.table.enter(Place::of(resource).partition)?;
            inside.remove(resource, held.slot)?;
            inside.settle(resource)?;
        }
        self.held.remove(&resource);
        Ok(())
    }

    /// Releases everything.
    ///
    /// # Errors
    /// `Damaged`; what is not damaged is released then, too.
    pub fn release_all(&mut self) -> Result<(), LockError> {
        let mut result = self.withdraw_stale(Wait::Forever);
        for resource in self.held.keys().copied().collect::<Vec<_>>() {
            result = result.and(self.unlock(resource));
        }
        result
    }

    /// Deadlocks with this owner in them that were undone by refusing others.
    #[must_use]
    pub fn deadlocks_survived(&self) -> u32 {
        self.connection().map_or(0, |record| record.survived.load(Ordering::Relaxed))
    }

    pub(super) fn connection(&self) -> Result<&Connection, LockError> {
        self.table.connection(self.holder.record)
    }

    /// Asks for a lock that is not covered by what is held, without waiting for it.
    pub(super) fn request(
        &mut self,
        resource: Resource,
        mode: Mode,
        wait: Wait,
    ) -> Result<Asked, LockError> {
        match self.held.get(&resource).copied() {
            Some(held) => self.strengthen(resource, held, held.mode.supremum(mode), wait),
            None => self.acquire(resource, mode, wait),
        }
    }

    fn acquire(&mut self, resource: Resource, mode: Mode, wait: Wait) -> Result<Asked, LockError> {
        if let Some(slot) = self.take_fast(resource, mode) {
            self.note(resource, slot, mode);
            return Ok(Asked::Granted(Grant::at_once(mode)));
        }
        let mut inside = self.table.enter_with_room(Place::of(resource).partition, wait)?;
        inside.prepare_strong(resource, mode)?;
        inside.gather(resource, &mut self.entries)?;
        let mut mine = Entry {
            slot: u32::MAX,
            state: State::waiting(mode),
            ticket: u64::MAX,
            holder: self.holder,
            since: 0,
        };
        if !queue::is_blocked(&self.entries, &mine) {
            let slot = inside.insert(resource, self.holder, State::granted(mode), 0)?;
            drop(inside);
            self.note(resource, slot, mode);
            return Ok(Asked::Granted(Grant::at_once(mode)));
        }
        if wait == Wait::No {
            return Err(inside.refuse(&self.entries, &mine));
        }
        mine.ticket = self.table.draw_ticket();
        mine.slot = inside.insert(resource, self.holder, mine.state, mine.ticket)?;
        inside.notify(&self.entries, &mine)?;
        Ok(Asked::MustWait(mine))
    }

    fn strengthen(
        &mut self,
        resource: Resource,
        held: Held,
        mode: Mode,
        wait: Wait,
    ) -> Result<Asked, LockError> {
        self.table.count(Counter::Conversions, 1);
        let held = self.with_request(resource, held, wait)?;
        let mut inside = self.table.enter_with_room(Place::of(resource).partition, wait)?;
        inside.prepare_strong(resource, mode)?;
        inside.gather(resource, &mut self.entries)?;
        let index = self.entries.iter().position(|entry| {
            entry.slot == held.slot
                && entry.holder == self.holder
                && entry.state.status == Status::Granted
                && entry.state.granted == held.mode
        });
        let index = index.ok_or_else(|| LockError::damaged("a lock is gone"))?;
        let before = self.entries[index].state;
        let mut mine = Entry { state: before.converting(mode), ..self.entries[index] };
        // The latest of all, as long as it has no ticket.
        mine.ticket = u64::MAX;
        self.entries[index] = mine;
        if !queue::is_blocked(&self.entries, &mine) {
            let mut changes = Vec::new();
            queue::grant(&mut self.entries, index, |entry| changes.push(*entry));
            inside.apply(&changes)?;
            drop(inside);
            self.note(resource, held.slot, mode);
            return Ok(Asked::Granted(Grant::at_once(mode)));
        }
        if wait == Wait::No {
            return Err(inside.refuse(&self.entries, &mine));
        }
        mine.ticket = self.table.draw_ticket();
        put(&inside.request(mine.slot)?.ticket, mine.ticket);
        inside.change(mine.slot, mine.state)?;
        inside.notify(&self.entries, &mine)?;
        Ok(Asked::MustWait(mine))
    }

    pub(super) fn note(&mut self, resource: Resource, slot: u32, mode: Mode) {
        self.held.insert(resource, Held { slot, mode });
    }

    /// Says in shared memory what this owner waits with, for those who look for deadlocks.
    pub(super) fn say_waits_with(&self, link: u32) {
        if let Ok(connection) = self.connection() {
            put32(&connection.waits_with, link);
        }
    }
}

impl LockTable {
    /// Enters, having grown the memory before when a new request will need it.
    pub(super) fn enter_with_room(
        &self,
        partition: usize,
        wait: Wait,
    ) -> Result<Inside<'_>, LockError> {
        if self.header().partitions[partition].free.load(Ordering::Relaxed) == 0 {
            self.prepare_chunk();
        }
        self.enter_until(partition, wait)
    }

    /// Who is most in the way of a request.
    pub(super) fn blocker(&self, entries: &[Entry], mine: &Entry) -> Option<LockHolder> {
        let edges = entries.iter().filter_map(|one| Some((queue::edge(mine, one)?, one)));
        let first = edges.min_by_key(|(edge, one)| (*edge != Edge::Hard, one.since))?;
        Some(self.holder_of(first.1))
    }
}

impl Inside<'_> {
    /// The error of who does not wait.
    fn refuse(self, entries: &[Entry], mine: &Entry) -> LockError {
        let table = self.table;
        drop(self);
        table.count(Counter::Timeouts, 1);
        let message = format!("{} is not to be had at once", mine.state.wanted);
        LockError::new(LockErrorKind::Timeout, message).held_by(table.blocker(entries, mine))
    }
}

impl Grant {
    fn at_once(mode: Mode) -> Self {
        Self { mode, waited: None, deadlocks_survived: 0 }
    }
}

impl Drop for LockOwner {
    fn drop(&mut self) {
        // A record that a request still names stays taken until the instance is cleaned up after.
        if self.release_all().is_ok()
            && let Ok(connection) = self.connection()
        {
            self.table.registered.lock().remove(&self.holder.record);
            connection.end();
        }
    }
}

fn not_held() -> LockError {
    LockError::new(LockErrorKind::NotHeld, "it is not locked by this owner")
}
