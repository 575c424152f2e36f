//! Locks while many others are held.

use super::locks::file_in;
use super::table::TableLocks;
use crate::error::KubError;
use crate::harness::{Budget, Contest, Harness, Stopwatch};
use crate::hashing::NumberMap;
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{RangeLock, RangeLockKind};
use parking_lot::Mutex;
use std::fs::File;
use std::os::fd::AsFd;

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
    held.iter().copied().map(task).collect()
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
