//! Child processes that do one thing and never return from it.
//!
//! - A child is forked from a process that may have other threads, so it must not allocate, lock or print: it makes
//!   system calls and uses memory that was there before.

use super::last_error;
use crate::error::{KubError, Refused};
use gadus_machine::{CpuSet, pin_this_thread};

/// A child process; killed when dropped.
#[derive(Debug)]
pub(crate) struct Child {
    pid: libc::pid_t,
}

impl Child {
    /// Starts a child on a processor, or wherever the system puts it. It ends when `body` does.
    pub(crate) fn start(cpu: Option<u32>, body: impl FnOnce()) -> Result<Self, KubError> {
        let cpus = cpu.map(|cpu| [cpu].into_iter().collect::<CpuSet>());
        // SAFETY: the child does what `body` does, which by this type's contract is safe after a fork, and ends.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => Err(last_error()).or_refused("a process cannot be started"),
            0 => {
                let _end = End;
                // SAFETY: passes numbers only.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                if cpus.is_none_or(|cpus| pin_this_thread(&cpus).is_ok()) {
                    body();
                }
                drop(_end);
                unreachable!("a child has ended")
            }
            pid => Ok(Self { pid }),
        }
    }

    /// Its number.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Waits until it has ended by itself.
    pub(crate) fn join(self) {
        // SAFETY: as in `drop`, which finds nobody to wait for.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
        std::mem::forget(self);
    }

    /// Has the system kill it, which may take until it is dropped.
    pub(crate) fn strike(&self) {
        // SAFETY: as in `drop`.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }

    /// Kills it; it runs no instruction any more afterwards.
    pub(crate) fn kill(self) {}
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the number is that of a child that nobody else waits for, so it is not another's yet.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

/// Ends the child however its work ends, and runs nothing that belongs to the parent.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(0) }
    }
}
