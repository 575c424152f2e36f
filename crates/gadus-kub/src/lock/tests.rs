//! Locks exclude whom they should, are granted and refused in time, and pass on from the dead.

use super::deadlocks::{self, Kind};
use super::orphans::{Next, OfFile, Orphan, Table, orphaned};
use super::shared_exclusive::SharedExclusive;
use super::table_of_two::TableOfTwo;
use crate::ErrorKind;
use crate::harness::{Stopwatch, SystemInstruments};
use crate::system::RangeLockKind;
use gadus_base::clock;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn readers_share_and_writers_do_not() {
    let word = AtomicU32::new(0);
    let lock = SharedExclusive(&word);
    let now = Some(clock().now());
    assert!(lock.share(now) && lock.share(now));
    assert!(!lock.exclude(now) && !lock.upgrade(now));
    lock.end_sharing();
    assert!(lock.upgrade(now));
    assert!(!lock.share(now) && !lock.exclude(now));
    lock.end_excluding();
    assert!(lock.exclude(now));
    lock.end_excluding();
    assert_eq!(word.load(Ordering::Relaxed) & !(1 << 30), 0);
}

#[test]
fn what_is_locked_is_changed_by_one_at_a_time() {
    // Two halves that are equal whenever nobody writes.
    let (word, one, other) = (AtomicU32::new(0), AtomicU64::new(0), AtomicU64::new(0));
    const WRITES: u64 = 20_000;
    let lock = SharedExclusive(&word);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for turn in 0..WRITES {
                    let end = Some(clock().now().plus(Duration::from_secs(60)));
                    if turn % 3 == 0 {
                        assert!(lock.exclude(end));
                        one.store(one.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        other.store(other.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        lock.end_excluding();
                    } else {
                        assert!(lock.share(end));
                        assert_eq!(one.load(Ordering::Relaxed), other.load(Ordering::Relaxed));
                        lock.end_sharing();
                    }
                }
            });
        }
    });
    assert_eq!(one.into_inner(), 2 * WRITES.div_ceil(3));
}

#[test]
fn who_sleeps_for_an_upgrade_is_woken_by_the_last_other_reader() {
    let word = AtomicU32::new(0);
    let lock = SharedExclusive(&word);
    assert!(lock.share(None) && lock.share(None));
    std::thread::scope(|scope| {
        let upgraded =
            scope.spawn(|| lock.upgrade(Some(clock().now().plus(Duration::from_secs(60)))));
        while word.load(Ordering::Acquire) & (1 << 30) == 0 {
            std::thread::yield_now();
        }
        lock.end_sharing();
        assert!(upgraded.join().unwrap());
    });
    lock.end_excluding();
}

/// A processor that may be used.
fn here() -> u32 {
    crate::run::Place::find(std::env::temp_dir()).unwrap().here
}

#[test]
fn a_row_passes_on_from_an_instance_that_nobody_keeps_alive() {
    let slots = Arc::new(tempfile::tempfile().unwrap());
    let mut table = TableOfTwo::create(&slots).unwrap();
    assert!(table.slot() > 0);
    assert!(table.own().lock(0).unwrap());
    table.own().release().unwrap();
}

#[test]
fn locks_pass_on_from_killed_children_to_who_comes_and_to_who_waits() {
    fn kill<T: Orphan>(orphan: impl Fn() -> T) {
        let instruments = SystemInstruments::new();
        for next in [Next::Later, Next::Waits] {
            let mut work = orphaned(here(), next, Ok(orphan()));
            work(3, &mut Stopwatch::new(&instruments)).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    kill(|| Table::in_folder(folder.path()).unwrap());
    kill(|| OfFile::in_folder(folder.path(), OfFile::WHOLE).unwrap());
    kill(|| OfFile::in_folder(folder.path(), OfFile::RANGE).unwrap());
}

#[test]
fn the_younger_of_two_connections_in_a_deadlock_is_told_of_it() {
    let instruments = SystemInstruments::new();
    let mut work = deadlocks::by_table(Duration::ZERO);
    work(3, &mut Stopwatch::new(&instruments)).unwrap();
}

#[test]
fn the_kernel_tells_of_a_deadlock_of_processes_and_not_of_descriptions() {
    let folder = tempfile::tempdir().unwrap();
    let name = |name: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, []).unwrap();
        CString::new(path.to_str().unwrap()).unwrap()
    };
    let names = [name("one"), name("other")];
    let instruments = SystemInstruments::new();
    let of = |kind| {
        let mut work = deadlocks::by_kernel(kind, names.clone(), here());
        work(3, &mut Stopwatch::new(&instruments))
    };
    of(Kind::Range(RangeLockKind::Process)).unwrap();
    for kind in [Kind::Range(RangeLockKind::Description), Kind::Whole] {
        assert_eq!(of(kind).unwrap_err().kind(), ErrorKind::Unavailable, "{kind:?}");
    }
}
