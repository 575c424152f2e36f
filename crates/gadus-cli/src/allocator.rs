//! The memory allocator: mimalloc.
//!
//! - The engine's threads free each other's memory all the time, and the C library's allocator has them wait for it.
//! - It keeps what was freed for a second, as asking the system again takes longer. Where a control group gives
//!   little memory, it may be killed for what it keeps: then it gives back at once. Any delay is too long, however
//!   short: it is not looked at what is due before memory is asked for that is not there already.
//! - Transparent huge pages save page faults, but much of them stays unused: sorts of 1,000 rows of a megabyte peaked at
//!   252 and 280 MiB with them, at 182 and 223 MiB without. Where there is little memory, the process has none.

#![allow(unsafe_code)] // two functions of the allocator's library, which take numbers; see the places

use gadus_base::ByteCount;
use gadus_machine::Limits;
use rustix::thread::disable_transparent_huge_pages;
use std::ffi::{c_int, c_long};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Less than this is little.
const LITTLE: ByteCount = ByteCount::gib(4);

/// `mi_option_purge_delay`, in milliseconds.
const PURGE_DELAY: c_int = 15;

/// What is freed goes back to the system after so long where there is little.
const AT_ONCE: c_long = 0;

// Of mimalloc's library, which the crate links.
unsafe extern "C" {
    fn mi_option_set(option: c_int, value: c_long);
    #[cfg(test)]
    fn mi_option_get(option: c_int) -> c_long;
}

/// To be called before there are other threads.
pub(crate) fn heed(limits: &Limits) {
    let is_told = std::env::var_os("MIMALLOC_PURGE_DELAY").is_some();
    if !is_told && limits.memory_given().is_some_and(|given| given < LITTLE) {
        // SAFETY: nobody else reads or writes options: there is one thread.
        unsafe { mi_option_set(PURGE_DELAY, AT_ONCE) };
        // A kernel that refuses this only costs memory.
        let _ = disable_transparent_huge_pages(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options are named by numbers: another version might number them anew.
    #[test]
    fn freed_memory_is_kept_for_a_second_unless_there_is_little() {
        // SAFETY: no other test looks at options.
        let delay = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(delay(), 1000);
        let limits = |memory| Limits { memory: Some(memory), ..Limits::default() };
        heed(&limits(ByteCount::gib(4)));
        assert_eq!(delay(), 1000);
        heed(&limits(ByteCount::gib(2)));
        assert_eq!(delay(), AT_ONCE);
    }
}
