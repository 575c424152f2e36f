//! A lock of its own: shared or exclusive, upgraded, with a deadline, in any memory.
//!
//! | bits of the word | content |
//! |---|---|
//! | 31 | somebody has it exclusively |
//! | 30 | somebody sleeps |
//! | 0..30 | how many share it |
//!
//! - The least that a database needs, as the paper's was: no queue, no deadlock search, no owner's name.

use gadus_base::{Instant, clock};
use gadus_locks::{wait_on, wake};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const EXCLUSIVE: u32 = 1 << 31;
const SLEEPERS: u32 = 1 << 30;
const SHARERS: u32 = SLEEPERS - 1;

/// Looks before sleeping: about as long as such a lock is usually held.
const LOOKS: u32 = 100;

/// The lock in a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedExclusive<'a>(pub(super) &'a AtomicU32);

impl SharedExclusive<'_> {
    /// Shares it before a deadline, or says that it was too late.
    #[inline]
    pub(super) fn share(self, end: Option<Instant>) -> bool {
        self.take(end, |word| (word & EXCLUSIVE == 0).then_some(word + 1))
    }

    /// Has it alone.
    #[inline]
    pub(super) fn exclude(self, end: Option<Instant>) -> bool {
        self.take(end, |word| (word & !SLEEPERS == 0).then_some(word | EXCLUSIVE))
    }

    /// Has alone what it shares, as soon as nobody else shares it. Two who try that wait for each other until the
    /// deadline of one: so there is to be one.
    #[inline]
    pub(super) fn upgrade(self, end: Option<Instant>) -> bool {
        self.take(end, |word| (word & !SLEEPERS == 1).then_some((word & SLEEPERS) | EXCLUSIVE))
    }

    #[inline]
    pub(super) fn end_sharing(self) {
        let before = self.0.fetch_sub(1, Ordering::Release);
        // Who upgrades sleeps while it shares itself.
        if before & SLEEPERS != 0 && before & SHARERS <= 2 {
            self.wake_all();
        }
    }

    #[inline]
    pub(super) fn end_excluding(self) {
        let before = self.0.fetch_and(!EXCLUSIVE, Ordering::Release);
        if before & SLEEPERS != 0 {
            self.wake_all();
        }
    }

    #[inline]
    fn take(self, end: Option<Instant>, taken: impl Fn(u32) -> Option<u32>) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        if let Some(new) = taken(word)
            && self.0.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            return true;
        }
        self.take_slowly(end, taken)
    }

    #[cold]
    fn take_slowly(self, end: Option<Instant>, taken: impl Fn(u32) -> Option<u32>) -> bool {
        let mut looks = 0;
        loop {
            let word = self.0.load(Ordering::Relaxed);
            let swap = |new| {
                self.0.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
            };
            if let Some(new) = taken(word) {
                if swap(new) {
                    return true;
                }
                continue;
            }
            if looks < LOOKS {
                looks += 1;
                spin_loop();
                continue;
            }
            let left = end.map(|end| end.since(clock().now()));
            if left == Some(Duration::ZERO) {
                return false;
            }
            if word & SLEEPERS != 0 || swap(word | SLEEPERS) {
                wait_on(self.0, word | SLEEPERS, left);
            }
        }
    }

    #[cold]
    fn wake_all(self) {
        self.0.fetch_and(!SLEEPERS, Ordering::Relaxed);
        wake(self.0, u32::MAX);
    }
}
