//! Latches: exclusion for some microseconds, between threads of any processes.
//!
//! The word of a latch:
//!
//! | bits | content |
//! |---|---|
//! | 0..16 | slot of the owner plus one; 0 when the latch is free |
//! | 16..31 | lower bits of the owner's generation |
//! | 31 | somebody sleeps |
//! | 32..64 | number of the thread that has it |
//!
//! - Taken by one compare-and-swap, given back by one exchange.
//! - A sleeper looks at the owner every [`LOOK`]; a latch of a dead owner is taken over, and its
//!   taker is told, because what the latch protects may be half done.
//! - The latch is its thread's: once that runs no more, it is taken over although other threads of the
//!   dying process may still be in the middle of transfers. Those are not what a latch protects.
//! - Not recursive and not fair: nobody holds a latch while it waits for anything else.

use crate::memory::{lower_half, wait_on, wake};
use crate::shared_struct;
use crate::steps;
use crate::threads::this_thread;
use gadus_base::Instant;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// How often a sleeper asks whether the owner lives. A lost wake-up costs as much.
const LOOK: Duration = Duration::from_millis(4);

/// Tries before sleeping, of this process: about the time for which a latch is usually held, unless somebody knows
/// better.
static TRIES: AtomicU32 = AtomicU32::new(100);

/// At least one, or nobody would ever have a latch that is free.
const TRIES_MIN: u32 = 1;

/// Sets how often this process tries to have a latch before it sleeps: for whoever knows what waking a thread takes.
pub fn set_latch_tries(tries: u32) {
    TRIES.store(tries.max(TRIES_MIN), Ordering::Relaxed);
}

/// How often it does.
#[must_use]
pub fn latch_tries() -> u32 {
    TRIES.load(Ordering::Relaxed)
}

const SLEEPERS: u64 = 1 << 31;

/// Who owns: a slot, and which of its successive users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Below [`crate::INSTANCES_MAX`].
    pub slot: u32,
    /// Rises with every new user of the slot.
    pub generation: u32,
}

/// Says who is dead.
pub trait Liveness: Send + Sync + std::fmt::Debug {
    /// Whether the user of a slot is dead and everything that it had begun is over. Any doubt, also
    /// a failure to find out, is "no".
    fn is_dead(&self, owner: Owner) -> bool;

    /// Whether a thread of the user of a slot runs no instruction any more, and is in no system call.
    /// Any doubt is "no".
    fn has_lost(&self, owner: Owner, thread: u32) -> bool {
        let _ = (owner, thread);
        false
    }

    /// Looks, after a sleep, whether shared memory is still there.
    fn look_at_memory(&self) {}
}

/// How a latch was acquired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Acquired {
    /// It was free.
    Free,
    /// Its owner died with it: what it protects may be half done.
    FromDead(Owner),
}

shared_struct! {
    /// A latch in shared memory.
    #[derive(Debug, Default)]
    pub struct Latch {
        word: AtomicU64,
    }
}

impl Owner {
    /// The owner in a word of shared memory: never zero, the highest bit clear, 15 bits of the
    /// generation.
    #[must_use]
    pub fn code(self) -> u32 {
        ((self.generation & 0x7FFF) << 16) | (self.slot + 1)
    }

    /// The owner that a code names, none for zero; its generation has 15 bits.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        let slot = (code & 0xFFFF).checked_sub(1)?;
        Some(Self { slot, generation: (code >> 16) & 0x7FFF })
    }

    /// Whether a word's shortened generation means this owner.
    #[must_use]
    pub fn is_named_by(self, short: Self) -> bool {
        self.slot == short.slot && self.generation & 0x7FFF == short.generation & 0x7FFF
    }
}

impl Latch {
    /// Takes the latch if it is free.
    pub fn try_lock(&self, me: Owner) -> bool {
        self.swap_if(0, taken_by(me))
    }

    /// Takes the latch, however long that takes.
    pub fn lock(&self, me: Owner, liveness: &dyn Liveness) -> Acquired {
        self.lock_until(me, liveness, None).expect("without an end there is no being late")
    }

    /// Takes the latch before `end`.
    ///
    /// # Errors
    /// Who had it at the end, and is not known to be dead: perhaps it is stopped.
    pub fn lock_until(
        &self,
        me: Owner,
        liveness: &dyn Liveness,
        end: Option<Instant>,
    ) -> Result<Acquired, Owner> {
        let mine = taken_by(me);
        for _ in 0..steps::tries(latch_tries()) {
            if self.swap_if(0, mine) {
                return Ok(Acquired::Free);
            }
            std::hint::spin_loop();
        }
        loop {
            steps::before(&self.word);
            let seen = self.word.load(Ordering::Relaxed);
            if seen & !SLEEPERS == 0 {
                // There may be other sleepers: the bit stays set, and costs one needless wake-up.
                if self.swap_if(seen, mine | SLEEPERS) {
                    return Ok(Acquired::Free);
                }
                continue;
            }
            if seen & SLEEPERS == 0 && !self.swap_if(seen, seen | SLEEPERS) {
                continue;
            }
            let seen = seen | SLEEPERS;
            let is_over = |owner| liveness.is_dead(owner) || liveness.has_lost(owner, thread(seen));
            let left = end.map_or(LOOK, |end| end.since(steps::now()));
            if left.is_zero()
                && let Some(owner) = owner(seen)
                && !is_over(owner)
            {
                return Err(owner);
            }
            wait_on(lower_half(&self.word), half(seen), Some(left.min(LOOK)));
            liveness.look_at_memory();
            steps::before(&self.word);
            if self.word.load(Ordering::Relaxed) == seen
                && let Some(owner) = owner(seen)
                && is_over(owner)
                && self.swap_if(seen, mine | SLEEPERS)
            {
                return Ok(Acquired::FromDead(owner));
            }
        }
    }

    /// Gives the latch back. A word of zeros is of pages that have taken the place of lost memory.
    pub fn unlock(&self, me: Owner) {
        steps::before(&self.word);
        let before = self.word.swap(0, Ordering::Release);
        let holder = half(before & !SLEEPERS);
        assert!(holder == me.code() || before == 0, "a latch is given back by its owner");
        if before & SLEEPERS != 0 {
            wake(lower_half(&self.word), 1);
        }
    }

    /// Who has the latch now; the generation has 15 bits.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        owner(self.word.load(Ordering::Relaxed))
    }

    fn swap_if(&self, seen: u64, new: u64) -> bool {
        steps::before(&self.word);
        self.word.compare_exchange(seen, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

/// The word of a latch that this thread has for an owner.
fn taken_by(me: Owner) -> u64 {
    (u64::from(this_thread()) << 32) | u64::from(me.code())
}

fn owner(word: u64) -> Option<Owner> {
    Owner::from_code(half(word & !SLEEPERS))
}

fn half(word: u64) -> u32 {
    u32::try_from(word & 0xFFFF_FFFF).expect("the lower half has 32 bits")
}

fn thread(word: u64) -> u32 {
    u32::try_from(word >> 32).expect("the upper half has 32 bits")
}

#[cfg(test)]
mod tests;
