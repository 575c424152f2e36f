//! Services that are tried for their being there.

use super::last_error;
use crate::error::{KubError, Refused};
use std::os::fd::{FromRawFd, OwnedFd};

const LANDLOCK_VERSION: u32 = 1;

/// The version of Landlock that the kernel has.
pub(crate) fn landlock_version() -> Result<i64, KubError> {
    // SAFETY: asks for the version, for which there is no memory to give.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0,
            LANDLOCK_VERSION,
        )
    };
    if version > 0 { Ok(version) } else { Err(last_error()).or_refused("Landlock") }
}

/// The first fields of what perf is asked, and zeros for the rest.
#[repr(C)]
struct Counter {
    kind: u32,
    size: u32,
    config: u64,
    rest: [u64; 14],
}

/// Opens a counter of this process's own time, and closes it.
pub(crate) fn count_own_time() -> Result<(), KubError> {
    const SOFTWARE: u32 = 1;
    const TASK_CLOCK: u64 = 1;
    let size = u32::try_from(size_of::<Counter>()).unwrap_or(0);
    let counter = Counter { kind: SOFTWARE, size, config: TASK_CLOCK, rest: [0; 14] };
    // SAFETY: the kernel reads as many bytes as the counter says that it has; for this process, on any processor.
    let opened =
        unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const counter, 0, -1, -1, 0_u64) };
    let Ok(descriptor @ 0..) = i32::try_from(opened) else {
        return Err(last_error()).or_refused("perf_event_open");
    };
    // SAFETY: the kernel has just opened it for us.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
    Ok(())
}
