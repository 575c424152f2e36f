//! Group commit: one sync of the log serves everyone who waits.
//!
//! - A caller that finds no sync running leads: it syncs for all that is appended by then. A caller
//!   that is alone therefore makes one system call and no thread switch.
//! - Who comes during a sync that does not cover him waits for the next one. Waiters of successive
//!   syncs sleep on different words, so that the end of a sync wakes exactly those it served, and
//!   one of the others, who leads the next.
//! - On a slow medium the next leader lets those who were just served come back first
//!   ([`GroupCommit::gather`]): otherwise two halves of the threads alternate for ever, each waiting
//!   for the other half's sync.
//! - The appended end is read before the sync begins; durable is raised only after it succeeded.
//! - A failed sync poisons the store and wakes everyone; so does whoever finds the store poisoned.

use crate::error::StorageError;
use crate::log::tail::Tail;
use crate::poison::Poison;
use gadus_base::{LogPosition, clock};
use parking_lot::{Mutex, MutexGuard};
use rustix::thread::futex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A sync faster than this is not worth gathering for: woken threads need a good part of it.
const GATHER_SYNC_MIN: Duration = Duration::from_millis(1);

/// Gathering may cost this share of a sync's time, when those it waits for do not come.
const GATHER_SHARE: u32 = 8;

/// Makes appended bytes durable, for all threads together.
#[derive(Debug)]
pub(crate) struct GroupCommit {
    tail: Arc<Tail>,
    poison: Arc<Poison>,
    appended: AtomicU64,
    durable: AtomicU64,
    syncs: AtomicU64,
    /// What `turn` says of a running sync, readable without its lock.
    syncing: AtomicBool,
    turn: Mutex<Turn>,
    /// Where the waiters of odd and even syncs sleep.
    beds: [Bed; 2],
}

#[derive(Debug, Default)]
struct Turn {
    running: bool,
    /// Number of the sync that runs, or ran last.
    number: u64,
    /// What that sync covers; everything while its leader gathers.
    target: u64,
    /// How many the last sync served, how long it took, and the less of that and the one before:
    /// a single slow sync of a fast medium is no reason to gather.
    served: u32,
    took: Duration,
    usual: Duration,
}

#[derive(Debug, Default)]
struct Bed {
    /// Changes whenever those who sleep here have something to look at.
    calls: AtomicU32,
    sleepers: AtomicU32,
}

impl GroupCommit {
    /// Starts with everything up to `end` durable, or up to `durable` when nothing may be synced.
    pub(crate) fn new(tail: Arc<Tail>, poison: Arc<Poison>, end: u64, durable: u64) -> Self {
        Self {
            tail,
            poison,
            appended: AtomicU64::new(end),
            durable: AtomicU64::new(durable),
            syncs: AtomicU64::new(0),
            syncing: AtomicBool::new(false),
            turn: Mutex::default(),
            beds: Default::default(),
        }
    }

    pub(crate) fn appended(&self) -> LogPosition {
        LogPosition(self.appended.load(Ordering::Acquire))
    }

    pub(crate) fn durable(&self) -> LogPosition {
        LogPosition(self.durable.load(Ordering::Acquire))
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Whether a sync runs that will not cover what is appended now; a hint.
    pub(crate) fn is_syncing(&self) -> bool {
        self.syncing.load(Ordering::Relaxed)
    }

    /// Publishes bytes that are written, or that the next sync will write.
    pub(crate) fn publish(&self, end: u64) {
        self.appended.store(end, Ordering::Release);
    }

    /// Returns once everything before `end` is durable.
    pub(crate) fn wait(&self, end: LogPosition) -> Result<(), StorageError> {
        assert!(end <= self.appended(), "only appended bytes become durable");
        loop {
            if self.durable() >= end {
                return Ok(());
            }
            if let Err(poisoned) = self.poison.check() {
                // Who was woken to lead and does not must pass it on, or the others sleep for ever.
                self.beds.iter().for_each(|bed| bed.call(u32::MAX));
                return Err(poisoned);
            }
            let mut turn = self.turn.lock();
            if self.durable() >= end {
                return Ok(());
            }
            if !turn.running {
                turn.running = true;
                turn.number += 1;
                turn.target = u64::MAX;
                let turn = self.gather(turn);
                self.lead(turn)?;
                continue;
            }
            let awaited = if end.0 <= turn.target { turn.number } else { turn.number + 1 };
            let bed = self.bed(awaited);
            let seen = bed.calls.load(Ordering::Acquire);
            bed.sleepers.fetch_add(1, Ordering::AcqRel);
            drop(turn);
            // Any return, also a spurious or interrupted one, leads to another look.
            let _ = futex::wait(&bed.calls, futex::Flags::PRIVATE, seen, None);
            bed.sleepers.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Gives those whom the last sync served a moment to append again, where a sync takes so long
    /// that the moment pays: with 64 threads and 4 ms, it makes one group of 64 from two of 32.
    /// Nobody who is alone, or on a fast medium, waits here.
    fn gather<'a>(&'a self, mut turn: MutexGuard<'a, Turn>) -> MutexGuard<'a, Turn> {
        let (number, served, time_max) = (turn.number, turn.served, turn.usual / GATHER_SHARE);
        if served < 2 || turn.usual < GATHER_SYNC_MIN {
            return turn;
        }
        drop(turn);
        let bed = self.bed(number);
        let expected = bed.sleepers.load(Ordering::Acquire) + served;
        let begun = clock().now();
        while bed.sleepers.load(Ordering::Acquire) < expected && begun.elapsed() < time_max {
            std::thread::yield_now();
        }
        turn = self.turn.lock();
        turn
    }

    /// Carries out the sync that `turn` has begun.
    fn lead(&self, mut turn: MutexGuard<'_, Turn>) -> Result<(), StorageError> {
        turn.target = self.appended().0;
        self.syncing.store(true, Ordering::Relaxed);
        let (number, target) = (turn.number, turn.target);
        drop(turn);
        let begun = clock().now();
        let synced = match self.poison.check() {
            Ok(()) => self.tail.sync(),
            poisoned => poisoned,
        };
        let mut turn = self.turn.lock();
        if synced.is_ok() {
            self.durable.fetch_max(target, Ordering::AcqRel);
            self.syncs.fetch_add(1, Ordering::Relaxed);
        }
        turn.running = false;
        self.syncing.store(false, Ordering::Relaxed);
        let took = begun.elapsed();
        turn.usual = took.min(turn.took);
        turn.took = took;
        turn.served = 1 + self.bed(number).sleepers.load(Ordering::Acquire);
        drop(turn);
        // The next leader first, so that the disk is busy again while the others wake up.
        let next = self.bed(number + 1);
        if synced.is_err() {
            next.call(u32::MAX);
        } else if next.sleepers.load(Ordering::Acquire) > 0 {
            next.call(1);
        }
        let served = self.bed(number);
        if served.sleepers.load(Ordering::Acquire) > 0 {
            served.call(u32::MAX);
        }
        synced
    }

    fn bed(&self, number: u64) -> &Bed {
        if number.is_multiple_of(2) { &self.beds[0] } else { &self.beds[1] }
    }
}

impl Bed {
    fn call(&self, count: u32) {
        self.calls.fetch_add(1, Ordering::AcqRel);
        // Waking can only fail for addresses that are not mapped.
        let _ = futex::wake(&self.calls, futex::Flags::PRIVATE, count.min(i32::MAX as u32));
    }
}
