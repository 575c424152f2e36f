//! Statements that change many rows of a segment, beside such that change few, in transactions that see them, undo
//! them and meet others'.

use crate::reference::{Row, batch_of, random_row, random_value, rows_of, schema};
use gadus_base::Random;
use gadus_block::MemoryFolder;
use gadus_engine::{Engine, Isolation, Options, Snapshot, TableSchema, Transaction};
use std::collections::BTreeMap;
use std::sync::Arc;

const ROWS: i64 = 4_000;

type Rows = BTreeMap<i64, Row>;

fn open(folder: &Arc<MemoryFolder>) -> Engine {
    Engine::open(folder.clone(), "x.gadus", Options { threads: 2, ..Options::default() }).unwrap()
}

fn filled(engine: &Engine, random: &mut Random) -> (Arc<TableSchema>, Rows) {
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema("t", vec![0])).unwrap();
    let rows: Rows = (0..ROWS).map(|first| (first, random_row(random, &schema, first))).collect();
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch_of(&schema, &rows.values().cloned().collect::<Vec<_>>())).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    transaction.commit().unwrap();
    (schema, rows)
}

fn seen(snapshot: &Snapshot) -> Rows {
    let rows = rows_of(&snapshot.table("t").unwrap(), Vec::new());
    rows.into_iter().map(|(first, (_, row))| (first, row)).collect()
}

/// Gives some of the rows that pass new values in some columns, or deletes a few of them.
fn change(
    transaction: &mut Transaction,
    schema: &TableSchema,
    rows: &mut Rows,
    random: &mut Random,
    passes: impl Fn(i64) -> bool,
) {
    let there = rows_of(&transaction.snapshot().table("t").unwrap(), Vec::new());
    let share = [0.002, 0.03, 0.1, 0.5, 1.0][random.below(5) as usize];
    let chosen = rows.keys().copied().filter(|first| passes(*first) && random.chance(share));
    let mut chosen = chosen.collect::<Vec<_>>();
    if random.below(4) == 0 {
        chosen.reverse();
    }
    if random.below(6) == 0 {
        chosen.truncate(20);
        let ids = chosen.iter().map(|first| there[first].0).collect::<Vec<_>>();
        assert_eq!(transaction.delete(schema, &ids).unwrap(), ids.len() as u64);
        rows.retain(|first, _| !chosen.contains(first));
        return;
    }
    let ids = chosen.iter().map(|first| there[first].0).collect::<Vec<_>>();
    let first_column = 1 + random.below(4) as usize;
    let columns = (first_column..5).take(1 + random.below(2) as usize).collect::<Vec<_>>();
    let mut new = || columns.iter().map(|column| random_value(random, *column, true)).collect();
    let values = chosen.iter().map(|_| new()).collect::<Vec<Row>>();
    assert_eq!(transaction.update(schema, &columns, &ids, &values).unwrap(), ids.len() as u64);
    for (first, values) in chosen.iter().zip(values) {
        let row = rows.get_mut(first).unwrap();
        columns.iter().zip(values).for_each(|(&column, value)| row[column] = value);
    }
}

#[test]
fn many_and_few_rows_changed_by_turns_are_as_the_reference_has_them() {
    for seed in 0..6 {
        let mut random = Random::seeded(seed);
        let folder = Arc::new(MemoryFolder::new());
        let mut engine = open(&folder);
        let (schema, mut rows) = filled(&engine, &mut random);
        let mut kept = vec![(engine.snapshot().unwrap(), rows.clone())];
        for step in 0..25 {
            let mut transaction = engine.begin().unwrap();
            let isolation = [Isolation::Snapshot, Isolation::ReadCommitted];
            transaction.set_isolation(isolation[random.below(2) as usize]).unwrap();
            let mut own = rows.clone();
            for _ in 0..1 + random.below(3) {
                change(&mut transaction, &schema, &mut own, &mut random, |_| true);
                if random.below(3) == 0 {
                    let savepoint = transaction.savepoint();
                    let mut undone = own.clone();
                    change(&mut transaction, &schema, &mut undone, &mut random, |_| true);
                    assert!(seen(&transaction.snapshot()) == undone, "{seed} {step}");
                    transaction.restore(savepoint);
                }
                assert!(seen(&transaction.snapshot()) == own, "{seed} {step}");
            }
            if random.below(4) > 0 {
                transaction.commit().unwrap();
                rows = own;
            } else {
                drop(transaction);
            }
            assert!(seen(&engine.snapshot().unwrap()) == rows, "{seed} {step}");
            match random.below(9) {
                0 => engine.checkpoint().unwrap(),
                1 => {
                    kept.clear();
                    drop(engine);
                    engine = open(&folder);
                    assert!(seen(&engine.snapshot().unwrap()) == rows, "{seed} {step}: reopened");
                }
                2 => engine.fold().unwrap(),
                3 => kept.push((engine.snapshot().unwrap(), rows.clone())),
                _ => {}
            }
            assert!(kept.iter().all(|(old, rows)| seen(old) == *rows), "{seed} {step}: old");
        }
    }
}

#[test]
fn what_others_commit_meanwhile_is_seen_beside_many_changed_rows() {
    for seed in 0..6 {
        let mut random = Random::seeded(seed);
        let folder = Arc::new(MemoryFolder::new());
        let engine = open(&folder);
        let (schema, mut rows) = filled(&engine, &mut random);
        let mut one = engine.begin().unwrap();
        one.set_isolation(Isolation::ReadCommitted).unwrap();
        let mut own = rows.clone();
        for step in 0..8 {
            // Each changes its own rows, and does not lock the whole segment.
            change(&mut one, &schema, &mut own, &mut random, |first| first % 4 == 0);
            let mut other = engine.begin().unwrap();
            change(&mut other, &schema, &mut rows, &mut random, |first| first % 4 == 1);
            other.commit().unwrap();
            one.refresh().unwrap();
            let of_both = |(first, row): (&i64, &Row)| (*first, row.clone());
            let mine = own.iter().filter(|(first, _)| *first % 4 == 0).map(of_both);
            let others = rows.iter().filter(|(first, _)| *first % 4 != 0).map(of_both);
            own = others.chain(mine).collect();
            assert!(seen(&one.snapshot()) == own, "{seed} {step}");
            assert!(seen(&engine.snapshot().unwrap()) == rows, "{seed} {step}");
        }
        one.commit().unwrap();
        assert!(seen(&engine.snapshot().unwrap()) == own, "{seed}");
    }
}
