//! Checking the whole table: that its truth can be, and that what is derived says the same.
//!
//! - One partition after another under its latch, so it may be done at any time.
//! - An error names the first thing found wrong; nothing is mended.

use super::LockTable;
use super::chunks::Use;
use super::error::LockError;
use super::fast;
use super::layout::{PARTITIONS, VALUES_PER_CHUNK, ValueRecord};
use super::partition::Place;
use super::queue::{self, Entry};
use super::resource::Resource;
use super::state::State;
use super::visit::Inside;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};

impl LockTable {
    /// Checks every partition.
    ///
    /// # Errors
    /// `Damaged`, with what is wrong.
    pub fn check(&self) -> Result<(), LockError> {
        (0..PARTITIONS).try_for_each(|index| self.enter(index)?.check())
    }
}

impl Inside<'_> {
    pub(super) fn check(&self) -> Result<(), LockError> {
        let mut queues = BTreeMap::<Resource, Vec<Entry>>::new();
        let mut free = BTreeSet::new();
        for slot in self.slots() {
            let request = self.request(slot)?;
            if self.state(slot)? == State::FREE {
                free.insert(slot);
            } else {
                let entry = self.entry(slot, request)?;
                queues.entry(self.resource(slot)?).or_default().push(entry);
            }
        }
        self.check_free(&free)?;
        self.check_chains(&queues)?;
        self.check_values(&queues)?;
        self.check_strong(&queues)?;
        queues.iter().try_for_each(|(resource, entries)| self.check_queue(*resource, entries))
    }

    fn check_free(&self, free: &BTreeSet<u32>) -> Result<(), LockError> {
        let mut listed = BTreeSet::new();
        self.follow(&self.part.free, |slot, _| Ok(listed.insert(slot)))?;
        that(listed == *free, "the free list is not what is free")?;
        let (used, slots) = (self.part.used.load(Ordering::Relaxed), self.slots().len());
        that(used as usize + free.len() == slots, "the count of slots in use is wrong")?;
        that(at(&self.part.slots) as usize == slots, "the count of slots is wrong")
    }

    fn check_chains(&self, queues: &BTreeMap<Resource, Vec<Entry>>) -> Result<(), LockError> {
        let mut used = 0;
        for (bucket, head) in self.part.buckets.iter().enumerate() {
            self.follow(head, |slot, _| {
                used += 1;
                let place = Place::of(self.resource(slot)?);
                let expected = Place { partition: self.index, bucket };
                that(place == expected, "a request is in another's chain")?;
                that(self.state(slot)? != State::FREE, "a free slot is in a chain")?;
                Ok(true)
            })?;
        }
        let entries = queues.values().flatten();
        that(used == entries.clone().count(), "the chains are not what is in use")?;
        let waiting = entries.filter(|entry| entry.state.is_waiting()).map(|entry| entry.slot);
        let listed = self.waiting()?;
        let count = listed.len();
        that(at(&self.part.waiting) as usize == count, "the count of waiters is wrong")?;
        let listed = listed.into_iter().collect::<BTreeSet<_>>();
        that(
            listed.len() == count && waiting.collect::<BTreeSet<_>>() == listed,
            "the list of waiters is wrong",
        )
    }

    fn check_queue(&self, resource: Resource, entries: &[Entry]) -> Result<(), LockError> {
        let owners = entries.iter().map(|entry| entry.holder.to_word()).collect::<BTreeSet<_>>();
        that(owners.len() == entries.len(), "an owner has two requests for a resource")?;
        for entry in entries {
            that(self.table.connection_of(entry.holder).is_some(), "a request is nobody's")
                .map_err(|error| error.about(resource))?;
            let clash = entries.iter().any(|other| {
                other.slot != entry.slot
                    && !entry.state.held().is_compatible_with(other.state.held())
            });
            that(!clash, "two hold what they may not")?;
            let blocked = queue::is_blocked(entries, entry);
            that(!entry.state.is_waiting() || blocked, "somebody waits for nobody")?;
        }
        Ok(())
    }

    fn check_strong(&self, queues: &BTreeMap<Resource, Vec<Entry>>) -> Result<(), LockError> {
        let counters = self.strong_counters().iter().map(at);
        that(counters.eq(self.count_strong()?), "a counter of strong locks is wrong")?;
        for (resource, _, _) in self.table.fast_locks()? {
            let requests = queues.get(&resource).map(Vec::as_slice).unwrap_or_default();
            let is_contended = requests.iter().any(|entry| fast::is_strong(entry.state));
            that(!is_contended, "a strong lock has overlooked a weak one")?;
        }
        Ok(())
    }

    fn check_values(&self, queues: &BTreeMap<Resource, Vec<Entry>>) -> Result<(), LockError> {
        let mut values = BTreeSet::new();
        let mut count = 0;
        for first in self.table.chunks_of::<ValueRecord>(Use::Values(self.index)) {
            for number in first..first + VALUES_PER_CHUNK {
                let record = self.table.record::<ValueRecord>(Use::Values(self.index), number)?;
                if record.state.load(Ordering::Relaxed) == 0 {
                    continue;
                }
                let resource = record.resource();
                let resource = resource.ok_or_else(|| LockError::damaged("a value is nobody's"))?;
                that(values.insert(resource), "a resource has two values")?;
                that(queues.contains_key(&resource), "a value has outlived the locks")?;
                that(self.has_value(resource)?, "a value is in no chain")?;
                count += 1;
            }
        }
        that(at(&self.part.values_used) == count, "the count of values is wrong")
    }
}

fn at(word: &AtomicU32) -> u32 {
    word.load(Ordering::Relaxed)
}

fn that(is_so: bool, otherwise: &str) -> Result<(), LockError> {
    if is_so { Ok(()) } else { Err(LockError::damaged(otherwise)) }
}
