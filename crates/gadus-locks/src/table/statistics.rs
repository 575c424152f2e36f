//! Counters of what has happened, of all processes together.
//!
//! - For people only: nothing decides by them. They count what is rare or slow, so that counting
//!   costs the common path nothing.

use super::LockTable;
use super::layout::PARTITIONS;
use super::store::add;
use std::sync::atomic::Ordering;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counter {
    Waits,
    WakeUps,
    Conversions,
    Timeouts,
    Cancellations,
    Deadlocks,
    Reorders,
    Notifications,
    Escalations,
    FastMoves,
    Rebuilds,
    Cleanups,
}

/// What has happened since the table was made, and how large it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockStatistics {
    /// Requests that had to wait.
    pub waits: u64,
    /// Sleepers woken because something was decided for them.
    pub wake_ups: u64,
    /// Requests of holders for a stronger mode.
    pub conversions: u64,
    /// Requests that were given up, at once or late.
    pub timeouts: u64,
    /// Waits ended by others' wish.
    pub cancellations: u64,
    /// Deadlocks undone by refusing somebody's wish.
    pub deadlocks: u64,
    /// Deadlocks undone by letting somebody go first.
    pub reorders: u64,
    /// Holders told that others wait.
    pub notifications: u64,
    /// Many small locks exchanged for a large one.
    pub escalations: u64,
    /// Locks moved from a connection's own record to the table.
    pub fast_moves: u64,
    /// Partitions rebuilt.
    pub rebuilds: u64,
    /// Instances cleaned up after.
    pub cleanups: u64,
    /// Extents of memory in use.
    pub extents: u64,
    /// Requests in the table.
    pub slots_used: u64,
    /// Requests that there is room for without growing.
    pub slots_free: u64,
}

impl LockTable {
    /// What has happened, and how large the table is.
    #[must_use]
    pub fn statistics(&self) -> LockStatistics {
        let at =
            |counter: Counter| self.header().counters[counter as usize].load(Ordering::Relaxed);
        let (mut used, mut slots) = (0, 0);
        for partition in &self.header().partitions[..PARTITIONS] {
            used += u64::from(partition.used.load(Ordering::Relaxed));
            slots += u64::from(partition.slots.load(Ordering::Relaxed));
        }
        LockStatistics {
            waits: at(Counter::Waits),
            wake_ups: at(Counter::WakeUps),
            conversions: at(Counter::Conversions),
            timeouts: at(Counter::Timeouts),
            cancellations: at(Counter::Cancellations),
            deadlocks: at(Counter::Deadlocks),
            reorders: at(Counter::Reorders),
            notifications: at(Counter::Notifications),
            escalations: at(Counter::Escalations),
            fast_moves: at(Counter::FastMoves),
            rebuilds: at(Counter::Rebuilds),
            cleanups: at(Counter::Cleanups),
            extents: self.extents(),
            slots_used: used,
            slots_free: slots.saturating_sub(used),
        }
    }

    pub(super) fn count(&self, counter: Counter, by: u64) {
        if by > 0 {
            add(&self.header().counters[counter as usize], by);
        }
    }
}
