//! Witnesses of the machine next to a benchmark: what its disk and its processors do to every process is told
//! apart from what one process does to others.
//!
//! - Disk: a file of its own is written and synced again and again, as [`Bare`] does.
//! - Processors: a thread for each, at real-time priority, sleeps for a moment and then does some work. If it wakes late,
//!   its processor ran nothing; if the work takes several times as long as before, others slow it down. The kernel does
//!   not always count either as stolen by the host.
//! - Without the right to real-time priority there is no witness of processors, and standard error says so.

mod processors;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use gadus_base::clock;

use super::peers::Bare;
use crate::commands::ledger::Pause;
use crate::commands::pause;
use crate::failure::Failure;

/// Between two syncs: next to no load.
const REST: Duration = Duration::from_millis(5);

/// A disk whose syncs take longer hangs. They take 0.1 ms on a disk with a cache that keeps its
/// contents, some milliseconds without.
const SLOW: Duration = Duration::from_millis(20);

/// Threads that watch until they are asked for what they saw.
#[derive(Debug)]
pub(super) struct Witness {
    is_over: Arc<AtomicBool>,
    disk: JoinHandle<Result<Disk, Failure>>,
    processors: Vec<JoinHandle<Vec<Pause>>>,
}

/// Time of each sync, and moments in which the disk or a processor hung.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) syncs: Vec<Duration>,
    /// Times in which a processor ran nothing, or much slower than before.
    pub(super) waits: Vec<Duration>,
    disk: Vec<Pause>,
    machine: Vec<Pause>,
}

#[derive(Debug, Default)]
struct Disk {
    syncs: Vec<Duration>,
    hung: Vec<Pause>,
}

impl Witness {
    pub(super) fn start(file: &Path) -> Result<Self, Failure> {
        let mut bare = Bare::create(file)?;
        let is_over = Arc::<AtomicBool>::default();
        let ended = is_over.clone();
        let look = move || {
            let mut seen = Disk::default();
            while !ended.load(Ordering::Relaxed) {
                let from = clock().now();
                bare.write_and_sync()?;
                seen.note(Pause { from, to: clock().now() });
                pause(REST);
            }
            Ok(seen)
        };
        let disk = gadus_base::spawn("witness", look)?;
        let processors = processors::watch(&is_over)?;
        Ok(Self { is_over, disk, processors })
    }

    pub(super) fn end(self) -> Result<Seen, Failure> {
        self.is_over.store(true, Ordering::Relaxed);
        let broke_off = |_| Failure::message("the witness broke off");
        let disk = self.disk.join().map_err(broke_off)??;
        let mut waits = Vec::new();
        for processor in self.processors {
            waits.extend(processor.join().map_err(broke_off)?);
        }
        Ok(Seen::new(disk, &waits))
    }
}

impl Disk {
    fn note(&mut self, sync: Pause) {
        self.syncs.push(sync.length());
        if sync.length() > SLOW {
            self.hung.push(sync);
        }
    }
}

impl Seen {
    fn new(disk: Disk, waits: &[Pause]) -> Self {
        let machine = union(disk.hung.iter().chain(waits).copied().collect());
        let waits = waits.iter().map(Pause::length).collect();
        Self { syncs: disk.syncs, waits, disk: union(disk.hung), machine }
    }

    /// Returns a pause's length without the time in which the disk hung for the witness, too.
    pub(super) fn without_disk(&self, pause: Pause) -> Duration {
        without(&self.disk, pause)
    }

    /// Returns a pause's length without the time in which the disk or a processor hung for a witness, too.
    pub(super) fn without_machine(&self, pause: Pause) -> Duration {
        without(&self.machine, pause)
    }
}

/// Returns a pause's length without what it has in common with others, which do not overlap.
fn without(others: &[Pause], pause: Pause) -> Duration {
    let common = others.iter().map(|other| {
        let (from, to) = (other.from.max(pause.from), other.to.min(pause.to));
        to.since(from)
    });
    pause.length().saturating_sub(common.sum())
}

/// Returns the same moments as pauses that do not overlap.
fn union(mut pauses: Vec<Pause>) -> Vec<Pause> {
    pauses.sort_unstable_by_key(|pause| pause.from);
    let mut apart = Vec::<Pause>::new();
    for pause in pauses {
        match apart.last_mut() {
            Some(last) if pause.from <= last.to => last.to = last.to.max(pause.to),
            _ => apart.push(pause),
        }
    }
    apart
}

/// Tells on standard error why there is no witness of processors.
fn tell_refused(error: &dyn std::fmt::Display) -> io::Result<()> {
    writeln!(io::stderr(), "no witness of processors: {error}")
}

#[cfg(test)]
mod tests;
