//! What is not a sound database is refused: clearly, quickly, and unchanged.

use crate::ledger::{Ledger, NAME, options};
use gadus_base::{CommitNumber, Random, clock};
use gadus_block::{FileFolder, Folder, MemoryFolder, OpenMode};
use gadus_storage::{ErrorKind, Options, StorageError, Store, check};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

fn memory() -> Arc<MemoryFolder> {
    Arc::new(MemoryFolder::new())
}

fn put(folder: &MemoryFolder, name: &str, bytes: &[u8]) {
    if folder.exists(name).unwrap() {
        folder.remove(name).unwrap();
    }
    let device = folder.open(name, OpenMode::Create).unwrap();
    device.write_at(0, &[IoSlice::new(bytes)]).unwrap();
}

fn open_error(folder: &Arc<MemoryFolder>) -> StorageError {
    let before = folder.snapshot();
    let started = clock().now();
    let error = Store::open(folder.clone(), NAME, options()).unwrap_err();
    assert!(started.elapsed() < Duration::from_millis(100));
    assert!(folder.snapshot() == before, "a refused file is not changed");
    error
}

fn with_commits(count: u64) -> Arc<MemoryFolder> {
    let folder = memory();
    let mut ledger = Ledger::create(folder.clone(), options()).unwrap();
    let mut random = Random::seeded(count);
    (0..count).for_each(|_| ledger.commit(&mut random, true).unwrap());
    folder
}

#[test]
fn files_that_are_no_database_are_refused() {
    let folder = memory();
    assert_eq!(open_error(&folder).kind, ErrorKind::NotFound);
    let mut random = Random::seeded(1);
    let mut noise = |length: usize| -> Vec<u8> {
        (0..length).map(|_| random.next_u64().to_le_bytes()[0]).collect()
    };
    let zeros = |length: usize| vec![0; length];
    for (bytes, kind) in [
        (zeros(0), ErrorKind::Unfinished),
        (zeros(4096), ErrorKind::Unfinished),
        (zeros(200_000), ErrorKind::NotADatabase),
        (noise(1), ErrorKind::NotADatabase),
        (noise(100), ErrorKind::NotADatabase),
        (noise(100_000), ErrorKind::NotADatabase),
        (b"GadusDB\0".to_vec(), ErrorKind::Corrupt),
    ] {
        put(&folder, NAME, &bytes);
        let error = open_error(&folder);
        assert_eq!(error.kind, kind, "{} bytes: {error}", bytes.len());
        assert!(error.to_string().contains("memory:x.gadus"), "{error}");
    }
}

#[test]
fn a_header_without_the_rest_is_refused() {
    let folder = with_commits(20);
    let whole = folder.snapshot();
    put(&folder, NAME, &whole[NAME][..512]);
    let mut ledger = Ledger::open(folder.clone(), options());
    if let Ok(ledger) = &ledger {
        assert!(ledger.state.keys.is_empty(), "blobs past the end cannot be adopted");
    } else {
        assert_eq!(ledger.as_ref().unwrap_err().kind, ErrorKind::Corrupt);
    }
    ledger = Err(StorageError::clone(&open_error_of_missing_log(&folder)));
    assert_eq!(ledger.unwrap_err().kind, ErrorKind::Corrupt);
}

fn open_error_of_missing_log(folder: &Arc<MemoryFolder>) -> StorageError {
    folder.remove("x.gadus-wal").unwrap();
    let error = open_error(folder);
    assert!(error.message.contains("log of memory:x.gadus is missing"), "{error}");
    error
}

#[test]
fn creation_repeats_what_was_interrupted_and_nothing_else() {
    let folder = memory();
    put(&folder, NAME, &[0; 600]);
    put(&folder, "x.gadus-wal", b"");
    drop(Store::create(folder.clone(), NAME, options()).unwrap());
    let exists = Store::create(folder.clone(), NAME, options()).unwrap_err();
    assert_eq!(exists.kind, ErrorKind::AlreadyExists);
    put(&folder, NAME, b"precious text");
    let exists = Store::create(folder.clone(), NAME, options()).unwrap_err();
    assert_eq!(exists.kind, ErrorKind::AlreadyExists);
    assert_eq!(folder.snapshot()[NAME], b"precious text");
}

#[test]
fn a_log_with_records_is_not_overwritten_by_creation() {
    let folder = with_commits(3);
    folder.remove(NAME).unwrap();
    let error = Store::create(folder.clone(), NAME, options()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Foreign, "{error}");
}

#[test]
fn another_databases_log_is_refused() {
    let folder = with_commits(3);
    let other = with_commits(5);
    put(&folder, "x.gadus-wal", &other.snapshot()["x.gadus-wal"]);
    let error = open_error(&folder);
    assert_eq!(error.kind, ErrorKind::Foreign);
    assert!(error.file.ends_with("x.gadus-wal"));
}

#[test]
fn an_old_copy_of_the_log_is_refused() {
    let folder = with_commits(0);
    let old_log = folder.snapshot()["x.gadus-wal"].clone();
    let mut ledger = Ledger::open(folder.clone(), options()).unwrap();
    let mut random = Random::seeded(1);
    for _ in 0..3 {
        (0..30).for_each(|_| ledger.commit(&mut random, true).unwrap());
        ledger.checkpoint().unwrap();
    }
    drop(ledger);
    put(&folder, "x.gadus-wal", &old_log);
    let error = open_error(&folder);
    assert_eq!(error.kind, ErrorKind::Corrupt, "{error}");
    put(&folder, "x.gadus-wal", b"");
    assert_eq!(open_error(&folder).kind, ErrorKind::Corrupt);
}

#[test]
fn a_newer_format_is_refused() {
    let folder = with_commits(1);
    let mut bytes = folder.snapshot()[NAME].clone();
    for slot in [0, 4096] {
        bytes[slot + 8] = 2;
        let sum = gadus_base::checksum(slot as u64, &bytes[slot..slot + 504]);
        bytes[slot + 504..slot + 512].copy_from_slice(&sum.to_le_bytes());
    }
    put(&folder, NAME, &bytes);
    assert_eq!(open_error(&folder).kind, ErrorKind::Version);
}

#[test]
fn a_second_opener_learns_who_holds_it() {
    let root = tempfile::tempdir().unwrap();
    let folder = Arc::new(FileFolder::new(root.path()));
    let store = Store::create(folder.clone(), NAME, options()).unwrap();
    let read_only = Options { read_only: true, ..options() };
    std::fs::hard_link(root.path().join(NAME), root.path().join("y.gadus")).unwrap();
    for (name, options) in [(NAME, options()), (NAME, read_only), ("y.gadus", options())] {
        let error = Store::open(folder.clone(), name, options).unwrap_err();
        assert_eq!(error.kind, ErrorKind::InUse);
        if name == NAME {
            let holder = format!("process {} (", std::process::id());
            assert!(error.message.contains(&holder), "{error}");
        }
    }
    assert_eq!(Store::create(folder.clone(), NAME, options()).unwrap_err().kind, ErrorKind::InUse);
    assert_eq!(check(folder.clone(), NAME).unwrap_err().kind, ErrorKind::InUse);
    drop(store);
    drop(Store::open(folder, NAME, options()).unwrap());
}

#[test]
fn readers_share_and_write_nothing() {
    let folder = with_commits(10);
    let before = folder.snapshot();
    let read_only = Options { read_only: true, ..options() };
    let first = Ledger::open(folder.clone(), read_only.clone()).unwrap();
    let second = Ledger::open(folder.clone(), read_only.clone()).unwrap();
    assert_eq!(first.state, second.state);
    first.verify();
    let piece = [IoSlice::new(b"x")];
    let refused = [
        first.store.append(CommitNumber(11), &piece).unwrap_err(),
        first.store.write_extent(&[b"x"]).unwrap_err(),
        first.store.checkpoint(b"", CommitNumber(10), first.end).unwrap_err(),
    ];
    assert!(refused.iter().all(|error| error.kind == ErrorKind::ReadOnly));
    assert_eq!(open_error(&folder).kind, ErrorKind::InUse);
    drop((first, second));
    assert!(folder.snapshot() == before);
}

#[test]
fn wrong_calls_are_refused() {
    let folder = with_commits(2);
    let (store, _) = Store::open(folder, NAME, options()).unwrap();
    assert_eq!(store.write_extent(&[b"x"]).unwrap_err().kind, ErrorKind::Invalid);
    store.finish_recovery().unwrap();
    assert_eq!(store.finish_recovery().unwrap_err().kind, ErrorKind::Invalid);
    let end = store.append(CommitNumber(3), &[IoSlice::new(b"x")]).unwrap();
    let beyond = gadus_base::LogPosition(end.0 + 8);
    assert_eq!(store.wait_durable(beyond).unwrap_err().kind, ErrorKind::Invalid);
    for wrong in [end.0 - 8, end.0 + 8, 0] {
        let up_to = gadus_base::LogPosition(wrong);
        let error = store.checkpoint(b"", CommitNumber(3), up_to).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
    }
    store.checkpoint(b"", CommitNumber(3), end).unwrap();
    let odd = Options { log_zone_bytes: 5000, ..options() };
    assert_eq!(Store::create(memory(), NAME, odd).unwrap_err().kind, ErrorKind::Invalid);
}
