//! Every store of the lock table into shared memory.
//!
//! - A store is seen after all that its thread stored before it, so whoever dies leaves a prefix of
//!   its stores. What the table must bear is therefore the state between any two of them, and a
//!   test can be called at each.

use crate::steps;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg_attr(test, track_caller)]
pub(super) fn put(word: &AtomicU64, value: u64) {
    steps::before(word);
    word.store(value, Ordering::Release);
    point();
}

#[cfg_attr(test, track_caller)]
pub(super) fn put32(word: &AtomicU32, value: u32) {
    steps::before(word);
    word.store(value, Ordering::Release);
    point();
}

/// Adds, wrapping around; gives what was there.
#[cfg_attr(test, track_caller)]
pub(super) fn add(word: &AtomicU64, value: u64) -> u64 {
    steps::before(word);
    let before = word.fetch_add(value, Ordering::SeqCst);
    point();
    before
}

/// Sets bits, and leaves the others.
#[cfg_attr(test, track_caller)]
pub(super) fn or32(word: &AtomicU32, bits: u32) {
    steps::before(word);
    word.fetch_or(bits, Ordering::SeqCst);
    point();
}

/// Adds, wrapping around; gives what was there.
#[cfg_attr(test, track_caller)]
pub(super) fn add32(word: &AtomicU32, value: u32) -> u32 {
    steps::before(word);
    let before = word.fetch_add(value, Ordering::SeqCst);
    point();
    before
}

/// Stores a value where another one is; says whether it was. Ordered with all other such steps of
/// all owners.
#[cfg_attr(test, track_caller)]
pub(super) fn replace(word: &AtomicU64, seen: u64, value: u64) -> bool {
    steps::before(word);
    let done = word.compare_exchange(seen, value, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    point();
    done
}

/// As [`replace`].
#[cfg_attr(test, track_caller)]
pub(super) fn replace32(word: &AtomicU32, seen: u32, value: u32) -> bool {
    steps::before(word);
    let done = word.compare_exchange(seen, value, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    point();
    done
}

#[cfg(not(test))]
#[inline]
fn point() {}

#[cfg(test)]
fn point() {
    hook::call();
}

/// Lets a test look at the memory between any two stores of its thread.
#[cfg(test)]
pub(super) mod hook {
    use std::cell::RefCell;

    thread_local! {
        static HOOK: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    }

    pub(super) fn call() {
        HOOK.with(|hook| {
            // Stores that the hook itself makes are not looked at.
            if let Ok(mut hook) = hook.try_borrow_mut()
                && let Some(hook) = hook.as_mut()
            {
                hook();
            }
        });
    }

    /// Calls `look` at every store of this thread while `body` runs.
    pub(in crate::table) fn watch<T>(look: impl FnMut() + 'static, body: impl FnOnce() -> T) -> T {
        HOOK.with(|hook| *hook.borrow_mut() = Some(Box::new(look)));
        let result = body();
        HOOK.with(|hook| *hook.borrow_mut() = None);
        result
    }
}
