//! Processes that die while they create, open, use and leave a database, one after another at each of
//! its steps, and at any moment.

use crate::child::{Child, say, task};
use crate::ledger::{NAME, options};
use crate::place::{Place, append, try_append};
use gadus_base::{CommitNumber, Random};
use gadus_block::{Folder, HookedFolder};
use gadus_storage::{ErrorKind, Recovered, StorageError, Store};
use std::sync::Arc;

const MODULE: &str = "deaths";

/// What a child does; nothing in the parent.
#[test]
fn child() {
    let Some((task, path)) = task() else { return };
    let place = Place::at(&path);
    let (what, operations) = task.split_once(' ').unwrap();
    let operations = operations.parse().unwrap();
    let folder: Arc<dyn Folder> =
        Arc::new(HookedFolder::killed_after(place.folder.clone(), operations));
    match what {
        "create" => Store::make(folder, NAME, &place.options()).unwrap(),
        "work" => work(&place.open_through(folder).unwrap().0).unwrap(),
        "open" => open_again_and_again(&place, operations),
        what => panic!("what is {what}?"),
    }
    say("done");
}

/// Commits and checkpoints, and says what is durable.
pub(crate) fn work(store: &Store) -> Result<(), StorageError> {
    for _ in 0..2 {
        for _ in 0..2 {
            say(&try_commit(store)?.to_string());
        }
        try_checkpoint(store)?;
    }
    say(&try_commit(store)?.to_string());
    Ok(())
}

fn commit(store: &Store) {
    try_commit(store).unwrap();
}

/// Each record is the number of its commit, in more or fewer bytes; returns the number.
fn try_commit(store: &Store) -> Result<u64, StorageError> {
    let number = store.log_end().commit().next().0;
    let end = try_append(store, &number.to_le_bytes().repeat(1 + 40 * (number % 5) as usize))?;
    store.wait_durable(end)?;
    Ok(number)
}

fn checkpoint(store: &Store) {
    try_checkpoint(store).unwrap();
}

fn try_checkpoint(store: &Store) -> Result<(), StorageError> {
    let _turn = store.checkpoint_turn()?;
    let end = store.log_end();
    store.wait_durable(end.position())?;
    store.checkpoint_begins();
    store.checkpoint(&end.commit().0.to_le_bytes(), end.commit(), end.position())?;
    store.find_free_space(|| true);
    Ok(())
}

/// Asserts that all that was found is what was written; returns the last commit.
pub(crate) fn verified(recovered: &Recovered) -> u64 {
    let root = recovered.root.as_deref().map_or(Ok([0; 8]), <[u8; 8]>::try_from).unwrap();
    assert_eq!(recovered.commit, CommitNumber(u64::from_le_bytes(root)));
    let mut last = recovered.commit.0;
    for record in &recovered.records {
        last += 1;
        assert_eq!(record.commit, CommitNumber(last));
        assert_eq!(record.payload[..8], last.to_le_bytes());
        assert_eq!(record.payload.len() as u64, 8 * (1 + 40 * (last % 5)));
    }
    last
}

/// A child that dies after so many operations; gives the last commit that it called durable, and
/// whether it came to its end.
fn live(place: &Place, what: &str, operations: u64) -> (u64, bool) {
    let mut child = Child::spawn(MODULE, &format!("{what} {operations}"), place.path());
    let (mut durable, mut is_done) = (0, false);
    while let Some(said) = child.try_hear() {
        match said.parse() {
            Ok(commit) => durable = commit,
            Err(_) => is_done = said == "done",
        }
    }
    let status = child.end();
    let was_killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
    assert!(is_done || was_killed, "after {operations} operations: {status}");
    (durable, is_done)
}

#[test]
fn who_dies_creating_leaves_nothing_or_a_database() {
    for operations in 0.. {
        let place = Place::empty();
        let (_, is_done) = live(&place, "create", operations);
        let opened = Store::open(place.folder.clone(), NAME, place.options());
        if let Err(StorageError { kind: ErrorKind::NotFound | ErrorKind::Unfinished, .. }) = opened
        {
            assert!(!is_done);
            Store::make(place.folder.clone(), NAME, &place.options()).unwrap();
        } else {
            drop(opened.unwrap());
        }
        let (store, recovered) = place.open();
        assert_eq!(verified(&recovered), 0, "after {operations} operations");
        commit(&store);
        drop(store);
        assert_eq!(place.memories(), 0);
        if is_done {
            assert!(operations > 15, "only {operations} operations");
            break;
        }
    }
}

#[test]
fn the_next_recovers_whoever_died_opening_or_working_alone() {
    let place = Place::new();
    for operations in 0.. {
        let (durable, is_done) = live(&place, "work", operations);
        let (store, recovered) = place.open();
        assert_eq!(recovered.warnings, [] as [&str; 0], "after {operations} operations");
        let last = verified(&recovered);
        assert!(last >= durable, "after {operations} operations: {last} of {durable}");
        assert_eq!((store.instances().len(), place.memories()), (1, 1));
        commit(&store);
        drop(store);
        assert_eq!(place.memories(), 0, "after {operations} operations");
        if is_done {
            assert!(operations > 60, "only {operations} operations");
            break;
        }
    }
}

#[test]
fn those_who_are_there_go_on_whoever_dies_joining_or_working() {
    let place = Place::new();
    let (store, _) = place.open();
    for operations in 0.. {
        let (durable, is_done) = live(&place, "work", operations);
        let last = store.log_end().commit().0;
        assert!(last >= durable, "after {operations} operations: {last} of {durable}");
        commit(&store);
        checkpoint(&store);
        commit(&store);
        let (joiner, recovered) = place.open();
        assert_eq!(verified(&recovered), last + 2, "after {operations} operations");
        assert_eq!((store.instances().len(), place.memories()), (2, 1));
        drop(joiner);
        if is_done {
            assert!(operations > 60, "only {operations} operations");
            break;
        }
    }
    let log_bytes = store.statistics().log_file_bytes;
    assert!(log_bytes < 100_000, "the dead keep no log: {log_bytes}");
    drop(store);
    assert_eq!(place.memories(), 0);
}

/// Opens and leaves, with one commit in between, which says whose it is.
fn open_again_and_again(place: &Place, number: u64) {
    for round in 0_u64.. {
        let (store, _) = place.open();
        let end = append(&store, &[number.to_le_bytes(), round.to_le_bytes()].concat());
        store.wait_durable(end).unwrap();
        drop(store);
        say(&round.to_string());
    }
}

#[test]
fn opening_and_leaving_at_once_loses_nothing_whoever_is_killed() {
    const AT_ONCE: u64 = 4;
    const LIVES: u64 = 12;
    let place = &Place::new();
    let mut acknowledged = std::thread::scope(|scope| {
        let lives = (0..AT_ONCE).map(|one| {
            scope.spawn(move || {
                let (mut random, mut acknowledged) = (Random::from_system(), Vec::new());
                for life in 0..LIVES {
                    let number = one * LIVES + life;
                    let mut child = Child::spawn(MODULE, &format!("open {number}"), place.path());
                    for round in 0..1 + random.below(40) {
                        child.hear(&round.to_string());
                        acknowledged.push([number, round]);
                    }
                    (0..random.below(500)).for_each(|_| std::thread::yield_now());
                    child.kill();
                }
                acknowledged
            })
        });
        let lives = lives.collect::<Vec<_>>();
        lives.into_iter().flat_map(|life| life.join().unwrap()).collect::<Vec<_>>()
    });
    let (store, recovered) = place.open();
    let commits = recovered.records.iter().map(|record| record.commit.0);
    assert_eq!(Vec::from_iter(commits), Vec::from_iter(1..=recovered.records.len() as u64));
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let found = recovered.records.iter().map(|r| [word(&r.payload[..8]), word(&r.payload[8..])]);
    let mut found = found.collect::<Vec<_>>();
    found.sort_unstable();
    acknowledged.sort_unstable();
    assert!(found.windows(2).all(|two| two[0] != two[1]), "nothing is there twice");
    let lost = acknowledged.iter().find(|one| found.binary_search(one).is_err());
    assert_eq!(lost, None, "acknowledged, and gone");
    println!("{} openings, {} acknowledged", found.len(), acknowledged.len());
    drop(store);
    assert_eq!(place.memories(), 0);
    let alone = Store::open(place.folder.clone(), NAME, options());
    assert!(alone.is_ok(), "nobody is left");
}
