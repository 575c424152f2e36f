//! Locks while many others are held, and locks whose holder is killed.

use super::locks::file_in;
use super::table::TableLocks;
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Repetitions, Stopwatch, Work};
use crate::hashing::NumberMap;
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Child, Mapping, RangeLock, RangeLockKind, RobustMutex, Semaphore};
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, Mode as RawMode, OFlags, flock, open};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// The kernel looks through a list: to make it longer takes longer and longer, so that these would take minutes.
const RANGES_MAX: u32 = 10_000;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let held: &[u32] = match budget {
        Budget::Quick => &[1, 1_000],
        Budget::Usual => &[1, 100, 1_000, 4_000],
        Budget::Thorough => &[1, 10, 100, 1_000, 4_000, 10_000, 100_000],
    };
    let task = |held: u32| {
        let name = format!("a lock beside {held} held ones");
        Task::new(Benchmark::Lock, name, move |harness, place| beside(harness, place, held))
    };
    let mut tasks = held.iter().copied().map(task).collect::<Vec<_>>();
    tasks.push(Task::new(Benchmark::Lock, "locks of a holder that is killed", killed));
    tasks
}

fn beside(harness: &mut Harness<'_>, place: &Place, held: u32) -> Result<(), KubError> {
    place.stay_here()?;
    let (posix, description) =
        (file_in(&place.folder, "held-posix")?, file_in(&place.folder, "held-description")?);
    let contest = Contest::new(Benchmark::Lock, Origin::Modern, "a lock beside held ones")
        .with("held", held)
        .user("hash table and mutex", hashed(held))
        .user("Gadus's lock table", table(held))
        .kernel("file range, POSIX", ranges(&posix, RangeLockKind::Process, held))
        .kernel("file range, description", ranges(&description, RangeLockKind::Description, held));
    harness.measure(contest)
}

fn hashed(held: u32) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let locks =
        Mutex::new((0..u64::from(held)).map(|row| (row * 2, true)).collect::<NumberMap<bool>>());
    let behind_all = u64::from(held) * 2 + 1;
    move |times, _| {
        (0..times).try_for_each(|_| {
            if locks.lock().insert(behind_all, true).is_some() {
                return Err(KubError::broken("a lock that nobody has was taken"));
            }
            locks.lock().remove(&behind_all);
            Ok(())
        })
    }
}

fn table(held: u32) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut locks: Option<TableLocks> = None;
    move |times, watch| {
        let fill = || {
            let mut locks = TableLocks::create(held + 1)?;
            (0..held).try_for_each(|row| locks.lock(row * 2 + 1, true))?;
            Ok(locks)
        };
        let locks = match &mut locks {
            Some(locks) => locks,
            none => none.insert(watch.untimed(fill)?),
        };
        (0..times).try_for_each(|_| {
            locks.lock(held * 2, true)?;
            locks.unlock(held * 2)
        })
    }
}

/// Ranges with gaps between, which the kernel cannot make one of.
fn ranges(
    file: &File,
    kind: RangeLockKind,
    held: u32,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let lock = RangeLock::new(file.as_fd(), kind);
    let mut is_filled = false;
    move |times, watch| {
        if held > RANGES_MAX {
            let why = format!("more than {RANGES_MAX} ranges take minutes to lock");
            return Err(KubError::unavailable(why));
        }
        if !is_filled {
            watch.untimed(|| {
                // From the end: each new one is then the first of the list, and found at once.
                (0..i64::from(held)).rev().try_for_each(|range| lock.lock(range * 2, 1, true))
            })?;
            is_filled = true;
        }
        let behind_all = i64::from(held) * 2;
        (0..times).try_for_each(|_| {
            lock.lock(behind_all, 1, true)?;
            lock.unlock(behind_all, 1)
        })
    }
}

/// How long it takes from a holder's death to the next one's lock, the death included.
fn killed(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let cpu = place.elsewhere.unwrap_or(place.here);
    let file = file_in(&place.folder, "orphaned")?;
    let path = place.folder.join("orphaned");
    let contest = Contest::new(Benchmark::Lock, Origin::Modern, "a lock whose holder is killed")
        .repetitions(Repetitions::Calibrated(64))
        .user(
            "robust mutex",
            if_there(RobustMutex::create(), |mutex| {
                let other = mutex.clone();
                orphaned(cpu, move || mutex.lock().map(drop), move || other.unlock())
            }),
        )
        .kernel("file range, POSIX", {
            let lock = RangeLock::new(file.as_fd(), RangeLockKind::Process);
            orphaned(cpu, move || lock.lock(0, 1, true), move || lock.unlock(0, 1))
        })
        .kernel("flock", {
            // Opened by the child: what its parent has open, too, is not closed with it.
            let name = CString::new(path.as_os_str().as_bytes())
                .map_err(|_| KubError::unavailable("the folder's name has a zero byte"))?;
            let its_lock = move || {
                let its = open(name.as_c_str(), OFlags::RDWR, RawMode::empty());
                let its = its.or_refused("a file to lock")?;
                flock(&its, FlockOperation::LockExclusive).or_refused("flock")?;
                // Until it is killed.
                std::mem::forget(its);
                Ok(())
            };
            let lock = || flock(&file, FlockOperation::LockExclusive).or_refused("flock");
            let unlock = || flock(&file, FlockOperation::Unlock).or_refused("flock");
            orphaned_of(cpu, its_lock, lock, unlock)
        })
        .kernel(
            "semaphore of System V",
            if_there(Semaphore::create(), |semaphore| {
                let other = semaphore.clone();
                orphaned(cpu, move || semaphore.acquire(), move || other.release())
            }),
        );
    harness.measure(contest)
}

/// Work with what the system may not have, which is then one contestant's reason not to take part.
fn if_there<'a, T, W>(made: Result<T, KubError>, work: impl FnOnce(Rc<T>) -> W) -> Work<'a>
where
    W: FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a,
{
    match made {
        Ok(made) => Box::new(work(Rc::new(made))),
        Err(error) => Box::new(move |_, _| Err(error.clone())),
    }
}

fn orphaned<'a>(
    cpu: u32,
    lock: impl Fn() -> Result<(), KubError> + 'a,
    unlock: impl Fn() -> Result<(), KubError> + 'a,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a {
    let lock = Rc::new(lock);
    let its = lock.clone();
    orphaned_of(cpu, move || its(), move || lock(), unlock)
}

/// Has a child lock, kills it, and locks.
fn orphaned_of<'a>(
    cpu: u32,
    its_lock: impl Fn() -> Result<(), KubError> + 'a,
    lock: impl Fn() -> Result<(), KubError> + 'a,
    unlock: impl Fn() -> Result<(), KubError> + 'a,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a {
    const LOCKED: u32 = 1;
    const REFUSED: u32 = 2;
    let mut memory: Option<Mapping> = None;
    move |times, watch| {
        let memory = match &mut memory {
            Some(memory) => memory,
            none => none.insert(watch.untimed(|| Mapping::shared(4096))?),
        };
        for _ in 0..times {
            let state = memory.word(0);
            let child = watch.untimed(|| {
                state.store(0, Ordering::Relaxed);
                let hold = || {
                    let answer = if its_lock().is_ok() { LOCKED } else { REFUSED };
                    state.store(answer, Ordering::Release);
                    gadus_locks::wake(state, 1);
                    loop {
                        rustix::event::pause();
                    }
                };
                let child = Child::start(Some(cpu), hold);
                while child.is_ok() && state.load(Ordering::Acquire) == 0 {
                    gadus_locks::wait_on(state, 0, None);
                }
                child
            })?;
            if state.load(Ordering::Acquire) != LOCKED {
                return Err(KubError::unavailable("a child could not lock"));
            }
            child.kill();
            lock()?;
            watch.untimed(&unlock)?;
        }
        Ok(())
    }
}
