//! Inside a partition: its requests, under its latch, which [`Inside`] holds.
//!
//! - What each lock of a row does is inlined always: otherwise state is put together only to be taken
//!   apart again, which took 5 of 47 ns.

use super::LockTable;
use super::chunks::Use;
use super::error::LockError;
use super::layout::{BUCKETS, PARTITIONS, Request};
use super::queue::{self, Entry};
use super::resource::Resource;
use super::state::{Holder, State};
use super::store::{put, put32};
use super::visit::Inside;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a resource belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) partition: usize,
    pub(super) bucket: usize,
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
    /// Takes a granted request away, and grants what it held up.
    #[inline]
    pub(super) fn release(&self, resource: Resource, slot: u32) -> Result<(), LockError> {
        let mut inside = self.enter(Place::of(resource).partition)?;
        inside.remove(resource, slot)?;
        inside.settle(resource)
    }
}

impl Inside<'_> {
    /// The request of a number found in this partition.
    #[inline(always)]
    pub(super) fn request(&self, slot: u32) -> Result<&Request, LockError> {
        self.noting(self.table.record(Use::Requests(self.index), slot))
    }

    pub(super) fn state(&self, slot: u32) -> Result<State, LockError> {
        self.state_of(self.request(slot)?)
    }

    #[inline]
    fn state_of(&self, request: &Request) -> Result<State, LockError> {
        match State::from_word(request.state.load(Ordering::Acquire)) {
            Some(state) => Ok(state),
            None => self.broken("a state cannot be"),
        }
    }

    /// Collects the requests for a resource.
    #[inline]
    pub(super) fn gather(
        &self,
        resource: Resource,
        entries: &mut Vec<Entry>,
    ) -> Result<(), LockError> {
        entries.clear();
        let head = &self.part.buckets[Place::of(resource).bucket];
        if head.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        self.gather_from(head, resource, entries)
    }

    fn gather_from(
        &self,
        head: &AtomicU32,
        resource: Resource,
        entries: &mut Vec<Entry>,
    ) -> Result<(), LockError> {
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
            state: self.state_of(request)?,
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
    #[inline(always)]
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
        let Some(slot) = self.part.free.load(Ordering::Relaxed).checked_sub(1) else {
            return self.broken("no slot is free");
        };
        let request = self.request(slot)?;
        if request.state.load(Ordering::Acquire) != State::FREE.to_word() {
            return self.broken("a free slot is in use");
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
        let request = self.request(slot)?;
        let before = self.state_of(request)?;
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
    #[inline(always)]
    pub(super) fn remove(&mut self, resource: Resource, slot: u32) -> Result<(), LockError> {
        let bucket = &self.part.buckets[Place::of(resource).bucket];
        let mut link = bucket;
        let (mut found, mut others) = (None, false);
        self.follow(bucket, |at, next| {
            if at == slot {
                found = Some((link, next));
            } else if next.is_for(resource) {
                others = true;
            }
            link = &next.next;
            Ok(found.is_none() || !others)
        })?;
        let Some((link, request)) = found else {
            return self.broken("a request is in no chain");
        };
        let before = self.state_of(request)?;
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
    #[inline]
    pub(super) fn settle(&mut self, resource: Resource) -> Result<(), LockError> {
        if self.part.waiting.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        self.settle_waiting(resource)
    }

    fn settle_waiting(&mut self, resource: Resource) -> Result<(), LockError> {
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

/// Now, for messages: as the system's last tick left it, some milliseconds ago, because a look at
/// the clock itself costs as much as all the rest of a lock.
pub(super) fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    let whole = u64::try_from(now.tv_sec).unwrap_or(0);
    whole * 1000 + u64::try_from(now.tv_nsec).unwrap_or(0) / 1_000_000
}
