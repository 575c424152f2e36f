//! Snapshots that keep too much from being used again: given up, wherever they are read, and never
//! wrong before.

use crate::reference::verify;
use crate::threads::{Place, row, schema, total, transfer};
use arrow::array::Int64Array;
use gadus_base::{ByteCount, Random};
use gadus_engine::{
    Datum, Durability, Engine, Error, ErrorKind, Fate, FoundModification, Modification, Options,
    RowChange, ScanRequest, Snapshot, TableSchema,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const ROWS: i64 = 20_000;
const LIMIT: ByteCount = ByteCount::mib(1);
/// Less than the table: within an instance a snapshot keeps no more than it shows, and no log where
/// nobody else follows it.
const LIMIT_WITHIN: ByteCount = ByteCount::kib(16);
/// Rounds until the limit is reached, many times over: one leaves about 60 KiB behind.
const ROUNDS: i64 = 120;

fn make(engine: &Engine) -> Arc<TableSchema> {
    let mut transaction = engine.begin().unwrap();
    let made = transaction.create_table(&schema("t")).unwrap();
    let rows = (0..ROWS).map(|id| row(id, id * 7_919 % 100_003)).collect();
    transaction.insert(&made, rows).unwrap();
    transaction.commit().unwrap();
    engine.fold().unwrap();
    made
}

/// Writes every base anew, and a checkpoint.
fn write_anew(engine: &Engine, table: &TableSchema, round: i64) {
    for id in (0..ROWS).step_by(500) {
        let changed = engine.change_row(table, &[Datum::Integer(id)], Durability::Off, |_| {
            Ok(RowChange::Update(vec![(1, Datum::Integer(round * 1_000 + id))]))
        });
        assert_eq!(changed.unwrap(), 1);
    }
    engine.fold().unwrap();
    engine.checkpoint().unwrap();
}

/// Bytes that the database takes, in both files.
fn taken(engine: &Engine) -> u64 {
    let store = engine.statistics().store;
    store.data_file_bytes + store.log_file_bytes
}

/// Rows and sum of a table, by a scan.
fn scanned(snapshot: &Snapshot) -> Result<[i128; 2], Error> {
    let request = ScanRequest { projection: vec![1], ..ScanRequest::default() };
    let scan = snapshot.table("t")?.scan(request)?;
    let (mut rows, mut sum) = (0, 0);
    for morsel in 0..scan.morsels() {
        scan.morsel(morsel, |batch| {
            let amounts = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
            rows += amounts.len() as i128;
            sum += amounts.values().iter().map(|&amount| i128::from(amount)).sum::<i128>();
            ControlFlow::Continue(())
        })?;
    }
    Ok([rows, sum])
}

/// What has changed since is not known any more: rows found in the snapshot are not modified.
fn modifies_no_more(engine: &Engine, old: &Snapshot) {
    let modification = Modification { predicates: Vec::new(), fate: Fate::Deleted };
    let found = FoundModification { modification, rows: Ok(Vec::new()) };
    let mut transaction = engine.begin().unwrap();
    let error = transaction.modify_found(&old.table("t").unwrap(), vec![found]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SnapshotTooOld, "{error}");
}

/// The database is read through `engines[0]` and written through the last.
fn is_given_up(place: &Place, limit: ByteCount) {
    let engines = place.open();
    let (reader, writer) = (&engines[0], &engines[engines.len() - 1]);
    writer.set_snapshot_space_max(limit);
    let table = make(writer);
    (0..4).for_each(|round| write_anew(writer, &table, round));
    let before = taken(writer);
    let snapshot = reader.snapshot().unwrap();
    let mut transaction = reader.begin().unwrap();
    transaction.insert(&table, vec![row(-1, 0)]).unwrap();
    let old = total(&snapshot, "t");
    let mut given_up = None;
    for round in 0..ROUNDS {
        write_anew(writer, &table, round);
        if scanned(&snapshot).is_err() {
            modifies_no_more(writer, &snapshot);
        }
        match scanned(&snapshot) {
            Ok(seen) => assert_eq!((seen, given_up), (old, None), "round {round}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::SnapshotTooOld, "{error}");
                given_up.get_or_insert(round);
            }
        }
    }
    let round = given_up.expect("the snapshot is given up");
    // Two checkpoints later at the earliest.
    assert!(round > 0, "given up in round {round}");
    let bound = before + 3 * limit.0;
    assert!(taken(writer) < bound, "{} bytes, not below {bound}", taken(writer));
    // Who works on it cannot commit: what has changed since is not known any more.
    assert_eq!(transaction.commit().unwrap_err().kind(), ErrorKind::SnapshotTooOld);
    assert_eq!(total(&reader.snapshot().unwrap(), "t"), total(&writer.snapshot().unwrap(), "t"));
    drop(snapshot);
    for engine in &engines {
        verify(engine, "at the end");
        write_anew(engine, &table, 0);
    }
}

#[test]
fn of_a_database_of_its_own() {
    is_given_up(&Place::memory(), LIMIT_WITHIN);
}

#[test]
fn of_the_one_instance_that_shares() {
    is_given_up(&Place::files(1), LIMIT_WITHIN);
}

#[test]
fn of_another_instance_than_the_writer() {
    is_given_up(&Place::files(2), LIMIT);
}

#[test]
fn who_reads_while_space_is_used_again_sees_its_snapshot_or_is_refused() {
    let place = Place::files(3);
    let engines = place.open_with(|options| Options { cache: Some(ByteCount(0)), ..options });
    let (writer, readers) = engines.split_last().unwrap();
    let table = make(writer);
    let sum = |engine: &Engine| total(&engine.snapshot().unwrap(), "t");
    let all = sum(writer);
    engines.iter().for_each(|engine| engine.set_snapshot_space_max(ByteCount(0)));
    let is_over = AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        let read = |engine: &Engine| {
            let (mut seen, mut refused) = (0, 0);
            while !is_over.load(Ordering::Acquire) {
                let snapshot = engine.snapshot().unwrap();
                loop {
                    match scanned(&snapshot) {
                        Ok(scanned) => assert_eq!(scanned, all),
                        Err(error) if error.kind() == ErrorKind::SnapshotTooOld => break,
                        Err(error) => panic!("{:?}: {error}", error.kind()),
                    }
                    seen += 1;
                }
                refused += 1;
            }
            (seen, refused)
        };
        let readers = readers.iter().flat_map(|engine| [engine, engine]);
        let readers = readers.map(|engine| scope.spawn(move || read(engine))).collect::<Vec<_>>();
        let mut random = Random::seeded(7);
        for _ in 0..100 {
            for _ in 0..20 {
                // From one to another: what all have together stays.
                transfer(writer, &table, ROWS as u64, &mut random);
            }
            writer.fold().unwrap();
            writer.checkpoint().unwrap();
        }
        is_over.store(true, Ordering::Release);
        // The last snapshots are given up, too.
        (0..4).for_each(|round| write_anew(writer, &table, round));
        readers.into_iter().map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(counts.iter().all(|(seen, refused)| *seen > 0 && *refused > 0), "{counts:?}");
}

#[test]
fn what_is_below_the_limit_is_kept() {
    let place = Place::files(2);
    let engines = place.open();
    let table = make(&engines[1]);
    let snapshot = engines[0].snapshot().unwrap();
    let (old, before) = (total(&snapshot, "t"), taken(&engines[1]));
    (0..ROUNDS).for_each(|round| write_anew(&engines[1], &table, round));
    assert_eq!(total(&snapshot, "t"), old);
    assert!(taken(&engines[1]) > before + 4 * LIMIT.0, "{}", taken(&engines[1]));
}
