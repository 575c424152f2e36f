//! The steps by which threads and processes meet in shared memory, so that a test may say who takes
//! the next one.
//!
//! - Outside tests nothing here does anything: every function is empty, or the plain call, and is
//!   compiled away.
//! - In tests a thread that is explored (see `explore`) stops before each of these steps, sleeps only
//!   for the explorer, and reads the explorer's clock. Any other thread passes.
//! - What is read or written under a latch meets nobody; but a thread may die before any store, so
//!   all stores are steps, and of the loads those that decide something without a latch.

use gadus_base::{Instant, clock};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Something that a test leaves out, to show that the explorer then finds what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Omission {
    /// Who leaves a partition wakes nobody.
    WakeUp,
    /// The fast path does not look at the strong locks again after it has put down its try.
    SecondLook,
    /// Who cleans up does not strike out first what the dead hold without requests.
    StrikingOut,
    /// The value of a resource stays valid when one who could write it has died.
    Invalidation,
}

/// Before a word is read or changed that others may use at the same time.
#[inline(always)]
#[cfg_attr(test, track_caller)]
pub(crate) fn before<T>(word: &T) {
    #[cfg(test)]
    crate::explore::before(std::ptr::from_ref(word).addr());
    #[cfg(not(test))]
    let _ = word;
}

/// Whether the sleep is over that somebody else has arranged.
#[inline(always)]
#[cfg_attr(test, track_caller)]
pub(crate) fn wait_on(word: &AtomicU32, seen: u32, patience: Option<Duration>) -> bool {
    #[cfg(test)]
    return crate::explore::wait_on(word, seen, patience);
    #[cfg(not(test))]
    {
        let _ = (word, seen, patience);
        false
    }
}

/// How many were woken, if somebody else has arranged their sleep.
#[inline(always)]
#[cfg_attr(test, track_caller)]
pub(crate) fn wake(word: &AtomicU32, count: u32) -> Option<usize> {
    #[cfg(test)]
    return crate::explore::wake(word, count);
    #[cfg(not(test))]
    {
        let _ = (word, count);
        None
    }
}

/// Now, for whatever decides something by it.
#[inline(always)]
pub(crate) fn now() -> Instant {
    #[cfg(test)]
    if let Some(now) = crate::explore::now() {
        return now;
    }
    clock().now()
}

/// Time passed since `earlier`.
#[inline(always)]
pub(crate) fn elapsed(earlier: Instant) -> Duration {
    #[cfg(test)]
    if let Some(now) = crate::explore::now() {
        return now.since(earlier);
    }
    earlier.elapsed()
}

/// How often to try before sleeping: of two tries of an explored thread without a step of another
/// between them, the second is in vain.
#[inline(always)]
pub(crate) fn tries(usual: u32) -> u32 {
    #[cfg(test)]
    if crate::explore::is_explored() {
        return 1;
    }
    usual
}

/// Locks what the threads of a process share; who is explored steps aside until it is free.
#[inline(always)]
#[cfg_attr(test, track_caller)]
pub(crate) fn lock<T>(shared: &parking_lot::Mutex<T>) -> parking_lot::MutexGuard<'_, T> {
    #[cfg(test)]
    while crate::explore::is_explored() {
        before(shared);
        match shared.try_lock() {
            Some(guard) => return guard,
            None => crate::explore::step_aside(),
        }
    }
    shared.lock()
}

/// Whether a test leaves something out.
#[inline(always)]
pub(crate) fn omits(what: Omission) -> bool {
    #[cfg(test)]
    return crate::explore::omits(what);
    #[cfg(not(test))]
    {
        let _ = what;
        false
    }
}
