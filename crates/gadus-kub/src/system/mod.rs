//! What the benchmarks ask of the kernel and no safe wrapper offers.
//!
//! - The only module of the crate with unsafe code; each file is one service, safe to its callers.
//! - A child process lives no longer than what has started it, and is killed when that is dropped.

#![allow(unsafe_code)]

mod accounts;
mod child;
mod extents;
mod fiber;
mod loop_device;
mod mailbox;
mod mapping;
mod mount;
mod range_lock;
mod ring;
mod robust_mutex;
mod scheduling;
mod semaphore;
mod services;
mod shared_call;
mod write_out;

pub(crate) use accounts::usage_of_this_process;
pub(crate) use child::Child;
pub(crate) use extents::{Extent, extents_of};
pub(crate) use fiber::Fiber;
pub(crate) use loop_device::LoopDevice;
pub(crate) use mailbox::{Inbox, Mailbox, Outbox, Patience};
pub(crate) use mapping::{MapHow, Mapping};
pub(crate) use mount::{Mount, OwnMounts};
pub(crate) use range_lock::{RangeLock, RangeLockKind};
pub(crate) use ring::{Operation, Ring};
pub(crate) use robust_mutex::RobustMutex;
pub use scheduling::become_real_time;
pub(crate) use scheduling::{
    become_usual, call_by_library, own_pid, permit_reading_by, read_from_process,
};
pub(crate) use semaphore::Semaphore;
pub(crate) use services::{count_own_time, landlock_version};
pub(crate) use shared_call::SharedCall;
pub(crate) use write_out::{unwritten_pages, write_out};

use rustix::io::Errno;

/// What the last call of the C library failed with.
fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests;
