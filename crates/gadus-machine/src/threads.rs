//! Threads on processors.

use crate::error::{ErrorKind, MachineError};
use crate::topology::CpuSet;
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{CpuSet as KernelSet, sched_getcpu, sched_setaffinity};

/// Has the calling thread run on some processors alone, and says on which it does.
///
/// # Errors
/// `Request` where there is none among them that the process may use; `Unknown` where the system moves the
/// thread to another all the same.
pub fn pin_this_thread(cpus: &CpuSet) -> Result<u32, MachineError> {
    let refused = |kind, what: String| {
        MachineError::new(kind, format!("a thread cannot be moved to processors {cpus}: {what}"))
    };
    let mut set = KernelSet::new();
    for cpu in cpus.iter().filter_map(|cpu| usize::try_from(cpu).ok()) {
        if cpu < KernelSet::MAX_CPU {
            set.set(cpu);
        }
    }
    sched_setaffinity(None, &set)
        .map_err(|error| refused(ErrorKind::Request, error.to_string()))?;
    // The system has moved it before it says that it is done.
    let cpu = this_cpu();
    match cpus.contains(cpu) {
        true => Ok(cpu),
        false => Err(refused(ErrorKind::Unknown, format!("it runs on {cpu}"))),
    }
}

/// The processor that the calling thread ran on a moment ago.
#[must_use]
pub fn this_cpu() -> u32 {
    u32::try_from(sched_getcpu()).unwrap_or(u32::MAX)
}

/// How far above all others a thread is that measures: as those of Kub's paper were (Vasil, section 3.1).
const NICE: i32 = -10;

/// Puts the calling thread above all others, where that is permitted, and whom it starts from now on. Who may not
/// runs among all others.
pub fn rise_above_others() {
    let _ = setpriority_process(None, NICE);
}

/// Whether the calling thread is above others.
#[must_use]
pub fn is_above_others() -> bool {
    getpriority_process(None).is_ok_and(|nice| nice < 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn a_thread_runs_where_it_is_told_and_nowhere_that_is_not() {
        let allowed = Limits::of_this_process().allowed.unwrap();
        let moved = std::thread::scope(|scope| {
            let move_about = || {
                let to = |cpu: u32| pin_this_thread(&[cpu].into_iter().collect());
                allowed.iter().map(|cpu| (cpu, to(cpu).unwrap())).collect::<Vec<_>>()
            };
            scope.spawn(move_about).join().unwrap()
        });
        assert!(!moved.is_empty() && moved.iter().all(|(told, seen)| told == seen), "{moved:?}");
        let refused = pin_this_thread(&CpuSet::default()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Request);
    }
}
