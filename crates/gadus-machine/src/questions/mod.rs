//! Questions whose answers are decisions: with what is known, what else might have been chosen, and what it
//! would cost.

mod chunk;
mod group_commit;
mod io_path;
mod latch;
mod machine;
mod memory;
mod scan_help;
mod scope;
mod sharing;
#[cfg(test)]
mod tests;
mod threads;
mod transport;
mod wait;

use crate::facts::{Fact, Facts};
use std::time::Duration;

pub use chunk::decide_chunk_rows;
pub use group_commit::decide_gathering;
pub use io_path::{Temperature, decide_announcing, decide_io_path};
pub use latch::decide_latch_looks;
pub use machine::{decide_cache_sizes, decide_partitions};
pub use memory::{
    batch_rows, decide_batch_rows, decide_cache, decide_cache_beside_plans, decide_memory_limit,
};
pub use scan_help::decide_scan_helpers;
pub use scope::decide_cache_scope;
pub use sharing::decide_sharing;
pub use threads::decide_scan_threads;
pub use transport::{Reached, decide_client_transport};
pub use wait::{Wait, decide_wait};

/// What `gadus kub` calls it.
const WAKE: (&str, &str) = ("kernel", "wake-up on another processor");

/// What waking a thread takes, where nobody has measured it.
const WAKE_ASSUMED: Duration = Duration::from_micros(20);

/// What waking a thread takes, by what was measured of this kernel; none where that was not.
#[must_use]
pub fn known_wake(measured: &Facts) -> Option<Duration> {
    let (_, nanoseconds) = wake_fact(measured)?;
    Duration::try_from_secs_f64(nanoseconds / 1e9).ok()
}

fn wake_fact(measured: &Facts) -> Option<(&Fact, f64)> {
    let fact = measured.get(WAKE.0, WAKE.1)?;
    Some((fact, fact.cost()?))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[allow(clippy::cast_precision_loss)] // a cost
fn bytes_f64(bytes: u64) -> f64 {
    bytes as f64
}
