//! What a program does beside its database: it spawns children, and reads files.

use crate::ledger::{NAME, options};
use crate::place::{Place, append};
use gadus_storage::{ErrorKind, Options, Store};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// How many descriptors of a process lead into a folder.
fn descriptors(process: &str, folder: &Path) -> usize {
    let all = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let targets = all.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    targets.filter(|target| target.starts_with(folder)).count()
}

#[test]
fn a_thousand_children_spawned_while_committing_take_nothing_along() {
    let place = Place::new();
    let (store, _) = place.open();
    let before = descriptors("self", place.path());
    assert_eq!(before, 3, "the data file, the log, and the memory");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_over = &is_over;
        let committing = scope.spawn(move || {
            let mut commits = 0;
            while !is_over.load(Ordering::Acquire) {
                store.wait_durable(append(&store, b"one")).unwrap();
                commits += 1;
            }
            (store, commits)
        });
        // Some live on until they are told to end: with what they have, if they have anything.
        let mut living = Vec::new();
        for number in 0..1000 {
            if number % 50 > 0 {
                assert!(Command::new("true").status().unwrap().success());
                continue;
            }
            let mut cat = Command::new("cat");
            let child = cat.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
            assert_eq!(descriptors(&child.id().to_string(), place.path()), 0);
            living.push(child);
        }
        is_over.store(true, Ordering::Release);
        let (store, commits) = committing.join().unwrap();
        assert_eq!(descriptors("self", place.path()), before);
        drop(store);
        assert_eq!(descriptors("self", place.path()), 0);
        // The living keep nobody out.
        let (alone, recovered) = Store::open(place.folder.clone(), NAME, options()).unwrap();
        assert_eq!(recovered.records.len(), commits);
        drop(alone);
        for child in &mut living {
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success());
        }
    });
}

#[test]
fn whoever_closes_a_database_can_open_it_at_once_while_children_are_spawned() {
    let place = Place::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Acquire) {
                    assert!(Command::new("true").status().unwrap().success());
                }
            });
        }
        let read_only = Options { read_only: true, ..options() };
        let opened = (0..300).try_for_each(|round| {
            let ways = [place.options(), options(), read_only.clone()];
            let (store, _) = Store::open(place.folder.clone(), NAME, ways[round % 3].clone())?;
            drop(store);
            Ok::<(), gadus_storage::StorageError>(())
        });
        is_over.store(true, Ordering::Release);
        opened.unwrap();
    });
}

#[test]
fn code_that_reads_and_closes_the_files_leaves_the_database_its_locks() {
    let place = Place::new();
    let (store, _) = place.open();
    let (other, _) = place.open();
    let memory = std::fs::read_dir(place.memory()).unwrap().next().unwrap().unwrap().path();
    let files = [NAME, "x.gadus-wal", "x.gadus-lck"].map(|name| place.path().join(name));
    for path in files.iter().chain([&memory]) {
        // By its name, for reading and for writing, and by a descriptor that there is already.
        let mut read = Vec::new();
        File::open(path).unwrap().read_to_end(&mut read).unwrap();
        let writable = OpenOptions::new().read(true).write(true).open(path).unwrap();
        drop(writable.try_clone().unwrap());
        drop(writable);
    }
    for entry in std::fs::read_dir("/proc/self/fd").unwrap() {
        let path = entry.unwrap().path();
        if std::fs::read_link(&path).is_ok_and(|target| target.starts_with(place.path())) {
            drop(File::open(path).unwrap());
        }
    }
    let excluding = Store::open(place.folder.clone(), NAME, options()).unwrap_err();
    assert_eq!(excluding.kind, ErrorKind::InUse, "{excluding}");
    assert_eq!((store.instances().len(), other.instances().len()), (2, 2));
    store.wait_durable(append(&store, b"goes on")).unwrap();
    assert_eq!(place.open().1.records.len(), 1);
}
