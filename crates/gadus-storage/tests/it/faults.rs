//! Disks that fail and disks that lie.

use crate::ledger::{Ledger, NAME, options};
use gadus_base::{CommitNumber, Random};
use gadus_block::{
    ErrorKind as BlockErrorKind, Fault, FaultPlan, FaultyFolder, Folder, MemoryFolder, OpenMode,
    Operation, Repeat,
};
use gadus_storage::{ErrorKind, Store, check};
use std::io::IoSlice;
use std::sync::Arc;

const LOG: &str = "x.gadus-wal";

fn faulty() -> (FaultPlan, Arc<MemoryFolder>, Arc<FaultyFolder>) {
    let (plan, memory) = (FaultPlan::new(), Arc::new(MemoryFolder::new()));
    let folder = FaultyFolder::new(memory.clone(), plan.clone());
    (plan, memory, Arc::new(folder))
}

fn commits(ledger: &mut Ledger, count: u64) {
    let mut random = Random::seeded(ledger.state.commit.0);
    (0..count).for_each(|_| ledger.commit(&mut random, true).unwrap());
}

fn flip(folder: &MemoryFolder, name: &str, offset: usize) {
    let device = folder.open(name, OpenMode::ReadWrite).unwrap();
    let mut byte = [0];
    device.read_at(offset as u64, &mut byte).unwrap();
    device.write_at(offset as u64, &[IoSlice::new(&[byte[0] ^ 4])]).unwrap();
}

#[test]
fn a_failed_log_sync_poisons_until_reopened() {
    let (plan, _, folder) = faulty();
    let mut ledger = Ledger::create(folder.clone(), options()).unwrap();
    commits(&mut ledger, 5);
    plan.fail_next(LOG, Operation::Sync, Fault::Error(BlockErrorKind::Io));
    let mut random = Random::seeded(9);
    assert_eq!(ledger.commit(&mut random, true).unwrap_err().kind, ErrorKind::Io);
    assert!(ledger.store.is_poisoned());
    let acknowledged = ledger.state.commit.0 - 1;
    for error in [
        ledger.commit(&mut random, true).unwrap_err(),
        ledger.checkpoint().unwrap_err(),
        ledger.store.wait_durable(ledger.end).unwrap_err(),
        ledger.store.sync_data().unwrap_err(),
        ledger.store.write_extent(&[b"x"]).unwrap_err(),
    ] {
        assert_eq!(error.kind, ErrorKind::Poisoned, "{error}");
    }
    drop(ledger);
    let ledger = Ledger::open(folder, options()).unwrap();
    assert!(ledger.state.commit.0 >= acknowledged);
}

#[test]
fn failed_data_syncs_and_log_writes_poison() {
    for (name, operation) in [(NAME, Operation::Sync), (LOG, Operation::Write)] {
        let (plan, _, folder) = faulty();
        let mut ledger = Ledger::create(folder.clone(), options()).unwrap();
        commits(&mut ledger, 3);
        plan.fail_next(name, operation, Fault::Partial(10, BlockErrorKind::Io));
        let mut random = Random::seeded(9);
        while ledger.commit(&mut random, true).is_ok() {}
        assert!(ledger.store.is_poisoned());
        let acknowledged = ledger.state.clone();
        drop(ledger);
        let ledger = Ledger::open(folder, options()).unwrap();
        assert_eq!(ledger.state, acknowledged);
        ledger.verify();
    }
}

#[test]
fn a_full_disk_fails_commits_and_poisons_nothing() {
    for partial in [0, 7, 60, 3000] {
        let (plan, memory, folder) = faulty();
        let mut ledger = Ledger::create(folder.clone(), options()).unwrap();
        commits(&mut ledger, 3);
        let before = ledger.state.clone();
        // Zones that are there have their space; this record needs new ones.
        let (next, long) = (ledger.store.log_end().commit().next(), vec![1; 100_000]);
        let fault = Fault::Partial(partial, BlockErrorKind::NoSpace);
        plan.fail(Operation::Write, plan.count(Operation::Write) + 1, Repeat::Forever, fault);
        for _ in 0..3 {
            let error = ledger.store.append_for_sync(next, &[IoSlice::new(&long)]).unwrap_err();
            assert_eq!(error.kind, ErrorKind::NoSpace, "{error}");
            assert_eq!(ledger.store.write_extent(&[b"x"]).unwrap_err().kind, ErrorKind::NoSpace);
        }
        assert_eq!(ledger.checkpoint().unwrap_err().kind, ErrorKind::NoSpace);
        let recovered = Ledger::open(Arc::new(memory.copy()), options()).unwrap();
        assert_eq!(recovered.state, before, "what failed is not there after a crash either");
        plan.heal();
        assert!(!ledger.store.is_poisoned());
        commits(&mut ledger, 30);
        ledger.checkpoint().unwrap();
        let state = ledger.state.clone();
        drop(ledger);
        assert_eq!(Ledger::open(folder, options()).unwrap().state, state);
    }
}

#[test]
fn every_failing_operation_keeps_what_was_acknowledged() {
    let script = |ledger: &mut Ledger, acknowledged: &mut u64| {
        let mut random = Random::seeded(4);
        for step in 0..40 {
            ledger.commit(&mut random, true)?;
            *acknowledged = ledger.state.commit.0;
            if step % 8 == 7 {
                ledger.checkpoint()?;
            }
        }
        Ok::<(), gadus_storage::StorageError>(())
    };
    for operation in [Operation::Write, Operation::Sync] {
        for kind in [BlockErrorKind::Io, BlockErrorKind::NoSpace] {
            for nth in 1.. {
                let (plan, _, folder) = faulty();
                let mut ledger = Ledger::create(folder.clone(), options()).unwrap();
                let before = plan.count(operation);
                plan.fail(operation, before + nth, Repeat::Once, Fault::Partial(100, kind));
                let mut acknowledged = 0;
                // Whether it fails, and how, is the other tests' business.
                let _ = script(&mut ledger, &mut acknowledged);
                drop(ledger);
                let struck = plan.count(operation) >= before + nth;
                plan.heal();
                let ledger = Ledger::open(folder, options()).unwrap();
                assert!(ledger.state.commit.0 >= acknowledged, "{operation:?} {nth}");
                ledger.verify();
                if !struck {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_damaged_middle_of_the_log_is_named_and_a_torn_end_is_cut() {
    let (_, memory, folder) = faulty();
    let ledger = Ledger::create(folder, options()).unwrap();
    let mut ends = Vec::new();
    for number in 1..=10 {
        let end = ledger.store.append(CommitNumber(number), &[IoSlice::new(&[7; 100])]).unwrap();
        ledger.store.wait_durable(end).unwrap();
        ends.push(usize::try_from(end.0).unwrap());
    }
    drop(ledger);
    for damaged in 0..10 {
        let copy = Arc::new(memory.copy());
        flip(&copy, LOG, ends[damaged] - 20);
        match Store::open(copy.clone(), NAME, options()) {
            Ok((_, recovered)) => {
                assert_eq!(damaged, 9, "nothing after the last record proves that it was durable");
                assert_eq!(recovered.records.len(), 9);
            }
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Corrupt);
                let start = if damaged == 0 { 64 } else { ends[damaged - 1] };
                assert_eq!(
                    (error.file.as_str(), error.offset),
                    ("memory:x.gadus-wal", Some(start as u64))
                );
                let report = check(copy, NAME).unwrap();
                assert_eq!(report.problems.len(), 1);
                assert_eq!(report.problems[0].offset, start as u64);
            }
        }
    }
}

#[test]
fn a_damaged_zone_header_is_not_taken_for_the_end() {
    let (_, memory, folder) = faulty();
    let ledger = Ledger::create(folder, options()).unwrap();
    for number in 1..=20 {
        let end = ledger.store.append(CommitNumber(number), &[IoSlice::new(&[7; 1000])]).unwrap();
        ledger.store.wait_durable(end).unwrap();
    }
    drop(ledger);
    flip(&memory, LOG, 4096 + 20);
    let error = Store::open(memory, NAME, options()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Corrupt, "{error}");
}

/// Five checkpoints, then commits that use recycled log and space, in one life or in two.
fn with_checkpoints(folder: &Arc<FaultyFolder>, commits_between: u64, reopens: bool) -> Ledger {
    let mut ledger = Ledger::create(folder.clone(), options()).unwrap();
    for _ in 0..5 {
        commits(&mut ledger, commits_between);
        ledger.checkpoint().unwrap();
    }
    if reopens {
        drop(ledger);
        ledger = Ledger::open(folder.clone(), options()).unwrap();
    }
    commits(&mut ledger, 60);
    ledger
}

#[test]
fn one_damaged_header_or_root_falls_back_to_the_other() {
    for (commits_between, reopens) in [(5, false), (20, false), (7, true), (20, true)] {
        damage_each_part(commits_between, reopens);
    }
}

fn damage_each_part(commits_between: u64, reopens: bool) {
    let (_, memory, folder) = faulty();
    let ledger = with_checkpoints(&folder, commits_between, reopens);
    let state = ledger.state.clone();
    let blobs: Vec<_> = ledger.state.keys.values().flatten().copied().collect();
    let is_live = |at: u64| blobs.iter().any(|blob| (blob.offset..blob.end()).contains(&at));
    drop(ledger);
    let length = memory.snapshot()[NAME].len();
    // Both headers' slots, and every page of the data file: either the ledger's own blob is hit,
    // which reading finds, or a root, from which recovery falls back, or nothing that is named.
    let pages = (65_536..length).step_by(4096);
    for offset in [100, 4196].into_iter().chain(pages) {
        let copy = Arc::new(memory.copy());
        flip(&copy, NAME, offset + 3);
        let mut ledger = Ledger::open(copy.clone(), options()).unwrap();
        assert_eq!(ledger.state, state, "byte {offset}");
        if !is_live(offset as u64 + 3) {
            ledger.verify();
            commits(&mut ledger, 5);
            ledger.checkpoint().unwrap();
            let state = ledger.state.clone();
            drop(ledger);
            assert_eq!(Ledger::open(copy, options()).unwrap().state, state);
        }
    }
    flip(&memory, NAME, 100);
    assert_eq!(check(memory.clone(), NAME).unwrap().problems[0].offset, 0);
    flip(&memory, NAME, 4196);
    let error = Store::open(memory, NAME, options()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Corrupt);
}

#[test]
fn lost_misdirected_and_flipped_blobs_are_found() {
    let old = [1; 5000];
    for fault in [Fault::Lost, Fault::Misdirected(8192)] {
        let (plan, _, folder) = faulty();
        let store = Store::create(folder, NAME, options()).unwrap();
        let (first, _) = store.write_extent(&[&old]).unwrap();
        drop(first);
        let up_to = store.appended();
        (0..2).for_each(|_| store.checkpoint(b"", CommitNumber(0), up_to).unwrap());
        plan.fail_next(NAME, Operation::Write, fault);
        let (_extent, blobs) = store.write_extent(&[&[2; 5000]]).unwrap();
        store.sync_data().unwrap();
        let error = store.read_blob(&blobs[0]).unwrap_err();
        assert_eq!((error.kind, error.offset), (ErrorKind::Corrupt, Some(blobs[0].offset)));
    }
    let (plan, _, folder) = faulty();
    let store = Store::create(folder, NAME, options()).unwrap();
    let (_extent, blobs) = store.write_extent(&[&old]).unwrap();
    plan.fail_next(NAME, Operation::Read, Fault::FlipBit(30_000));
    assert_eq!(store.read_blob(&blobs[0]).unwrap_err().kind, ErrorKind::Corrupt);
    plan.fail_next(NAME, Operation::Read, Fault::Error(BlockErrorKind::Io));
    assert_eq!(store.read_blob(&blobs[0]).unwrap_err().kind, ErrorKind::Io);
    assert_eq!(store.read_blob(&blobs[0]).unwrap()[..], old, "an error ends that read only");
    assert!(!store.is_poisoned());
}

#[test]
fn impossible_references_are_refused_without_allocating() {
    let store = Store::create(Arc::new(MemoryFolder::new()), NAME, options()).unwrap();
    let (_extent, blobs) = store.write_extent(&[b"x"]).unwrap();
    for (offset, bytes) in [(blobs[0].offset, 1 << 63), (1 << 63, 1), (u64::MAX - 63, u64::MAX)] {
        let blob = gadus_storage::BlobRef { offset, bytes, ..blobs[0] };
        assert_eq!(store.read_blob(&blob).unwrap_err().kind, ErrorKind::Corrupt);
    }
}

#[test]
fn a_sound_database_has_no_problems() {
    let (_, memory, folder) = faulty();
    let mut ledger = Ledger::create(folder, options()).unwrap();
    commits(&mut ledger, 20);
    ledger.checkpoint().unwrap();
    commits(&mut ledger, 7);
    let id = ledger.store.id();
    drop(ledger);
    let report = check(memory, NAME).unwrap();
    assert_eq!(report.problems, []);
    assert_eq!((report.database, report.log_records), (id, 7));
    assert_eq!((report.checkpoint, report.last_commit), (CommitNumber(20), CommitNumber(27)));
}

#[test]
fn a_sync_without_space_poisons_unlike_a_write() {
    for name in [NAME, LOG] {
        let (plan, _, folder) = faulty();
        let mut ledger = Ledger::create(folder, options()).unwrap();
        let nth = plan.count_on(name, Operation::Sync) + 1;
        let fault = Fault::Error(BlockErrorKind::NoSpace);
        plan.fail_on(name, Operation::Sync, nth, Repeat::Once, fault);
        let mut random = Random::seeded(3);
        // Without waiting, so that the log is synced by its growth only.
        while ledger.commit(&mut random, false).is_ok() {}
        assert!(ledger.store.is_poisoned(), "{name}");
    }
}

#[test]
fn an_abandoned_end_of_the_log_does_not_come_back() {
    let (plan, _, folder) = faulty();
    let record = [IoSlice::new(&[7; 100])];
    let store = Store::create(folder.clone(), NAME, options()).unwrap();
    plan.fail_next(LOG, Operation::Write, Fault::Lost);
    store.append(CommitNumber(1), &record).unwrap();
    store.append(CommitNumber(2), &record).unwrap();
    drop(store);
    for expected in [0, 1] {
        let (store, recovered) = Store::open(folder.clone(), NAME, options()).unwrap();
        // The second record is intact at its place, right behind the new first one.
        assert_eq!(recovered.records.len(), expected);
        store.finish_recovery().unwrap();
        if expected == 0 {
            let end = store.append(CommitNumber(1), &record).unwrap();
            store.wait_durable(end).unwrap();
        }
    }
}

#[test]
fn a_fragment_of_another_history_is_not_accepted() {
    let (_, memory, folder) = faulty();
    drop(Store::create(folder, NAME, options()).unwrap());
    let [ours, other] = [1, 2].map(|byte| {
        let memory = Arc::new(memory.copy());
        let (store, _) = Store::open(memory.clone(), NAME, options()).unwrap();
        store.finish_recovery().unwrap();
        let mut end = store.appended();
        for number in 1..=2 {
            end = store.append(CommitNumber(number), &[IoSlice::new(&[byte; 100])]).unwrap();
        }
        (memory, usize::try_from(end.0).unwrap())
    });
    let (ours, end) = ours;
    let start = end - (end - 64) / 2;
    let stale = other.0.snapshot()[LOG][start..end].to_vec();
    let device = ours.open(LOG, OpenMode::ReadWrite).unwrap();
    device.write_at(start as u64, &[IoSlice::new(&stale)]).unwrap();
    drop(device);
    let (_, recovered) = Store::open(ours, NAME, options()).unwrap();
    assert_eq!(recovered.records.len(), 1, "intact, in its place, but after another record");
}
