//! Instances that scan one file divide the processors.

use crate::threads::{Place, row, schema};
use crate::waiting::transact;
use gadus_base::clock;
use gadus_engine::{Aggregate, Answer, Datum, Engine, Options, Question, Wanted};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ROWS: i64 = 1_000;

/// The rows of a table, counted in a shared scan.
fn count(engine: &Engine) {
    let schema = engine.snapshot().unwrap().table("numbers").unwrap().schema().clone();
    let wanted = Wanted::Fold(vec![Aggregate::CountRows]);
    let asked = engine.ask(&schema, Question { predicates: Vec::new(), wanted }).unwrap();
    let Answer::Folded(values) = &*asked.wait().unwrap() else { panic!("a count was asked for") };
    assert_eq!(values, &[Datum::Integer(ROWS)]);
}

/// Counts until an instance scans with so many threads.
fn count_until(engine: &Engine, threads: usize) {
    let began = clock().now();
    while engine.statistics().clock.threads != threads {
        assert!(began.elapsed() < Duration::from_secs(60), "never with {threads} threads");
        count(engine);
        std::thread::yield_now();
    }
}

#[test]
fn instances_that_scan_divide_the_processors_and_one_alone_has_all() {
    let place = Place::files(3);
    let engines = place.open_with(|options| Options { threads: 6, ..options });
    let filled = transact(&engines[0], |transaction| {
        let table = transaction.create_table(&schema("numbers"))?;
        transaction.insert(&table, (0..ROWS).map(|id| row(id, id)).collect())
    });
    filled.unwrap();
    count_until(&engines[0], 6);
    let stops = AtomicBool::new(false);
    let scan_on = |engine: &Engine| {
        while !stops.load(Ordering::Relaxed) {
            count(engine);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| scan_on(&engines[1]));
        count_until(&engines[0], 3);
        scope.spawn(|| scan_on(&engines[2]));
        count_until(&engines[0], 2);
        stops.store(true, Ordering::Relaxed);
    });
    count_until(&engines[0], 6);
}

#[test]
fn more_instances_than_processors_take_turns() {
    let place = Place::files(3);
    let engines = place.open_with(|options| Options { threads: 1, ..options });
    let filled = transact(&engines[0], |transaction| {
        let table = transaction.create_table(&schema("numbers"))?;
        transaction.insert(&table, (0..ROWS).map(|id| row(id, id)).collect())
    });
    filled.unwrap();
    let stops = AtomicBool::new(false);
    let scan_on = |engine: &Engine| {
        while !stops.load(Ordering::Relaxed) {
            count(engine);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| scan_on(&engines[1]));
        scope.spawn(|| scan_on(&engines[2]));
        for threads in [0, 1, 0, 1] {
            count_until(&engines[0], threads);
        }
        stops.store(true, Ordering::Relaxed);
    });
    count_until(&engines[2], 1);
}
