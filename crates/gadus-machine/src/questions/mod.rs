//! Questions whose answers are decisions: with what is known, what else might have been chosen, and what it
//! would cost.

mod machine;
mod process;
#[cfg(test)]
mod tests;

pub use machine::{decide_cache_sizes, decide_partitions};
pub use process::{decide_memory_limit, decide_scan_threads};
