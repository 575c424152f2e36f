//! Single facts of transactions, loads and handles.

use crate::reference::{Row, batch_of, integer, random_row, schema, state_of, verify};
use gadus_base::{ByteCount, Random, RowId};
use gadus_block::MemoryFolder;
use gadus_engine::{
    Autocommit, ColumnDefinition, ColumnType, Datum, Durability, Engine, Error, ErrorKind,
    Isolation, Mode, Options, RowChange, TableSchema, Transaction, array_from_datums,
};
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "x.gadus";

fn options() -> Options {
    Options { cache: Some(ByteCount::mib(2)), threads: 2, ..Options::default() }
}

fn open(folder: &Arc<MemoryFolder>) -> Engine {
    Engine::open(folder.clone(), NAME, options()).unwrap()
}

fn rows(schema: &TableSchema, firsts: std::ops::Range<i64>) -> Vec<Row> {
    let mut random = Random::seeded(3);
    firsts.map(|first| random_row(&mut random, schema, first)).collect()
}

fn shared(rows: &[Row]) -> Vec<Arc<[Datum]>> {
    rows.iter().map(|row| Arc::from(row.clone())).collect()
}

fn create(engine: &Engine, name: &str, key: Vec<usize>) -> Arc<TableSchema> {
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema(name, key)).unwrap();
    transaction.commit().unwrap();
    schema
}

fn load(transaction: &mut Transaction, schema: &Arc<TableSchema>, rows: &[Row]) -> u64 {
    let mut bulk = transaction.bulk(schema).unwrap();
    bulk.push(&batch_of(schema, rows)).unwrap();
    transaction.finish_bulk(bulk).unwrap()
}

#[test]
fn a_table_is_created_and_loaded_with_a_remainder_at_once() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema("t", vec![0])).unwrap();
    let all = rows(&schema, 0..66_000);
    assert_eq!(load(&mut transaction, &schema, &all), 66_000);
    // Rows just loaded are changed: in a segment and in the remainder.
    for first in [5_i64, 65_999] {
        let table = transaction.snapshot().table("t").unwrap();
        let row = table.find_key(&[Datum::Integer(first)]).unwrap().unwrap();
        let patched = transaction.update(&schema, &[1], &[row], &[vec![Datum::Integer(77)]]);
        assert_eq!(patched.unwrap(), 1);
    }
    let table = transaction.snapshot().table("t").unwrap();
    let row = table.find_key(&[Datum::Integer(6)]).unwrap().unwrap();
    assert_eq!(transaction.delete(&schema, &[row]).unwrap(), 1);
    transaction.insert(&schema, shared(&rows(&schema, 6..7))).unwrap();
    transaction.commit().unwrap();
    verify(&engine, "loaded");
    let state = state_of(&engine.snapshot().unwrap());
    assert_eq!(state["t"].rows.len(), 66_000);
    assert_eq!(state["t"].rows[&5][1], Datum::Integer(77));
    assert_eq!(state["t"].rows[&65_999][1], Datum::Integer(77));
    drop(table);
    drop(engine);
    let engine = open(&folder);
    assert_eq!(state_of(&engine.snapshot().unwrap()), state);
    verify(&engine, "reopened");
}

/// Waits for what a transaction was refused; nobody holds it for long.
fn wait_for(transaction: &mut Transaction, refused: &Error) {
    let blocked = refused.blocked().expect("a lock to wait for");
    transaction.locker().unwrap().wait_at_most(blocked, Duration::from_secs(60)).unwrap();
}

/// The row with a key as a transaction sees it.
fn find(transaction: &Transaction, key: i64) -> RowId {
    let table = transaction.snapshot().table("t").unwrap();
    table.find_key(&[Datum::Integer(key)]).unwrap().unwrap()
}

fn value(transaction: &Transaction, key: i64) -> Datum {
    let table = transaction.snapshot().table("t").unwrap();
    table.row(find(transaction, key)).unwrap().unwrap().swap_remove(1)
}

#[test]
fn a_row_that_one_transaction_changes_is_kept_from_others_until_it_ends() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, "t", vec![0]);
    engine.insert_rows(&schema, shared(&rows(&schema, 0..3)), Durability::Sync).unwrap();
    let change = |transaction: &mut Transaction, value: i64| {
        let row = find(transaction, 1);
        transaction.update(&schema, &[1], &[row], &[vec![Datum::Integer(value)]])
    };
    let (mut one, mut two) = (engine.begin().unwrap(), engine.begin().unwrap());
    let mut newer = engine.begin().unwrap();
    newer.set_isolation(Isolation::ReadCommitted).unwrap();
    change(&mut one, 10).unwrap();
    let kept = change(&mut two, 20).unwrap_err();
    assert_eq!(kept.kind(), ErrorKind::Locked, "{kept}");
    assert!(kept.to_string().contains(&std::process::id().to_string()), "{kept}");
    let key = [Datum::Integer(1)];
    let alone = |how: Autocommit<'_>| {
        let update = RowChange::Update(vec![(1, Datum::Integer(30))]);
        engine.change_row(&schema, &key, how, |_| Ok(update.clone()))
    };
    let refused = alone(Durability::Sync.into()).unwrap_err();
    assert_eq!((refused.kind(), refused.blocked()), (ErrorKind::Locked, kept.blocked()));
    one.commit().unwrap();
    // Changed since its snapshot.
    wait_for(&mut two, &kept);
    let late = change(&mut two, 20).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict, "{late}");
    assert_eq!(change(&mut newer, 40).unwrap_err().kind(), ErrorKind::Locked);
    drop(two);
    // What it locked as it was in its snapshot has changed; in the next one it has not.
    assert_eq!(change(&mut newer, 40).unwrap_err().kind(), ErrorKind::Conflict);
    newer.refresh().unwrap();
    assert_eq!(value(&newer, 1), Datum::Integer(10));
    change(&mut newer, 40).unwrap();
    newer.commit().unwrap();
    let locker = engine.locker().unwrap();
    locker.wait_at_most(kept.blocked().unwrap(), Duration::from_secs(60)).unwrap();
    let how = Autocommit { durability: Durability::Sync, locker: Some(&locker) };
    assert_eq!(alone(how).unwrap(), 1);
    verify(&engine, "after all");
}

#[test]
fn a_newer_snapshot_keeps_what_the_transaction_has_written() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, "t", vec![0]);
    engine.insert_rows(&schema, shared(&rows(&schema, 0..10)), Durability::Sync).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.set_isolation(Isolation::ReadCommitted).unwrap();
    load(&mut transaction, &schema, &rows(&schema, 20_000..29_000));
    transaction.insert(&schema, shared(&rows(&schema, 100..105))).unwrap();
    let gone = [2, 101, 20_001].map(|key| find(&transaction, key));
    transaction.delete(&schema, &gone).unwrap();
    let changed = [3, 102, 20_002].map(|key| find(&transaction, key));
    let seven = vec![vec![Datum::Integer(7)]; changed.len()];
    transaction.update(&schema, &[1], &changed, &seven).unwrap();
    let mut expected = state_of(&transaction.snapshot());
    for round in 200..203 {
        let theirs = rows(&schema, round..round + 1);
        engine.insert_rows(&schema, shared(&theirs), Durability::Sync).unwrap();
        assert_eq!(state_of(&transaction.snapshot()), expected);
        let savepoint = transaction.savepoint();
        transaction.refresh().unwrap();
        let theirs = theirs.into_iter().map(|row| (integer(&row[0]), row));
        expected.get_mut("t").unwrap().rows.extend(theirs);
        assert_eq!(state_of(&transaction.snapshot()), expected);
        transaction.restore(savepoint);
        transaction.refresh().unwrap();
        assert_eq!(state_of(&transaction.snapshot()), expected);
    }
    transaction.commit().unwrap();
    assert_eq!(state_of(&engine.snapshot().unwrap()), expected);
    verify(&engine, "committed");
}

#[test]
fn a_key_that_no_lock_kept_is_found_at_commit_after_newer_snapshots_too() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, "t", vec![0]);
    // By rows of which there are too many to lock each, and by a load that becomes a segment.
    for (first, count) in [(0, 2_000), (100_000, 9_000)] {
        let mut transaction = engine.begin().unwrap();
        transaction.set_isolation(Isolation::ReadCommitted).unwrap();
        load(&mut transaction, &schema, &rows(&schema, first..first + count));
        let theirs = rows(&schema, first + 1_500..first + 1_501);
        engine.insert_rows(&schema, shared(&theirs), Durability::Sync).unwrap();
        transaction.refresh().unwrap();
        let twice = transaction.commit().unwrap_err();
        assert_eq!(twice.kind(), ErrorKind::UniqueViolation, "{twice}");
    }
    assert_eq!(engine.snapshot().unwrap().table("t").unwrap().rows().unwrap(), 2);
    verify(&engine, "after both");
}

#[test]
fn a_key_inserted_by_two_transactions_is_refused_to_the_second() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, "t", vec![0]);
    let mut transactions = (0..3).map(|_| engine.begin().unwrap()).collect::<Vec<_>>();
    let mut waiting = engine.begin().unwrap();
    for (index, transaction) in transactions.iter_mut().enumerate() {
        // By rows, and by a load that becomes a segment.
        let count = if index == 0 { 10 } else { 9_000 };
        load(transaction, &schema, &rows(&schema, 0..count));
    }
    let again = || shared(&rows(&schema, 9..11));
    let kept = waiting.insert(&schema, again()).unwrap_err();
    assert_eq!(kept.kind(), ErrorKind::Locked, "{kept}");
    let alone = engine.insert_rows(&schema, again(), Durability::Sync).unwrap_err();
    assert_eq!((alone.kind(), alone.blocked()), (ErrorKind::Locked, kept.blocked()));
    let last = transactions.pop().unwrap();
    last.commit().unwrap();
    for transaction in transactions {
        assert_eq!(transaction.commit().unwrap_err().kind(), ErrorKind::UniqueViolation);
    }
    wait_for(&mut waiting, &kept);
    let late = waiting.insert(&schema, again()).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::UniqueViolation, "{late}");
    drop(waiting);
    let again = engine.insert_rows(&schema, shared(&rows(&schema, 8_999..9_000)), Durability::Sync);
    assert_eq!(again.unwrap_err().kind(), ErrorKind::UniqueViolation);
    verify(&engine, "after conflicts");
}

#[test]
fn a_statement_that_fails_half_way_leaves_nothing() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, "t", vec![0]);
    engine.insert_rows(&schema, shared(&rows(&schema, 0..3)), Durability::Sync).unwrap();
    let before = state_of(&engine.snapshot().unwrap());
    let mut transaction = engine.begin().unwrap();
    let table = transaction.snapshot().table("t").unwrap();
    let row = table.find_key(&[Datum::Integer(0)]).unwrap().unwrap();
    let taken = [vec![Datum::Integer(1)]];
    let error = transaction.update(&schema, &[0], &[row], &taken).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueViolation);
    assert_eq!(state_of(&transaction.snapshot()), before);
    // The remainder of a load repeats a key of its segment.
    let mut all = rows(&schema, 10..65_546);
    all.extend(rows(&schema, 20..21));
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch_of(&schema, &all)).unwrap();
    let error = transaction.finish_bulk(bulk).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueViolation);
    assert_eq!(state_of(&transaction.snapshot()), before);
    transaction.insert(&schema, shared(&rows(&schema, 3..4))).unwrap();
    transaction.commit().unwrap();
    assert_eq!(engine.snapshot().unwrap().table("t").unwrap().rows().unwrap(), 4);
    verify(&engine, "after failures");
}

#[test]
fn loaded_keys_are_compared_as_values() {
    let engine = Engine::in_memory(options()).unwrap();
    let column =
        ColumnDefinition { nullable: false, ..ColumnDefinition::new("x", ColumnType::Float64) };
    let mut transaction = engine.begin().unwrap();
    let schema = TableSchema::new("t", vec![column], vec![0]).unwrap();
    let schema = transaction.create_table(&schema).unwrap();
    let mut values = (1..9_000).map(|value| Datum::Float(f64::from(value))).collect::<Vec<_>>();
    values.extend([Datum::Float(0.0), Datum::Float(-0.0)]);
    let array = array_from_datums(ColumnType::Float64, values.iter()).unwrap();
    let batch = arrow::array::RecordBatch::try_new(schema.arrow(), vec![array]).unwrap();
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch).unwrap();
    let error = transaction.finish_bulk(bulk).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueViolation);
}

#[test]
fn a_transaction_outlives_the_last_handle() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let schema = create(&engine, "t", vec![0]);
    let mut transaction = engine.begin().unwrap();
    transaction.insert(&schema, shared(&rows(&schema, 0..5))).unwrap();
    drop(engine);
    let error = Engine::open(folder.clone(), NAME, options()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InUse, "{error}");
    transaction.commit().unwrap();
    let engine = open(&folder);
    assert_eq!(engine.snapshot().unwrap().table("t").unwrap().rows().unwrap(), 5);
}

#[test]
fn an_abandoned_load_holds_nothing_open() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let schema = create(&engine, "t", vec![0]);
    let mut transaction = engine.begin().unwrap();
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch_of(&schema, &rows(&schema, 0..65_536))).unwrap();
    drop((bulk, transaction, engine));
    let engine = open(&folder);
    assert_eq!(engine.snapshot().unwrap().table("t").unwrap().rows().unwrap(), 0);
    verify(&engine, "reopened");
}

#[test]
fn shapes_of_different_transactions_have_different_versions() {
    let engine = Engine::in_memory(options()).unwrap();
    let (mut one, mut other) = (engine.begin().unwrap(), engine.begin().unwrap());
    one.create_table(&schema("t", vec![0])).unwrap();
    other.create_table(&schema("t", vec![])).unwrap();
    let versions = [&one, &other].map(|transaction| transaction.snapshot().schema_version());
    assert_ne!(versions[0], versions[1]);
    one.commit().unwrap();
    let committed = engine.snapshot().unwrap().schema_version();
    assert!(!versions.contains(&committed));
    assert_eq!(other.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
}

#[test]
fn a_dropped_table_refuses_writes_of_older_transactions() {
    let engine = Engine::in_memory(options()).unwrap();
    let schema = create(&engine, "t", vec![0]);
    engine.insert_rows(&schema, shared(&rows(&schema, 5..6)), Durability::Sync).unwrap();
    let (mut first, mut writer) = (engine.begin().unwrap(), engine.begin().unwrap());
    let mut keeper = engine.begin().unwrap();
    let mut dropper = engine.begin().unwrap();
    first.insert(&schema, shared(&rows(&schema, 0..1))).unwrap();
    let kept = dropper.drop_table("t").unwrap_err();
    assert_eq!(kept.kind(), ErrorKind::Locked, "{kept}");
    first.commit().unwrap();
    wait_for(&mut dropper, &kept);
    dropper.drop_table("t").unwrap();
    let kept = writer.insert(&schema, shared(&rows(&schema, 1..2))).unwrap_err();
    assert_eq!(kept.kind(), ErrorKind::Locked, "{kept}");
    dropper.commit().unwrap();
    wait_for(&mut writer, &kept);
    let gone = writer.insert(&schema, shared(&rows(&schema, 1..2))).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Conflict, "{gone}");
    drop(writer);
    let row = find(&keeper, 5);
    assert_eq!(
        keeper.lock_rows(&schema, &[row], Mode::Exclusive).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    drop(keeper);
    let late = engine.insert_rows(&schema, shared(&rows(&schema, 0..1)), Durability::Sync);
    assert_eq!(late.unwrap_err().kind(), ErrorKind::Conflict);
}
