//! The kernel's account of this process: its threads that are and were, not its children.

use crate::harness::Usage;
use std::time::Duration;

/// What this process has used; nothing where the kernel does not tell.
pub(crate) fn usage_of_this_process() -> Usage {
    // SAFETY: all fields are numbers, for which zero is a value.
    let mut account: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one account there.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut account) } != 0 {
        return Usage::default();
    }
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    let time = |time: libc::timeval| {
        let micros = u32::try_from(time.tv_usec).unwrap_or(0);
        Duration::new(count(time.tv_sec), micros * 1000)
    };
    Usage {
        user: time(account.ru_utime),
        system: time(account.ru_stime),
        voluntary_switches: count(account.ru_nvcsw),
        involuntary_switches: count(account.ru_nivcsw),
        minor_faults: count(account.ru_minflt),
        major_faults: count(account.ru_majflt),
    }
}
