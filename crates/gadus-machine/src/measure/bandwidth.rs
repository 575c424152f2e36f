//! What this machine's memory gives.
//!
//! - Each thread reads memory of its own, from beginning to end and again, that no cache holds. The system has
//!   put it near the core that wrote it first.

use crate::error::{ErrorKind, MachineError};
use crate::limits::Limits;
use crate::partitions::Bandwidth;
use crate::threads::pin_this_thread;
use crate::topology::{CpuSet, Topology};
use gadus_base::{ByteCount, clock};
use std::sync::Barrier;
use std::time::Duration;

/// What a thread reads at least: a core has no cache for itself that holds as much.
const BYTES_MIN: u64 = 64 << 20;

/// What a thread reads at most: it is memory that somebody else may need.
const BYTES_MAX: u64 = 512 << 20;

/// Measures what one thread reads of this machine's memory, and all threads near a node together, for some
/// time each. Of several nodes, the one that gives least.
///
/// # Errors
/// `Unknown` where threads cannot be put where they are to be.
pub fn measure_bandwidth(machine: &Topology, time: Duration) -> Result<Bandwidth, MachineError> {
    let allowed = Limits::of_this_process().allowed.unwrap_or_else(|| machine.cpus());
    let caches = machine.caches.iter().map(|cache| cache.bytes.0).max().unwrap_or(0);
    let bytes = caches.saturating_mul(4).clamp(BYTES_MIN, BYTES_MAX);
    let mut nodes = machine.cores.iter().map(|core| core.node).collect::<Vec<_>>();
    nodes.sort_unstable();
    nodes.dedup();
    let mut least: Option<Bandwidth> = None;
    for node in nodes {
        let near = machine.cores.iter().filter(|core| core.node == node);
        let cpus = near.filter_map(|core| core.cpus.iter().find(|cpu| allowed.contains(*cpu)));
        let cpus = cpus.collect::<Vec<_>>();
        let Some(first) = cpus.first() else { continue };
        // What no cache holds of one thread, none holds of all together.
        let each = (bytes / cpus.len() as u64).max(BYTES_MIN);
        let thread = read(&[*first], ByteCount(bytes), time)?;
        let found = Bandwidth { thread, node: read(&cpus, ByteCount(each), time)? };
        if least.is_none_or(|least| found.node < least.node) {
            least = Some(found);
        }
    }
    least.ok_or_else(|| {
        MachineError::new(ErrorKind::Unknown, "this process may use no core of the machine")
    })
}

/// Bytes a second that threads on some processors read together, each of memory of its own.
fn read(cpus: &[u32], bytes: ByteCount, time: Duration) -> Result<f64, MachineError> {
    let ready = Barrier::new(cpus.len());
    let rates = std::thread::scope(|scope| {
        let read_on = |cpu: u32| {
            let ready = &ready;
            scope.spawn(move || {
                let pinned = pin_this_thread(&[cpu].into_iter().collect::<CpuSet>());
                let words = usize::try_from(bytes.0 / 8).unwrap_or(0);
                let memory = vec![1_u64; if pinned.is_ok() { words } else { 0 }];
                // Whoever cannot take part must not keep the others waiting.
                ready.wait();
                pinned.map(|_| rate(&memory, time))
            })
        };
        let threads = cpus.iter().map(|cpu| read_on(*cpu)).collect::<Vec<_>>();
        let broken =
            || MachineError::new(ErrorKind::Unknown, "a thread that read memory broke off");
        let rates = threads.into_iter().map(|thread| thread.join().map_err(|_| broken())?);
        rates.collect::<Result<Vec<f64>, MachineError>>()
    })?;
    Ok(rates.into_iter().sum())
}

#[allow(clippy::cast_precision_loss)] // bytes of some seconds
fn rate(memory: &[u64], time: Duration) -> f64 {
    let began = clock().now();
    let (mut read, mut sum) = (0_u64, 0_u64);
    loop {
        for part in memory.chunks(1 << 17) {
            sum = part.iter().fold(sum, |sum, word| sum.wrapping_add(*word));
            read += part.len() as u64 * 8;
            let took = began.elapsed();
            if took >= time {
                std::hint::black_box(sum);
                return read as f64 / took.as_secs_f64();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_gives_something() {
        let here = Topology::discover().unwrap();
        let found = measure_bandwidth(&here, Duration::from_millis(5)).unwrap();
        assert!(found.thread > 0.0 && found.node > 0.0, "{found:?}");
    }
}
