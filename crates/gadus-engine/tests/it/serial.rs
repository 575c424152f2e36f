//! Histories of many threads and instances, replayed one transaction after another.
//!
//! - Every commit has a number, and every snapshot that of the last commit in it. So a history is
//!   right exactly when its replay in the order of the numbers gives each read what it saw, and no
//!   transaction changed a row that another had changed since its snapshot.
//! - What a serializable transaction has read that commits is the same just before its commit.

use crate::threads::{Place, row, schema, total};
use crate::waiting::transact_at;
use gadus_base::{CommitNumber, Random};
use gadus_engine::{Datum, Engine, Error, ErrorKind, Isolation, Mode, TableSchema, Transaction};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const KEYS: u64 = 24;
const THREADS: u64 = 6;
const TRANSACTIONS: u64 = 100;
const NAME: &str = "registers";

#[derive(Debug, Clone, Copy)]
enum Step {
    Read(i64),
    /// All rows: how many, and their sum.
    Total,
    /// The row is kept from others, then read.
    Keep(i64),
    Put(i64, i64),
    Delete(i64),
}

/// The last value of each key that a transaction changed; none where it deleted the row.
type Writes = BTreeMap<i64, Option<i64>>;

/// What a transaction did.
#[derive(Debug, Default)]
struct Record {
    isolation: Isolation,
    /// The snapshot, the key, and what was seen of others.
    reads: Vec<(CommitNumber, i64, Option<i64>)>,
    /// The snapshot, what the transaction had written by then, and the total.
    totals: Vec<(CommitNumber, Writes, [i128; 2])>,
    writes: Writes,
    /// The snapshot in which the row of a key was locked.
    locked: BTreeMap<i64, CommitNumber>,
    /// Keys without a row in the snapshot that got one.
    inserted: BTreeSet<i64>,
}

impl Record {
    fn play(
        &mut self,
        transaction: &mut Transaction,
        schema: &Arc<TableSchema>,
        step: Step,
    ) -> Result<(), Error> {
        transaction.refresh()?;
        let snapshot = transaction.snapshot();
        let (at, table) = (snapshot.commit(), snapshot.table(NAME)?);
        let find = |key: i64| table.find_key(&[Datum::Integer(key)]);
        match step {
            Step::Total => self.totals.push((at, self.writes.clone(), total(&snapshot, NAME))),
            Step::Read(key) | Step::Keep(key) => {
                let place = find(key)?;
                if let (Step::Keep(_), Some(place)) = (step, place) {
                    transaction.lock_rows(schema, &[place], Mode::Exclusive)?;
                    self.locks(at, key);
                }
                let row = place.map(|place| table.row(place)).transpose()?.flatten();
                let value = row.map(|row| value(&row));
                match self.writes.get(&key) {
                    Some(own) => assert_eq!(value, *own, "a transaction sees its own writes"),
                    None => self.reads.push((at, key, value)),
                }
            }
            Step::Put(key, value) => {
                match find(key)? {
                    Some(place) => {
                        let values = [vec![Datum::Integer(value)]];
                        transaction.update(schema, &[1], &[place], &values)?;
                        self.locks(at, key);
                    }
                    None => {
                        transaction.insert(schema, vec![row(key, value)])?;
                        self.inserted.insert(key);
                    }
                }
                self.writes.insert(key, Some(value));
            }
            Step::Delete(key) => {
                let Some(place) = find(key)? else { return Ok(()) };
                transaction.delete(schema, &[place])?;
                self.locks(at, key);
                self.writes.insert(key, None);
            }
        }
        Ok(())
    }

    /// Notes a row that others see.
    fn locks(&mut self, at: CommitNumber, key: i64) {
        if !self.inserted.contains(&key) {
            self.locked.entry(key).or_insert(at);
        }
    }
}

fn value(row: &[Datum]) -> i64 {
    let Datum::Integer(value) = row[1] else { panic!("a value is a number") };
    value
}

/// Some transactions of one thread; gives what those did that committed.
fn play(
    engine: &Engine,
    schema: &Arc<TableSchema>,
    thread: u64,
) -> Vec<(Record, Option<CommitNumber>)> {
    let mut random = Random::seeded(thread);
    let mut done = Vec::new();
    for number in 0..TRANSACTIONS {
        let isolation = match random.below(3) {
            0 => Isolation::Snapshot,
            1 => Isolation::ReadCommitted,
            _ => Isolation::Serializable,
        };
        let step = |index: u64| {
            let key = random.below(KEYS) as i64;
            match random.below(8) {
                0 | 1 => Step::Read(key),
                2 => Step::Total,
                3 => Step::Keep(key),
                4 => Step::Delete(key),
                // Nobody else writes this value.
                _ => Step::Put(key, ((thread * TRANSACTIONS + number) * 10 + index) as i64),
            }
        };
        let steps = (0..6).map(step).collect::<Vec<_>>();
        let committed = transact_at(engine, isolation, |transaction| {
            let mut record = Record { isolation, ..Record::default() };
            for step in &steps {
                record.play(transaction, schema, *step).map_err(|error| match error.kind() {
                    // Inserted by another since the snapshot.
                    ErrorKind::UniqueViolation => Error::new(ErrorKind::Conflict, "a key"),
                    _ => error,
                })?;
            }
            Ok(record)
        });
        done.extend(committed);
    }
    done
}

/// The values of each key, by the commits that gave them.
#[derive(Default)]
struct Replay(BTreeMap<i64, BTreeMap<CommitNumber, Option<i64>>>);

impl Replay {
    fn of(history: &[(Record, Option<CommitNumber>)]) -> Self {
        let mut replay = Self::default();
        for (record, commit) in history {
            let Some(commit) = *commit else {
                let nothing = record.writes.values().all(Option::is_none);
                assert!(nothing, "only what was undone needs no commit: {record:?}");
                continue;
            };
            for (key, value) in &record.writes {
                let before = replay.0.entry(*key).or_default().insert(commit, *value);
                assert_eq!(before, None, "{commit} was given twice");
            }
        }
        replay
    }

    fn value(&self, key: i64, at: CommitNumber) -> Option<i64> {
        self.0.get(&key).and_then(|values| *values.range(..=at).next_back()?.1)
    }

    fn total(&self, at: CommitNumber, own: &Writes) -> [i128; 2] {
        let seen = |key: i64| own.get(&key).copied().unwrap_or_else(|| self.value(key, at));
        let values = (0..KEYS as i64).filter_map(seen).collect::<Vec<_>>();
        [values.len() as i128, values.iter().map(|value| i128::from(*value)).sum()]
    }

    fn check(&self, record: &Record, commit: Option<CommitNumber>) {
        for (at, key, seen) in &record.reads {
            assert_eq!(*seen, self.value(*key, *at), "{key} at {at} in {record:?}");
        }
        for (at, own, seen) in &record.totals {
            assert_eq!(*seen, self.total(*at, own), "total at {at} in {record:?}");
        }
        let Some(commit) = commit else { return };
        let before = CommitNumber(commit.0 - 1);
        let reads = record.reads.iter().filter(|_| record.isolation == Isolation::Serializable);
        for (at, key, seen) in reads {
            assert_eq!(*seen, self.value(*key, before), "{key} at {at} in {commit}: {record:?}");
        }
        let totals = record.totals.iter().filter(|_| record.isolation == Isolation::Serializable);
        for (at, own, seen) in totals {
            assert_eq!(*seen, self.total(before, own), "at {at} in {commit}: {record:?}");
        }
        for key in &record.inserted {
            let there = self.value(*key, CommitNumber(commit.0 - 1));
            let was_locked = record.locked.contains_key(key);
            assert!(there.is_none() || was_locked, "{key} was there at {commit}: {record:?}");
        }
        for (key, locked) in &record.locked {
            let Some(values) = self.0.get(key) else { continue };
            let between = values.range(*locked..commit).find(|(other, _)| *other != locked);
            assert_eq!(between, None, "{key}, locked at {locked}, in {commit}: {record:?}");
        }
    }
}

fn histories_replay(place: Place) {
    let engines = place.open();
    let mut transaction = engines[0].begin().unwrap();
    let table = transaction.create_table(&schema(NAME)).unwrap();
    transaction.commit().unwrap();
    let stop = AtomicBool::new(false);
    let history = std::thread::scope(|scope| {
        let (stop, table) = (&stop, &table);
        let players = (0..THREADS).map(|thread| {
            let engine = &engines[thread as usize % engines.len()];
            scope.spawn(move || play(engine, table, thread))
        });
        let players = players.collect::<Vec<_>>();
        let disturbing = &engines[engines.len() - 1];
        scope.spawn(move || {
            while !stop.load(Ordering::Acquire) {
                disturbing.fold().unwrap();
                disturbing.compact().unwrap();
                disturbing.checkpoint().unwrap();
            }
        });
        let played = players.into_iter().map(|player| player.join()).collect::<Vec<_>>();
        stop.store(true, Ordering::Release);
        played.into_iter().flat_map(|played| played.unwrap()).collect::<Vec<_>>()
    });
    let replay = Replay::of(&history);
    history.iter().for_each(|(record, commit)| replay.check(record, *commit));
    let writers = history.iter().filter(|(record, _)| !record.writes.is_empty()).count();
    assert!(writers as u64 > THREADS * TRANSACTIONS / 20, "only {writers} wrote");
    for engine in &engines {
        let snapshot = engine.snapshot().unwrap();
        let last = CommitNumber(u64::MAX);
        assert_eq!(total(&snapshot, NAME), replay.total(last, &Writes::new()));
    }
}

#[test]
fn histories_of_threads_replay_in_the_order_of_their_commits() {
    histories_replay(Place::memory());
}

#[test]
fn histories_of_instances_replay_in_the_order_of_their_commits() {
    histories_replay(Place::files(3));
}
