//! Questions about long values: what an answer holds of them is bounded by their bytes, and rows are read in batches
//! that fit. Statements that change their rows read them once.

use crate::reference::{TYPES, batch_of, integer, schema, values_of};
use gadus_base::{Account, ByteCount, RowId};
use gadus_block::MemoryFolder;
use gadus_engine::{
    Aggregate, Answer, Datum, Engine, Error, ErrorKind, Options, OrderBy, Question, Snapshot,
    Table, TableSchema, Wanted,
};
use std::sync::Arc;

const ROWS: i64 = 300;

/// Bytes of each long value.
const LENGTH: usize = 100_000;

/// Column of texts.
const TEXT: usize = 2;

const ALL: [usize; TYPES.len()] = [0, 1, 2, 3, 4];

/// A table whose texts are long; all different, or the same ones again and again.
fn filled(different: i64) -> (Engine, Snapshot) {
    let text = |row: i64| format!("{:03}", row % different).repeat(LENGTH / 3);
    filled_with((0..ROWS).map(|row| (row % 7, Some(text(row)))))
}

/// A table of such numbers and texts.
fn filled_with(values: impl Iterator<Item = (i64, Option<String>)>) -> (Engine, Snapshot) {
    let options = Options { cache: Some(ByteCount(1)), threads: 2, ..Options::default() };
    let engine = Engine::open(Arc::new(MemoryFolder::new()), "x.gadus", options).unwrap();
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema("t", vec![0])).unwrap();
    let row = |(row, (number, text)): (i64, (i64, Option<String>))| {
        let mut values = vec![Datum::Null; TYPES.len()];
        (values[0], values[1]) = (Datum::Integer(row), Datum::Integer(number));
        values[TEXT] = text.map_or(Datum::Null, |text| Datum::text(&text));
        values
    };
    let rows = (0..).zip(values).map(row).collect::<Vec<_>>();
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch_of(&schema, &rows)).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    transaction.commit().unwrap();
    engine.checkpoint().unwrap();
    let snapshot = engine.snapshot().unwrap();
    (engine, snapshot)
}

fn answer(table: &Table, wanted: Wanted) -> Answer {
    let question = Question { predicates: Vec::new(), wanted };
    table.answer(vec![question], 2, &|_| false).unwrap().pop().unwrap().unwrap()
}

/// The schema of the table, and the ids of its rows.
fn all_rows(snapshot: &Snapshot) -> (Arc<TableSchema>, Vec<RowId>) {
    let table = snapshot.table("t").unwrap();
    let all = answer(&table, Wanted::Rows { rows_max: usize::MAX });
    let Answer::Rows(found) = all else { panic!("all rows are wanted") };
    (table.schema().clone(), found.ids().collect())
}

fn groups(by: usize, aggregate: Aggregate, long_bytes_max: usize) -> Wanted {
    let (by, aggregates) = (vec![by], vec![aggregate]);
    Wanted::Groups { by, aggregates, groups_max: usize::MAX, long_bytes_max }
}

fn first(count: usize, long_bytes_max: usize) -> Wanted {
    let order = vec![OrderBy { column: TEXT, descending: false, nulls_first: false }];
    Wanted::First { order, count, long_bytes_max }
}

#[test]
fn groups_of_long_values_are_bounded_by_their_bytes() {
    let (_engine, snapshot) = filled(ROWS);
    let table = snapshot.table("t").unwrap();
    let named = |room| answer(&table, groups(TEXT, Aggregate::CountRows, room));
    // Each name is held twice.
    assert!(matches!(named(100 * LENGTH), Answer::TooMany));
    let Answer::Groups(all) = named(2 * ROWS as usize * LENGTH) else { panic!("they fit") };
    assert_eq!(all.len(), ROWS as usize);

    let greatest = |room| answer(&table, groups(1, Aggregate::Max(TEXT), room));
    assert!(matches!(greatest(5 * LENGTH), Answer::TooMany));
    // While rows are added, each of the two workers has its own.
    let Answer::Groups(all) = greatest(14 * LENGTH) else { panic!("they fit") };
    let mut all = all.iter().map(|(by, of)| (by[0].clone(), of[0].clone())).collect::<Vec<_>>();
    all.sort();
    let last = |by: i64| (0..ROWS).filter(|row| row % 7 == by).max().unwrap();
    let text = |row: i64| Datum::text(&format!("{row:03}").repeat(LENGTH / 3));
    let expected = (0..7).map(|by| (Datum::Integer(by), text(last(by)))).collect::<Vec<_>>();
    assert_eq!(all, expected);
}

/// One aggregate has no room for a value, and the other one makes room again by a shorter one.
#[test]
fn aggregates_that_have_left_out_rows_are_not_given() {
    let long = |first: char| first.to_string().repeat(LENGTH);
    let all_long = (0..3).map(|number| (number, Some(long('l'))));
    // As many rows as are folded at a time.
    let none = std::iter::repeat_n((0, None), 2_048 - 3);
    let short = (0..3).map(|number| (number, Some(String::new())));
    let last = [(3, Some(long('m'))), (4, Some("the only one".to_owned()))];
    let values = all_long.chain(none).chain(short).chain(last);
    let (_engine, snapshot) = filled_with(values);
    let table = snapshot.table("t").unwrap();
    let groups = |long_bytes_max| {
        let aggregates = vec![Aggregate::Max(TEXT), Aggregate::Min(TEXT)];
        let wanted = Wanted::Groups { by: vec![1], aggregates, groups_max: 9, long_bytes_max };
        let question = Question { predicates: Vec::new(), wanted };
        table.answer(vec![question], 1, &|_| false).unwrap().pop().unwrap().unwrap()
    };
    assert!(matches!(groups(13 * LENGTH / 2), Answer::TooMany));
    let Answer::Groups(all) = groups(8 * LENGTH) else { panic!("they fit") };
    let only = all.iter().find(|(by, _)| by[0] == Datum::Integer(4)).unwrap();
    assert_eq!(only.1, vec![Datum::text("the only one"); 2]);
}

#[test]
fn first_rows_by_long_values_are_bounded_by_their_bytes() {
    let (_engine, snapshot) = filled(ROWS);
    let table = snapshot.table("t").unwrap();
    assert!(matches!(answer(&table, first(100, 50 * LENGTH)), Answer::TooMany));
    // Rows that are not among the first do not count for long.
    for (count, room) in [(1, 10 * LENGTH), (20, 50 * LENGTH), (100, usize::MAX)] {
        let Answer::Rows(found) = answer(&table, first(count, room)) else { panic!("they fit") };
        let batches = found.read(&ALL).map(Result::unwrap).collect::<Vec<_>>();
        let ids = batches.iter().flat_map(values_of).map(|row| integer(&row[0]));
        assert_eq!(ids.collect::<Vec<_>>(), (0..count as i64).collect::<Vec<_>>());
    }
}

/// Also texts of which a segment has one for many rows.
#[test]
fn found_rows_with_long_values_are_read_in_small_batches() {
    for different in [ROWS, 3] {
        let (_engine, snapshot) = filled(different);
        let table = snapshot.table("t").unwrap();
        let all = answer(&table, Wanted::Rows { rows_max: usize::MAX });
        let Answer::Rows(found) = all else { panic!("all rows are wanted") };
        let (mut rows, mut most) = (Vec::new(), 0);
        for batch in found.read(&ALL) {
            let batch = batch.unwrap();
            most = most.max(batch.num_rows());
            rows.extend(values_of(&batch).map(|row| integer(&row[0])));
        }
        assert_eq!(rows, (0..ROWS).collect::<Vec<_>>());
        assert!(most * LENGTH < 8 << 20, "{most} rows in a batch");
    }
}

/// A column that no cache has room for is read once for the rows of its segment, and not at all where all of it gets
/// new values.
#[test]
fn rows_that_are_replaced_read_their_columns_once() {
    let (engine, snapshot) = filled(ROWS);
    let (schema, ids) = all_rows(&snapshot);
    let segments = ids.chunk_by(|one, next| one.segment == next.segment).count() as u64;
    assert!(segments < 10, "rows that share segments are what this is about");
    let mut transaction = engine.begin().unwrap();
    let mut reads_of = |columns: &[usize]| {
        let new = |row: i64| {
            let mut values = vec![Datum::Null; TYPES.len()];
            (values[0], values[TEXT]) = (Datum::Integer(row + ROWS), Datum::text("new"));
            columns.iter().map(|&column| values[column].clone()).collect::<Vec<_>>()
        };
        let values = (0..ROWS).map(new).collect::<Vec<_>>();
        let (account, before) = (Arc::<Account>::default(), transaction.savepoint());
        let changed = account.charge(|| transaction.update(&schema, columns, &ids, &values));
        assert_eq!(changed.unwrap(), ROWS as u64);
        transaction.restore(before);
        account.cache_use().reads
    };
    // What is read for other reasons, such as the keys, is read each time.
    let beside = reads_of(&ALL);
    assert_eq!(reads_of(&[0, 1, 3, 4]) - beside, segments);
    assert_eq!(reads_of(&[0]) - beside, segments * (TYPES.len() as u64 - 1));
}

/// Also for what a row that moves takes with it.
#[test]
fn changes_ask_for_memory_before_they_are_made() {
    let (engine, snapshot) = filled(ROWS);
    let (schema, ids) = all_rows(&snapshot);
    engine.check_changes_by(Box::new(|bytes| match bytes > 50 * LENGTH as u64 {
        true => Err(Error::new(ErrorKind::Limit, "too much")),
        false => Ok(()),
    }));
    let mut transaction = engine.begin().unwrap();
    let keys = |count: usize| {
        (0..count as i64).map(|row| vec![Datum::Integer(row + ROWS)]).collect::<Vec<_>>()
    };
    let refused = transaction.update(&schema, &[0], &ids, &keys(ids.len())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Limit);
    assert!(transaction.is_empty());
    assert_eq!(transaction.update(&schema, &[0], &ids[..40], &keys(40)).unwrap(), 40);
    let texts = vec![vec![Datum::text(&"x".repeat(LENGTH))]; 20];
    let refused = transaction.update(&schema, &[TEXT], &ids[100..120], &texts).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Limit, "with those of the statement before");
    transaction.commit().unwrap();
}
