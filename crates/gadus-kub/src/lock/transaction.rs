//! A transaction that locks a thousand rows, one after the other, and lets all of them go at its end.
//!
//! - By the table, each row has intention locks of its segment and its table above it, as a database must have them
//!   where others may lock those. With escalation, row locks become one of the segment when they are many.
//! - By the kernel, each row is a range of a file; nothing says for the kernel that ranges belong to something larger,
//!   and it can neither escalate nor say who waits for whom.

use super::locks::file_in;
use super::table::TableLocks;
use crate::error::KubError;
use crate::harness::{Contest, Harness, Repetitions, Stopwatch};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{RangeLock, RangeLockKind};
use std::fs::File;
use std::os::fd::AsFd;

const ROWS: u32 = 1_000;

/// Row locks of a segment that become one of it, in the contestant that has that.
const ESCALATED_AT: u32 = 100;

pub(super) fn task() -> Task {
    Task::new(Benchmark::Lock, "a transaction that locks many rows", measure)
}

fn measure(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let (posix, description) =
        (file_in(&place.folder, "rows-posix")?, file_in(&place.folder, "rows-description")?);
    let contest = Contest::new(Benchmark::Lock, Origin::Modern, "lock rows, end the transaction")
        .with("rows", ROWS)
        .repetitions(Repetitions::Calibrated(1 << 10))
        .user("Gadus's lock table, with intentions", by_table(u32::MAX))
        .user("Gadus's lock table, escalating", by_table(ESCALATED_AT))
        .kernel("file range, POSIX", by_ranges(&posix, RangeLockKind::Process))
        .kernel("file range, description", by_ranges(&description, RangeLockKind::Description));
    harness.measure(contest)
}

fn by_table(rows_max: u32) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut locks: Option<TableLocks> = None;
    move |times, watch| {
        let locks = match &mut locks {
            Some(locks) => locks,
            none => none.insert(watch.untimed(|| TableLocks::escalating(ROWS, rows_max))?),
        };
        (0..times).try_for_each(|_| {
            (0..ROWS).try_for_each(|row| locks.lock_row(row))?;
            locks.end()
        })
    }
}

/// Every second byte, which the kernel cannot make one range of.
fn by_ranges(
    file: &File,
    kind: RangeLockKind,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let lock = RangeLock::new(file.as_fd(), kind);
    move |times, _| {
        (0..times).try_for_each(|_| {
            (0..i64::from(ROWS)).try_for_each(|row| lock.lock(row * 2, 1, true))?;
            lock.unlock(0, i64::from(ROWS) * 2)
        })
    }
}
