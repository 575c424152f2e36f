//! What instances use much of, and say so to each other.
//!
//! - Until when an instance is busy is a hint, in milliseconds of the wall clock without its upper bits: it
//!   ends by itself, also when the instance dies.

use super::{INSTANCES_MAX, Instances, LIVE, status};
use gadus_base::clock;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What instances use much of, and divide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Busy {
    /// Processors.
    Scanning = 0,
    /// Memory.
    Gathering = 1,
}

/// Instances that use much of something, beside one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BusyOthers {
    /// All of them.
    pub count: usize,
    /// Those whose slots come before the one's.
    pub before: usize,
}

impl Instances {
    /// Says that this instance uses much of something, from now on for about so long.
    pub fn busy_for(&self, with: Busy, time: Duration) {
        let until = clock().wall_time().0 + time;
        let record = &self.slots()[self.me.slot as usize];
        record.busy_until[with as usize].store(short(until), Ordering::Relaxed);
    }

    /// The other instances that have said so, just now.
    #[must_use]
    pub fn busy_others(&self, with: Busy) -> BusyOthers {
        let now = short(clock().wall_time().0);
        let mut others = BusyOthers::default();
        for (slot, record) in (0..INSTANCES_MAX).zip(self.slots()) {
            let until = record.busy_until[with as usize].load(Ordering::Relaxed);
            let is_busy = until.wrapping_sub(now).cast_signed() > 0
                && status(record.state.load(Ordering::Relaxed)) == LIVE;
            if is_busy && slot != self.me.slot {
                others.count += 1;
                others.before += usize::from(slot < self.me.slot);
            }
        }
        others
    }
}

/// The lower bits of milliseconds.
#[allow(clippy::cast_possible_truncation)] // wanted
pub(super) fn short(time: Duration) -> u32 {
    time.as_millis() as u32
}
