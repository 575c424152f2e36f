//! A witness of the disk: a file of its own beside what is measured, written and synced again and again
//! as [`Bare`] does, so that what the disk does to everybody is told from what somebody does to others.

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

/// Writes until it is asked.
#[derive(Debug)]
pub(super) struct Witness {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Seen, Failure>>,
}

/// How long each sync took, and when those were that hung.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) took: Vec<Duration>,
    hung: Vec<Pause>,
}

impl Witness {
    pub(super) fn start(file: &Path) -> Result<Self, Failure> {
        let mut bare = Bare::create(file)?;
        let is_over = Arc::<AtomicBool>::default();
        let ended = is_over.clone();
        let look = move || {
            let mut seen = Seen::default();
            while !ended.load(Ordering::Relaxed) {
                let from = clock().now();
                bare.write_and_sync()?;
                seen.note(Pause { from, to: clock().now() });
                pause(REST);
            }
            Ok(seen)
        };
        Ok(Self { is_over, thread: gadus_base::spawn("witness", look)? })
    }

    pub(super) fn end(self) -> Result<Seen, Failure> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| Failure::message("the witness broke off"))?
    }
}

impl Seen {
    fn note(&mut self, sync: Pause) {
        self.took.push(sync.length());
        if sync.length() > SLOW {
            self.hung.push(sync);
        }
    }

    /// A pause without the time in which the disk hung for the witness, too.
    pub(super) fn without_disk(&self, pause: Pause) -> Duration {
        let common = self.hung.iter().map(|hung| {
            let (from, to) = (hung.from.max(pause.from), hung.to.min(pause.to));
            to.since(from)
        });
        pause.length().saturating_sub(common.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_disk_did_to_the_witness_is_not_counted() {
        let begin = clock().now();
        let at = |milliseconds| begin.plus(Duration::from_millis(milliseconds));
        let between = |from, to| Pause { from: at(from), to: at(to) };
        let mut seen = Seen::default();
        for (from, to) in [(100, 200), (210, 211), (250, 300)] {
            seen.note(between(from, to));
        }
        let left = |from, to| seen.without_disk(between(from, to)).as_millis();
        assert_eq!(left(0, 50), 50, "nothing hung");
        assert_eq!(left(90, 205), 15);
        assert_eq!(left(120, 180), 0, "within");
        assert_eq!(left(205, 240), 35, "a sync that did not hang");
        assert_eq!(left(150, 400), 150, "twice");
    }
}
