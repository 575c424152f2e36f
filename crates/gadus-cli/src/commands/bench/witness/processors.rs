//! Witness threads of processors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use gadus_base::clock;

use super::tell_refused;
use crate::commands::ledger::Pause;
use crate::commands::pause;
use crate::failure::Failure;

/// Sleep of a witness thread.
const REST: Duration = Duration::from_millis(1);

/// Longer waits after a sleep are those of a processor that ran nothing: a thread of real-time priority waits for
/// interrupts and for system calls that cannot be interrupted.
const LATE: Duration = Duration::from_millis(3);

/// Rounds of the work that a witness thread measures its processor by: some 10 microseconds.
const WORK_ROUNDS: u32 = 10_000;

/// Work that takes so many times as long as the fastest one so far is that of a processor which others slow down.
const SLOWER: u32 = 4;

/// Starts a thread on each processor that this process may use; none without the right to real-time priority.
pub(super) fn watch(is_over: &Arc<AtomicBool>) -> Result<Vec<JoinHandle<Vec<Pause>>>, Failure> {
    if let Err(error) = probe()? {
        tell_refused(&error)?;
        return Ok(Vec::new());
    }
    let cpus = gadus_machine::Limits::of_this_process().allowed.unwrap_or_default();
    let start = |cpu: u32| {
        let ended = is_over.clone();
        Ok(gadus_base::spawn("processor-witness", move || waits(cpu, &ended))?)
    };
    cpus.iter().map(start).collect()
}

/// Has a thread enter the real-time class, and ends it.
fn probe() -> Result<Result<(), gadus_kub::KubError>, Failure> {
    let thread = gadus_base::spawn("processor-probe", gadus_kub::become_real_time)?;
    thread.join().map_err(|_| Failure::message("the witness broke off"))
}

/// Returns the times in which a processor ran nothing, or much slower than before, until `is_over`.
fn waits(cpu: u32, is_over: &AtomicBool) -> Vec<Pause> {
    let mut seen = Vec::new();
    let is_placed = gadus_machine::pin_this_thread(&[cpu].into_iter().collect()).is_ok();
    if !is_placed || gadus_kub::become_real_time().is_err() {
        return seen;
    }
    let mut from = clock().now();
    let mut fastest = Duration::MAX;
    while !is_over.load(Ordering::Relaxed) {
        pause(REST);
        let begun = clock().now();
        std::hint::black_box(work(WORK_ROUNDS));
        let to = clock().now();
        let took = to.since(begun);
        fastest = fastest.min(took);
        let is_late = begun.since(from) >= REST + LATE;
        if is_late || took >= fastest.saturating_mul(SLOWER) {
            seen.push(Pause { from, to });
        }
        from = to;
    }
    seen
}

/// Computes something that needs neither memory nor the system.
fn work(rounds: u32) -> u32 {
    (0..rounds).fold(1, |state: u32, round| state.rotate_left(5) ^ round.wrapping_mul(0x9E37_79B9))
}
