//! Threads as their system knows them: which one this is, and whether another is over.
//!
//! - The kernel marks a thread as exiting before it gives memory back, which takes a second for some
//!   GiB, and long before it closes files. A marked thread runs no instruction of its program any more
//!   and is in no system call. Other threads of its process may still be in one.
//! - Numbers mean something to those who see the same processes: whoever does not, knows nothing, and
//!   neither does who finds another process under a number, by its start.

use gadus_base::ProcessMark;
use std::cell::Cell;
use std::os::unix::fs::MetadataExt;

/// `PF_EXITING` among the flags of `/proc/…/stat`.
const EXITING: u64 = 0x4;

/// A process among those that a kernel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// Where the number is valid; zero where that is not known.
    pub(crate) namespace: u64,
    /// In ticks since the machine's start.
    pub(crate) started: u64,
}

/// The number of this thread.
pub(crate) fn this_thread() -> u32 {
    thread_local! {
        static KNOWN: Cell<Option<(ProcessMark, u32)>> = const { Cell::new(None) };
    }
    match KNOWN.get() {
        Some((process, thread)) if process.is_here() => thread,
        _ => {
            let thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            KNOWN.set(Some((ProcessMark::here(), thread)));
            thread
        }
    }
}

impl Process {
    /// This process; without a namespace where its own files cannot be read.
    pub(crate) fn this() -> Self {
        let pid = std::process::id();
        let known = || {
            // Else these are the files of other processes than those that this one sees.
            let shown = std::fs::read_link("/proc/self").ok()?;
            let is_shown = shown.to_str() == Some(&pid.to_string());
            let namespace = std::fs::metadata("/proc/self/ns/pid").ok()?.ino();
            let started = Status::of("/proc/self/stat")?.started;
            is_shown.then_some(Self { pid, namespace, started })
        };
        known().unwrap_or(Self { pid, namespace: 0, started: 0 })
    }

    /// Whether one of its threads runs no instruction any more, and is in no system call, as `observer`
    /// sees it. Any doubt is "no".
    pub(crate) fn has_lost(&self, thread: u32, observer: &Self) -> bool {
        if self.namespace == 0 || self.namespace != observer.namespace || thread == 0 {
            return false;
        }
        let found = Status::of(&format!("/proc/{}/task/{thread}/stat", self.pid));
        // A thread that is over for good is not shown any more; its process is, as long as it dies.
        let process = Status::of(&format!("/proc/{}/stat", self.pid));
        let Some(process) = process.filter(|process| process.started == self.started) else {
            return false;
        };
        found.unwrap_or(process).is_over
    }
}

/// What is told of a thread, or of the first thread of a process.
#[derive(Debug, Clone, Copy)]
struct Status {
    is_over: bool,
    started: u64,
}

impl Status {
    fn of(file: &str) -> Option<Self> {
        Self::read(&std::fs::read_to_string(file).ok()?)
    }

    /// The name in parentheses may hold anything; behind it are the fields from the third on.
    fn read(text: &str) -> Option<Self> {
        let fields = text.rsplit_once(')')?.1.split_ascii_whitespace().collect::<Vec<_>>();
        let flags = fields.get(6)?.parse::<u64>().ok()?;
        let is_dead = matches!(*fields.first()?, "Z" | "X" | "x");
        let started = fields.get(19)?.parse().ok()?;
        Some(Self { is_over: is_dead || flags & EXITING != 0, started })
    }
}

#[cfg(test)]
mod tests;
