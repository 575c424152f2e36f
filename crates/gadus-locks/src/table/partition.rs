//! Inside a partition: its requests, under its latch.
//!
//! - [`Inside`] holds the latch, and has set the partition's mark; it clears the mark when it goes.
//!   Who finds the mark set rebuilds, whether the one before died, panicked or met damage.
//! - Sleepers are woken, and doorbells rung, after the latch is given back.

use super::LockTable;
use super::chunks::Use;
use super::error::{LockError, LockErrorKind, LockHolder};
use super::layout::{BUCKETS, PARTITIONS, Partition, Request};
use super::modes::Mode;
use super::owner::Wait;
use super::queue::{self, Entry};
use super::resource::Resource;
use super::state::{Holder, State};
use super::statistics::Counter;
use super::store::{add32, put, put32};
use crate::latch::Owner;
use crate::memory::wake;
use gadus_base::clock;
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Where a resource belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) partition: usize,
    pub(super) bucket: usize,
}

/// Somebody at work in a partition, alone.
pub(super) struct Inside<'a> {
    pub(super) table: &'a LockTable,
    pub(super) index: usize,
    pub(super) part: &'a Partition,
    is_broken: Cell<bool>,
    sleepers: Vec<u32>,
    doorbells: Vec<u32>,
    /// Classes whose strong counters are raised for as long as this visit lasts.
    pub(super) raised: Vec<usize>,
}

impl Place {
    #[inline]
    pub(super) fn of(resource: Resource) -> Self {
        let hash = resource.hash();
        let partition = (hash >> 58) as usize % PARTITIONS;
        Self { partition, bucket: (hash >> 40) as usize % BUCKETS }
    }
}

impl LockTable {
    /// Enters a partition, after putting right what somebody who died there has left.
    pub(super) fn enter(&self, index: usize) -> Result<Inside<'_>, LockError> {
        self.enter_until(index, Wait::Forever)
    }

    /// Enters a partition, unless that takes too long: somebody may be stopped while it is there.
    pub(super) fn enter_until(&self, index: usize, wait: Wait) -> Result<Inside<'_>, LockError> {
        let part = &self.header().partitions[index];
        let me = self.instances.me();
        if !part.latch.try_lock(me) {
            // Whether its owner has died says the mark: it may also have died before or after.
            let taken = part.latch.lock_until(me, &*self.instances, wait.end());
            let _ = taken.map_err(|owner| self.held_up_by(owner))?;
        }
        let mut inside = self.inside(index, part);
        if inside.part.dirty.load(Ordering::Acquire) == 0 {
            put32(&inside.part.dirty, 1);
        } else {
            inside.rebuild()?;
        }
        Ok(inside)
    }

    /// Enters a partition that the caller will rebuild.
    pub(super) fn enter_as_it_is(&self, index: usize) -> Inside<'_> {
        let part = &self.header().partitions[index];
        let _ = part.latch.lock(self.instances.me(), &*self.instances);
        self.inside(index, part)
    }

    fn inside<'a>(&'a self, index: usize, part: &'a Partition) -> Inside<'a> {
        Inside {
            table: self,
            index,
            part,
            is_broken: Cell::new(false),
            sleepers: Vec::new(),
            doorbells: Vec::new(),
            raised: Vec::new(),
        }
    }

    #[cold]
    fn held_up_by(&self, owner: Owner) -> LockError {
        let instance = self.instances.describe(owner);
        let holder = LockHolder { instance, connection: 0, mode: Mode::Null, age_ms: None };
        let message = "somebody is at work on the lock table and does not go on";
        LockError::new(LockErrorKind::Timeout, message).held_by(Some(holder))
    }
}

impl Inside<'_> {
    /// The request of a number found in this partition.
    #[inline]
    pub(super) fn request(&self, slot: u32) -> Result<&Request, LockError> {
        self.noting(self.table.record(Use::Requests(self.index), slot))
    }

    pub(super) fn state(&self, slot: u32) -> Result<State, LockError> {
        let word = self.request(slot)?.state.load(Ordering::Acquire);
        self.noting(State::from_word(word).ok_or_else(|| LockError::damaged("a state cannot be")))
    }

    /// Collects the requests for a resource.
    pub(super) fn gather(
        &self,
        resource: Resource,
        entries: &mut Vec<Entry>,
    ) -> Result<(), LockError> {
        entries.clear();
        let head = &self.part.buckets[Place::of(resource).bucket];
        self.follow(head, |slot, request| {
            if request.is_for(resource) {
                entries.push(self.entry(slot, request)?);
            }
            Ok(true)
        })
    }

    /// The request of a connection for a resource.
    pub(super) fn find(&self, resource: Resource, of: Holder) -> Result<Option<u32>, LockError> {
        let mut found = None;
        let owner = of.to_word();
        self.follow(&self.part.buckets[Place::of(resource).bucket], |slot, request| {
            if request.is_for(resource) && request.owner.load(Ordering::Relaxed) == owner {
                found = Some(slot);
            }
            Ok(found.is_none())
        })?;
        Ok(found)
    }

    pub(super) fn entry(&self, slot: u32, request: &Request) -> Result<Entry, LockError> {
        Ok(Entry {
            slot,
            state: self.state(slot)?,
            ticket: request.ticket.load(Ordering::Relaxed),
            holder: Holder::from_word(request.owner.load(Ordering::Relaxed)),
            since: request.since.load(Ordering::Relaxed),
        })
    }

    /// The resource of a request.
    pub(super) fn resource(&self, slot: u32) -> Result<Resource, LockError> {
        let resource = self.request(slot)?.resource();
        self.noting(resource.ok_or_else(|| LockError::damaged("a key cannot be")))
    }

    /// Adds a request.
    pub(super) fn insert(
        &mut self,
        resource: Resource,
        holder: Holder,
        state: State,
        ticket: u64,
    ) -> Result<u32, LockError> {
        if self.part.free.load(Ordering::Relaxed) == 0 {
            self.grow()?;
        }
        let link = self.part.free.load(Ordering::Relaxed);
        let slot = link.checked_sub(1);
        let slot = self.noting(slot.ok_or_else(|| LockError::damaged("no slot is free")))?;
        let request = self.request(slot)?;
        if self.state(slot)? != State::FREE {
            return self.noting(Err(LockError::damaged("a free slot is in use")));
        }
        put32(&self.part.free, request.next.load(Ordering::Relaxed));
        let (high, low) = resource.words();
        put(&request.high, high);
        put(&request.low, low);
        put(&request.owner, holder.to_word());
        put(&request.ticket, ticket);
        put(&request.since, now_ms());
        self.raise(Some(resource), State::FREE, state);
        put(&request.state, state.to_word());
        self.link(slot, request, Place::of(resource), state);
        Ok(slot)
    }

    /// Changes the state of a request.
    pub(super) fn change(&mut self, slot: u32, state: State) -> Result<(), LockError> {
        let before = self.state(slot)?;
        let request = self.request(slot)?;
        if before.status != state.status {
            put(&request.since, now_ms());
        }
        self.raise(request.resource(), before, state);
        put(&request.state, state.to_word());
        self.lower(request.resource(), before, state);
        match (before.is_waiting(), state.is_waiting()) {
            (false, true) => self.list(slot, request),
            (true, false) => self.unlist(request)?,
            _ => {}
        }
        Ok(())
    }

    /// Takes a request away, and with the last one of a resource its value.
    pub(super) fn remove(&mut self, resource: Resource, slot: u32) -> Result<(), LockError> {
        let before = self.state(slot)?;
        let request = self.request(slot)?;
        let bucket = &self.part.buckets[Place::of(resource).bucket];
        let mut link = bucket;
        let (mut found, mut others) = (None, false);
        self.follow(bucket, |at, next| {
            if at == slot {
                found = Some(link);
            } else if next.is_for(resource) {
                others = true;
            }
            link = &next.next;
            Ok(found.is_none() || !others)
        })?;
        let link =
            self.noting(found.ok_or_else(|| LockError::damaged("a request is in no chain")))?;
        put(&request.state, State::FREE.to_word());
        self.lower(Some(resource), before, State::FREE);
        put32(link, request.next.load(Ordering::Relaxed));
        put32(&self.part.used, self.part.used.load(Ordering::Relaxed).wrapping_sub(1));
        if before.is_waiting() {
            self.unlist(request)?;
        }
        put32(&request.next, self.part.free.load(Ordering::Relaxed));
        put32(&self.part.free, slot + 1);
        if !others {
            self.drop_value(resource)?;
        }
        Ok(())
    }

    /// Grants what can be granted of a resource now, and has those woken who waited.
    pub(super) fn settle(&mut self, resource: Resource) -> Result<(), LockError> {
        if self.part.waiting.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let mut entries = Vec::new();
        self.gather(resource, &mut entries)?;
        let mut changes = Vec::new();
        queue::settle(&mut entries, |entry| changes.push(*entry));
        self.apply(&changes)
    }

    /// Stores what the rules have decided.
    pub(super) fn apply(&mut self, changes: &[Entry]) -> Result<(), LockError> {
        for entry in changes {
            self.change(entry.slot, entry.state)?;
            if !entry.state.is_waiting() {
                self.wake_later(entry.holder);
            }
        }
        Ok(())
    }

    /// Has somebody woken once the latch is free.
    pub(super) fn wake_later(&mut self, sleeper: Holder) {
        self.sleepers.push(sleeper.record);
    }

    /// Has the doorbell of an instance rung once the latch is free.
    pub(super) fn ring_later(&mut self, instance: u32) {
        if !self.doorbells.contains(&instance) {
            self.doorbells.push(instance);
        }
    }

    /// Remembers damage, so that the partition is rebuilt by the next who enters.
    pub(super) fn noting<T>(&self, result: Result<T, LockError>) -> Result<T, LockError> {
        if result.is_err() {
            self.is_broken.set(true);
        }
        result
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if !self.is_broken.get() && !std::thread::panicking() {
            self.end_strong();
            put32(&self.part.dirty, 0);
        }
        self.part.latch.unlock(self.table.instances.me());
        for record in &self.sleepers {
            self.table.wake_connection(*record);
        }
        self.table.count(Counter::WakeUps, self.sleepers.len() as u64);
        for slot in &self.doorbells {
            self.table.instances.ring(*slot);
        }
    }
}

impl LockTable {
    /// Wakes a connection, which looks for itself why.
    pub(super) fn wake_connection(&self, record: u32) {
        if let Ok(connection) = self.connection(record) {
            add32(&connection.wake, 1);
            wake(&connection.wake, 1);
        }
    }
}

impl Request {
    #[inline]
    pub(super) fn is_for(&self, resource: Resource) -> bool {
        let (high, low) = resource.words();
        self.low.load(Ordering::Relaxed) == low && self.high.load(Ordering::Relaxed) == high
    }

    pub(super) fn resource(&self) -> Option<Resource> {
        let (high, low) = (self.high.load(Ordering::Relaxed), self.low.load(Ordering::Relaxed));
        Resource::from_words(high, low)
    }
}

/// Now, for messages.
pub(super) fn now_ms() -> u64 {
    u64::try_from(clock().wall_time().0.as_millis()).unwrap_or(u64::MAX)
}
