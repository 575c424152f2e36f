//! The real-time class, and memory of other processes.

use super::last_error;
use crate::error::{KubError, Refused};
use rustix::io::Errno;

/// The lowest of the real-time class: above everybody who is not in it.
const PRIORITY: i32 = 1;

/// Puts the calling thread into the real-time class; its own children inherit it.
///
/// # Errors
/// `Unavailable` without the right to do so.
pub fn become_real_time() -> Result<(), KubError> {
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the kernel reads one set of parameters, for the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if done == 0 { Ok(()) } else { Err(last_error()).or_refused("the real-time class") }
}

/// Puts the calling thread back among all others.
pub(crate) fn become_usual() -> Result<(), KubError> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: as above.
    let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) };
    if done == 0 { Ok(()) } else { Err(last_error()).or_refused("the usual class") }
}

/// The number of this process.
pub(crate) fn own_pid() -> i32 {
    // SAFETY: has no conditions.
    unsafe { libc::getpid() }
}

/// Makes the least of the kernel's calls as the C library does. Most programs do; a call that is made in place takes
/// less, since no return follows whose address the processor has forgotten in the kernel.
#[inline]
pub(crate) fn call_by_library() -> i32 {
    // SAFETY: has no conditions.
    unsafe { libc::getppid() }
}

/// Lets a process of the same user read this one's memory, where only who has started a process may read its. A
/// kernel that knows of no such rule refuses, and then needs no permission.
pub(crate) fn permit_reading_by(pid: i32) {
    // SAFETY: passes numbers only.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::c_long::from(pid)) };
}

/// Reads bytes of another process at an address of its; says how many. Allocates nothing.
pub(crate) fn read_from_process(pid: i32, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
    let length = buffer.len();
    let address = usize::try_from(address).unwrap_or(0) as *mut libc::c_void;
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: length };
    let remote = libc::iovec { iov_base: address, iov_len: length };
    // SAFETY: the kernel writes at most `length` bytes of the buffer, and checks the other's addresses itself.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).map_err(|_| last_error())
}
