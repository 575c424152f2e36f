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
    let next = Arc::new(Mutex::new(CommitNumber(0)));
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let (store, next) = (Arc::clone(store), Arc::clone(&next));
            spawn("committer", move || {
                let commit = |_| {
                    let end = {
                        let mut commit = next.lock().unwrap();
                        *commit = commit.next();
                        let payload = commit.0.to_le_bytes();
                        store.append(*commit, &[IoSlice::new(&payload)])?
                    };
                    store.wait_durable(end)?;
                    assert!(store.durable() >= end);
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
fn a_failed_sync_ends_every_waiter() {
    let plan = FaultPlan::new();
    let folder = Arc::new(FaultyFolder::new(Arc::new(MemoryFolder::new()), plan.clone()));
    let store = Arc::new(Store::create(folder.clone(), NAME, options()).unwrap());
    let nth = plan.count_on("x.gadus-wal", Operation::Sync) + 20;
    let fault = Fault::Error(BlockErrorKind::Io);
    plan.fail_on("x.gadus-wal", Operation::Sync, nth, gadus_block::Repeat::Once, fault);
    let acknowledged = commit_from_threads(&store, 16, 1000);
    assert!(store.is_poisoned());
    drop(store);
    let recovered = recovered_commits(folder).len() as u64;
    assert!(recovered >= acknowledged, "{recovered} of {acknowledged}");
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
