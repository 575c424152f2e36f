//! One process locks for writing 5,000 times, while another locks for reading again and again.
//!
//! - Both times and the reads that were done are told: who is fast because the other is shut out shows so.

use super::locks::file_in;
use super::shared_exclusive::SharedExclusive;
use crate::error::{KubError, Refused};
use crate::harness::{Contest, Harness, Repetitions, Stopwatch};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Child, Mapping, RangeLock, RangeLockKind};
use rustix::fs::{FlockOperation, flock};
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// As often as the paper's writer did.
const WRITES: u64 = 5_000;

/// What the paper's own lock took of its writer for one write, and what file locks did: 35 and 22 ms for all.
const PAPER_OWN: Duration = Duration::from_nanos(35_000_000 / WRITES);
const PAPER_FILE: Duration = Duration::from_nanos(22_000_000 / WRITES);

/// Words of the memory that both share, each in a cache line of its own.
const LOCK: usize = 0;
const READS: usize = 32;
const RUNNING: usize = 64;
const GONE: usize = 96;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Own,
    Range(RangeLockKind),
    Whole,
}

/// A lock as either process uses it.
struct Lock<'a> {
    kind: Kind,
    memory: &'a Mapping,
    file: BorrowedFd<'a>,
}

pub(super) fn tasks() -> Vec<Task> {
    vec![Task::new(Benchmark::Lock, "writes beside a reader (Vasil 2003)", measure)]
}

fn measure(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let cpu = place.other()?;
    let path = place.folder.join("beside");
    drop(file_in(&place.folder, "beside")?);
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| KubError::unavailable("the folder's name has a zero byte"))?;
    let write = |kind| writer(kind, name.clone(), cpu);
    let contest = Contest::new(Benchmark::Lock, Origin::Vasil2003, "write lock beside a reader")
        .with("processor", "other")
        .paper_found(
            "5,000 writes by a lock of its own took 35 ms and left room for 4,567 reads, by the file's 22 ms and 13",
        )
        .repetitions(Repetitions::Exactly(WRITES))
        .user("own lock", write(Kind::Own))
        .paper(PAPER_OWN)
        .kernel("file range, POSIX", write(Kind::Range(RangeLockKind::Process)))
        .paper(PAPER_FILE)
        .kernel("file range, description", write(Kind::Range(RangeLockKind::Description)))
        .kernel("flock", write(Kind::Whole));
    harness.measure(contest)
}

fn writer(
    kind: Kind,
    name: CString,
    cpu: u32,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut pair: Option<(Arc<Mapping>, OwnedFd, Child)> = None;
    move |times, watch| {
        if pair.is_none() {
            pair = Some(watch.untimed(|| start_reader(kind, &name, cpu))?);
        }
        let (memory, file, _) = pair.as_ref().ok_or_else(|| KubError::broken("no reader"))?;
        let lock = Lock { kind, memory, file: file.as_fd() };
        let reads = memory.word(READS);
        watch.untimed(|| set_running(memory.word(RUNNING), 1));
        // The reader is under way before the writer begins.
        let first = reads.load(Ordering::Relaxed);
        watch.untimed(|| {
            while reads.load(Ordering::Relaxed) == first {
                if memory.word(GONE).load(Ordering::Relaxed) != 0 {
                    return Err(KubError::unavailable("another process cannot lock the file"));
                }
                std::hint::spin_loop();
            }
            Ok(())
        })?;
        let (before, began) = (reads.load(Ordering::Relaxed), watch.now());
        for _ in 0..times {
            lock.acquire(true)?;
            lock.release(true)?;
        }
        let took = watch.now() - began;
        let done = reads.load(Ordering::Relaxed).wrapping_sub(before);
        watch.untimed(|| set_running(memory.word(RUNNING), 0));
        watch.count("reads meanwhile", f64::from(done));
        let each = crate::numbers::nanoseconds(took) / f64::from(done.max(1));
        watch.count("ns for each read", each);
        Ok(())
    }
}

fn set_running(word: &AtomicU32, running: u32) {
    word.store(running, Ordering::Release);
    gadus_locks::wake(word, 1);
}

/// A process that reads while it is to. It has the file by a descriptor of its own, as another program would.
fn start_reader(
    kind: Kind,
    name: &CString,
    cpu: u32,
) -> Result<(Arc<Mapping>, OwnedFd, Child), KubError> {
    use rustix::fs::{Mode, OFlags, open};
    let memory = Arc::new(Mapping::shared(4096)?);
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let file = open(name.as_c_str(), flags, Mode::empty()).or_refused("a file to lock")?;
    let its = memory.clone();
    let child = Child::start(Some(cpu), || {
        if let Ok(file) = open(name.as_c_str(), flags, Mode::empty()) {
            let lock = Lock { kind, memory: &its, file: file.as_fd() };
            let running = its.word(RUNNING);
            loop {
                while running.load(Ordering::Acquire) == 0 {
                    gadus_locks::wait_on(running, 0, None);
                }
                if lock.acquire(false).is_err() || lock.release(false).is_err() {
                    break;
                }
                its.word(READS).fetch_add(1, Ordering::Relaxed);
            }
        }
        // Who waits for a read would wait for ever.
        its.word(GONE).store(1, Ordering::Relaxed);
    })?;
    Ok((memory, file, child))
}

impl Lock<'_> {
    fn acquire(&self, exclusive: bool) -> Result<(), KubError> {
        match self.kind {
            Kind::Own => {
                let lock = SharedExclusive(self.memory.word(LOCK));
                let granted = if exclusive { lock.exclude(None) } else { lock.share(None) };
                granted.then_some(()).ok_or_else(|| KubError::broken("no lock was granted"))
            }
            Kind::Range(kind) => RangeLock::new(self.file, kind).lock(0, 1, exclusive),
            Kind::Whole if exclusive => flock_of(self.file, FlockOperation::LockExclusive),
            Kind::Whole => flock_of(self.file, FlockOperation::LockShared),
        }
    }

    fn release(&self, exclusive: bool) -> Result<(), KubError> {
        match self.kind {
            Kind::Own => {
                let lock = SharedExclusive(self.memory.word(LOCK));
                if exclusive {
                    lock.end_excluding()
                } else {
                    lock.end_sharing()
                }
                Ok(())
            }
            Kind::Range(kind) => RangeLock::new(self.file, kind).unlock(0, 1),
            Kind::Whole => flock_of(self.file, FlockOperation::Unlock),
        }
    }
}

fn flock_of(file: BorrowedFd<'_>, operation: FlockOperation) -> Result<(), KubError> {
    flock(file, operation).or_refused("flock")
}
