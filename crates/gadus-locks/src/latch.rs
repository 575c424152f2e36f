//! Latches: exclusion for some microseconds, between threads of any processes.
//!
//! The word of a latch:
//!
//! | bits | content |
//! |---|---|
//! | 0..16 | slot of the owner plus one; 0 when the latch is free |
//! | 16..31 | lower bits of the owner's generation |
//! | 31 | somebody sleeps |
//!
//! - Taken by one compare-and-swap, given back by one exchange.
//! - A sleeper looks at the owner every [`LOOK`]; a latch of a dead owner is taken over, and its
//!   taker is told, because what the latch protects may be half done.
//! - Not recursive and not fair: nobody holds a latch while it waits for anything else.

use crate::memory::{wait_on, wake};
use crate::shared_struct;
use crate::steps;
use gadus_base::Instant;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How often a sleeper asks whether the owner lives. A lost wake-up costs as much.
const LOOK: Duration = Duration::from_millis(10);

/// Tries before sleeping: about the time for which a latch is usually held.
const SPINS: u32 = 100;

const SLEEPERS: u32 = 1 << 31;

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
        word: AtomicU32,
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
        steps::before(&self.word);
        self.word.compare_exchange(0, me.code(), Ordering::Acquire, Ordering::Relaxed).is_ok()
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
        for _ in 0..steps::tries(SPINS) {
            if self.try_lock(me) {
                return Ok(Acquired::Free);
            }
            std::hint::spin_loop();
        }
        loop {
            steps::before(&self.word);
            let seen = self.word.load(Ordering::Relaxed);
            if seen & !SLEEPERS == 0 {
                // There may be other sleepers: the bit stays set, and costs one needless wake-up.
                let mine = me.code() | SLEEPERS;
                if self.swap_if(seen, mine) {
                    return Ok(Acquired::Free);
                }
                continue;
            }
            if seen & SLEEPERS == 0 && !self.swap_if(seen, seen | SLEEPERS) {
                continue;
            }
            let left = end.map_or(LOOK, |end| end.since(steps::now()));
            if left.is_zero()
                && let Some(owner) = Owner::from_code(seen & !SLEEPERS)
                && !liveness.is_dead(owner)
            {
                return Err(owner);
            }
            wait_on(&self.word, seen | SLEEPERS, Some(left.min(LOOK)));
            steps::before(&self.word);
            if self.word.load(Ordering::Relaxed) == seen | SLEEPERS
                && let Some(owner) = Owner::from_code(seen & !SLEEPERS)
                && liveness.is_dead(owner)
                && self.swap_if(seen | SLEEPERS, me.code() | SLEEPERS)
            {
                return Ok(Acquired::FromDead(owner));
            }
        }
    }

    /// Gives the latch back.
    pub fn unlock(&self, me: Owner) {
        steps::before(&self.word);
        let before = self.word.swap(0, Ordering::Release);
        assert!(before & !SLEEPERS == me.code(), "a latch is given back by its owner");
        if before & SLEEPERS != 0 {
            wake(&self.word, 1);
        }
    }

    /// Who has the latch now; the generation has 15 bits.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        Owner::from_code(self.word.load(Ordering::Relaxed) & !SLEEPERS)
    }

    fn swap_if(&self, seen: u32, new: u32) -> bool {
        steps::before(&self.word);
        self.word.compare_exchange(seen, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests;
