//! Files that are renamed, removed or replaced while instances have them open.
//!
//! - Those who are there go on with what they have; nobody joins them through other files.

use crate::ledger::NAME;
use crate::place::{Place, append, follow};
use gadus_base::clock;
use gadus_storage::{ErrorKind, Recovered, StorageError, Store};
use std::fs::{File, copy, remove_file, rename};
use std::io::Write;
use std::time::Duration;

const LOG: &str = "x.gadus-wal";
const RECORD: &str = "x.gadus-lck";

fn commit(store: &Store, payload: &[u8]) {
    let end = append(store, payload);
    store.wait_durable(end).unwrap();
}

fn refused(place: &Place) -> StorageError {
    let error = place.open_through(place.folder.clone()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InUse, "{error}");
    error
}

fn payloads(recovered: &Recovered) -> Vec<&[u8]> {
    recovered.records.iter().map(|record| &record.payload[..]).collect()
}

/// Puts a copy of a file in its own place, as whoever restores one does.
fn replace(place: &Place, name: &str) {
    let [there, copied] = [name, "copy"].map(|name| place.path().join(name));
    copy(&there, &copied).unwrap();
    rename(copied, there).unwrap();
}

#[test]
fn nobody_joins_through_a_copy_that_was_put_in_the_place_of_an_open_file() {
    for name in [NAME, LOG] {
        let place = Place::new();
        let (store, recovered) = place.open();
        commit(&store, b"before");
        let kept = place.path().join("kept");
        std::fs::hard_link(place.path().join(name), &kept).unwrap();
        replace(&place, name);
        let error = refused(&place);
        assert!(error.message.contains("replaced"), "{name}: {error}");
        commit(&store, b"after");
        assert_eq!(follow(&store, &mut recovered.end.clone()).len(), 2);
        rename(kept, place.path().join(name)).unwrap();
        let (joiner, recovered) = place.open();
        assert_eq!(payloads(&recovered), [b"before" as &[u8], b"after"], "{name}");
        drop((store, joiner));
        assert_eq!(place.memories(), 0, "{name}");
    }
}

#[test]
fn copies_of_both_files_in_their_places_are_a_database_of_their_own() {
    let place = Place::new();
    let (old, recovered) = place.open();
    let mut at = recovered.end;
    commit(&old, b"before");
    [NAME, LOG].iter().for_each(|name| replace(&place, name));
    let (new, recovered) = place.open();
    assert_eq!(payloads(&recovered), [b"before"]);
    assert_eq!((new.instances().len(), old.instances().len()), (1, 1));
    commit(&old, b"of the old one");
    commit(&new, b"of the new one");
    assert_eq!(follow(&old, &mut at)[1].payload, b"of the old one");
    drop(old);
    let (joiner, recovered) = place.open();
    assert_eq!(payloads(&recovered), [b"before" as &[u8], b"of the new one"]);
    drop((new, joiner));
    assert_eq!(place.memories(), 0);
}

#[test]
fn who_has_renamed_files_open_goes_on_with_them_and_a_new_database_is_another() {
    for with_record in [true, false] {
        let place = Place::new();
        let (old, _) = place.open();
        commit(&old, b"before");
        let elsewhere = place.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let moved = [NAME, LOG, RECORD];
        for name in moved.iter().take(if with_record { 3 } else { 2 }) {
            rename(place.path().join(name), elsewhere.join(name)).unwrap();
        }
        Store::make(place.folder.clone(), NAME, &place.options()).unwrap();
        let (new, recovered) = place.open();
        assert_eq!(payloads(&recovered), [] as [&[u8]; 0]);
        commit(&new, b"of the new one");
        commit(&old, b"of the old one");
        // Whoever comes by the new name joins the old ones, or nobody.
        let there = Place::at(&elsewhere);
        let options = place.options();
        let joined = Store::open(there.folder.clone(), NAME, options.clone());
        if with_record {
            let (joiner, recovered) = joined.unwrap();
            joiner.finish_recovery().unwrap();
            assert_eq!(payloads(&recovered), [b"before" as &[u8], b"of the old one"]);
            commit(&joiner, b"of the joiner");
        } else {
            assert_eq!(joined.unwrap_err().kind, ErrorKind::InUse);
            commit(&old, b"of the joiner");
        }
        drop((old, new));
        let all = [b"before" as &[u8], b"of the old one", b"of the joiner"];
        let (store, recovered) = Store::open(there.folder, NAME, options).unwrap();
        assert_eq!(payloads(&recovered), all);
        drop(store);
        assert_eq!(payloads(&place.open().1), [b"of the new one"]);
        assert_eq!(place.memories(), 0);
    }
}

#[test]
fn where_the_memory_is_removed_nobody_joins_until_all_have_left() {
    let place = Place::new();
    let stores = [place.open().0, place.open().0];
    for file in std::fs::read_dir(place.memory()).unwrap() {
        remove_file(file.unwrap().path()).unwrap();
    }
    for (number, store) in (1..).zip(&stores) {
        commit(store, &[number]);
        assert!(refused(&place).message.contains("does not reach"));
        assert_eq!(store.instances().len(), 2);
    }
    drop(stores);
    let (store, recovered) = place.open();
    assert_eq!(payloads(&recovered), [&[1], &[2]]);
    assert_eq!((store.instances().len(), place.memories()), (1, 1));
}

#[test]
fn where_the_record_of_openers_is_removed_nobody_joins_until_all_have_left() {
    let place = Place::new();
    let stores = [place.open().0, place.open().0];
    remove_file(place.path().join(RECORD)).unwrap();
    for (number, store) in (1..).zip(&stores) {
        commit(store, &[number]);
        refused(&place);
        assert_eq!((store.instances().len(), place.memories()), (2, 1));
    }
    drop(stores);
    assert_eq!(place.memories(), 0);
    let (store, recovered) = place.open();
    assert_eq!(payloads(&recovered), [&[1], &[2]]);
    assert_eq!(place.open().0.instances().len(), 2);
    drop(store);
}

#[test]
fn another_version_of_the_program_is_kept_out_while_this_one_is_there() {
    let place = Place::new();
    let (store, _) = place.open();
    let file = std::fs::read_dir(place.memory()).unwrap().next().unwrap().unwrap().path();
    let memory = std::fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    // As the memory of another version says it: behind eight bytes that say whose it is.
    use std::os::unix::fs::FileExt;
    let mut version = [0; 8];
    memory.read_exact_at(&mut version, 8).unwrap();
    for other in [u64::from_le_bytes(version) - 1, u64::from_le_bytes(version) + 1] {
        memory.write_all_at(&other.to_le_bytes(), 8).unwrap();
        let error = refused(&place);
        assert!(error.message.contains("another version"), "{error}");
        commit(&store, b"goes on");
    }
    memory.write_all_at(&version, 8).unwrap();
    assert_eq!(place.open().1.records.len(), 2);
}

/// Opens the file of the shared memory, as a process does that takes no part.
fn memory_of(place: &Place) -> File {
    let memory = std::fs::read_dir(place.memory()).unwrap().next().unwrap().unwrap().path();
    File::options().write(true).open(memory).unwrap()
}

#[test]
fn all_instances_stop_with_the_reason_when_the_memory_is_cut_off() {
    let place = Place::new();
    let (store, _) = place.open();
    let (other, _) = place.open();
    commit(&store, b"before");
    memory_of(&place).set_len(0).unwrap();
    for instance in [store, other] {
        let until = clock().now().plus(Duration::from_secs(10));
        while instance.check_memory().is_ok() && clock().now() < until {
            std::thread::yield_now();
        }
        let error = instance.turn_within(Duration::from_secs(1)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt, "{error}");
        assert!(error.message.contains("cut off"), "{error}");
    }
    let (_store, recovered) = place.open();
    assert_eq!(payloads(&recovered), [b"before"]);
}

#[test]
fn nothing_is_appended_when_the_memory_was_overwritten() {
    let place = Place::new();
    let (store, _) = place.open();
    commit(&store, b"before");
    memory_of(&place).write_all(&[0; 4096]).unwrap();
    let error = store.turn_within(Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Corrupt, "{error}");
    assert!(error.message.contains("overwritten from outside"), "{error}");
    drop(store);
    let (_store, recovered) = place.open();
    assert_eq!(payloads(&recovered), [b"before"]);
}
