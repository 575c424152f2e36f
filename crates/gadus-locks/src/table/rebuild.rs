//! Rebuilding a partition: everything derived is made anew from its request slots.
//!
//! - May be interrupted anywhere: the partition's mark stays set until all is done.
//! - A slot that cannot be true is left alone, and the partition refuses service: whose lock it
//!   might be nobody can say.

use super::LockTable;
use super::chunks::Use;
use super::error::LockError;
use super::layout::{PARTITIONS, REQUESTS_PER_CHUNK, Request, ValueRecord};
use super::partition::Place;
use super::state::{Holder, State};
use super::statistics::Counter;
use super::store::{put, put32};
use super::visit::Inside;
use crate::latch::Owner;
use crate::steps::{self, Omission};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

impl LockTable {
    /// Takes from the table all that a dead instance has in it, and grants what that held up. Does
    /// as well when it, or another, has begun the same before.
    ///
    /// # Errors
    /// `Damaged`; the undamaged partitions are clean then, too.
    pub fn clean(&self, dead: Owner) -> Result<(), LockError> {
        // First, so that nobody makes requests of them in partitions that are clean already.
        let mut result =
            if steps::omits(Omission::StrikingOut) { Ok(()) } else { self.clear_fast(dead) };
        for index in 0..PARTITIONS {
            let mut inside = self.enter_as_it_is(index);
            let was_dirty = inside.part.dirty.load(Ordering::Acquire) != 0;
            put32(&inside.part.dirty, 1);
            let done = inside
                .release_dead(dead)
                .and_then(|released| if released || was_dirty { inside.rebuild() } else { Ok(()) });
            // The connections of the dead stay as long as a request may name them.
            result = result.and(inside.noting(done));
        }
        if result.is_ok() {
            self.forget_connections(dead)?;
        }
        self.count(Counter::Cleanups, 1);
        result
    }
}

impl Inside<'_> {
    /// Frees the slots of a dead instance; says whether there were any.
    fn release_dead(&mut self, dead: Owner) -> Result<bool, LockError> {
        let mut released = false;
        let has_values = !self.table.chunks_of::<ValueRecord>(Use::Values(self.index)).is_empty();
        for slot in self.slots() {
            let request = self.request(slot)?;
            let word = request.state.load(Ordering::Acquire);
            let holder = Holder::from_word(request.owner.load(Ordering::Acquire));
            if word == State::FREE.to_word() || !holder.instance.is_named_by(dead) {
                continue;
            }
            if has_values && self.state(slot)?.held().may_write_value() {
                self.invalidate_value(slot)?;
            }
            put(&request.state, State::FREE.to_word());
            released = true;
        }
        Ok(released)
    }

    /// Makes everything derived anew.
    pub(super) fn rebuild(&mut self) -> Result<(), LockError> {
        let result = self.rebuild_chains().and_then(|waiting| {
            self.rebuild_values()?;
            self.rebuild_strong()?;
            let mut resources = BTreeSet::new();
            for slot in waiting {
                resources.insert(self.resource(slot)?);
            }
            resources.into_iter().try_for_each(|resource| self.settle(resource))
        });
        self.table.count(Counter::Rebuilds, 1);
        self.noting(result)
    }

    /// Gives the slots that wait.
    fn rebuild_chains(&mut self) -> Result<Vec<u32>, LockError> {
        self.part.buckets.iter().filter(|head| head.load(Ordering::Relaxed) != 0).for_each(
            |head| {
                put32(head, 0);
            },
        );
        for word in [&self.part.waiting_first, &self.part.waiting, &self.part.used] {
            put32(word, 0);
        }
        let slots = self.slots();
        put32(&self.part.slots, u32::try_from(slots.len()).unwrap_or(u32::MAX));
        let (mut free, mut waiting) = (0, Vec::new());
        for slot in slots.into_iter().rev() {
            let (request, state) = (self.request(slot)?, self.state(slot)?);
            if state == State::FREE {
                put32(&request.next, free);
                free = slot + 1;
                continue;
            }
            let place = Place::of(self.resource(slot)?);
            if place.partition != self.index {
                return Err(LockError::damaged("a request is in another's partition"));
            }
            self.link(slot, request, place, state);
            if state.is_waiting() {
                waiting.push(slot);
            }
        }
        put32(&self.part.free, free);
        Ok(waiting)
    }

    /// All slots of the partition.
    pub(super) fn slots(&self) -> Vec<u32> {
        let chunks = self.table.chunks_of::<Request>(Use::Requests(self.index));
        chunks.into_iter().flat_map(|first| first..first + REQUESTS_PER_CHUNK).collect()
    }
}
