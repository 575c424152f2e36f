//! Compaction through the public face: space, contents, snapshots and conflicts.

use crate::reference::{Row, batch_of, random_row, rows_of, schema, state_of, verify};
use gadus_base::{ByteCount, Random, RowId, clock};
use gadus_block::{
    ErrorKind as DiskError, Fault, FaultPlan, FaultyFolder, MemoryFolder, Operation, Repeat,
};
use gadus_engine::{Datum, Durability, Engine, ErrorKind, Options, RowChange, TableSchema};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "x.gadus";
const LOG: &str = "x.gadus-wal";

/// The fewest rows that a load writes as a segment.
const LOAD: i64 = 8_192;

fn options() -> Options {
    Options { cache: Some(ByteCount::mib(4)), threads: 1, ..Options::default() }
}

fn open(folder: &Arc<MemoryFolder>) -> Engine {
    Engine::open(folder.clone(), NAME, options()).unwrap()
}

fn create(engine: &Engine, key: Vec<usize>) -> Arc<TableSchema> {
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema("t", key)).unwrap();
    transaction.commit().unwrap();
    schema
}

/// Loads rows as a segment of their own; small ones may be compacted at once.
fn load(engine: &Engine, schema: &Arc<TableSchema>, firsts: std::ops::Range<i64>) {
    let mut random = Random::seeded(firsts.start as u64);
    let rows = firsts.map(|first| random_row(&mut random, schema, first)).collect::<Vec<Row>>();
    let mut transaction = engine.begin().unwrap();
    let mut bulk = transaction.bulk(schema).unwrap();
    bulk.push(&batch_of(schema, &rows)).unwrap();
    assert_eq!(transaction.finish_bulk(bulk).unwrap(), rows.len() as u64);
    transaction.commit().unwrap();
}

/// Deletes the rows whose first column is chosen.
fn delete(engine: &Engine, schema: &TableSchema, chosen: impl Fn(i64) -> bool) {
    loop {
        let mut transaction = engine.begin().unwrap();
        let there = rows_of(&transaction.snapshot().table("t").unwrap(), Vec::new());
        let rows = there.iter().filter(|(first, _)| chosen(**first)).map(|(_, (row, _))| *row);
        transaction.delete(schema, &rows.collect::<Vec<_>>()).unwrap();
        match transaction.commit() {
            Ok(_) => return,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
        }
    }
}

/// Bytes of the data file that somebody names.
fn used(engine: &Engine) -> u64 {
    // What was dropped is free after two checkpoints, and the last one holds what it wrote.
    for _ in 0..4 {
        engine.checkpoint().unwrap();
    }
    let store = engine.statistics().store;
    store.data_file_bytes - store.free_bytes - store.pending_bytes
}

fn segments(engine: &Engine) -> usize {
    engine.snapshot().unwrap().table("t").unwrap().segments()
}

fn place(engine: &Engine, first: i64) -> RowId {
    let table = engine.snapshot().unwrap().table("t").unwrap();
    table.find_key(&[Datum::Integer(first)]).unwrap().unwrap()
}

#[test]
fn the_space_of_deleted_rows_is_given_back() {
    for key in [vec![], vec![0]] {
        let folder = Arc::new(MemoryFolder::new());
        let engine = open(&folder);
        let schema = create(&engine, key.clone());
        // One fuller than half a segment, which nothing but its deletes makes a candidate.
        load(&engine, &schema, 0..40_000);
        load(&engine, &schema, 40_000..75_000);
        let before = used(&engine);
        delete(&engine, &schema, |first| first % 40 != 0);
        let expected = state_of(&engine.snapshot().unwrap());
        engine.compact().unwrap();
        let after = used(&engine);
        assert!(after * 8 < before, "{key:?}: {after} of {before} bytes are in use");
        assert_eq!(segments(&engine), 1);
        assert_eq!(state_of(&engine.snapshot().unwrap()), expected);
        verify(&engine, "compacted");
        // Recovered from the log, and as closed.
        let killed = Arc::new(folder.copy());
        drop(engine);
        for folder in [killed, folder] {
            let engine = open(&folder);
            assert_eq!(state_of(&engine.snapshot().unwrap()), expected);
            assert_eq!(segments(&engine), 1);
            verify(&engine, "reopened");
        }
    }
}

#[test]
fn a_table_without_rows_takes_no_space() {
    let engine = Engine::in_memory(options()).unwrap();
    let empty = used(&engine);
    let schema = create(&engine, vec![0]);
    load(&engine, &schema, 0..66_000 + LOAD);
    delete(&engine, &schema, |_| true);
    engine.compact().unwrap();
    assert_eq!(segments(&engine), 0);
    let after = used(&engine);
    assert!(after <= empty + (128 << 10), "{after} bytes are in use, {empty} before");
    verify(&engine, "emptied");
    load(&engine, &schema, 0..LOAD);
    assert_eq!(engine.snapshot().unwrap().table("t").unwrap().rows().unwrap(), LOAD as u64);
    verify(&engine, "loaded again");
}

#[test]
fn small_segments_are_merged_in_the_order_of_their_rows() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, vec![0]);
    for number in 0..9 {
        load(&engine, &schema, number * 9_000..(number + 1) * 9_000);
    }
    let expected = state_of(&engine.snapshot().unwrap());
    engine.compact().unwrap();
    assert!(segments(&engine) <= 3, "{} segments", segments(&engine));
    assert_eq!(state_of(&engine.snapshot().unwrap()), expected);
    let rows = rows_of(&engine.snapshot().unwrap().table("t").unwrap(), Vec::new());
    let mut last = BTreeMap::new();
    for (row, _) in rows.values() {
        let before = last.insert(row.segment, row.position);
        assert!(before.is_none_or(|before| before < row.position), "{row:?} is out of order");
    }
    verify(&engine, "merged");
}

#[test]
fn the_segment_that_takes_rows_is_left_alone() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, vec![0]);
    let rows = (0..100).map(|first| Arc::from(random_row(&mut Random::seeded(1), &schema, first)));
    engine.insert_rows(&schema, rows.collect(), Durability::Off).unwrap();
    delete(&engine, &schema, |first| first > 3);
    engine.fold().unwrap();
    let before = place(&engine, 2);
    engine.compact().unwrap();
    assert_eq!(place(&engine, 2), before);
}

#[test]
fn a_snapshot_from_before_reads_what_it_read() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, vec![0]);
    load(&engine, &schema, 0..LOAD);
    load(&engine, &schema, LOAD..2 * LOAD);
    let old = engine.snapshot().unwrap();
    let expected = state_of(&old);
    let place_then = place(&engine, 7);
    delete(&engine, &schema, |first| first % 50 != 7);
    engine.compact().unwrap();
    used(&engine);
    assert_ne!(place(&engine, 7), place_then);
    // Into the space that would be free by now.
    load(&engine, &schema, 2 * LOAD..3 * LOAD);
    assert_eq!(state_of(&old), expected);
    let table = old.table("t").unwrap();
    assert_eq!(table.find_key(&[Datum::Integer(7)]).unwrap(), Some(place_then));
    drop((old, table));
    verify(&engine, "without the snapshot");
}

#[test]
fn a_transaction_conflicts_exactly_when_its_rows_were_moved() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, vec![0]);
    load(&engine, &schema, 0..40_000);
    load(&engine, &schema, 40_000..40_000 + LOAD);
    let begin_with = |first: i64| {
        let transaction = engine.begin().unwrap();
        let row = transaction.snapshot().table("t").unwrap();
        let row = row.find_key(&[Datum::Integer(first)]).unwrap().unwrap();
        (transaction, row)
    };
    let moved = 40_000 + 5;
    let (mut keeps, row) = begin_with(moved);
    keeps.update(&schema, &[1], &[row], &[vec![Datum::Integer(0)]]).unwrap();
    let [mut updates, mut deletes] = [(); 2].map(|()| begin_with(moved).0);
    let (mut other, row) = begin_with(5);
    other.update(&schema, &[1], &[row], &[vec![Datum::Integer(2)]]).unwrap();
    delete(&engine, &schema, |first| first > 40_000 && first % 50 != 5);
    let place_then = place(&engine, moved);
    engine.compact().unwrap();
    assert_eq!(place(&engine, moved), place_then, "a row of the segment is locked");
    keeps.commit().unwrap();
    engine.compact().unwrap();
    assert_ne!(place(&engine, moved), place_then);
    let late = updates.update(&schema, &[1], &[place_then], &[vec![Datum::Integer(1)]]);
    assert_eq!(late.unwrap_err().kind(), ErrorKind::Conflict);
    drop(updates);
    let late = deletes.delete(&schema, &[place_then]);
    assert_eq!(late.unwrap_err().kind(), ErrorKind::Conflict);
    drop(deletes);
    other.commit().unwrap();
    let values =
        |first: i64| engine.snapshot().unwrap().table("t").unwrap().row(place(&engine, first));
    assert_eq!(values(5).unwrap().unwrap()[1], Datum::Integer(2));
    // Tried again, both find the row where it is now.
    let (mut updates, row) = begin_with(moved);
    updates.update(&schema, &[1], &[row], &[vec![Datum::Integer(1)]]).unwrap();
    updates.commit().unwrap();
    assert_eq!(values(moved).unwrap().unwrap()[1], Datum::Integer(1));
    let deleted = engine
        .change_row(&schema, &[Datum::Integer(moved)], Durability::Sync, |_| Ok(RowChange::Delete));
    assert_eq!(deleted.unwrap(), 1);
    let again = random_row(&mut Random::seeded(1), &schema, moved);
    engine.insert_rows(&schema, vec![Arc::from(again)], Durability::Sync).unwrap();
    verify(&engine, "after conflicts");
}

#[test]
fn deletes_and_openings_have_segments_compacted_in_the_background() {
    let folder = Arc::new(MemoryFolder::new());
    let wait = |engine: &Engine, wanted: usize| {
        let begun = clock().now();
        while segments(engine) != wanted {
            assert!(begun.elapsed() < Duration::from_secs(60), "{} segments", segments(engine));
            std::thread::yield_now();
        }
    };
    let engine = open(&folder);
    let schema = create(&engine, vec![0]);
    load(&engine, &schema, 0..40_000);
    load(&engine, &schema, 40_000..80_000);
    assert_eq!(segments(&engine), 2);
    let image = {
        delete(&engine, &schema, |first| first % 100 != 0);
        folder.copy()
    };
    wait(&engine, 1);
    delete(&engine, &schema, |_| true);
    wait(&engine, 0);
    for number in 0..4 {
        load(&engine, &schema, number * LOAD..(number + 1) * LOAD);
    }
    wait(&engine, 1);
    assert_eq!(engine.statistics().maintenance_error, None);
    verify(&engine, "compacted in the background");
    // What a kill interrupted goes on at the next opening.
    let engine = open(&Arc::new(image));
    wait(&engine, 1);
    assert_eq!(engine.snapshot().unwrap().table("t").unwrap().rows().unwrap(), 800);
}

#[test]
fn a_failing_disk_fails_the_compaction_and_nothing_else() {
    let folder = Arc::new(MemoryFolder::new());
    let (image, expected) = {
        let engine = open(&folder);
        let schema = create(&engine, vec![0]);
        for number in 0..3 {
            load(&engine, &schema, number * LOAD..(number + 1) * LOAD);
        }
        delete(&engine, &schema, |first| first % 100 != 0);
        let image = folder.copy();
        (image, state_of(&engine.snapshot().unwrap()))
    };
    for (name, operation, fault) in [
        (NAME, Operation::Write, Fault::Error(DiskError::NoSpace)),
        (NAME, Operation::Write, Fault::Error(DiskError::Io)),
        (NAME, Operation::Sync, Fault::Error(DiskError::Io)),
        (LOG, Operation::Write, Fault::Partial(20, DiskError::NoSpace)),
        (LOG, Operation::Write, Fault::Error(DiskError::Io)),
    ] {
        for nth in 1..5 {
            let place = format!("{operation:?} {nth} of {name}, {fault:?}");
            let (plan, disk) = (FaultPlan::new(), Arc::new(image.copy()));
            let faulty = Arc::new(FaultyFolder::new(disk.clone(), plan.clone()));
            let engine = Engine::open(faulty, NAME, options()).unwrap();
            let next = plan.count_on(name, operation) + nth;
            plan.fail_on(name, operation, next, Repeat::Once, fault);
            // The fault meets this compaction or the one of the background.
            if let Err(error) = engine.compact() {
                let known = [ErrorKind::NoSpace, ErrorKind::Io, ErrorKind::Poisoned];
                assert!(known.contains(&error.kind()), "{place}: {error}");
            }
            assert_eq!(state_of(&engine.snapshot().unwrap()), expected, "{place}");
            plan.heal();
            drop(engine);
            let engine = open(&disk);
            engine.compact().unwrap();
            assert_eq!(segments(&engine), 1, "{place}");
            assert_eq!(state_of(&engine.snapshot().unwrap()), expected, "{place}");
            verify(&engine, &place);
        }
    }
}
