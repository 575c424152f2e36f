//! Questions whose answers are decisions: with what is known, what else might have been chosen, and what it
//! would cost.

mod machine;
mod memory;
#[cfg(test)]
mod tests;
mod threads;

pub use machine::{decide_cache_sizes, decide_partitions};
pub use memory::{decide_cache, decide_memory_limit};
pub use threads::decide_scan_threads;
