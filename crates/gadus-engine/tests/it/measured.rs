//! What was measured of the kernel is followed where it is known, and changes nothing where it is not.

use crate::threads::{row, schema, total};
use crate::waiting::transact;
use gadus_base::Random;
use gadus_block::{Hint, MemoryFolder, Trace, TracedFolder};
use gadus_engine::{Engine, Options};
use gadus_machine::{Decision, Facts, Source};
use std::sync::Arc;

const NAME: &str = "x.gadus";
const ROWS: i64 = 40_000;

/// A database with a column that takes more than what is announced at least.
fn filled() -> (MemoryFolder, i128) {
    let folder = MemoryFolder::new();
    let engine = Engine::open(Arc::new(folder.clone()), NAME, Options::default()).unwrap();
    let mut random = Random::seeded(1);
    let mut amounts = (0..ROWS).map(|_| random.below(1 << 50).cast_signed()).collect::<Vec<_>>();
    amounts[0] = 0;
    let insert = |transaction: &mut gadus_engine::Transaction| {
        let table = transaction.create_table(&schema("numbers"))?;
        transaction
            .insert(&table, (0..).zip(&amounts).map(|(id, amount)| row(id, *amount)).collect())
    };
    transact(&engine, insert).unwrap();
    engine.fold().unwrap();
    engine.checkpoint().unwrap();
    drop(engine);
    (folder, amounts.iter().map(|amount| i128::from(*amount)).sum())
}

/// Opens a copy, and gives what is told of its file's reading, with what was decided.
fn read(folder: &MemoryFolder, sum: i128, measured: Facts) -> (usize, Vec<Decision>) {
    let (traced, trace): (TracedFolder, Trace) = TracedFolder::new(Arc::new(folder.copy()));
    let options = Options { measured: Arc::new(measured), ..Options::default() };
    let engine = Engine::open(Arc::new(traced), NAME, options).unwrap();
    assert_eq!(total(&engine.snapshot().unwrap(), "numbers"), [i128::from(ROWS), sum]);
    let is_announced = |(_, hint): &(_, Hint)| *hint == Hint::WillNeed;
    let announced = trace.hints(NAME).into_iter().filter(is_announced).count();
    let decisions = engine.decisions();
    (announced, decisions.iter().map(|known| known.decision.clone()).collect())
}

fn decided<'a>(decisions: &'a [Decision], question: &str) -> &'a Decision {
    decisions.iter().find(|decision| decision.question == question).unwrap()
}

#[test]
fn a_database_follows_what_was_measured_and_says_so() {
    let (folder, sum) = filled();
    let (announced, decisions) = read(&folder, sum, Facts::default());
    assert_eq!(announced, 0, "the kernel is told nothing without a reason");
    for (question, choice) in [
        ("io path", "read, 64 KiB"),
        ("latch looks", "100"),
        ("group commit", "from syncs of 1000 µs on"),
        ("client transport", "Unix stream"),
        ("scan helpers", "with every scan"),
    ] {
        let decision = decided(&decisions, question);
        assert_eq!(decision.choice, choice);
        assert!(decision.reason.contains("assumed") && decision.facts.is_empty(), "{decision:?}");
    }

    let mut facts = Facts::default();
    for (name, cost) in [
        ("cold scan by read, 64 KiB", 300_000.0),
        ("cold scan by read, all of it announced", 150_000.0),
        ("wake-up on another processor", 40_000.0),
        ("sync of a record", 4_000_000.0),
        ("message of 4096 bytes by TCP", 9_000.0),
        ("message of 4096 bytes by Unix stream", 10_000.0),
        ("message of 4096 bytes by pipe of 64.0 KiB", 5_000.0),
    ] {
        facts.note(("kernel", name), cost, "ns", Source::Measured);
    }
    let (announced, decisions) = read(&folder, sum, facts);
    assert!(announced > 0, "the column is announced");
    let path = decided(&decisions, "io path");
    assert_eq!((path.choice.as_str(), path.facts.len()), ("read, all of it announced", 2));
    assert_eq!(decided(&decisions, "group commit").choice, "from syncs of 2000 µs on");
    assert_eq!(decided(&decisions, "client transport").choice, "TCP");
    assert_eq!(decided(&decisions, "scan helpers").choice, "from 40 µs of work on");
    let latches = decided(&decisions, "latch looks");
    assert_eq!(latches.choice, gadus_locks::latch_tries().to_string());
    assert!(!latches.reason.contains("assumed"), "{latches:?}");
}
