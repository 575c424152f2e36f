//! Sleeping until a word in shared memory changes.
//!
//! - A wake-up may be lost with its sender, so who waits for another process gives a deadline, and
//!   looks at everything again when it returns, for whatever reason.

use crate::steps;
use rustix::thread::futex::{self, Flags, Timespec};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

/// The word to sleep on for the lower half of another. It is not to be read or written as such.
#[allow(unsafe_code)] // the system sleeps on words of 32 bits only
pub(crate) fn lower_half(word: &AtomicU64) -> &AtomicU32 {
    let offset = if cfg!(target_endian = "big") { 4 } else { 0 };
    // SAFETY: the half lies within the word and is aligned, and lives as long.
    unsafe { &*std::ptr::from_ref(word).cast::<AtomicU32>().byte_add(offset) }
}

/// Sleeps while `word` is `seen`, until woken, interrupted or late.
#[cfg_attr(test, track_caller)]
pub fn wait_on(word: &AtomicU32, seen: u32, patience: Option<Duration>) {
    if steps::wait_on(word, seen, patience) {
        return;
    }
    let patience = patience.map(|patience| Timespec {
        tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: patience.subsec_nanos().into(),
    });
    // Any return leads to another look.
    let _ = futex::wait(word, Flags::empty(), seen, patience.as_ref());
}

/// Wakes up to `count` sleepers, of all processes; gives how many there were.
#[cfg_attr(test, track_caller)]
pub fn wake(word: &AtomicU32, count: u32) -> usize {
    if let Some(woken) = steps::wake(word, count) {
        return woken;
    }
    // Waking fails only for addresses that are not mapped.
    futex::wake(word, Flags::empty(), count.min(i32::MAX.unsigned_abs())).unwrap_or(0)
}
