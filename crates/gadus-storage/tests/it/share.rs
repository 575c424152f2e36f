//! Several instances on one file, in one process.

use crate::ledger::{NAME, options};
use crate::place::{Place, append, follow};
use gadus_base::{CommitNumber, spawn};
use gadus_block::OpenMode;
use gadus_storage::{ErrorKind, Options, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn what_one_appends_the_others_read() {
    let place = Place::new();
    let ((one, _), (two, recovered)) = (place.open(), place.open());
    let mut at = recovered.end;
    for round in 0..300_u32 {
        let payload = vec![7; 100 * round as usize];
        let writer = if round % 2 == 0 { &one } else { &two };
        let end = append(writer, &payload);
        let records = follow(&two, &mut at);
        assert_eq!(records.len(), 1);
        assert_eq!((&*records[0].payload, records[0].position), (&*payload, end));
        if round % 10 == 0 {
            one.wait_durable(end).unwrap();
            assert!(two.durable() >= end);
        }
    }
    // A third one finds all of it, from the files and the memory.
    let (three, recovered) = place.open();
    assert_eq!(recovered.records.len(), 300);
    assert_eq!(recovered.end, three.log_end());
    assert_eq!(three.instances().len(), 3);
    assert_eq!(place.memories(), 1);
    drop((one, two));
    assert_eq!(three.instances().len(), 1);
    drop(three);
    assert_eq!(place.memories(), 0, "the last one removes the memory");
    assert_eq!(place.open().1.records.len(), 300);
}

#[test]
fn a_long_record_goes_to_the_file_and_is_read_from_there() {
    let place = Place::new();
    let ((one, _), (two, recovered)) = (place.open(), place.open());
    let mut at = recovered.end;
    for bytes in [3_usize, 400_000, 5, 2_000_000, 1_100_000, 8] {
        let payload: Vec<u8> = (0..bytes).map(|i| u8::try_from(i % 251).unwrap()).collect();
        append(&one, &payload);
        assert_eq!(follow(&two, &mut at)[0].payload, payload);
    }
    let end = append(&two, b"last");
    two.wait_durable(end).unwrap();
    drop((one, two));
    assert_eq!(place.open().1.records.len(), 7);
}

#[test]
fn an_instance_that_fell_behind_reads_the_checkpoint_and_one_that_pins_does_not() {
    let place = Place::new();
    let ((one, _), (idle, recovered)) = (place.open(), place.open());
    let (pinning, also) = place.open();
    assert!(pinning.pin(also.end.commit(), also.end.position()));
    let checkpoint = |store: &Store| {
        let _turn = store.checkpoint_turn().unwrap();
        let end = append(store, &[1; 3000]);
        let commit = store.log_end().commit();
        store.checkpoint(b"root", commit, end).unwrap();
        store.find_free_space(|| true);
    };
    for _ in 0..3 {
        for _ in 0..20 {
            append(&one, &[2; 3000]);
        }
        checkpoint(&one);
    }
    assert!(idle.records_after(&recovered.end).unwrap().is_none());
    let again = idle.read_again().unwrap();
    idle.end_reading();
    assert_eq!(again.root.as_deref(), Some(&b"root"[..]));
    assert_eq!(again.end, one.log_end());
    let (all, _) = pinning.records_after(&also.end).unwrap().unwrap();
    assert_eq!(all.len(), 63);
    pinning.unpin();
    // The other one's checkpoint goes on where this one's ended.
    checkpoint(&idle);
    drop((one, idle, pinning));
    let (_, recovered) = place.open();
    assert_eq!(recovered.commit, CommitNumber(64));
    assert!(recovered.records.is_empty());
}

#[test]
fn who_catches_up_beside_a_refused_pin_is_told_that_the_log_is_gone() {
    let place = Place::new();
    let ((one, _), (two, recovered)) = (place.open(), place.open());
    for _ in 0..3 {
        // More than the memory holds.
        for _ in 0..200 {
            append(&one, &[2; 3000]);
        }
        let _turn = one.checkpoint_turn().unwrap();
        let end = one.log_end();
        one.checkpoint(b"root", end.commit(), end.position()).unwrap();
    }
    let old = recovered.end;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A thread that has looked at what is visible long ago.
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                assert!(!two.pin(old.commit(), old.position()));
            }
        });
        let mut reads = (0..100_000).map(|_| two.records_after(&old));
        let read = reads.find(|read| !matches!(read, Ok(None)));
        is_over.store(true, Ordering::Release);
        assert!(read.is_none(), "{:?}", read.map(|read| read.map(|_| "was read")));
    });
}

#[test]
fn sharing_and_excluding_do_not_mix() {
    let place = Place::new();
    let (one, _) = place.open();
    let exclusive = Store::open(place.folder.clone(), NAME, options()).unwrap_err();
    assert_eq!(exclusive.kind, ErrorKind::InUse);
    drop(one);
    let (alone, _) = Store::open(place.folder.clone(), NAME, options()).unwrap();
    let sharing = Store::open(place.folder.clone(), NAME, place.options()).unwrap_err();
    assert_eq!(sharing.kind, ErrorKind::InUse, "{sharing}");
    drop(alone);
    let read_only = Options { read_only: true, ..options() };
    let (reader, _) = Store::open(place.folder.clone(), NAME, read_only).unwrap();
    let sharing = Store::open(place.folder.clone(), NAME, place.options()).unwrap_err();
    assert_eq!(sharing.kind, ErrorKind::InUse, "{sharing}");
    assert!(sharing.message.contains("for reading only"), "{sharing}");
    drop(reader);
    let (one, _) = place.open();
    // As in a container whose memory is another one.
    let elsewhere = place.path().join("memory");
    std::fs::rename(&elsewhere, place.path().join("hidden")).unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    let unreachable = Store::open(place.folder.clone(), NAME, place.options()).unwrap_err();
    assert_eq!(unreachable.kind, ErrorKind::InUse, "{unreachable}");
    assert!(unreachable.message.contains("does not reach"), "{unreachable}");
    drop(one);
}

#[test]
fn the_last_removes_the_memory_though_the_record_of_openers_is_gone() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    place.folder.remove(&format!("{NAME}-lck")).unwrap();
    drop(one);
    assert_eq!(place.memories(), 1);
    drop(two);
    assert_eq!(place.memories(), 0);
}

#[test]
fn nobody_joins_before_the_first_knows_what_is_in_use() {
    let place = Place::new();
    let (first, _) = Store::open(place.folder.clone(), NAME, place.options()).unwrap();
    std::thread::scope(|scope| {
        let joiner = scope.spawn(|| {
            let (joiner, _) = place.open();
            let end = append(&joiner, b"one");
            let turn = joiner.checkpoint_turn().unwrap();
            // Named by the header as soon as it is there: no reservation keeps the space any more.
            let root = vec![7; 200 << 10];
            joiner.checkpoint(&root, joiner.log_end().commit(), end).unwrap();
            drop(turn);
            joiner
        });
        place.until_somebody_waits(&format!("{NAME}-lck"), || joiner.is_finished());
        first.finish_recovery().unwrap();
        let joiner = joiner.join().unwrap();
        let (third, recovered) = place.open();
        assert_eq!(recovered.root.as_deref(), Some(&[7; 200 << 10][..]));
        drop((joiner, third));
    });
}

#[test]
fn what_one_has_dropped_later_than_others_keeps_nobody_from_joining() {
    let place = Place::new();
    let ((one, recovered), (late, _)) = (place.open(), place.open());
    let checkpoint = |store: &Store, root: &[u8]| {
        let _turn = store.checkpoint_turn().unwrap();
        let end = append(store, b"record");
        store.checkpoint(root, store.log_end().commit(), end).unwrap();
        store.find_free_space(|| true);
    };
    // Space for short roots comes first in the file.
    let (room, _) = one.write_extent(&[&[1; 64 << 10]]).unwrap();
    checkpoint(&one, &vec![7; 200 << 10]);
    drop(room);
    drop(late.checkpoint_turn().unwrap());
    // The long root is given up, and the file's end with it; who is late knows it as the newest.
    // What it reads keeps others from giving away space, and so from finding the end.
    assert!(one.pin(one.log_end().commit(), one.appended()));
    let longer = one.statistics().data_file_bytes;
    (0..12).for_each(|_| checkpoint(&one, b"short"));
    assert!(one.statistics().data_file_bytes < longer);
    checkpoint(&late, b"shorter");
    let (joiner, rest) = place.open();
    assert_eq!(rest.root.as_deref(), Some(&b"shorter"[..]));
    drop((joiner, one, late, recovered));
}

#[test]
fn the_next_waits_for_the_files_of_one_who_died_opening() {
    let place = Place::new();
    drop(place.open());
    let record = place.path().join(format!("{NAME}-lck"));
    let text = std::fs::read_to_string(&record).unwrap();
    assert!(text.contains("sharing shared"), "{text}");
    for state in ["shared", "opening", "exclusive"] {
        let as_left = text.replace("sharing shared", &format!("sharing {state}"));
        std::fs::write(&record, as_left).unwrap();
        // Its turn by the record is over, and its files are closed one after another.
        let dying = [NAME.to_owned(), format!("{NAME}-wal")].map(|file| {
            let device = place.folder.open(&file, OpenMode::ReadWrite).unwrap();
            device.take_turn().unwrap();
            assert!(device.try_own().unwrap());
            device
        });
        std::thread::scope(|scope| {
            let next = scope.spawn(|| place.open());
            for device in dying {
                place.until_somebody_waits(device.name(), || next.is_finished());
                drop(device);
            }
            next.join().unwrap();
        });
    }
    // Else it would be refused: it may be anybody.
    let alive = place.folder.open(NAME, OpenMode::ReadWrite).unwrap();
    assert!(alive.try_own().unwrap());
    std::fs::write(&record, text.replace("sharing shared", "sharing exclusive")).unwrap();
    let refused = Store::open(place.folder.clone(), NAME, place.options()).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::InUse, "{refused}");
}

#[test]
fn whoever_opens_beside_a_maker_finds_the_files_free() {
    for _ in 0..50 {
        let place = Place::empty();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| match Store::make(place.folder.clone(), NAME, &place.options()) {
                    Err(error) if error.kind != ErrorKind::AlreadyExists => panic!("{error}"),
                    _ => drop(place.open()),
                });
            }
        });
    }
}

#[test]
fn who_gives_up_recovering_leaves_the_turn_to_the_next() {
    let place = Place::new();
    drop(Store::open(place.folder.clone(), NAME, place.options()).unwrap());
    assert_eq!(place.memories(), 0);
    drop(place.open());
}

#[test]
fn opening_and_closing_at_once_loses_nothing() {
    let place = Arc::new(Place::new());
    let threads = (0..4_u8).map(|thread| {
        let place = place.clone();
        spawn("opener", move || {
            for round in 0..30_u8 {
                let (store, _) = place.open();
                let end = append(&store, &[thread, round]);
                store.wait_durable(end).unwrap();
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.unwrap().join().unwrap();
    }
    let (store, recovered) = place.open();
    let mut payloads = recovered.records.iter().map(|r| r.payload.to_vec()).collect::<Vec<_>>();
    payloads.sort();
    let expected = (0..4).flat_map(|thread| (0..30).map(move |round| vec![thread, round]));
    assert_eq!(payloads, Vec::from_iter(expected));
    let commits = recovered.records.iter().map(|record| record.commit.0);
    assert_eq!(Vec::from_iter(commits), Vec::from_iter(1..=120));
    drop(store);
    assert_eq!(place.memories(), 0);
}
