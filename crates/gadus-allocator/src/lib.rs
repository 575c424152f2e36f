//! The memory allocator of the program and of the Python package: jemalloc.
//!
//! - The engine's threads free each other's memory all the time, and the C library's allocator has them wait for it.
//! - Buffers of columns come and go beside a cache that keeps some of them. They are runs of pages here, which go back
//!   to the system one by one, and those that were freed are used first. Allocators that put buffers of one size into
//!   blocks (mimalloc 3 has blocks of 4 MiB) keep a block while any buffer in it lives: after query 18 of TPC-H at
//!   scale factor 5 with 1 GiB for plans, 400 MiB beside the cache stayed with the process, and the second such query
//!   took it beyond 1.25 GiB. With jemalloc 30 MiB stay, and queries take as long.
//! - A thread of jemalloc gives back what was freed, little by little. Where a control group gives little memory, it is
//!   given back sooner, and at once where it gives hardly any: that doubles the time of statements that spill, but they
//!   stay within such a group. 1,200 texts of a megabyte grouped with 256 MiB for plans peaked at 216 MiB, and at 300
//!   to 360 with delays of 10 to 200 ms.
//! - Transparent huge pages save page faults, but much of them stays unused where there is little memory: programs then
//!   do without.

use gadus_base::ByteCount;
use gadus_machine::Limits;
use tikv_jemalloc_ctl::raw;
use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Less than this is little.
const LITTLE: ByteCount = ByteCount::gib(4);

/// Freed memory goes back within so many milliseconds where there is little.
const DECAY_MS_LITTLE: isize = 200;

/// Less than this is hardly any: there, freed memory goes back at once.
const HARDLY_ANY: ByteCount = ByteCount::gib(1);

/// Names of the decay time of new arenas, and of that of the first one.
const DECAY_OF_NEW: &[u8] = b"arenas.dirty_decay_ms\0";
const DECAY_OF_FIRST: &[u8] = b"arena.0.dirty_decay_ms\0";

/// One arena for each processor, not four: each keeps freed memory of its own.
const OPTIONS: &[u8] =
    b"narenas_ratio:1,background_thread:true,max_background_threads:1,dirty_decay_ms:5000,muzzy_decay_ms:0,thp:always\0";

/// Options that jemalloc reads before the first allocation; `_RJEM_MALLOC_CONF` in the environment overrides them.
#[allow(unsafe_code)] // the name is the one that jemalloc looks for, the type is a C string's: a thin pointer
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static CONFIGURATION: &[u8; OPTIONS.len()] = OPTIONS.first_chunk().expect("it is as long");

/// Gives back freed memory soon if this process may have little, and tells whether that is so. To be called before
/// other threads allocate.
pub fn heed_limits() -> bool {
    heed(&Limits::of_this_process())
}

fn heed(limits: &Limits) -> bool {
    let is_less = |than: ByteCount| limits.memory_given().is_some_and(|given| given < than);
    let is_told = std::env::var_os("_RJEM_MALLOC_CONF").is_some();
    let is_little = is_less(LITTLE);
    if is_little && !is_told {
        let decay_ms = if is_less(HARDLY_ANY) { 0 } else { DECAY_MS_LITTLE };
        for name in [DECAY_OF_NEW, DECAY_OF_FIRST] {
            // An allocator that refuses this only keeps memory longer.
            #[allow(unsafe_code)]
            // SAFETY: both are of this type.
            let _ = unsafe { raw::write(name, decay_ms) };
        }
    }
    is_little
}

#[cfg(test)]
mod tests;
