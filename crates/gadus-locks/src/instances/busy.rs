//! What instances use much of, and say so to each other.
//!
//! - Until when an instance is busy is a hint, in milliseconds of the wall clock without its upper bits: it
//!   ends by itself. Without these bits, what ended weeks ago seems to be weeks ahead: nobody is busy for longer than
//!   [`TIME_MAX`] at a time.
//! - The dead are busy with nothing, also before they are cleaned up after.

use super::{INSTANCES_MAX, Instances, LIVE, generation, status};
use crate::latch::{Liveness, Owner};
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

/// For so long at most an instance says that it is busy.
const TIME_MAX: Duration = Duration::from_mins(1);

/// Instances that use much of something, beside one of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BusyOthers {
    /// All of them.
    pub count: usize,
    /// Those whose slots come before the one's.
    pub before: usize,
}

impl Instances {
    /// Says that this instance uses much of something, from now on for about so long, and a minute at most.
    pub fn busy_for(&self, with: Busy, time: Duration) {
        let until = clock().wall_time().0 + time.min(TIME_MAX);
        let record = &self.slots()[self.me.slot as usize];
        record.busy_until[with as usize].store(short(until), Ordering::Relaxed);
    }

    /// The other instances that have said so, just now, and live: the system is asked about each.
    #[must_use]
    pub fn busy_others(&self, with: Busy) -> BusyOthers {
        let now = short(clock().wall_time().0);
        let mut others = BusyOthers::default();
        for (slot, record) in (0..INSTANCES_MAX).zip(self.slots()) {
            let until = record.busy_until[with as usize].load(Ordering::Relaxed);
            let state = record.state.load(Ordering::Acquire);
            if generation(state) == 0 {
                // The first that was never used; they are taken in their order.
                break;
            }
            let is_other = slot != self.me.slot && status(state) == LIVE;
            let is_busy = (1..=short(TIME_MAX)).contains(&until.wrapping_sub(now));
            let owner = Owner { slot, generation: generation(state) };
            if is_other && is_busy && !self.is_dead(owner) {
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
