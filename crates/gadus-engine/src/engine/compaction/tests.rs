//! Moves that meet changes of their sources, and records of moves that are not what they should be.

use super::super::test_tables::{LOADED_ROWS as ROWS, loaded};
use super::{Compacted, Move, Sources};
use crate::blobs::Blobs;
use crate::version::{Change, DatabaseVersion, decode_changes, encode_commit};
use crate::{
    ColumnDefinition, ColumnType, Datum, Durability, Engine, ErrorKind, Options, RowChange,
    SEGMENT_ROWS_MAX, TableSchema,
};
use gadus_base::{ByteCount, SegmentId};
use gadus_block::MemoryFolder;
use gadus_storage::{Options as StoreOptions, Store};
use std::sync::Arc;

/// A table with a sparse segment of which every hundredth row is left, and a row in the open one.
fn sparse(engine: &Engine) -> Arc<TableSchema> {
    let mut transaction = engine.begin().unwrap();
    let schema = loaded(&mut transaction, false);
    let table = transaction.snapshot().table("t").unwrap();
    for id in (0..ROWS).filter(|id| id % 100 != 0) {
        let row = table.find_key(&[Datum::Integer(id)]).unwrap().unwrap();
        transaction.delete(&schema, &[row]).unwrap();
    }
    transaction.insert(&schema, vec![[Datum::Integer(-1), Datum::Integer(-1)].into()]).unwrap();
    transaction.commit().unwrap();
    schema
}

fn write_move(engine: &Engine, schema: &TableSchema) -> Move {
    engine
        .inner()
        .write_move(schema.id, Sources::Closed)
        .unwrap()
        .expect("a sparse segment qualifies")
}

fn value(engine: &Engine, id: i64) -> Option<Datum> {
    let table = engine.snapshot().unwrap().table("t").unwrap();
    let row = table.find_key(&[Datum::Integer(id)]).unwrap()?;
    Some(table.row(row).unwrap().unwrap().remove(1))
}

fn verify(engine: &Engine) {
    let problems = engine.verify(&mut |_, _| {}).unwrap().problems;
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn a_patient_move_waits_until_no_transaction_is_open() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    // Open from before the first row that qualifies, so that the background waits as well.
    let first = engine.begin().unwrap();
    let schema = sparse(&engine);
    let second = engine.begin().unwrap();
    let patient = || engine.inner().compact_some(schema.id, true).unwrap();
    assert_eq!(patient(), Compacted::Lost);
    drop(first);
    assert_eq!(patient(), Compacted::Lost);
    // What was written before one began is given up as well.
    let written = write_move(&engine, &schema);
    let install = || engine.inner().install_move(&written);
    assert!(engine.inner().transactions.try_move(true, install).is_none());
    second.commit().unwrap();
    assert!(matches!(patient(), Compacted::Moved | Compacted::Nothing));
    assert_eq!(value(&engine, 500), Some(Datum::Integer(500)));
    verify(&engine);
}

#[test]
fn a_move_gives_way_to_every_change_of_its_sources() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    // The maintenance thread would move the rows first.
    let alone = engine.inner().alone().unwrap();
    let schema = sparse(&engine);
    let change = |id: i64, change: RowChange| {
        let key = [Datum::Integer(id)];
        let changed = engine.change_row(&schema, &key, Durability::Off, |_| Ok(change.clone()));
        assert_eq!(changed.unwrap(), 1);
    };
    let install = |written: &Move| engine.inner().install_move(written).unwrap();

    let written = write_move(&engine, &schema);
    change(100, RowChange::Update(vec![(1, Datum::Integer(7))]));
    assert_eq!(install(&written), Compacted::Lost);
    let written = write_move(&engine, &schema);
    change(200, RowChange::Delete);
    assert_eq!(install(&written), Compacted::Lost);
    // Another row is no reason to give up; what was moved once is not there to be moved again.
    let written = write_move(&engine, &schema);
    change(-1, RowChange::Update(vec![(1, Datum::Integer(9))]));
    assert_eq!(install(&written), Compacted::Moved);
    assert_eq!(install(&written), Compacted::Lost);
    drop(alone);

    for (id, wanted) in [(100, Some(7)), (200, None), (-1, Some(9)), (300, Some(300))] {
        assert_eq!(value(&engine, id), wanted.map(Datum::Integer));
    }
    verify(&engine);
}

#[test]
fn a_move_gives_way_to_a_dropped_table() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let alone = engine.inner().alone().unwrap();
    let schema = sparse(&engine);
    let written = write_move(&engine, &schema);
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("t").unwrap();
    transaction.commit().unwrap();
    assert_eq!(engine.inner().install_move(&written).unwrap(), Compacted::Lost);
    drop(alone);
}

/// The change of a move, its parts free to be falsified.
fn change_of(written: &Move) -> Change {
    Change::MoveRows {
        table: written.table,
        removed: written.sources.iter().map(|source| source.id).collect(),
        added: written.added.iter().cloned().collect(),
        runs: written.runs.clone(),
    }
}

#[test]
fn a_move_that_does_not_fit_the_rows_is_refused() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let _alone = engine.inner().alone().unwrap();
    let schema = sparse(&engine);
    let written = write_move(&engine, &schema);
    let version = engine.inner().coordinator.visible();
    let at = version.commit.next();
    let apply = |falsify: &dyn Fn(&mut Change)| {
        let mut change = change_of(&written);
        falsify(&mut change);
        let mut next = DatabaseVersion::clone(&version);
        next.apply(&change, at).map(|()| next)
    };
    let moved = apply(&|_| ()).unwrap();
    assert_eq!(moved.table(schema.id).unwrap().live_rows, 83);
    let open = version.table(schema.id).unwrap().open.unwrap();
    let source = written.sources[0].id;
    let removing = |ids: Vec<SegmentId>| {
        let refused = apply(&|change| {
            if let Change::MoveRows { removed, .. } = change {
                *removed = ids.clone();
            }
        });
        refused.unwrap_err()
    };
    assert_eq!(removing(vec![]), "moves other rows than are there");
    assert_eq!(removing(vec![source, source]), "moves rows that are not there");
    assert_eq!(removing(vec![SegmentId(77)]), "moves rows that are not there");
    assert_eq!(removing(vec![source, open]), "moves other rows than are there");
    let without_keys = apply(&|change| {
        if let Change::MoveRows { runs, .. } = change {
            runs.clear();
        }
    });
    assert_eq!(without_keys.unwrap_err(), "moves other rows than are there");
    let into_another = apply(&|change| {
        if let Change::MoveRows { added, .. } = change {
            added[0].0 = open;
        }
    });
    assert_eq!(into_another.unwrap_err(), "adds a segment that is there already");
}

#[test]
fn a_damaged_record_of_a_move_is_an_error_or_another_record() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = Engine::open(folder.clone(), "x", Options::default()).unwrap();
    let alone = engine.inner().alone().unwrap();
    let schema = sparse(&engine);
    let written = write_move(&engine, &schema);
    let version = engine.inner().coordinator.newest().unwrap().0;
    let (payload, _) = encode_commit(&[change_of(&written)], true, &version).unwrap();
    let image = Arc::new(folder.copy());
    drop(alone);
    let (store, _) = Store::open(image, "x", StoreOptions::default()).unwrap();
    let blobs = Blobs::of_process(Arc::new(store), ByteCount::mib(1));
    let whole = decode_changes(&payload, &blobs).unwrap();
    let [Change::MoveRows { removed, added, runs, .. }] = &whole.1[..] else {
        panic!("another change: {whole:?}")
    };
    assert_eq!(removed, &[written.sources[0].id]);
    assert!(added[0].1.rows() < SEGMENT_ROWS_MAX);
    assert_eq!(runs[0].1.entries(), u64::from(added[0].1.rows()));
    drop(whole);
    for length in 0..payload.len() {
        let error = decode_changes(&payload[..length], &blobs).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{length} bytes");
    }
    for index in 0..payload.len() {
        for value in [0, 1, 0x7F, 0xFF] {
            let mut damaged = payload.clone();
            damaged[index] = value;
            // Most bytes are numbers, of which others are possible too.
            if let Err(error) = decode_changes(&damaged, &blobs) {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {index}");
            }
        }
    }
}

/// A dictionary of one long value is short in the file; what its rows take decoded is what a move has in memory.
#[test]
fn segments_of_one_long_value_are_merged_as_far_as_memory_allows() {
    let engine = Engine::in_memory(Options { threads: 1, ..Options::default() }).unwrap();
    let mut transaction = engine.begin().unwrap();
    let columns = vec![
        ColumnDefinition::new("k", ColumnType::Int64),
        ColumnDefinition::new("v", ColumnType::Text),
    ];
    let schema =
        transaction.create_table(&TableSchema::new("t", columns, vec![]).unwrap()).unwrap();
    transaction.commit().unwrap();
    let long = Datum::text(&"k".repeat(1 << 20));
    let insert = |value: &Datum, rows: i64| {
        let rows = (0..rows).map(|key| Arc::from([Datum::Integer(key), value.clone()]));
        engine.insert_rows(&schema, rows.collect(), Durability::Sync).unwrap();
        engine.fold().unwrap();
    };
    (0..8).for_each(|_| insert(&long, 16));
    // They keep no others from being merged.
    (0..40).for_each(|_| {
        let mut transaction = engine.begin().unwrap();
        let rows = (0..20_000).map(|key| Arc::from([Datum::Integer(key), Datum::text("short")]));
        transaction.insert(&schema, rows.collect()).unwrap();
        transaction.commit().unwrap();
    });
    engine.fold().unwrap();
    engine.compact().unwrap();
    let version = engine.inner().coordinator.newest().unwrap().0;
    let segments = version.table(schema.id).unwrap().segments.values();
    for segment in segments.filter(|segment| segment.rows > 0) {
        let base = segment.encoded.as_ref().unwrap();
        base.learn_value_bytes(&schema, &engine.inner().blobs).unwrap();
        assert!(base.value_bytes().unwrap() <= super::DECODED_TOGETHER_MAX, "{} rows", base.rows());
    }
    verify(&engine);
}
