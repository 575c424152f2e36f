//! A visit to a partition: entering it, and leaving it.
//!
//! - [`Inside`] holds the latch, and has set the partition's mark; it clears the mark when it goes.
//!   Who finds the mark set rebuilds, whether the one before died, panicked or met damage.
//! - Sleepers are woken, and doorbells rung, after the latch is given back.

use super::LockTable;
use super::error::{LockError, LockErrorKind, LockHolder};
use super::layout::Partition;
use super::modes::Mode;
use super::owner::Wait;
use super::state::Holder;
use super::statistics::Counter;
use super::store::{add32, put32};
use crate::latch::Owner;
use crate::memory::wake;
use crate::steps::{self, Omission};
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Somebody at work in a partition, alone.
pub(super) struct Inside<'a> {
    pub(super) table: &'a LockTable,
    pub(super) index: usize,
    pub(super) part: &'a Partition,
    is_broken: Cell<bool>,
    end: Option<Box<End>>,
}

/// What is to be done at the end of a visit: most visits leave nothing, and make none.
#[derive(Default)]
pub(super) struct End {
    sleepers: Vec<u32>,
    doorbells: Vec<u32>,
    /// Classes whose strong counters are raised for as long as the visit lasts.
    pub(super) raised: Vec<usize>,
}

impl LockTable {
    /// Enters a partition, after putting right what somebody who died there has left.
    #[inline]
    pub(super) fn enter(&self, index: usize) -> Result<Inside<'_>, LockError> {
        self.enter_until(index, Wait::Forever)
    }

    /// Enters a partition, unless that takes too long: somebody may be stopped while it is there.
    #[inline]
    pub(super) fn enter_until(&self, index: usize, wait: Wait) -> Result<Inside<'_>, LockError> {
        let part = &self.header().partitions[index];
        if !part.latch.try_lock(self.me) {
            self.await_latch(part, wait)?;
        }
        // No visit that was written to in memory is moved into the one that is returned: that took a
        // quarter of the time of a lock and its release, because a processor that reads two of its
        // latest stores at once waits until they are through.
        let end = if part.dirty.load(Ordering::Acquire) == 0 {
            put32(&part.dirty, 1);
            None
        } else {
            self.mend(index, part)?
        };
        Ok(self.inside(index, part, end))
    }

    /// Rebuilds a partition that the caller has entered; gives what is to be done when it leaves.
    #[cold]
    fn mend(&self, index: usize, part: &Partition) -> Result<Option<Box<End>>, LockError> {
        let mut inside = self.inside(index, part, None);
        inside.rebuild()?;
        let end = inside.end.take();
        // The caller goes on where this visit stops.
        std::mem::forget(inside);
        Ok(end)
    }

    #[cold]
    fn await_latch(&self, part: &Partition, wait: Wait) -> Result<(), LockError> {
        // Whether its owner has died says the mark: it may also have died before or after.
        let taken = part.latch.lock_until(self.me, &*self.instances, wait.end());
        taken.map(drop).map_err(|owner| self.held_up_by(owner))
    }

    /// Enters a partition that the caller will rebuild.
    pub(super) fn enter_as_it_is(&self, index: usize) -> Inside<'_> {
        let part = &self.header().partitions[index];
        let _ = part.latch.lock(self.me, &*self.instances);
        self.inside(index, part, None)
    }

    #[inline]
    fn inside<'a>(
        &'a self,
        index: usize,
        part: &'a Partition,
        end: Option<Box<End>>,
    ) -> Inside<'a> {
        Inside { table: self, index, part, is_broken: Cell::new(false), end }
    }

    #[cold]
    fn held_up_by(&self, owner: Owner) -> LockError {
        let instance = self.instances.describe(owner);
        let holder = LockHolder { instance, connection: 0, mode: Mode::Null, age_ms: None };
        let message = "somebody is at work on the lock table and does not go on";
        LockError::new(LockErrorKind::Timeout, message).held_by(Some(holder))
    }

    /// Wakes and rings, after a visit.
    fn tell(&self, end: &End) {
        for record in end.sleepers.iter().filter(|_| !steps::omits(Omission::WakeUp)) {
            self.wake_connection(*record);
        }
        self.count(Counter::WakeUps, end.sleepers.len() as u64);
        for slot in &end.doorbells {
            self.instances.ring(*slot);
        }
    }

    /// Wakes a connection, which looks for itself why.
    pub(super) fn wake_connection(&self, record: u32) {
        if let Ok(connection) = self.connection(record) {
            add32(&connection.wake, 1);
            wake(&connection.wake, 1);
        }
    }
}

impl Inside<'_> {
    /// Has somebody woken once the latch is free.
    pub(super) fn wake_later(&mut self, sleeper: Holder) {
        self.end().sleepers.push(sleeper.record);
    }

    /// Has the doorbell of an instance rung once the latch is free.
    pub(super) fn ring_later(&mut self, instance: u32) {
        let doorbells = &mut self.end().doorbells;
        if !doorbells.contains(&instance) {
            doorbells.push(instance);
        }
    }

    /// What is to be done once the latch is free.
    pub(super) fn end(&mut self) -> &mut End {
        self.end.get_or_insert_default()
    }

    /// Remembers damage, and says where it is.
    #[cold]
    pub(super) fn broken<T>(&self, what: &str) -> Result<T, LockError> {
        self.noting(Err(LockError::damaged(what)))
    }

    /// Remembers damage, so that the partition is rebuilt by the next who enters.
    #[inline]
    pub(super) fn noting<T>(&self, result: Result<T, LockError>) -> Result<T, LockError> {
        if result.is_err() {
            self.is_broken.set(true);
        }
        result
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        let end = self.end.take();
        if !self.is_broken.get() && !std::thread::panicking() {
            if let Some(end) = &end {
                self.lower_again(&end.raised);
            }
            put32(&self.part.dirty, 0);
        }
        self.part.latch.unlock(self.table.me);
        if let Some(end) = end {
            self.table.tell(&end);
        }
    }
}
