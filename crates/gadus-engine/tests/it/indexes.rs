//! Indexes through the public face: what they name, what they refuse, and that they stay as the rows are.

use crate::reference::{Row, batch_of, integer, random_row, random_value, rows_of, schema, verify};
use gadus_base::{ByteCount, Random};
use gadus_block::MemoryFolder;
use gadus_engine::{
    Answer, Comparison, Datum, Durability, Engine, ErrorKind, Options, OrderBy, Predicate,
    Question, Table, TableSchema, Test, Wanted,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const NAME: &str = "x.gadus";
const ROWS: i64 = 30_000;

fn open(folder: &Arc<MemoryFolder>) -> Engine {
    let options = Options { cache: Some(ByteCount::mib(8)), threads: 2, ..Options::default() };
    Engine::open(folder.clone(), NAME, options).unwrap()
}

fn table(engine: &Engine) -> Table {
    engine.snapshot().unwrap().table("t").unwrap()
}

/// A row whose text and double are nearly its own, so that an index of them is worth asking.
fn spread_row(random: &mut Random, schema: &TableSchema, first: i64) -> Row {
    let mut row = random_row(random, schema, first);
    row[1] = Datum::Integer((first * 37) % 5_000);
    row[2] = match first % 11 {
        0 => Datum::Null,
        1 => Datum::text(&format!("a shared beginning {first}")),
        _ => Datum::text(&format!("{:04}", (first * 17) % 9_000)),
    };
    row[3] = Datum::Float((first % 7_000) as f64 / 8.0 - 100.0);
    row
}

/// A table with rows in bases and behind them, with and without what is then indexed.
fn filled(engine: &Engine, random: &mut Random) -> (Arc<TableSchema>, BTreeMap<i64, Row>) {
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema("t", vec![0])).unwrap();
    let rows = (0..ROWS).map(|first| spread_row(random, &schema, first)).collect::<Vec<_>>();
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch_of(&schema, &rows[..20_000])).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    transaction.commit().unwrap();
    for part in rows[20_000..].chunks(500) {
        let part = part.iter().map(|row| Arc::from(row.clone())).collect();
        engine.insert_rows(&schema, part, Durability::Off).unwrap();
    }
    (schema, rows.into_iter().map(|row| (integer(&row[0]), row)).collect())
}

fn with_indexes(engine: &Engine, schema: &TableSchema, wanted: &[&[usize]]) -> Arc<TableSchema> {
    let mut after = schema.clone();
    for columns in wanted {
        let name = format!("by {columns:?}");
        after.add_index(&name, columns, (false, false));
    }
    let mut transaction = engine.begin().unwrap();
    let after = transaction.alter_table(&after, &[]).unwrap();
    transaction.commit().unwrap();
    after
}

/// A condition that few rows meet.
fn narrow(random: &mut Random) -> Predicate {
    let low = random.below(9_000) as i64;
    let number = |value: i64| Datum::text(&format!("{value:04}"));
    let test = |choice: u64, value: &dyn Fn(i64) -> Datum| match choice {
        0 => Test::Compare(Comparison::Equal, value(low)),
        1 => Test::Between(value(low), value(low + 9)),
        2 => {
            let mut values = vec![value(low), value(low + 70), value(low + 800)];
            values.sort();
            Test::In(values)
        }
        3 => Test::Compare(Comparison::Less, value(3)),
        4 => Test::Compare(Comparison::GreaterOrEqual, value(9_999)),
        5 => Test::Compare(Comparison::LessOrEqual, value(1)),
        _ => Test::Compare(Comparison::Greater, value(8_997)),
    };
    let choice = random.below(7);
    match random.below(5) {
        0 => Predicate { column: 1, test: test(choice, &Datum::Integer) },
        1 => Predicate { column: 2, test: test(choice, &number) },
        2 => {
            let double = |value: i64| Datum::Float(value as f64 / 8.0 - 100.0);
            Predicate { column: 3, test: test(choice, &double) }
        }
        3 => Predicate { column: 2, test: Test::StartsWith(format!("{low:03}").into_bytes()) },
        _ => Predicate { column: 0, test: test(choice, &Datum::Integer) },
    }
}

fn compare(table: &Table, rows: &BTreeMap<i64, Row>, random: &mut Random, asked: u64) -> u64 {
    let mut by_index = 0;
    for _ in 0..asked {
        let mut predicates = vec![narrow(random)];
        if random.chance(0.3) {
            predicates.push(narrow(random));
        }
        if random.chance(0.2) {
            let value = random_value(random, 4, false);
            predicates.push(Predicate { column: 4, test: Test::Compare(Comparison::Less, value) });
        }
        by_index += u64::from(table.index_for(&predicates).unwrap().is_some());
        let passes = |row: &Row| predicates.iter().all(|one| one.test.passes(&row[one.column]));
        let expected = rows.iter().filter(|(_, row)| passes(row));
        let expected = expected.map(|(first, row)| (*first, row.clone())).collect::<Vec<_>>();
        let found = rows_of(table, predicates.clone());
        let found = found.into_iter().map(|(first, (_, row))| (first, row)).collect::<Vec<_>>();
        assert_eq!(found, expected, "{predicates:?}");
    }
    by_index
}

#[test]
fn rows_found_by_an_index_are_those_that_a_scan_finds() {
    let folder = Arc::new(MemoryFolder::new());
    let mut engine = open(&folder);
    let mut random = Random::seeded(11);
    let (schema, mut rows) = filled(&engine, &mut random);
    let schema = with_indexes(&engine, &schema, &[&[1], &[2], &[3], &[2, 1], &[4, 2]]);
    assert!(compare(&table(&engine), &rows, &mut random, 300) > 150);
    for step in 0..6 {
        let mut old = Some((table(&engine), rows.clone()));
        let mut transaction = engine.begin().unwrap();
        let there = rows_of(&transaction.table(&schema).unwrap(), Vec::new());
        let chosen = rows.keys().copied().filter(|_| random.chance(0.02)).collect::<Vec<_>>();
        let ids = chosen.iter().map(|first| there[first].0).collect::<Vec<_>>();
        let (changed, deleted) = ids.split_at(ids.len() / 2);
        let values = changed.iter().map(|_| {
            vec![Datum::Integer(random.below(5_000) as i64), Datum::text(&format!("{:04}", step))]
        });
        let values = values.collect::<Vec<_>>();
        transaction.update(&schema, &[1, 2], changed, &values).unwrap();
        transaction.delete(&schema, deleted).unwrap();
        for (first, values) in chosen.iter().zip(values) {
            let row = rows.get_mut(first).unwrap();
            row[1..3].clone_from_slice(&values);
        }
        chosen[ids.len() / 2..].iter().for_each(|first| _ = rows.remove(first));
        let seen = transaction.table(&schema).unwrap();
        assert!(compare(&seen, &rows, &mut random, 40) > 10);
        drop(seen);
        transaction.commit().unwrap();
        match step {
            1 => engine.fold().unwrap(),
            2 => engine.checkpoint().unwrap(),
            3 => {
                // Who reads keeps the database open.
                old = None;
                drop(engine);
                engine = open(&folder);
            }
            4 => engine.compact().unwrap(),
            _ => {}
        }
        assert!(compare(&table(&engine), &rows, &mut random, 60) > 20);
        if let Some((table, rows)) = old {
            assert!(compare(&table, &rows, &mut random, 20) > 5);
        }
        verify(&engine, &format!("step {step}"));
    }
}

#[test]
fn the_first_rows_of_an_order_are_those_of_a_sort() {
    let folder = Arc::new(MemoryFolder::new());
    let engine = open(&folder);
    let mut random = Random::seeded(12);
    let (schema, mut rows) = filled(&engine, &mut random);
    let schema = with_indexes(&engine, &schema, &[&[1], &[2], &[3]]);
    let mut transaction = engine.begin().unwrap();
    let there = rows_of(&transaction.table(&schema).unwrap(), Vec::new());
    let chosen = rows.keys().copied().filter(|first| first % 3 == 0).collect::<Vec<_>>();
    let ids = chosen.iter().map(|first| there[first].0).collect::<Vec<_>>();
    transaction.delete(&schema, &ids).unwrap();
    transaction.commit().unwrap();
    chosen.iter().for_each(|first| _ = rows.remove(first));
    let table = table(&engine);
    for _ in 0..200 {
        let by = OrderBy {
            column: 1 + random.below(3) as usize,
            descending: random.chance(0.5),
            nulls_first: random.chance(0.5),
        };
        let count = 1 + random.below(20) as usize;
        let predicates = if random.chance(0.3) { vec![narrow(&mut random)] } else { Vec::new() };
        let wanted = Wanted::First { order: vec![by], count, long_bytes_max: 0 };
        let question = Question { predicates: predicates.clone(), wanted };
        let answer = table.answer(vec![question], 1, &|_| false).unwrap().pop().unwrap().unwrap();
        let Answer::Rows(found) = answer else { panic!("{answer:?}") };
        let mut found = found
            .ids()
            .map(|id| table.values(id, &[by.column]).unwrap().unwrap().remove(0))
            .collect::<Vec<_>>();
        let passes = |row: &&Row| predicates.iter().all(|one| one.test.passes(&row[one.column]));
        let values = rows.values().filter(passes).map(|row| row[by.column].clone());
        let mut expected = values.collect::<Vec<_>>();
        let compare = |one: &Datum, other: &Datum| match (one.is_null(), other.is_null()) {
            (false, false) if by.descending => other.cmp(one),
            (false, false) => one.cmp(other),
            (one, other) if by.nulls_first => other.cmp(&one),
            (one, other) => one.cmp(&other),
        };
        found.sort_by(compare);
        expected.sort_by(compare);
        expected.truncate(count);
        assert_eq!(found, expected, "{by:?} {predicates:?}");
    }
}

#[test]
fn a_unique_index_refuses_what_is_there_already() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let mut random = Random::seeded(3);
    let mut shape = schema("t", vec![0]);
    shape.add_index("own", &[2, 1], (true, true));
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&shape).unwrap();
    transaction.commit().unwrap();
    let mut row = |first: i64, text: Datum, number: i64| -> Arc<[Datum]> {
        let mut row = random_row(&mut random, &schema, first);
        (row[1], row[2]) = (Datum::Integer(number), text);
        row.into()
    };
    let insert = |row| engine.insert_rows(&schema, vec![row], Durability::Off);
    insert(row(1, Datum::text("a"), 1)).unwrap();
    insert(row(2, Datum::text("a"), 2)).unwrap();
    // NULL is like nothing.
    insert(row(3, Datum::Null, 1)).unwrap();
    insert(row(4, Datum::Null, 1)).unwrap();
    let again = insert(row(5, Datum::text("a"), 2)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::UniqueViolation);
    assert!(again.to_string().contains("(c2, c1) = ('a', 2)"), "{again}");

    // In one statement, in a transaction, by an update, and by a load.
    let two = vec![row(5, Datum::text("b"), 1), row(6, Datum::text("b"), 1)];
    let twice = engine.insert_rows(&schema, two, Durability::Off).unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::UniqueViolation);
    let mut transaction = engine.begin().unwrap();
    transaction.insert(&schema, vec![row(7, Datum::text("c"), 1)]).unwrap();
    let seen = transaction.table(&schema).unwrap();
    let ids = rows_of(&seen, Vec::new());
    let change = |transaction: &mut gadus_engine::Transaction, first: i64, text: &str| {
        transaction.update(&schema, &[2], &[ids[&first].0], &[vec![Datum::text(text)]])
    };
    assert_eq!(change(&mut transaction, 7, "a").unwrap_err().kind(), ErrorKind::UniqueViolation);
    assert_eq!(change(&mut transaction, 2, "d").unwrap(), 1);
    drop(seen);
    transaction.commit().unwrap();
    insert(row(8, Datum::text("a"), 2)).unwrap();
    let mut transaction = engine.begin().unwrap();
    let mut loaded = (100..10_000).map(|first| random_row(&mut Random::seeded(1), &schema, first));
    let mut loaded = loaded.by_ref().collect::<Vec<_>>();
    for (row, number) in loaded.iter_mut().zip(0..) {
        (row[1], row[2]) = (Datum::Integer(number), Datum::text("loaded"));
    }
    loaded[77][1] = Datum::Integer(9_000);
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch_of(&schema, &loaded)).unwrap();
    let error = transaction.finish_bulk(bulk).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueViolation);
    drop(transaction);
    verify(&engine, "at the end");
}

#[test]
fn an_index_that_is_new_refuses_rows_that_are_equal_in_it() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let mut random = Random::seeded(4);
    let (schema, _) = filled(&engine, &mut random);
    let mut after = schema.as_ref().clone();
    after.add_index("own", &[1], (true, false));
    let mut transaction = engine.begin().unwrap();
    let error = transaction.alter_table(&after, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueViolation);
    assert!(transaction.table(&schema).is_ok());
    drop(transaction);
    assert!(table(&engine).schema().indexes.is_empty());
}

#[test]
fn the_name_of_an_index_is_taken() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let mut first = schema("t", vec![]);
    first.add_index("i", &[1], (false, false));
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(&first).unwrap();
    let mut second = schema("u", vec![]);
    second.add_index("i", &[1], (false, false));
    assert_eq!(transaction.create_table(&second).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let third = transaction.create_table(&schema("i", vec![]));
    assert_eq!(third.unwrap_err().kind(), ErrorKind::AlreadyExists);
    transaction.commit().unwrap();

    // Two transactions that did not see each other.
    let mut one = engine.begin().unwrap();
    let mut other = engine.begin().unwrap();
    for (transaction, name) in [(&mut one, "v"), (&mut other, "w")] {
        let mut shape = schema(name, vec![]);
        shape.add_index("j", &[1], (false, false));
        transaction.create_table(&shape).unwrap();
    }
    one.commit().unwrap();
    assert_eq!(other.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
}
