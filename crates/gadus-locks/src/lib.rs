//! What the processes that share one database share in memory: the memory itself, the instances
//! that use it, latches that survive their owners, and the lock table.
//!
//! - Depends on `gadus-base` only. What keeps an owner alive is asked through [`Liveness`].
//! - Shared memory holds atomic numbers and offsets, never a pointer, never an object of the C
//!   library; every byte in it may be wrong, and what is read is checked before it is used.
//! - An owner is dead when its [`Liveness`] says so, and nothing else says so: no process id, no
//!   time-out. What an owner not proven dead holds stays held.
//! - Nobody polls: who waits sleeps on a futex, with a deadline at which it looks at the owner.
//!
//! ```
//! use gadus_locks::{Latch, Memory, Offset, Owner};
//! # fn main() -> Result<(), gadus_locks::MemoryError> {
//! let memory = Memory::private(1 << 20)?;
//! let latch = memory.at(Offset::<Latch>::new(0))?;
//! let owner = Owner { slot: 0, generation: 1 };
//! assert!(latch.try_lock(owner));
//! assert!(!latch.try_lock(owner));
//! latch.unlock(owner);
//! # Ok(())
//! # }
//! ```

mod board;
mod error;
#[cfg(test)]
mod explore;
mod instances;
mod latch;
mod memory;
mod steps;
mod table;
mod threads;

pub use board::{Board, Observed};
pub use error::{MemoryError, MemoryErrorKind};
pub use instances::{
    Busy, BusyOthers, Fence, INSTANCES_MAX, InstanceDescription, InstanceTable, Instances,
};
pub use latch::{Acquired, Latch, Liveness, Owner, latch_tries, set_latch_tries};
pub use memory::{EXTENT_BYTES, FileIdentity, Memory, Offset, Shared, Trust, wait_on, wake};
pub use table::{
    Canceller, Cleanup, ConnectionView, Ending, EscalationSettings, Event, Grant, LockError,
    LockErrorKind, LockFailure, LockHolder, LockOwner, LockSettings, LockStatistics, LockTable,
    LockView, Mode, Notification, Resource, RowGrant, RowLocks, VALUE_BYTES, Value, Wait, Watcher,
};
