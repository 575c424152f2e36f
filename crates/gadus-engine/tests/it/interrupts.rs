//! Statements that are interrupted at any of their checks leave nothing behind.

use crate::reference::{Row, batch_of, random_row, schema, state_of, verify};
use gadus_base::{Interrupt, Random, RowId, interruptible};
use gadus_engine::{
    Datum, Durability, Engine, ErrorKind, Mode, Options, Result, TableSchema, Transaction,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Rows of the table: several checks of each loop.
const ROWS: i64 = 5_000;

/// Requests an interrupt at the check after so many others.
#[derive(Debug)]
struct AfterChecks(AtomicU32);

impl Interrupt for AfterChecks {
    fn is_requested(&self) -> bool {
        let rest =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |rest| rest.checked_sub(1));
        rest.is_err()
    }
}

/// Runs `work`, which is interrupted at the check after so many others. Returns true if it ends before.
fn ends_within(checks: u32, work: impl FnOnce() -> Result<()>) -> bool {
    let source = Arc::new(AfterChecks(AtomicU32::new(checks)));
    match interruptible(Some(source), work) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
            false
        }
    }
}

fn filled(engine: &Engine) -> (Arc<TableSchema>, Vec<Row>) {
    let mut random = Random::seeded(5);
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema("t", vec![0])).unwrap();
    let rows =
        (0..2 * ROWS).map(|first| random_row(&mut random, &schema, first)).collect::<Vec<_>>();
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch_of(&schema, &rows[..ROWS as usize])).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    transaction.commit().unwrap();
    (schema, rows)
}

fn ids(transaction: &Transaction) -> Vec<RowId> {
    let table = transaction.snapshot().table("t").unwrap();
    let id = |key| table.find_key(&[Datum::Integer(key)]).unwrap().unwrap();
    (0..ROWS).map(id).collect()
}

#[test]
fn an_interrupted_statement_changes_nothing_and_can_be_run_again() {
    let engine = Engine::in_memory(Options { threads: 2, ..Options::default() }).unwrap();
    let (schema, rows) = filled(&engine);
    let before = state_of(&engine.snapshot().unwrap());
    type Statement<'a> = (&'a str, Box<dyn Fn(&mut Transaction, &[RowId]) -> Result<u64> + 'a>);
    let new = rows[ROWS as usize..].iter().map(|row| Arc::from(row.clone())).collect::<Vec<_>>();
    let keys = (0..ROWS).map(|key| vec![Datum::Integer(key + 2 * ROWS)]).collect::<Vec<_>>();
    let statements: [Statement<'_>; 5] = [
        ("insert", Box::new(|transaction, _| transaction.insert(&schema, new.clone()))),
        ("delete", Box::new(|transaction, ids| transaction.delete(&schema, ids))),
        ("patch", Box::new(|transaction, ids| transaction.update(&schema, &[1], ids, &keys))),
        ("new keys", Box::new(|transaction, ids| transaction.update(&schema, &[0], ids, &keys))),
        (
            "locks",
            Box::new(|transaction, ids| {
                transaction.lock_rows(&schema, ids, Mode::Exclusive)?;
                transaction.delete(&schema, &ids[..1])
            }),
        ),
    ];
    for (name, statement) in statements {
        let mut transaction = engine.begin().unwrap();
        let ids = ids(&transaction);
        let mut checks = 0;
        loop {
            let savepoint = transaction.savepoint();
            if ends_within(checks, || statement(&mut transaction, &ids).map(drop)) {
                break;
            }
            transaction.restore(savepoint);
            assert_eq!(state_of(&transaction.snapshot()), before, "{name}");
            checks += 1;
        }
        assert!(checks > 0, "{name} has no checks");
        // What was done in the end is what it does without interrupts.
        let mut undisturbed = engine.begin().unwrap();
        let after = state_of(&transaction.snapshot());
        drop(transaction);
        statement(&mut undisturbed, &ids).unwrap();
        assert_eq!(state_of(&undisturbed.snapshot()), after, "{name}");
    }
    verify(&engine, "interrupted");
}

/// The last row makes the record one that is written in pieces.
#[test]
fn an_interrupted_commit_leaves_the_database_as_it_was() {
    let engine = Engine::in_memory(Options { threads: 2, ..Options::default() }).unwrap();
    let (schema, mut rows) = filled(&engine);
    rows.last_mut().unwrap()[2] = Datum::text(&"long".repeat(4 << 20));
    let before = state_of(&engine.snapshot().unwrap());
    let new = rows[ROWS as usize..].iter().map(|row| Arc::from(row.clone())).collect::<Vec<_>>();
    let mut checks = 0;
    loop {
        let mut transaction = engine.begin().unwrap();
        transaction.set_durability(Durability::Off);
        transaction.insert(&schema, new.clone()).unwrap();
        if ends_within(checks, || transaction.commit().map(drop)) {
            break;
        }
        assert_eq!(state_of(&engine.snapshot().unwrap()), before);
        checks += 1;
    }
    assert!(checks > 10, "rows, their encoding and each piece have a check: {checks}");
    assert_eq!(state_of(&engine.snapshot().unwrap())["t"].rows.len(), rows.len());
    verify(&engine, "interrupted");
}

/// The last row alone is worth a segment, and is written in pieces.
#[test]
fn an_interrupted_load_leaves_nothing_behind() {
    let engine = Engine::in_memory(Options { threads: 2, ..Options::default() }).unwrap();
    let (schema, mut rows) = filled(&engine);
    let before = state_of(&engine.snapshot().unwrap());
    let mut new = rows.split_off(ROWS as usize);
    new.last_mut().unwrap()[2] = Datum::text(&"long".repeat(4 << 20));
    let batch = batch_of(&schema, &new);
    let load = |transaction: &mut Transaction| {
        let mut bulk = transaction.bulk(&schema)?;
        bulk.push(&batch)?;
        transaction.finish_bulk(bulk)
    };
    let mut checks = 0;
    loop {
        let mut transaction = engine.begin().unwrap();
        if ends_within(checks, || load(&mut transaction).map(drop)) {
            transaction.commit().unwrap();
            break;
        }
        assert_eq!(state_of(&transaction.snapshot()), before);
        checks += 1;
    }
    assert!(checks > 10, "two checks for each of five columns, and some while they are written");
    let after = state_of(&engine.snapshot().unwrap());
    assert_eq!(after["t"].rows.len(), rows.len() + new.len());
    verify(&engine, "interrupted");
}
