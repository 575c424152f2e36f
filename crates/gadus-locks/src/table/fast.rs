//! The fast path: intention locks on tables that nobody contends, kept in their owner's own record.
//!
//! An entry:
//!
//! | bits | content |
//! |---|---|
//! | 0..32 | table |
//! | 32..36 | mode, IS or IX |
//! | 62 | held; without it, only tried |
//! | 63 | moved: what is in the partition is in force, or will be |
//!
//! - The owner puts down a try, looks at the counter of strong locks of the table's class, and makes
//!   the try a hold if that is zero. Who wants a strong lock raises the counter, then looks at the
//!   entries: of the two, at least one sees the other. A try is struck out, a hold is moved.
//! - A hold is moved under the partition's latch: it is marked, then gets a request. One that is
//!   marked and has no request, because its mover died, gets one from the next who looks. Its owner
//!   releases it under the latch, too.
//! - A counter is never below the number of strong requests. It is derived: the classes of a
//!   partition are its own.

use super::LockTable;
use super::chunks::Use;
use super::error::LockError;
use super::layout::{CONNECTIONS_PER_CHUNK, Connection, FAST_LOCKS, PARTITIONS, STRONG_CLASSES};
use super::modes::{Mode, ModeSet};
use super::owner::{Held, LockOwner, Wait};
use super::partition::Place;
use super::resource::Resource;
use super::state::{Holder, State};
use super::statistics::Counter;
use super::store::{add32, put, put32, replace};
use super::visit::Inside;
use crate::latch::Owner;
use crate::steps::{self, Omission};
use gadus_base::TableId;
use std::sync::atomic::{AtomicU32, Ordering};

/// Marks a number as that of an entry rather than of a slot; slots have fewer bits.
const FAST: u32 = 1 << 31;

const HELD: u64 = 1 << 62;
const MOVED: u64 = 1 << 63;

/// The modes that an intention lock may be in the way of.
const STRONG: ModeSet = Mode::IntentShared.excluded() | Mode::IntentExclusive.excluded();

const CLASSES: usize = STRONG_CLASSES / PARTITIONS;

impl Held {
    /// The entry that holds it, if it was taken without a request.
    pub(super) fn entry(self) -> Option<usize> {
        (self.slot & FAST != 0).then_some((self.slot & !FAST) as usize)
    }
}

impl LockOwner {
    /// Takes an intention lock without a request, of something that it has no lock of; says whether
    /// that was possible.
    #[inline]
    pub(super) fn take_fast(&mut self, resource: Resource, mode: Mode) -> bool {
        let Some(table) = resource.as_table() else { return false };
        let at = self.fast_used.trailing_ones();
        if !matches!(mode, Mode::IntentShared | Mode::IntentExclusive) || at as usize >= FAST_LOCKS
        {
            return false;
        }
        let strong = self.table.strong(resource);
        steps::before(strong);
        if strong.load(Ordering::Relaxed) != 0 {
            return false;
        }
        let entry = &self.connection().fast[at as usize];
        let tried = u64::from(table.0) | (mode as u64) << 32;
        if !replace(entry, 0, tried) {
            return false;
        }
        steps::before(strong);
        if strong.load(Ordering::SeqCst) != 0 && !steps::omits(Omission::SecondLook) {
            // Nobody moves a try, so it is the owner's to take back, if it is there still.
            put(entry, 0);
            return false;
        }
        if !replace(entry, tried, tried | HELD) {
            return false;
        }
        self.fast_used |= 1 << at;
        self.held.add(resource, Held { slot: FAST | at, mode });
        true
    }

    /// Releases a lock that was taken without a request; says whether this was one, and still is.
    #[inline]
    pub(super) fn release_fast(&mut self, resource: Resource, held: Held) -> bool {
        let (Some(at), Some(word)) = (held.entry(), entry_word(resource, held.mode)) else {
            return false;
        };
        let done = replace(&self.connection().fast[at], word, 0);
        if done {
            self.fast_used &= !(1 << at);
        }
        done
    }

    /// Releases a lock that was taken without a request, and that somebody has given one.
    pub(super) fn release_moved(&mut self, resource: Resource, at: usize) -> Result<(), LockError> {
        let mut inside = self.table.enter(Place::of(resource).partition)?;
        if let Some(slot) = inside.find(resource, self.holder)? {
            inside.remove(resource, slot)?;
            inside.settle(resource)?;
        }
        put(&self.connection().fast[at], 0);
        drop(inside);
        self.fast_used &= !(1 << at);
        Ok(())
    }

    /// Gives a lock that was taken without a request one, for what only requests can.
    pub(super) fn with_request(
        &mut self,
        resource: Resource,
        held: Held,
        wait: Wait,
    ) -> Result<Held, LockError> {
        let Some(at) = held.entry() else { return Ok(held) };
        let mut inside = self.table.enter_with_room(Place::of(resource).partition, wait)?;
        let entry = &self.connection().fast[at];
        if let Some(word) = entry_word(resource, held.mode) {
            // Someone may have marked it already.
            let _ = replace(entry, word, word | MOVED);
        }
        let slot = inside.request_for(resource, self.holder, held.mode)?;
        put(entry, 0);
        drop(inside);
        self.fast_used &= !(1 << at);
        self.note(resource, slot, held.mode);
        Ok(Held { slot, ..held })
    }
}

impl LockTable {
    /// The number of strong requests for the tables of a resource's class.
    pub(super) fn strong(&self, resource: Resource) -> &AtomicU32 {
        &self.header().strong[class_of(resource)]
    }

    /// Strikes out what a dead instance holds without requests, so that nobody moves it any more.
    pub(super) fn clear_fast(&self, dead: Owner) -> Result<(), LockError> {
        self.visit_fast(|holder, connection| {
            if holder.instance.is_named_by(dead) {
                let used = connection.fast.iter().filter(|word| word.load(Ordering::SeqCst) != 0);
                used.for_each(|word| put(word, 0));
            }
            Ok(())
        })
    }

    /// All locks that have no request.
    pub(super) fn fast_locks(&self) -> Result<Vec<(Resource, Holder, Mode)>, LockError> {
        let mut locks = Vec::new();
        self.visit_fast(|holder, connection| {
            let words = connection.fast.iter().map(|word| word.load(Ordering::SeqCst));
            let held = words.filter(|word| word & (HELD | MOVED) == HELD);
            locks.extend(held.filter_map(|word| Some((table_of(word), holder, mode_of(word)?))));
            Ok(())
        })?;
        Ok(locks)
    }

    fn visit_fast(
        &self,
        mut visit: impl FnMut(Holder, &Connection) -> Result<(), LockError>,
    ) -> Result<(), LockError> {
        for first in self.chunks_of::<Connection>(Use::Connections) {
            for record in first..first + CONNECTIONS_PER_CHUNK {
                let connection = self.connection(record)?;
                steps::before(&connection.owner);
                let word = connection.owner.load(Ordering::SeqCst);
                if word != 0 {
                    visit(Holder::from_word(word), connection)?;
                }
            }
        }
        Ok(())
    }
}

impl Inside<'_> {
    /// Before a strong lock is looked for: gives all that is held without requests a request, and
    /// has everybody else make one, for as long as this visit lasts.
    #[inline]
    pub(super) fn prepare_strong(
        &mut self,
        resource: Resource,
        mode: Mode,
    ) -> Result<(), LockError> {
        if STRONG & mode.bit() == 0 || resource.as_table().is_none() {
            return Ok(());
        }
        self.find_weak(resource)
    }

    fn find_weak(&mut self, resource: Resource) -> Result<(), LockError> {
        add32(self.table.strong(resource), 1);
        self.end().raised.push(class_of(resource));
        let mut moves = Vec::new();
        self.table.visit_fast(|_, connection| {
            for entry in &connection.fast {
                steps::before(entry);
                let word = entry.load(Ordering::SeqCst);
                if word == 0 || table_of(word) != resource {
                    continue;
                }
                let Some(mode) = mode_of(word) else {
                    return Err(LockError::damaged("an entry cannot be"));
                };
                if word & HELD == 0 {
                    // If it has just become a hold, that is seen below.
                    let _ = replace(entry, word, 0);
                }
                let held = word | HELD;
                if word & MOVED != 0 || replace(entry, held, held | MOVED) {
                    // The record stays its user's as long as the entry is marked.
                    steps::before(&connection.owner);
                    let owner = connection.owner.load(Ordering::SeqCst);
                    moves.push((Holder::from_word(owner), mode));
                }
            }
            Ok(())
        })?;
        for (holder, mode) in moves {
            self.request_for(resource, holder, mode)?;
        }
        Ok(())
    }

    /// The request of a holder who has a lock already; makes it if there is none.
    fn request_for(
        &mut self,
        resource: Resource,
        holder: Holder,
        mode: Mode,
    ) -> Result<u32, LockError> {
        if let Some(slot) = self.find(resource, holder)? {
            return Ok(slot);
        }
        self.table.count(Counter::FastMoves, 1);
        self.insert(resource, holder, State::granted(mode), 0)
    }

    /// Keeps the counter right: called before a request becomes strong.
    pub(super) fn raise(&self, resource: Option<Resource>, before: State, after: State) {
        if is_strong(after)
            && !is_strong(before)
            && let Some(table) = resource.filter(|one| one.as_table().is_some())
        {
            add32(self.table.strong(table), 1);
        }
    }

    /// Keeps the counter right: called after a request has ceased to be strong.
    pub(super) fn lower(&self, resource: Option<Resource>, before: State, after: State) {
        if is_strong(before)
            && !is_strong(after)
            && let Some(table) = resource.filter(|one| one.as_table().is_some())
        {
            add32(self.table.strong(table), u32::MAX);
        }
    }

    /// Ends what [`Inside::prepare_strong`] has begun.
    pub(super) fn lower_again(&self, raised: &[usize]) {
        for class in raised {
            add32(&self.table.header().strong[*class], u32::MAX);
        }
    }

    /// Makes the counters of the partition's classes anew.
    pub(super) fn rebuild_strong(&self) -> Result<(), LockError> {
        let counted = self.count_strong()?;
        for (counter, count) in self.strong_counters().iter().zip(counted) {
            if counter.load(Ordering::Relaxed) != count {
                put32(counter, count);
            }
        }
        Ok(())
    }

    /// Strong requests by class of the partition.
    pub(super) fn count_strong(&self) -> Result<[u32; CLASSES], LockError> {
        let mut counts = [0; CLASSES];
        for slot in self.slots() {
            if is_strong(self.state(slot)?) {
                let resource = self.resource(slot)?;
                if resource.as_table().is_some() {
                    counts[class_of(resource) % CLASSES] += 1;
                }
            }
        }
        Ok(counts)
    }

    pub(super) fn strong_counters(&self) -> &[AtomicU32] {
        &self.table.header().strong[self.index * CLASSES..][..CLASSES]
    }
}

pub(super) fn is_strong(state: State) -> bool {
    (state.granted.bit() | state.wanted.bit()) & STRONG != 0
}

/// A table's class, one of those of its partition.
fn class_of(resource: Resource) -> usize {
    let within = (resource.hash() >> 32) as usize % CLASSES;
    Place::of(resource).partition * CLASSES + within
}

fn entry_word(resource: Resource, mode: Mode) -> Option<u64> {
    Some(u64::from(resource.as_table()?.0) | (mode as u64) << 32 | HELD)
}

fn table_of(word: u64) -> Resource {
    let table = u32::try_from(word & 0xFFFF_FFFF).expect("a half has 32 bits");
    Resource::table(TableId(table))
}

fn mode_of(word: u64) -> Option<Mode> {
    Mode::from_number((word >> 32) & 0xF)
        .filter(|mode| matches!(mode, Mode::IntentShared | Mode::IntentExclusive))
}
