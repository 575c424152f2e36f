//! Instances: who shares a database, each in a slot of its own.
//!
//! A slot's state is one word:
//!
//! | bits | content |
//! |---|---|
//! | 0..8 | 0 free, 1 live, 2 being cleaned up after |
//! | 8..19 | slot of the cleaner plus one |
//! | 19..32 | lower bits of the cleaner's generation |
//! | 32..64 | generation, which rises with each use |
//!
//! - A slot is live from [`Instances::claim`] until its user leaves, or somebody has cleaned up
//!   after its death; until then everything that its user holds in shared memory is held.
//! - Cleaning up may be interrupted at any point, also by the death of the cleaner: whoever takes
//!   over does all of it again, so every step of it must bear that.
//! - A cleaner is named by its generation, too: another that has its slot meanwhile does not do its work.
//! - Program and time are for messages only; process ids say which threads are over, and never that an
//!   instance is dead.

mod busy;

pub use busy::{Busy, BusyOthers};

use crate::error::{MemoryError, MemoryErrorKind};
use crate::latch::{Liveness, Owner};
use crate::memory::{Memory, Offset, wake};
use crate::shared_struct;
use crate::steps;
use crate::threads::Process;
use busy::short;
use gadus_base::clock;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The most instances that share one database at a time.
pub const INSTANCES_MAX: u32 = 1024;

const SLOTS: usize = INSTANCES_MAX as usize;
const PROGRAM_WORDS: usize = 12;

const FREE: u64 = 0;
const LIVE: u64 = 1;
const REAPING: u64 = 2;

/// Bits of a cleaner's slot plus one, and of its generation.
const CLEANER_SLOT_BITS: u32 = 11;
const CLEANER_GENERATION_BITS: u32 = 13;
const _: () = assert!(INSTANCES_MAX < 1 << CLEANER_SLOT_BITS);

shared_struct! {
    struct Slot {
        state: AtomicU64,
        pid: AtomicU64,
        namespace: AtomicU64,
        started: AtomicU64,
        since_seconds: AtomicU64,
        doorbell: AtomicU32,
        busy_until: [AtomicU32; 2],
        program: [AtomicU64; PROGRAM_WORDS],
    }
}

shared_struct! {
    /// The slots of all instances.
    pub struct InstanceTable {
        slots: [Slot; SLOTS],
    }
}

impl Debug for InstanceTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstanceTable").finish_non_exhaustive()
    }
}

/// What an instance says of itself, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceDescription {
    /// Its slot and generation.
    pub owner: Owner,
    /// Its process, as numbered in its own namespace.
    pub pid: u32,
    /// Its program, shortened from the front.
    pub program: String,
    /// When it opened the database, in seconds since 1970.
    pub since_seconds: u64,
}

/// One instance among those that share a memory.
#[derive(Debug)]
pub struct Instances {
    memory: Arc<Memory>,
    table: Offset<InstanceTable>,
    me: Owner,
    process: Process,
    fence: Arc<dyn Fence>,
}

/// Asks the system about slots.
pub trait Fence: Send + Sync + Debug {
    /// Whether nobody holds the slot and nothing of its last holder is in flight. A failure to find
    /// out is "no".
    fn is_quiet(&self, slot: u32) -> bool;
}

impl Instances {
    /// Takes a free slot; `own` takes what proves its user alive, and says whether it could. Claims
    /// are serial: the caller holds the lock of openers.
    ///
    /// # Errors
    /// `Full`, or what `own` fails with.
    pub fn claim<E: From<MemoryError>>(
        memory: Arc<Memory>,
        table: Offset<InstanceTable>,
        fence: Arc<dyn Fence>,
        mut own: impl FnMut(u32) -> Result<bool, E>,
    ) -> Result<Self, E> {
        memory.check()?;
        let slots = &memory.at(table)?.slots;
        for (slot, record) in (0..INSTANCES_MAX).zip(slots) {
            let state = record.state.load(Ordering::Acquire);
            if status(state) != FREE {
                continue;
            }
            let is_own = own(slot)?;
            memory.check()?;
            if !is_own {
                // Not one that was never used any more: who looks for others looks no further than the first of those.
                let passed = word(FREE, generation(state).max(1), None);
                steps::before(&record.state);
                record.state.store(passed, Ordering::Release);
                continue;
            }
            let me = Owner { slot, generation: generation(state).wrapping_add(1) };
            let process = Process::this();
            record.describe(process);
            steps::before(&record.state);
            record.state.store(word(LIVE, me.generation, None), Ordering::SeqCst);
            // What it reads next is kept for it: whoever gives things away sees the slot taken.
            std::sync::atomic::fence(Ordering::SeqCst);
            return Ok(Self { memory, table, me, process, fence });
        }
        let message = format!("{INSTANCES_MAX} instances have the database open; close one");
        Err(MemoryError::new(MemoryErrorKind::Full, message).into())
    }

    /// The slot of this instance.
    #[must_use]
    pub fn me(&self) -> Owner {
        self.me
    }

    /// The memory that the instances share.
    #[must_use]
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Whether a slot is in use, by the living or by those not cleaned up after.
    #[must_use]
    pub fn is_taken(&self, slot: u32) -> bool {
        self.slots()
            .get(slot as usize)
            .is_some_and(|s| status(s.state.load(Ordering::Acquire)) != FREE)
    }

    /// The instances that are not known to be dead, this one included.
    #[must_use]
    pub fn living(&self) -> Vec<InstanceDescription> {
        let described = (0..INSTANCES_MAX).zip(self.slots()).filter_map(|(slot, record)| {
            let state = record.state.load(Ordering::Acquire);
            let owner = Owner { slot, generation: generation(state) };
            (status(state) == LIVE && !self.is_dead(owner)).then(|| record.description(owner))
        });
        described.collect()
    }

    /// What the user of a slot said of itself, if it is still there or not cleaned up after.
    #[must_use]
    pub fn describe(&self, owner: Owner) -> Option<InstanceDescription> {
        let record = self.slots().get(owner.slot as usize)?;
        let state = record.state.load(Ordering::Acquire);
        let there = Owner { slot: owner.slot, generation: generation(state) };
        (status(state) != FREE && there.is_named_by(owner)).then(|| record.description(there))
    }

    /// Cleans up after every instance that is dead; gives how many there were. `clean` takes from
    /// shared memory all that the dead one had there, and may be called again for the same.
    pub fn reap(&self, mut clean: impl FnMut(Owner)) -> usize {
        let mut reaped = 0;
        let slots = self.slots();
        steps::before(slots);
        for (slot, record) in (0..INSTANCES_MAX).zip(slots) {
            let state = record.state.load(Ordering::Acquire);
            let owner = Owner { slot, generation: generation(state) };
            let may_begin = match status(state) {
                LIVE => self.is_dead(owner),
                REAPING => self.has_no_reaper(slot, state),
                _ => false,
            };
            let mine = word(REAPING, owner.generation, Some(self.me));
            if may_begin {
                steps::before(&record.state);
            }
            if may_begin
                && record
                    .state
                    .compare_exchange(state, mine, Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
            {
                clean(owner);
                steps::before(&record.state);
                let free = word(FREE, owner.generation, None);
                // Fails when somebody has taken over, and is through before.
                let _ =
                    record.state.compare_exchange(mine, free, Ordering::AcqRel, Ordering::Relaxed);
                reaped += 1;
            }
        }
        reaped
    }

    /// What the instance's watcher sleeps on.
    #[must_use]
    pub fn doorbell(&self) -> &AtomicU32 {
        &self.slots()[self.me.slot as usize].doorbell
    }

    /// Wakes the watcher of the instance in a slot.
    pub fn ring(&self, slot: u32) {
        if let Some(record) = self.slots().get(slot as usize) {
            steps::before(&record.doorbell);
            record.doorbell.fetch_add(1, Ordering::AcqRel);
            wake(&record.doorbell, 1);
        }
    }

    /// Wakes the watchers of all instances.
    pub fn ring_all(&self) {
        (0..INSTANCES_MAX).filter(|slot| self.is_taken(*slot)).for_each(|slot| self.ring(slot));
    }

    /// Leaves, unless that was done before. `clean` takes from shared memory all that this instance
    /// has there.
    pub fn leave(&self, clean: impl FnOnce()) {
        self.memory.verify_length();
        let state = &self.slots()[self.me.slot as usize].state;
        let live = word(LIVE, self.me.generation, None);
        let leaving = word(REAPING, self.me.generation, Some(self.me));
        steps::before(state);
        // Somebody may have taken it for dead, when its files were closed before.
        if state.compare_exchange(live, leaving, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            clean();
            steps::before(state);
            let left = word(FREE, self.me.generation, None);
            // Fails when somebody has taken over and is through before.
            let _ = state.compare_exchange(leaving, left, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Asks the system, which may take a while.
    fn is_quiet(&self, slot: u32) -> bool {
        let is_quiet = self.fence.is_quiet(slot);
        self.memory.verify_length();
        is_quiet
    }

    fn slots(&self) -> &[Slot; SLOTS] {
        let table = self.memory.at(self.table).expect("claiming has found it mapped");
        &table.slots
    }

    /// Whether nobody alive cleans up after the user of a slot, who may be leaving by itself.
    fn has_no_reaper(&self, slot: u32, state: u64) -> bool {
        let Some(reaper) = cleaner(state) else { return true };
        if reaper.slot == slot {
            return self.is_quiet(slot);
        }
        let Some(record) = self.slots().get(reaper.slot as usize) else { return true };
        let state = record.state.load(Ordering::Acquire);
        let there = Owner { slot: reaper.slot, generation: generation(state) };
        let is_another = short_generation(there) != reaper.generation;
        status(state) != LIVE || is_another || self.is_dead(there)
    }
}

impl Liveness for Instances {
    fn is_dead(&self, owner: Owner) -> bool {
        if owner.is_named_by(self.me) {
            return false;
        }
        let Some(record) = self.slots().get(owner.slot as usize) else { return true };
        let state = record.state.load(Ordering::Acquire);
        let there = Owner { slot: owner.slot, generation: generation(state) };
        match status(state) {
            // It has left, or was cleaned up after.
            _ if !there.is_named_by(owner) => true,
            FREE | REAPING => true,
            _ => self.is_quiet(owner.slot),
        }
    }

    fn has_lost(&self, owner: Owner, thread: u32) -> bool {
        let Some(record) = self.slots().get(owner.slot as usize) else { return false };
        let process = record.process();
        // Looked at afterwards: then it is this owner's process that was asked for.
        let state = record.state.load(Ordering::Acquire);
        let there = Owner { slot: owner.slot, generation: generation(state) };
        there.is_named_by(owner) && process.has_lost(thread, &self.process)
    }

    fn look_at_memory(&self) {
        self.memory.verify_length();
    }
}

impl Slot {
    fn describe(&self, process: Process) {
        let program = std::env::current_exe().map(|path| path.display().to_string());
        let program = program.unwrap_or_else(|_| "unknown".to_owned());
        let bytes = program.as_bytes();
        let kept = &bytes[bytes.len().saturating_sub(8 * PROGRAM_WORDS)..];
        for (index, word) in self.program.iter().enumerate() {
            let mut piece = [0; 8];
            let rest = kept.get(8 * index..).unwrap_or_default();
            let count = rest.len().min(8);
            piece[..count].copy_from_slice(&rest[..count]);
            word.store(u64::from_le_bytes(piece), Ordering::Relaxed);
        }
        self.pid.store(process.pid.into(), Ordering::Relaxed);
        self.namespace.store(process.namespace, Ordering::Relaxed);
        self.started.store(process.started, Ordering::Relaxed);
        let now = clock().wall_time().0;
        self.since_seconds.store(now.as_secs(), Ordering::Relaxed);
        self.busy_until.iter().for_each(|until| until.store(short(now), Ordering::Relaxed));
    }

    fn process(&self) -> Process {
        Process {
            pid: self.pid(),
            namespace: self.namespace.load(Ordering::Acquire),
            started: self.started.load(Ordering::Acquire),
        }
    }

    fn pid(&self) -> u32 {
        u32::try_from(self.pid.load(Ordering::Acquire)).unwrap_or(0)
    }

    fn description(&self, owner: Owner) -> InstanceDescription {
        let words = self.program.iter().map(|word| word.load(Ordering::Relaxed).to_le_bytes());
        let bytes = words.flatten().take_while(|byte| *byte != 0).collect::<Vec<_>>();
        let program = String::from_utf8_lossy(&bytes);
        InstanceDescription {
            owner,
            pid: self.pid(),
            program: program.chars().filter(|char| !char.is_control()).collect(),
            since_seconds: self.since_seconds.load(Ordering::Relaxed),
        }
    }
}

fn word(status: u64, generation: u32, cleaner: Option<Owner>) -> u64 {
    let cleaner = cleaner.map_or(0, |cleaner| {
        u64::from(short_generation(cleaner)) << CLEANER_SLOT_BITS | u64::from(cleaner.slot + 1)
    });
    (u64::from(generation) << 32) | (cleaner << 8) | status
}

/// Who cleans up, by a slot's state: its generation is shortened.
fn cleaner(state: u64) -> Option<Owner> {
    let bits = |first: u32, count: u32| {
        u32::try_from((state >> first) & ((1 << count) - 1)).expect("they are fewer than 32")
    };
    let slot = bits(8, CLEANER_SLOT_BITS).checked_sub(1)?;
    Some(Owner { slot, generation: bits(8 + CLEANER_SLOT_BITS, CLEANER_GENERATION_BITS) })
}

fn short_generation(owner: Owner) -> u32 {
    owner.generation & ((1 << CLEANER_GENERATION_BITS) - 1)
}

fn status(state: u64) -> u64 {
    state & 0xFF
}

fn generation(state: u64) -> u32 {
    u32::try_from(state >> 32).expect("the upper half has 32 bits")
}

#[cfg(test)]
mod tests;
