//! Questions whose answers are decisions: with what is known, what else might have been chosen, and what it
//! would cost.

mod chunk;
mod machine;
mod memory;
#[cfg(test)]
mod tests;
mod threads;
mod wait;

pub use chunk::decide_chunk_rows;
pub use machine::{decide_cache_sizes, decide_partitions};
pub use memory::{batch_rows, decide_batch_rows, decide_cache, decide_memory_limit};
pub use threads::decide_scan_threads;
pub use wait::{Wait, decide_wait};
