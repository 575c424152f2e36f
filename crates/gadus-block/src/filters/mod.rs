//! Filters: a folder around a folder. They compose in any order.
//!
//! - [`FaultyFolder`] makes chosen operations fail, half succeed or lie.
//! - [`GuardedDevice`], a device around a device, asks a guard before each change.
//! - [`HookedFolder`] calls a function before each operation, or kills its process at a chosen one.
//! - [`SmallFolder`] has no more space than a chosen disk.
//! - [`ThrottledFolder`] makes operations take as long as a chosen disk would need.
//! - [`TracedFolder`] records operations and rebuilds the disk as a power cut would leave it.

mod faulty;
mod guarded;
mod hooked;
mod small;
mod throttled;
mod traced;

pub use faulty::{Fault, FaultPlan, FaultyFolder, Repeat};
pub use guarded::{Guard, GuardedDevice};
pub use hooked::HookedFolder;
pub use small::SmallFolder;
pub use throttled::{Delays, ThrottledFolder};
pub use traced::{CrashPolicy, Event, Trace, TracedFolder};

/// The methods of `Device` that a filter passes on as they are to `self.inner`; but hints and the length, where those are
/// its own.
macro_rules! pass_on {
    () => {
        crate::filters::pass_on!(all but hints);

        fn hint(&self, range: std::ops::Range<u64>, hint: crate::device::Hint) {
            self.inner.hint(range, hint);
        }
    };
    (all but hints) => {
        crate::filters::pass_on!(all but hints and length);

        fn length(&self) -> Result<u64, BlockError> {
            self.inner.length()
        }
    };
    (all but hints and length) => {
        fn name(&self) -> &str {
            self.inner.name()
        }
        fn identity(&self) -> crate::device::Identity {
            self.inner.identity()
        }
        fn location(&self) -> Option<std::path::PathBuf> {
            self.inner.location()
        }
        fn queue(
            self: Arc<Self>,
            depth_max: usize,
        ) -> Result<Box<dyn crate::queue::Queue>, BlockError> {
            crate::queue::WorkerQueue::with_threads(self, depth_max)
        }
        fn geometry(&self) -> crate::device::Geometry {
            self.inner.geometry()
        }
        fn try_own(&self) -> Result<bool, BlockError> {
            self.inner.try_own()
        }
        fn try_share(&self) -> Result<bool, BlockError> {
            self.inner.try_share()
        }
        fn take_turn(&self) -> Result<(), BlockError> {
            self.inner.take_turn()
        }

        fn try_turn(&self) -> Result<crate::device::Turn, BlockError> {
            self.inner.try_turn()
        }

        fn end_turn(&self) -> Result<(), BlockError> {
            self.inner.end_turn()
        }

        fn keep_slot(&self, slot: u32) -> Result<(), BlockError> {
            self.inner.keep_slot(slot)
        }

        fn give_up_slots(&self) -> Result<(), BlockError> {
            self.inner.give_up_slots()
        }

        fn try_own_slot(&self, slot: u32) -> Result<bool, BlockError> {
            self.inner.try_own_slot(slot)
        }
        fn fence(&self, slot: u32) -> Result<crate::device::Fence, BlockError> {
            self.inner.fence(slot)
        }
    };
}
use pass_on;
