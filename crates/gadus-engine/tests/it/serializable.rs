//! What serializable transactions have read, while rows move, tables are loaded, and changes are folded.

use crate::reference::{Row, batch_of, random_row, schema};
use gadus_base::Random;
use gadus_engine::{
    Aggregate, Comparison, Datum, Durability, Engine, Error, ErrorKind, Isolation, Options,
    Predicate, Question, RowChange, ScanRequest, TableSchema, Test, Transaction, Wanted,
};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// The fewest rows that a load writes as a segment.
const LOAD: i64 = 8_192;

fn create(engine: &Engine, name: &str, key: Vec<usize>) -> Arc<TableSchema> {
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema(name, key)).unwrap();
    transaction.commit().unwrap();
    schema
}

fn rows(schema: &TableSchema, firsts: Range<i64>) -> Vec<Row> {
    let mut random = Random::seeded(7);
    firsts.map(|first| random_row(&mut random, schema, first)).collect()
}

fn load(engine: &Engine, schema: &Arc<TableSchema>, firsts: Range<i64>) {
    let mut transaction = engine.begin().unwrap();
    let mut bulk = transaction.bulk(schema).unwrap();
    bulk.push(&batch_of(schema, &rows(schema, firsts))).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    transaction.commit().unwrap();
}

fn begin(engine: &Engine) -> Transaction {
    let mut transaction = engine.begin().unwrap();
    transaction.set_isolation(Isolation::Serializable).unwrap();
    transaction
}

fn compare(column: usize, comparison: Comparison, value: i64) -> Predicate {
    Predicate { column, test: Test::Compare(comparison, Datum::Integer(value)) }
}

fn scan(transaction: &Transaction, projection: Vec<usize>, predicates: Vec<Predicate>) {
    let table = transaction.snapshot().table("t").unwrap();
    let request = ScanRequest { projection, predicates, ..ScanRequest::default() };
    let scan = table.scan(request).unwrap();
    (0..scan.morsels()).for_each(|morsel| {
        scan.morsel(morsel, |_| ControlFlow::Continue(())).unwrap();
    });
}

fn set(engine: &Engine, schema: &TableSchema, key: i64, column: usize, value: Datum) {
    let change = |_: &[Datum]| Ok(RowChange::Update(vec![(column, value.clone())]));
    let key = [Datum::Integer(key)];
    assert_eq!(engine.change_row(schema, &key, Durability::Sync, change).unwrap(), 1);
}

/// Writes elsewhere, and commits.
fn commit(mut transaction: Transaction) -> Result<(), Error> {
    let other = transaction.snapshot().table("other").unwrap().schema().clone();
    let row = rows(&other, 1..2).pop().unwrap();
    transaction.insert(&other, vec![Arc::from(row)]).unwrap();
    transaction.commit().map(|_| ())
}

fn refused(committed: Result<(), Error>) -> bool {
    committed.is_err_and(|error| {
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert!(error.to_string().contains("read/write dependencies"), "{error}");
        true
    })
}

/// Five segments that are moved into fewer, while somebody has read them all, by key, and a part.
#[test]
fn rows_that_move_are_the_same_and_rows_that_change_before_or_after_are_not() {
    let changes: [&[usize]; 4] = [&[], &[1], &[2], &[1, 2]];
    for (place, changed) in changes.into_iter().enumerate() {
        for before in [true, false] {
            let engine = Engine::in_memory(Options::default()).unwrap();
            let schema = create(&engine, "t", vec![0]);
            create(&engine, "other", Vec::new());
            // So that nothing is moved in the background.
            let _open = engine.begin().unwrap();
            (0..5).for_each(|part| load(&engine, &schema, part * LOAD..(part + 1) * LOAD));
            let [whole, keyed, part, all] = std::array::from_fn(|_| begin(&engine));
            scan(&whole, vec![0, 2], Vec::new());
            scan(&part, vec![2], vec![compare(0, Comparison::Less, 100)]);
            let table = keyed.snapshot().table("t").unwrap();
            let row = table.find_key(&[Datum::Integer(7)]).unwrap().unwrap();
            table.values(row, &[2]).unwrap().unwrap();
            assert_eq!(all.snapshot().table("t").unwrap().rows().unwrap(), 5 * LOAD as u64);
            drop(table);
            let segments = || engine.snapshot().unwrap().table("t").unwrap().segments();
            let change = || {
                for &column in changed {
                    let other = rows(&schema, 5_000..5_001)[0][column].clone();
                    let other = if other.is_null() {
                        rows(&schema, 0..9)[8][column].clone()
                    } else {
                        other
                    };
                    let table = engine.snapshot().unwrap().table("t").unwrap();
                    let row = table.find_key(&[Datum::Integer(7)]).unwrap().unwrap();
                    assert_ne!(table.values(row, &[column]).unwrap().unwrap()[0], other);
                    set(&engine, &schema, 7, column, other);
                }
            };
            let parts = segments();
            assert_eq!(parts, 5);
            if before {
                change();
            }
            engine.compact().unwrap();
            assert!(segments() < parts, "rows were moved");
            if !before {
                change();
            }
            engine.fold().unwrap();
            let is_read = changed.contains(&2);
            for transaction in [whole, keyed, part] {
                assert_eq!(refused(commit(transaction)), is_read, "{place} {before}");
            }
            assert!(!refused(commit(all)), "as many as before");
        }
    }
}

#[test]
fn what_is_folded_and_kept_in_a_checkpoint_has_changed_all_the_same() {
    for column in [1, 2] {
        let engine = Engine::in_memory(Options::default()).unwrap();
        let schema = create(&engine, "t", vec![0]);
        create(&engine, "other", Vec::new());
        let new = rows(&schema, 0..100).into_iter().map(Arc::from).collect();
        engine.insert_rows(&schema, new, Durability::Sync).unwrap();
        let (keyed, whole) = (begin(&engine), begin(&engine));
        let table = keyed.snapshot().table("t").unwrap();
        let row = table.find_key(&[Datum::Integer(7)]).unwrap().unwrap();
        let old = table.values(row, &[1]).unwrap().unwrap();
        scan(&whole, vec![1], Vec::new());
        drop(table);
        let other = if old[0].is_null() { Datum::Integer(3) } else { Datum::Null };
        let value = if column == 1 { other } else { Datum::Null };
        set(&engine, &schema, 7, column, value);
        engine.fold().unwrap();
        engine.checkpoint().unwrap();
        let is_read = column == 1;
        assert_eq!(refused(commit(keyed)), is_read);
        assert_eq!(refused(commit(whole)), is_read);
    }
}

#[test]
fn loads_and_emptied_tables_are_changes_of_what_their_rows_would_pass() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let schema = create(&engine, "t", vec![0]);
    create(&engine, "other", Vec::new());
    load(&engine, &schema, 0..LOAD);
    let [all, above, below, absent, count] = std::array::from_fn(|_| begin(&engine));
    let total = |transaction: &Transaction, predicates, aggregate| {
        let question = Question { predicates, wanted: Wanted::Fold(vec![aggregate]) };
        let table = transaction.snapshot().table("t").unwrap();
        table.answer(vec![question], 1, &|_| false).unwrap().pop().unwrap().unwrap();
    };
    total(&all, Vec::new(), Aggregate::CountRows);
    total(&above, vec![compare(0, Comparison::GreaterOrEqual, LOAD)], Aggregate::CountRows);
    total(&below, vec![compare(0, Comparison::Less, LOAD)], Aggregate::Max(0));
    let key = [Datum::Integer(LOAD + 5)];
    assert_eq!(absent.snapshot().table("t").unwrap().find_key(&key).unwrap(), None);
    load(&engine, &schema, LOAD..2 * LOAD);
    assert!(refused(commit(all)) && refused(commit(above)) && refused(commit(absent)));
    assert!(!refused(commit(below)));
    let below = begin(&engine);
    total(&below, vec![compare(0, Comparison::Less, 0)], Aggregate::CountRows);
    total(&count, vec![compare(0, Comparison::Less, 9)], Aggregate::CountRows);
    let mut emptying = engine.begin().unwrap();
    emptying.empty_table(&schema).unwrap();
    emptying.commit().unwrap();
    assert!(refused(commit(count)), "there were some");
    assert!(!refused(commit(below)), "there were none before");
}

#[test]
fn more_predicates_than_are_kept_are_read_of_all_rows() {
    for count in [100, 1_000] {
        let engine = Engine::in_memory(Options::default()).unwrap();
        let schema = create(&engine, "t", vec![0]);
        create(&engine, "other", Vec::new());
        let new = rows(&schema, 0..10).into_iter().map(Arc::from).collect();
        engine.insert_rows(&schema, new, Durability::Sync).unwrap();
        let (many, keys) = (begin(&engine), begin(&engine));
        let table = keys.snapshot().table("t").unwrap();
        for key in 1..=count {
            scan(&many, vec![0], vec![compare(0, Comparison::Less, -key)]);
            table.find_key(&[Datum::Integer(-key)]).unwrap();
        }
        drop(table);
        set(&engine, &schema, 7, 1, Datum::Null);
        let mut deleting = engine.begin().unwrap();
        let row = deleting.snapshot().table("t").unwrap().find_key(&[Datum::Integer(3)]);
        deleting.delete(&schema, &[row.unwrap().unwrap()]).unwrap();
        deleting.commit().unwrap();
        assert_eq!(refused(commit(many)), count > 256);
        assert!(!refused(commit(keys)), "keys are kept together");
    }
}

#[test]
fn nothing_is_read_for_a_transaction_that_has_committed() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let schema = create(&engine, "t", vec![0]);
    create(&engine, "other", Vec::new());
    let new = rows(&schema, 0..10).into_iter().map(Arc::from).collect();
    engine.insert_rows(&schema, new, Durability::Sync).unwrap();
    for (isolation, late) in [(Isolation::Snapshot, false), (Isolation::Serializable, true)] {
        let mut transaction = engine.begin().unwrap();
        transaction.set_isolation(isolation).unwrap();
        let table = transaction.snapshot().table("t").unwrap();
        let known = table.find_key(&[Datum::Integer(1)]).unwrap();
        commit(transaction).unwrap();
        assert_eq!(table.find_key(&[Datum::Integer(1)]).unwrap(), known, "it had been read");
        let refused = table.find_key(&[Datum::Integer(2)]);
        assert_eq!(refused.is_err(), late);
        assert_eq!(table.rows().is_err(), late);
        assert_eq!(table.about_rows(), 10);
    }
    // What has written nothing has its place at its snapshot, for ever.
    let reader = begin(&engine);
    let table = reader.snapshot().table("t").unwrap();
    reader.commit().unwrap();
    assert_eq!(table.rows().unwrap(), 10);
}

#[test]
fn a_row_that_is_found_to_be_changed_counts_when_it_is_kept() {
    for (key, decides, expected) in
        [(7, false, true), (8, false, false), (500, false, false), (7, true, true)]
    {
        let engine = Engine::in_memory(Options::default()).unwrap();
        let schema = create(&engine, "t", vec![0]);
        create(&engine, "other", Vec::new());
        let new = rows(&schema, 0..10).into_iter().map(Arc::from).collect();
        engine.insert_rows(&schema, new, Durability::Sync).unwrap();
        let mut transaction = begin(&engine);
        let wrong = || Err(Error::new(ErrorKind::OutOfRange, "a value leaves its range"));
        let decide = |_: &[Datum]| if decides { wrong() } else { Ok(RowChange::Keep) };
        let _ = transaction.change_row(&schema, &[Datum::Integer(key)], decide);
        let mut deleting = engine.begin().unwrap();
        let row = deleting.snapshot().table("t").unwrap().find_key(&[Datum::Integer(7)]);
        deleting.delete(&schema, &[row.unwrap().unwrap()]).unwrap();
        deleting.commit().unwrap();
        assert_eq!(refused(commit(transaction)), expected, "{key}");
    }
}

#[test]
fn a_row_that_is_looked_at_by_its_place_is_read_whole() {
    for (key, others) in [(vec![0], false), (Vec::new(), true)] {
        let engine = Engine::in_memory(Options::default()).unwrap();
        let schema = create(&engine, "t", key);
        create(&engine, "other", Vec::new());
        let new = rows(&schema, 0..10).into_iter().map(Arc::from).collect();
        engine.insert_rows(&schema, new, Durability::Sync).unwrap();
        let ids =
            crate::reference::rows_of(&engine.snapshot().unwrap().table("t").unwrap(), Vec::new());
        let [same, other] = std::array::from_fn(|_| begin(&engine));
        same.snapshot().table("t").unwrap().row(ids[&7].0).unwrap().unwrap();
        other.snapshot().table("t").unwrap().row(ids[&8].0).unwrap().unwrap();
        let mut changing = engine.begin().unwrap();
        let value =
            if ids[&7].1[2].is_null() { rows(&schema, 0..9)[8][2].clone() } else { Datum::Null };
        changing.update(&schema, &[2], &[ids[&7].0], &[vec![value]]).unwrap();
        changing.commit().unwrap();
        assert!(refused(commit(same)));
        // Without a key it is not known which it was.
        assert_eq!(refused(commit(other)), others);
    }
}
