//! The lock table: who may use what, among the connections of all processes that share a database.
//!
//! - Its truth is small: request slots, each changed by single stores. Chains, queues and counts are
//!   derived, and made anew by whoever finds that somebody died while changing them.
//! - 64 partitions, each with a latch; nobody has two, but who proves a deadlock, in order. Under a
//!   latch nobody sleeps, calls back or wakes others.
//! - Queues are fair: nobody is granted what an earlier one waits for, but conversions, and they a
//!   bounded number of times.
//! - An owner is dead when `Instances` says so. Who waits looks every [`LOOK`], so nobody waits long
//!   for the dead; what an owner not proven dead holds stays held.
//! - What shared memory holds may be wrong: then calls fail with [`LockErrorKind::Damaged`].
//! - A full table refuses requests, and nothing else changes.
//!
//! An instance drops its [`LockOwner`]s before it leaves.

mod by_resource;
mod chains;
mod check;
mod chunks;
mod connections;
mod deadlock;
mod error;
mod escalation;
mod fast;
mod inspection;
mod layout;
mod modes;
mod notices;
mod owner;
mod partition;
mod queue;
mod rebuild;
mod request;
mod resource;
mod sessions;
mod state;
mod statistics;
mod store;
mod values;
mod visit;
mod wait;

pub use error::{LockError, LockErrorKind, LockFailure, LockHolder};
pub use escalation::{EscalationSettings, RowGrant, RowLocks};
pub use inspection::LockView;
pub use modes::Mode;
pub use notices::{Event, Notification, Watcher};
pub use owner::{Grant, LockOwner, Wait};
pub use resource::Resource;
pub use sessions::{ConnectionView, Ending};
pub use statistics::LockStatistics;
pub use values::{VALUE_BYTES, Value};
pub use wait::Canceller;

use crate::instances::Instances;
use crate::latch::{Liveness, Owner};
use crate::memory::{EXTENT_BYTES, Mapped, Memory, Offset};
use crate::steps;
use deadlock::Cleared;
use gadus_base::{Instant, ProcessMark};
use layout::{FORMAT, HEADER_BYTES, Header};
use parking_lot::Mutex;
use queue::Entry;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// How often somebody who waits looks whether those live whom it waits for, and whether it missed a
/// wake-up. Looking costs some microseconds.
const LOOK: Duration = Duration::from_millis(15);

/// The first time it looks sooner: those who wait for a process that was just killed have waited no longer.
const FIRST_LOOK: Duration = Duration::from_millis(5);

/// Called for an instance that is dead, to take from shared memory what it has there.
pub type Cleanup = Arc<dyn Fn(Owner) + Send + Sync>;

/// How a lock table behaves in this process.
#[derive(Clone)]
pub struct LockSettings {
    /// How long a wait lasts before it is suspected to be a deadlock.
    pub deadlock_after: Duration,
    /// What else to clean up after a dead instance, before its locks are released.
    pub also_clean: Option<Cleanup>,
}

/// The lock table of a database, as an instance uses it.
pub struct LockTable {
    instances: Arc<Instances>,
    memory: Arc<Memory>,
    header: Mapped<Header>,
    /// This instance.
    me: Owner,
    start: usize,
    chunks_max: usize,
    settings: LockSettings,
    /// The connections of this instance: number by record.
    registered: Mutex<BTreeMap<u32, u32>>,
    next_number: AtomicU32,
    /// What searches for deadlocks have found.
    cleared: Mutex<Cleared>,
    began: Instant,
    /// Where it was attached: a forked child has a copy.
    process: ProcessMark,
    /// When this process looked for the dead last, in milliseconds after it began.
    looked_ms: AtomicU64,
}

impl LockTable {
    /// Uses the lock table that begins at byte `start`, a multiple of [`EXTENT_BYTES`], of the
    /// instances' memory, and may grow to its end. Fresh memory is an empty table.
    ///
    /// # Errors
    /// `Damaged` when something else lies there, or `NoSpace`.
    pub fn attach(
        instances: Arc<Instances>,
        start: usize,
        settings: LockSettings,
    ) -> Result<Arc<Self>, LockError> {
        assert!(start.is_multiple_of(EXTENT_BYTES), "the table begins with an extent");
        let memory = instances.memory().clone();
        memory.ensure(start + HEADER_BYTES)?;
        let header = memory.keep(Offset::<Header>::new(start))?;
        if header.format.load(Ordering::Acquire) != FORMAT
            && !store::replace(&header.format, 0, FORMAT)
            && header.format.load(Ordering::Acquire) != FORMAT
        {
            return Err(LockError::damaged("it is of another version, or none"));
        }
        let chunks_max = Self::chunks_in(memory.bytes_max(), start);
        Ok(Arc::new(Self {
            me: instances.me(),
            instances,
            memory,
            header,
            start,
            chunks_max,
            settings,
            registered: Mutex::default(),
            next_number: AtomicU32::new(1),
            cleared: Mutex::new(Cleared::new()),
            began: steps::now(),
            process: ProcessMark::here(),
            looked_ms: AtomicU64::new(0),
        }))
    }

    /// The instances that share the table.
    #[must_use]
    pub fn instances(&self) -> &Arc<Instances> {
        &self.instances
    }

    /// Looks for dead instances and cleans up after them; gives how many there were.
    pub fn reap(&self) -> usize {
        self.instances.reap(|dead| {
            if let Some(also_clean) = &self.settings.also_clean {
                also_clean(dead);
            }
            // What is damaged is found by whoever needs it.
            let _ = self.clean(dead);
        })
    }

    /// Cleans up if some of these requests are those of the dead; says whether.
    fn reap_among(&self, entries: &[Entry]) -> bool {
        let instances = entries.iter().map(|entry| entry.holder.instance);
        let instances = instances.collect::<HashSet<_>>();
        instances.into_iter().any(|owner| self.instances.is_dead(owner)) && self.reap() > 0
    }

    /// Fails if shared memory was cut off while the caller slept.
    fn check_memory(&self) -> Result<(), LockError> {
        match self.instances.memory().verify_length() {
            true => Ok(()),
            false => Err(LockError::damaged("its memory was cut off from outside")),
        }
    }

    /// Looks for the dead, if nobody of this process has done so just now.
    fn look(&self) {
        let now = u64::try_from(steps::elapsed(self.began).as_millis()).unwrap_or(u64::MAX);
        let looked = self.looked_ms.load(Ordering::Relaxed);
        let pause = u64::try_from(FIRST_LOOK.as_millis()).unwrap_or(u64::MAX) / 2;
        if now >= looked + pause
            && self
                .looked_ms
                .compare_exchange(looked, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            self.reap();
        }
    }

    #[inline]
    fn header(&self) -> &Header {
        &self.header
    }

    /// Who is behind a request.
    fn holder_of(&self, entry: &Entry) -> LockHolder {
        let connection = self.connection_of(entry.holder);
        LockHolder {
            instance: self.instances.describe(entry.holder.instance),
            connection: connection.map_or(0, |record| record.number.load(Ordering::Relaxed)),
            mode: entry.state.wanted,
            age_ms: (entry.since != u64::MAX)
                .then(|| partition::now_ms().saturating_sub(entry.since)),
        }
    }
}

impl Default for LockSettings {
    fn default() -> Self {
        // Longer than most waits for a commit, shorter than anybody takes for a hang.
        Self { deadlock_after: Duration::from_millis(50), also_clean: None }
    }
}

impl fmt::Debug for LockSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = &self.deadlock_after;
        f.debug_struct("LockSettings").field("deadlock_after", after).finish_non_exhaustive()
    }
}

impl fmt::Debug for LockTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, me) = (&self.start, self.instances.me());
        f.debug_struct("LockTable").field("start", start).field("me", &me).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
