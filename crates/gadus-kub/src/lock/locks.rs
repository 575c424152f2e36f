//! Locks that nobody else wants: acquired and released.

use super::shared_exclusive::SharedExclusive;
use super::table::TableLocks;
use crate::error::{KubError, Refused};
use crate::harness::{Contest, Harness, Noise, Repetitions, Stopwatch};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{RangeLock, RangeLockKind, RobustMutex, Semaphore};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::hint::black_box;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::AtomicU32;

/// As often as the paper's one thread did.
const PAPER_LOCKS: u64 = 5_000;

type Locking<'a> = Box<dyn FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a>;

pub(super) fn tasks() -> Vec<Task> {
    let mut tasks = Vec::new();
    for exclusive in [false, true] {
        let mode = mode(exclusive);
        let name = format!("{PAPER_LOCKS} {mode} locks (Vasil 2003)");
        tasks.push(Task::new(Benchmark::Lock, name, move |harness, place| {
            papers(harness, place, exclusive)
        }));
        let name = format!("{mode} locks");
        tasks.push(Task::new(Benchmark::Lock, name, move |harness, place| {
            modern(harness, place, exclusive)
        }));
    }
    tasks
}

pub(super) fn mode(exclusive: bool) -> &'static str {
    if exclusive { "write" } else { "read" }
}

pub(super) fn file_in(folder: &Path, name: &str) -> Result<File, KubError> {
    let mut options = File::options();
    let opened =
        options.read(true).write(true).create(true).truncate(false).open(folder.join(name));
    opened.or_refused("a file to lock")
}

fn papers(harness: &mut Harness<'_>, place: &Place, exclusive: bool) -> Result<(), KubError> {
    place.stay_here()?;
    let file = file_in(&place.folder, "locked")?;
    let contest = Contest::new(Benchmark::Lock, Origin::Vasil2003, "acquire and release")
        .paper_found(
            "a lock of its own takes 9 % less than the file's for reading, and 68 % less for writing",
        )
        .with("mode", mode(exclusive))
        .noise(Noise::Processor)
        .repetitions(Repetitions::Exactly(PAPER_LOCKS))
        .user("own lock", own(exclusive, false))
        .kernel("file range, POSIX", range(&file, RangeLockKind::Process, exclusive));
    harness.measure(contest)
}

fn modern(harness: &mut Harness<'_>, place: &Place, exclusive: bool) -> Result<(), KubError> {
    place.stay_here()?;
    let file = file_in(&place.folder, "locked")?;
    let mut contest = Contest::new(Benchmark::Lock, Origin::Modern, "acquire and release")
        .with("mode", mode(exclusive))
        .noise(Noise::Processor)
        .user("own lock", own(exclusive, false))
        .user("std", standard(exclusive))
        .user("parking_lot", parking_lot(exclusive))
        .user("Gadus's lock table", table(exclusive))
        .kernel("file range, POSIX", range(&file, RangeLockKind::Process, exclusive))
        .kernel("file range, description", range(&file, RangeLockKind::Description, exclusive))
        .kernel("flock", whole(&file, exclusive));
    if exclusive {
        // These have no readers that share.
        contest = contest
            .user("own lock, read and upgrade", own(true, true))
            .user("robust mutex", robust())
            .kernel("semaphore of System V", semaphore());
    }
    harness.measure(contest)
}

fn late() -> KubError {
    KubError::broken("a lock that nobody has was not granted")
}

fn own<'a>(exclusive: bool, upgrade: bool) -> Locking<'a> {
    let word = Box::new(AtomicU32::new(0));
    Box::new(move |times, _| {
        let lock = SharedExclusive(black_box(&word));
        (0..times).try_for_each(|_| {
            let granted = match (upgrade, exclusive) {
                (true, _) => lock.share(None) && lock.upgrade(None),
                (false, true) => lock.exclude(None),
                (false, false) => lock.share(None),
            };
            match exclusive {
                true => lock.end_excluding(),
                false => lock.end_sharing(),
            }
            granted.then_some(()).ok_or_else(late)
        })
    })
}

fn standard<'a>(exclusive: bool) -> Locking<'a> {
    let lock = std::sync::RwLock::new(0_u64);
    Box::new(move |times, _| {
        let lock = black_box(&lock);
        (0..times).try_for_each(|_| {
            match exclusive {
                true => drop(black_box(lock.write().map_err(|_| late())?)),
                false => drop(black_box(lock.read().map_err(|_| late())?)),
            }
            Ok(())
        })
    })
}

fn parking_lot<'a>(exclusive: bool) -> Locking<'a> {
    let lock = parking_lot::RwLock::new(0_u64);
    Box::new(move |times, _| {
        let lock = black_box(&lock);
        (0..times).for_each(|_| match exclusive {
            true => drop(black_box(lock.write())),
            false => drop(black_box(lock.read())),
        });
        Ok(())
    })
}

fn table<'a>(exclusive: bool) -> Locking<'a> {
    let mut locks = None;
    Box::new(move |times, watch| {
        let locks: &mut TableLocks = match &mut locks {
            Some(locks) => locks,
            none => none.insert(watch.untimed(|| TableLocks::create(1))?),
        };
        (0..times).try_for_each(|_| {
            locks.lock(1, exclusive)?;
            locks.unlock(1)
        })
    })
}

fn robust<'a>() -> Locking<'a> {
    let mutex = RobustMutex::create();
    Box::new(move |times, _| {
        let mutex = mutex.as_ref().map_err(Clone::clone)?;
        (0..times).try_for_each(|_| {
            mutex.lock()?;
            mutex.unlock()
        })
    })
}

fn semaphore<'a>() -> Locking<'a> {
    let semaphore = Semaphore::create();
    Box::new(move |times, _| {
        let semaphore = semaphore.as_ref().map_err(Clone::clone)?;
        (0..times).try_for_each(|_| {
            semaphore.acquire()?;
            semaphore.release()
        })
    })
}

fn range(file: &File, kind: RangeLockKind, exclusive: bool) -> Locking<'_> {
    let lock = RangeLock::new(file.as_fd(), kind);
    Box::new(move |times, _| {
        (0..times).try_for_each(|_| {
            lock.lock(0, 1, exclusive)?;
            lock.unlock(0, 1)
        })
    })
}

fn whole(file: &File, exclusive: bool) -> Locking<'_> {
    let operation =
        if exclusive { FlockOperation::LockExclusive } else { FlockOperation::LockShared };
    Box::new(move |times, _| {
        (0..times).try_for_each(|_| {
            flock(file, operation).or_refused("flock")?;
            flock(file, FlockOperation::Unlock).or_refused("flock")
        })
    })
}
