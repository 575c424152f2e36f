//! Scans that are worth help, and those that are not.

use super::*;
use crate::blobs::Blobs;
use crate::engine::test_tables::{LOADED_ROWS as SEGMENT_ROWS, load_ids, of_ids};
use crate::scan::{Comparison, Predicate, Test};
use crate::shared::Wanted;
use crate::snapshot::Snapshot;
use crate::{Aggregate, Answer, Datum, Engine, Options};
use gadus_base::ByteCount;
use gadus_machine::{Facts, Source};
use std::collections::HashSet;
use std::sync::Arc;

const SEGMENTS: i64 = 4;
const ROWS: i64 = SEGMENTS * SEGMENT_ROWS;

/// A table of segments that were loaded one after another, in a database that knows how long a thread takes to wake.
fn table(wake: Option<Duration>) -> Table {
    engine(wake).snapshot().unwrap().table("t").unwrap()
}

fn engine(wake: Option<Duration>) -> Engine {
    let mut facts = Facts::default();
    if let Some(wake) = wake {
        let name = ("kernel", "wake-up on another processor");
        facts.note(name, wake.as_secs_f64() * 1e9, "ns", Source::Measured);
    }
    let options = Options { measured: Arc::new(facts), threads: 4, ..Options::default() };
    let engine = Engine::in_memory(options).unwrap();
    let mut transaction = engine.begin().unwrap();
    let schema = of_ids(&mut transaction);
    for segment in 0..SEGMENTS {
        load_ids(&mut transaction, &schema, segment * SEGMENT_ROWS).unwrap();
    }
    transaction.commit().unwrap();
    engine
}

/// How many rows have an id of at most so much.
fn up_to(last: i64) -> Question {
    let test = Test::Compare(Comparison::LessOrEqual, Datum::Integer(last));
    let predicates = vec![Predicate { column: 0, test }];
    Question { predicates, wanted: Wanted::Fold(vec![Aggregate::CountRows]) }
}

fn saw(table: &Table, rows: u64, time: Duration) {
    let done = PassWork { read_rows: rows, lone_time: time, ..PassWork::default() };
    table.blobs().helpers().note(table.id(), [done].into_iter());
}

/// Asks, and gives the threads that were seen at it.
fn threads_of(table: &Table, last: i64) -> HashSet<std::thread::ThreadId> {
    let seen = Mutex::new(HashSet::new());
    let is_cancelled = |_: usize| {
        seen.lock().insert(std::thread::current().id());
        false
    };
    let answer = table.answer(vec![up_to(last)], 4, &is_cancelled).unwrap().remove(0).unwrap();
    let Answer::Folded(values) = answer else { panic!("a count was asked for") };
    assert_eq!(values, [Datum::Integer((last + 1).min(ROWS))]);
    seen.into_inner()
}

#[test]
fn without_facts_all_help_whatever_was_seen() {
    let table = table(None);
    saw(&table, 1_000_000, Duration::from_nanos(1));
    assert_eq!(table.scan_threads(&up_to(ROWS), 4), 4);
    assert_eq!(table.scan_threads(&up_to(0), 4), 4, "even with what one segment answers");
    assert_eq!(table.scan_threads(&up_to(ROWS), 9), 4, "more than segments there are not");
}

#[test]
fn a_scan_that_takes_less_than_others_take_to_come_is_done_alone() {
    let table = table(Some(Duration::from_micros(100)));
    assert_eq!(table.scan_threads(&up_to(ROWS), 4), 4, "before one was seen");
    assert_eq!(table.scan_threads(&up_to(0), 4), 1, "one segment is nobody else's work");
    assert_eq!(table.scan_threads(&up_to(SEGMENT_ROWS), 4), 2);
    // 3 ns a row: 98 µs.
    saw(&table, 1_000, Duration::from_micros(3));
    assert_eq!(table.scan_threads(&up_to(ROWS), 4), 1);
    // One slow scan is enough for help, and many fast ones are needed to do without.
    saw(&table, 1_000, Duration::from_micros(30));
    assert_eq!(table.scan_threads(&up_to(ROWS), 4), 4);
    assert_eq!(table.scan_threads(&up_to(SEGMENT_ROWS - 1), 4), 1, "of a part alone");
    saw(&table, 1_000, Duration::from_micros(3));
    assert_eq!(table.scan_threads(&up_to(ROWS), 4), 4);
    (0..100).for_each(|_| saw(&table, 1_000, Duration::from_micros(2)));
    assert_eq!(table.scan_threads(&up_to(ROWS), 4), 1);
}

/// Whoever is asked whether the question was cancelled works at it.
#[test]
fn the_thread_that_asks_does_all_of_a_small_scan() {
    // However slow this machine is just now, others take longer to come.
    let engine = engine(None);
    let (version, pin) = engine.inner().coordinator.pin().unwrap();
    let blobs = Blobs::of_connection(engine.inner().blobs.store().clone(), ByteCount::mib(1));
    let blobs = Arc::new(blobs.helped_from(Some(Duration::MAX)));
    let table = Snapshot::new(version, blobs, Arc::new(pin), None).table("t").unwrap();
    saw(&table, 1_000_000, Duration::from_nanos(1));
    assert_eq!(threads_of(&table, ROWS), HashSet::from([std::thread::current().id()]));
    let rows = u64::try_from(ROWS).unwrap();
    assert!(table.blobs().helpers().expected(table.id(), rows).unwrap() > Duration::ZERO);
}

/// It was expected to take less than nothing, and does not: others come, and nothing is missed or counted twice.
#[test]
fn who_was_wrong_about_a_scan_calls_others_and_the_answer_is_the_same() {
    let table = table(Some(Duration::from_nanos(1)));
    for last in [ROWS, ROWS / 2, 5, SEGMENT_ROWS] {
        table.blobs().helpers().seen.lock().insert(table.id(), 0.0);
        assert_eq!(table.scan_threads(&up_to(last), 4), 1);
        assert!(!threads_of(&table, last).is_empty());
    }
}

#[test]
fn what_was_seen_of_tables_is_bounded() {
    let helpers = Helpers::new(Some(Duration::from_micros(1)));
    let done = PassWork { read_rows: 1, lone_time: Duration::from_nanos(9), ..PassWork::default() };
    for table in 0..=u32::try_from(TABLES_MAX).unwrap() {
        helpers.note(TableId(table), [done].into_iter());
    }
    assert_eq!(helpers.seen.lock().len(), 1);
    helpers.note(TableId(7), [PassWork::default()].into_iter());
    assert_eq!(helpers.expected(TableId(7), 1), None, "nothing says nothing");
}
