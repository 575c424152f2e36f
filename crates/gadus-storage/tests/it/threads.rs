//! Group commit with many threads, on files and on a slow disk.

use crate::ledger::{NAME, options};
use gadus_base::{CommitNumber, clock, spawn};
use gadus_block::{
    Delays, ErrorKind as BlockErrorKind, Fault, FaultPlan, FaultyFolder, FileFolder, Folder,
    MemoryFolder, Operation, ThrottledFolder,
};
use gadus_storage::{Durability, Options, Store};
use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// `threads` threads commit `each` records; gives how many were acknowledged.
fn commit_from_threads(store: &Arc<Store>, threads: u64, each: u64) -> u64 {
    commit_and_tell(store, threads, each, |_| ())
}

/// The same; each thread tells what it was acknowledged.
fn commit_and_tell(
    store: &Arc<Store>,
    threads: u64,
    each: u64,
    tell: impl Fn(CommitNumber) + Clone + Send + 'static,
) -> u64 {
    let next = Arc::new(Mutex::new(CommitNumber(0)));
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let (store, next, tell) = (Arc::clone(store), Arc::clone(&next), tell.clone());
            spawn("committer", move || {
                let commit = |_| {
                    let (commit, end) = {
                        let mut last = next.lock().unwrap();
                        *last = last.next();
                        let payload = last.0.to_le_bytes();
                        (*last, store.append_for_sync(*last, &[IoSlice::new(&payload)])?)
                    };
                    store.wait_durable(end)?;
                    assert!(store.durable() >= end);
                    tell(commit);
                    Ok::<(), gadus_storage::StorageError>(())
                };
                (0..each).map(commit).take_while(Result::is_ok).count() as u64
            })
            .unwrap()
        })
        .collect();
    handles.into_iter().map(|handle| handle.join().unwrap()).sum()
}

fn recovered_commits(folder: Arc<dyn Folder>) -> Vec<u64> {
    let (_, recovered) = Store::open(folder, NAME, options()).unwrap();
    recovered.records.iter().map(|record| record.commit.0).collect()
}

#[test]
fn all_threads_are_served_and_the_order_is_one() {
    let root = tempfile::tempdir().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(FileFolder::new(root.path()));
    let store = Arc::new(Store::create(folder.clone(), NAME, options()).unwrap());
    assert_eq!(commit_from_threads(&store, 16, 100), 1600);
    let statistics = store.statistics();
    assert_eq!(statistics.commits, 1600);
    drop(store);
    assert_eq!(recovered_commits(folder), Vec::from_iter(1..=1600));
}

#[test]
fn a_slow_sync_serves_all_who_wait() {
    let delays = Delays { sync: Duration::from_millis(4), ..Delays::default() };
    let folder = Arc::new(ThrottledFolder::new(Arc::new(MemoryFolder::new()), delays));
    let store = Arc::new(
        Store::create(folder, NAME, Options { log_zone_bytes: 1 << 20, ..options() }).unwrap(),
    );
    assert_eq!(commit_from_threads(&store, 32, 20), 640);
    let syncs = store.statistics().log_syncs;
    assert!(syncs <= 120, "{syncs} syncs for 640 commits of 32 threads");
}

#[test]
fn all_are_served_whenever_leaders_let_others_come_first() {
    for gather_from in [Duration::ZERO, Duration::MAX] {
        let delays = Delays { sync: Duration::from_micros(300), ..Delays::default() };
        let folder = Arc::new(ThrottledFolder::new(Arc::new(MemoryFolder::new()), delays));
        let options = Options { gather_from, ..options() };
        let store = Arc::new(Store::create(folder.clone(), NAME, options).unwrap());
        assert_eq!(commit_from_threads(&store, 8, 50), 400);
        assert!(store.statistics().log_syncs < 400, "{gather_from:?}");
        drop(store);
        assert_eq!(recovered_commits(folder), Vec::from_iter(1..=400));
    }
}

#[test]
fn a_failed_sync_or_write_ends_every_waiter() {
    for operation in [Operation::Sync, Operation::Write] {
        let plan = FaultPlan::new();
        // Slow enough for records to gather, and so for a write to carry several.
        let delays = Delays { sync: Duration::from_micros(300), ..Delays::default() };
        let slow = ThrottledFolder::new(Arc::new(MemoryFolder::new()), delays);
        let folder = Arc::new(FaultyFolder::new(Arc::new(slow), plan.clone()));
        let store = Arc::new(Store::create(folder.clone(), NAME, options()).unwrap());
        let nth = plan.count_on("x.gadus-wal", operation) + 20;
        let fault = Fault::Partial(100, BlockErrorKind::Io);
        plan.fail_on("x.gadus-wal", operation, nth, gadus_block::Repeat::Once, fault);
        let acknowledged = commit_from_threads(&store, 16, 1000);
        assert!(store.is_poisoned());
        drop(store);
        let recovered = recovered_commits(folder).len() as u64;
        assert!(recovered >= acknowledged, "{operation:?}: {recovered} of {acknowledged}");
    }
}

#[test]
fn what_threads_were_acknowledged_survives_a_crash_at_any_moment() {
    let delays = Delays { sync: Duration::from_micros(200), ..Delays::default() };
    let slow = Arc::new(ThrottledFolder::new(Arc::new(MemoryFolder::new()), delays));
    let (traced, trace) = gadus_block::TracedFolder::new(slow);
    let store = Arc::new(Store::create(Arc::new(traced), NAME, options()).unwrap());
    let created_at = trace.len();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = {
        let (told, trace) = (told.clone(), trace.clone());
        move |commit| told.lock().unwrap().push((trace.len(), commit))
    };
    assert_eq!(commit_and_tell(&store, 8, 40, tell), 320);
    let syncs = store.statistics().log_syncs;
    assert!(syncs < 320, "nothing was gathered: {syncs} syncs");
    drop(store);
    let told = told.lock().unwrap();
    for at in created_at..=trace.len() {
        let image = trace.image(at, gadus_block::CrashPolicy::DropUnsynced);
        let found = recovered_commits(Arc::new(image));
        assert_eq!(found, Vec::from_iter(1..=found.len() as u64));
        let promised = told.iter().filter(|(length, _)| *length <= at).map(|(_, commit)| commit.0);
        let promised = promised.max().unwrap_or(0);
        assert!(found.len() as u64 >= promised, "at {at}: {} of {promised}", found.len());
    }
}

#[test]
fn relaxed_records_are_durable_soon() {
    let folder = Arc::new(MemoryFolder::new());
    let relaxed = Options { durability: Durability::Relaxed, ..options() };
    let store = Store::create(folder, NAME, relaxed).unwrap();
    for number in 1..4 {
        let end = store.append(CommitNumber(number), &[IoSlice::new(b"x")]).unwrap();
        store.wait_durable(end).unwrap();
        let appended = clock().now();
        while store.durable() < end {
            // Generous: the promise is 200 ms on a machine that is not busy.
            assert!(appended.elapsed() < Duration::from_secs(5));
            std::thread::yield_now();
        }
    }
}

#[test]
fn closing_a_relaxed_store_syncs_it() {
    let (traced, trace) = gadus_block::TracedFolder::new(Arc::new(MemoryFolder::new()));
    let relaxed = Options { durability: Durability::Relaxed, ..options() };
    let store = Store::create(Arc::new(traced), NAME, relaxed).unwrap();
    store.append(CommitNumber(1), &[IoSlice::new(b"x")]).unwrap();
    drop(store);
    let image = trace.image(trace.len(), gadus_block::CrashPolicy::DropUnsynced);
    assert_eq!(recovered_commits(Arc::new(image)), [1]);
}

#[test]
fn what_is_appended_during_a_sync_waits_for_the_next() {
    let delays = Delays { sync: Duration::from_millis(50), ..Delays::default() };
    let slow = Arc::new(ThrottledFolder::new(Arc::new(MemoryFolder::new()), delays));
    let (traced, trace) = gadus_block::TracedFolder::new(slow);
    let store = Arc::new(Store::create(Arc::new(traced), NAME, options()).unwrap());
    let append = |number| store.append(CommitNumber(number), &[IoSlice::new(b"x")]).unwrap();
    let first = append(1);
    let waiter = {
        let store = Arc::clone(&store);
        spawn("waiter", move || store.wait_durable(first)).unwrap()
    };
    // Usually long enough for the sync to begin; if not, the facts below hold all the same.
    std::thread::park_timeout(Duration::from_millis(20));
    let second = append(2);
    waiter.join().unwrap().unwrap();
    let claimed = if store.durable() >= second { 2 } else { 1 };
    let image = trace.image(trace.len(), gadus_block::CrashPolicy::DropUnsynced);
    assert!(recovered_commits(Arc::new(image)).len() >= claimed);
    store.wait_durable(second).unwrap();
    let image = trace.image(trace.len(), gadus_block::CrashPolicy::DropUnsynced);
    assert_eq!(recovered_commits(Arc::new(image)), [1, 2]);
}
