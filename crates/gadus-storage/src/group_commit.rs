//! Group commit: one sync of the log serves everyone who waits, in whatever process.
//!
//! - A caller that finds no sync running leads: it syncs for all that is appended by then. A caller
//!   that is alone therefore makes two system calls and no thread switch.
//! - Who comes during a sync that does not cover him waits for the next one. Waiters of successive
//!   syncs sleep on different words, so that the end of a sync wakes exactly those it served, and
//!   one of the others, who leads the next.
//! - On a slow medium the next leader lets those who were just served come back first
//!   ([`GroupCommit::gather`]): otherwise two halves of the threads alternate for ever, each waiting
//!   for the other half's sync.
//! - Leadership is a hint. Who has waited for two usual syncs looks: a dead leader is followed, who
//!   may have taken the error of its sync along, so that its bytes are written again; beside one
//!   that lives, but does not move, he syncs for himself.
//! - The appended end is read before the sync begins; durable is raised only after it succeeded.
//! - A failed sync poisons the store and wakes everyone; so does whoever finds the store poisoned.
//!
//! The word `turn`: the number of the sync that runs or ran last in the upper 32 bits, the code of its
//! leader ([`Owner::code`]) in the lower ones, zero when none runs.

use crate::error::StorageError;
use crate::log::flush::Flush;
use crate::peers::{Peers, Stage};
use crate::poison::Poison;
use gadus_base::{LogPosition, clock};
use gadus_locks::{Owner, shared_struct, wait_on, wake};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Gathering may cost this share of a sync's time, when those it waits for do not come.
const GATHER_SHARE: u32 = 8;

/// The shortest time after which a sleeper looks at who leads.
const LOOK_MIN: Duration = Duration::from_millis(4);

shared_struct! {
    #[derive(Debug, Default)]
    struct Bed {
        /// Changes whenever those who sleep here have something to look at.
        calls: AtomicU32,
        /// How many have gone to sleep since the last call.
        sleepers: AtomicU32,
        spread: [AtomicU64; 7],
    }
}

shared_struct! {
    /// Shared state of group commit.
    #[derive(Debug, Default)]
    pub(crate) struct GroupState {
        pub(crate) durable: AtomicU64,
        turn: AtomicU64,
        /// What the running sync covers; everything while its leader gathers.
        target: AtomicU64,
        syncs: AtomicU64,
        /// How many the last sync served, how long it took, and the less of that and the one before:
        /// a single slow sync of a fast medium is no reason to gather.
        served: AtomicU64,
        took_nanoseconds: AtomicU64,
        usual_nanoseconds: AtomicU64,
        spread: AtomicU64,
        /// Where the waiters of odd and even syncs sleep.
        beds: [Bed; 2],
    }
}

/// Makes appended bytes durable, for all together.
#[derive(Debug)]
pub(crate) struct GroupCommit {
    flush: Arc<Flush>,
    poison: Arc<Poison>,
    peers: Arc<Peers>,
    /// See [`crate::Options::gather_from`].
    gather_from: Duration,
}

/// The word that says whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn(u64);

impl Turn {
    fn of(number: u32, leader: Owner) -> Self {
        Self((u64::from(number) << 32) | u64::from(leader.code()))
    }

    fn number(self) -> u32 {
        u32::try_from(self.0 >> 32).expect("the upper half has 32 bits")
    }

    fn leader(self) -> Option<Owner> {
        let code = u32::try_from(self.0 & 0xFFFF_FFFF).expect("the lower half has 32 bits");
        Owner::from_code(code)
    }

    fn ended(self) -> Self {
        Self(self.0 & !0xFFFF_FFFF)
    }
}

impl GroupState {
    /// Who leads the sync that runs.
    pub(crate) fn leader(&self) -> Option<Owner> {
        Turn(self.turn.load(Ordering::Relaxed)).leader()
    }
}

impl GroupCommit {
    pub(crate) fn new(
        flush: Arc<Flush>,
        poison: Arc<Poison>,
        peers: Arc<Peers>,
        gather_from: Duration,
    ) -> Self {
        Self { flush, poison, peers, gather_from }
    }

    fn state(&self) -> &GroupState {
        &self.peers.state().group
    }

    pub(crate) fn durable(&self) -> LogPosition {
        LogPosition(self.state().durable.load(Ordering::Acquire))
    }

    /// What the running sync will make durable; no more than what is durable when none runs.
    pub(crate) fn target(&self) -> LogPosition {
        LogPosition(self.state().target.load(Ordering::Acquire))
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.state().syncs.load(Ordering::Relaxed)
    }

    /// Returns once everything before `end`, which is appended, is durable.
    pub(crate) fn wait(&self, end: LogPosition) -> Result<(), StorageError> {
        let state = self.state();
        let mut looked: Option<Turn> = None;
        loop {
            if self.durable() >= end {
                return Ok(());
            }
            if let Err(poisoned) = self.poison.check() {
                // Who was woken to lead and does not must pass it on, or the others sleep for ever.
                state.beds.iter().for_each(|bed| bed.call(u32::MAX));
                return Err(poisoned);
            }
            let turn = Turn(state.turn.load(Ordering::Acquire));
            let Some(leader) = turn.leader() else {
                self.lead(turn, false)?;
                continue;
            };
            let covered = end.0 <= state.target.load(Ordering::Acquire);
            let bed = self.bed(turn.number().wrapping_add(u32::from(!covered)));
            let seen = bed.calls.load(Ordering::Acquire);
            bed.sleepers.fetch_add(1, Ordering::AcqRel);
            if state.turn.load(Ordering::Acquire) != turn.0 || self.durable() >= end {
                continue;
            }
            wait_on(&bed.calls, seen, Some(self.patience()));
            self.peers.look_at_memory();
            if state.turn.load(Ordering::Acquire) != turn.0 {
                continue;
            }
            // The same sync runs after all that time, or somebody called for no reason.
            if bed.calls.load(Ordering::Acquire) != seen {
                continue;
            }
            if self.peers.is_dead(leader) {
                self.lead(turn, true)?;
            } else if looked.replace(turn) == Some(turn) {
                self.sync_beside(end)?;
            }
        }
    }

    /// How long to sleep before looking: two usual syncs.
    fn patience(&self) -> Duration {
        let usual = self.state().usual_nanoseconds.load(Ordering::Relaxed);
        Duration::from_nanos(usual.saturating_mul(2)).clamp(LOOK_MIN, Duration::from_secs(1))
    }

    /// Becomes the leader after `before`, if nobody else has, and carries out the sync.
    fn lead(&self, before: Turn, follows_dead: bool) -> Result<(), StorageError> {
        let state = self.state();
        // Before the turn begins, so that nobody takes the last one's target for its own.
        state.target.store(u64::MAX, Ordering::Release);
        let turn = Turn::of(before.number().wrapping_add(1), self.peers.me());
        let began =
            state.turn.compare_exchange(before.0, turn.0, Ordering::AcqRel, Ordering::Relaxed);
        if began.is_err() {
            return Ok(());
        }
        self.gather(before.number());
        let begun = clock().now();
        let mut synced = self.poison.check();
        if follows_dead {
            self.peers.state().stages.note_takeover(Stage::Sync);
        }
        if synced.is_ok() && follows_dead {
            let rewritten = self.flush.rewrite_from(self.durable().0);
            synced = rewritten.map_err(|error| self.poison.set(error));
        }
        let end = self.flush.published();
        state.target.store(end, Ordering::Release);
        let synced = synced.and_then(|()| self.flush.sync_to(end));
        if synced.is_ok() {
            state.durable.fetch_max(end, Ordering::AcqRel);
            state.syncs.fetch_add(1, Ordering::Relaxed);
        }
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let last = state.took_nanoseconds.swap(took, Ordering::Relaxed);
        state.usual_nanoseconds.store(took.min(last), Ordering::Relaxed);
        let bed = self.bed(turn.number());
        let served = bed.sleepers.swap(0, Ordering::AcqRel);
        state.served.store(1 + u64::from(served), Ordering::Relaxed);
        state.turn.store(turn.ended().0, Ordering::Release);
        // The next leader first, so that the disk is busy again while the others wake up.
        let next = self.bed(turn.number().wrapping_add(1));
        if synced.is_err() {
            next.call(u32::MAX);
        } else if next.sleepers.load(Ordering::Acquire) > 0 {
            next.call(1);
        }
        bed.call(u32::MAX);
        synced
    }

    /// Syncs although somebody else does, who has not moved for long.
    fn sync_beside(&self, end: LogPosition) -> Result<(), StorageError> {
        let state = self.state();
        self.poison.check()?;
        let published = self.flush.published();
        self.flush.sync_to(published)?;
        state.durable.fetch_max(published, Ordering::AcqRel);
        state.syncs.fetch_add(1, Ordering::Relaxed);
        state.beds.iter().for_each(|bed| bed.call(u32::MAX));
        debug_assert!(LogPosition(published) >= end, "what is waited for is appended");
        Ok(())
    }

    /// Gives those whom the last sync served a moment to append again, where a sync takes so long
    /// that the moment pays: with 64 threads and 4 ms, it makes one group of 64 from two of 32.
    /// Nobody who is alone, or on a fast medium, waits here.
    fn gather(&self, last: u32) {
        let state = self.state();
        let usual = Duration::from_nanos(state.usual_nanoseconds.load(Ordering::Relaxed));
        let served = state.served.load(Ordering::Relaxed);
        if served < 2 || usual < self.gather_from {
            return;
        }
        // Those who wait for this sync: they came during the last one, or since.
        let bed = self.bed(last.wrapping_add(1));
        let time_max = usual / GATHER_SHARE;
        let expected = u64::from(bed.sleepers.load(Ordering::Acquire)) + served - 1;
        let begun = clock().now();
        while u64::from(bed.sleepers.load(Ordering::Acquire)) < expected
            && begun.elapsed() < time_max
        {
            std::thread::yield_now();
        }
    }

    fn bed(&self, number: u32) -> &Bed {
        let beds = &self.state().beds;
        if number.is_multiple_of(2) { &beds[0] } else { &beds[1] }
    }
}

impl Bed {
    fn call(&self, count: u32) {
        self.calls.fetch_add(1, Ordering::AcqRel);
        wake(&self.calls, count);
    }
}
