//! Asking for a lock: it is granted at once, or must be waited for, or is refused.
//!
//! - What stands in the way is decided under the latch, on what is there then. A request that is
//!   refused leaves nothing behind.
//! - Who must wait is in the queue when the latch is given back, and has told those in its way.

use super::LockTable;
use super::error::{LockError, LockErrorKind, LockHolder};
use super::modes::Mode;
use super::owner::{Held, LockOwner, Wait};
use super::partition::Place;
use super::queue::{self, Edge, Entry};
use super::resource::Resource;
use super::state::{State, Status};
use super::statistics::Counter;
use super::store::put;
use super::visit::Inside;
use std::sync::atomic::Ordering;

/// What became of a request.
#[derive(Debug)]
pub(super) enum Asked {
    Granted(Mode),
    MustWait(Entry),
}

impl LockOwner {
    /// Asks for a lock that is not covered by what is held, without waiting for it.
    pub(super) fn request(
        &mut self,
        resource: Resource,
        mode: Mode,
        wait: Wait,
    ) -> Result<Asked, LockError> {
        match self.held.get(resource) {
            Some(held) => self.strengthen(resource, held, mode, wait),
            None if self.take_fast(resource, mode) => Ok(Asked::Granted(mode)),
            None => self.acquire(resource, mode, wait),
        }
    }

    /// Asks for a lock of something that it has no lock of.
    #[inline]
    pub(super) fn acquire(
        &mut self,
        resource: Resource,
        mode: Mode,
        wait: Wait,
    ) -> Result<Asked, LockError> {
        let slot = {
            let mut inside = self.table.enter_with_room(Place::of(resource).partition, wait)?;
            inside.prepare_strong(resource, mode)?;
            inside.gather(resource, &mut self.entries)?;
            if !self.entries.is_empty() {
                let mine = Entry {
                    slot: u32::MAX,
                    state: State::waiting(mode),
                    ticket: u64::MAX,
                    holder: self.holder,
                    since: 0,
                };
                if queue::is_blocked(&self.entries, &mine) {
                    return self.queue_up(inside, resource, mine, wait);
                }
            }
            inside.insert(resource, self.holder, State::granted(mode), 0)?
        };
        self.held.add(resource, Held { slot, mode });
        Ok(Asked::Granted(mode))
    }

    /// Takes a place in the queue, unless it will not wait.
    #[cold]
    fn queue_up(
        &self,
        mut inside: Inside<'_>,
        resource: Resource,
        mut mine: Entry,
        wait: Wait,
    ) -> Result<Asked, LockError> {
        if wait == Wait::No {
            return Err(inside.refuse(&self.entries, &mine));
        }
        mine.ticket = self.table.draw_ticket();
        mine.slot = inside.insert(resource, self.holder, mine.state, mine.ticket)?;
        inside.notify(&self.entries, &mine)?;
        Ok(Asked::MustWait(mine))
    }

    /// Asks for more than it has.
    pub(super) fn strengthen(
        &mut self,
        resource: Resource,
        held: Held,
        mode: Mode,
        wait: Wait,
    ) -> Result<Asked, LockError> {
        let mode = held.mode.supremum(mode);
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
            return Ok(Asked::Granted(mode));
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
}

impl LockTable {
    /// Enters, having grown the memory before when a new request will need it.
    #[inline]
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
