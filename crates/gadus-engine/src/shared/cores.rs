//! How many threads a process scans with, while other processes scan the same file.
//!
//! - Those that scan divide the processors: each has as many threads as there are for all, and those that
//!   are left over go round, a [`TURN`] here and a turn there. Where there are more processes than
//!   processors, some have none for a turn.
//! - Who scans says so again and again in the memory that they share. Nobody is asked, and who dies is
//!   forgotten when they look next.
//! - All follow one wall clock, and hence agree on whose turn it is.

use gadus_base::{Instant, clock};
use gadus_locks::{Busy, BusyOthers};
use gadus_storage::Store;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// Between two passes those who were answered ask again; and nobody keeps quiet for so long who scans.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a thread that is left over stays with one process.
const TURN: Duration = Duration::from_millis(20);

/// Others are looked at so often: who comes or dies is known to all after that.
const LOOK: Duration = Duration::from_millis(2);

/// Others are told so often.
const TELL: Duration = Duration::from_millis(10);

/// The processors that this process scans with.
#[derive(Debug)]
pub(super) struct Cores {
    store: Arc<Store>,
    threads_max: usize,
    seen: Mutex<Seen>,
}

/// What others said when they were looked at last.
#[derive(Debug, Default)]
struct Seen {
    others: BusyOthers,
    looked: Option<Instant>,
    told: Option<Instant>,
}

impl Cores {
    pub(super) fn new(store: Arc<Store>, threads_max: usize) -> Self {
        Self { store, threads_max: threads_max.max(1), seen: Mutex::default() }
    }

    pub(super) fn threads_max(&self) -> usize {
        self.threads_max
    }

    /// Threads that scan now.
    pub(super) fn share(&self) -> usize {
        self.look(false)
    }

    /// The same, told by who scans or has something to scan: others leave it its part.
    pub(super) fn claim(&self) -> usize {
        self.look(true)
    }

    /// How many threads others have before those of this process, as of the last look, and whosever turn it
    /// is.
    pub(super) fn first(&self) -> usize {
        let BusyOthers { count, before } = self.seen.lock().others;
        before * self.threads_max / (count + 1)
    }

    fn look(&self, scans: bool) -> usize {
        let now = clock().now();
        let is_over = |last: Option<Instant>, time| last.is_none_or(|last| now.since(last) >= time);
        let mut seen = self.seen.lock();
        if scans && is_over(seen.told, TELL) {
            seen.told = Some(now);
            self.store.busy_for(Busy::Scanning, PAUSE);
        }
        if is_over(seen.looked, LOOK) {
            seen.looked = Some(now);
            seen.others = self.store.busy_others(Busy::Scanning);
        }
        part(self.threads_max, seen.others, clock().wall_time().0)
    }
}

/// The threads of one among others.
fn part(threads: usize, others: BusyOthers, time: Duration) -> usize {
    let all = others.count + 1;
    let turn = usize::try_from(time.as_millis() / TURN.as_millis()).unwrap_or(0);
    let place = (others.before + turn % all) % all;
    threads / all + usize::from(place < threads % all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_all_are_the_whole_at_any_time_and_equal_in_the_end() {
        for (threads, all) in [(1, 1), (2, 1), (1, 2), (2, 2), (2, 3), (2, 4), (7, 3), (64, 5)] {
            let mut sums = vec![0; all];
            for turn in 0..u32::try_from(all).unwrap() {
                let at = |before: usize| {
                    part(threads, BusyOthers { count: all - 1, before }, TURN * turn + TURN / 2)
                };
                let parts = (0..all).map(at).collect::<Vec<_>>();
                assert_eq!(parts.iter().sum::<usize>(), threads, "{threads} of {all}: {parts:?}");
                sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
            assert_eq!(sums, vec![threads; all], "{threads} of {all}");
        }
    }
}
