//! Modifications by predicate, many together, in step with the reference.

use crate::history::History;
use crate::reference::{Row, State, TableState, integer, random_predicate, random_value};
use gadus_base::Random;
use gadus_engine::{
    Answer, Datum, Durability, Engine, Error, ErrorKind, Fate, FoundModification, Modification,
    NewValues, Predicate, Question, Result, Snapshot, Table, Wanted,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is done to each row.
#[derive(Debug, Clone)]
enum Deed {
    Delete,
    Set(usize, Datum),
    /// One is added to the second column, which must not be what this is.
    Step {
        refused: i64,
    },
}

/// A modification, and the same for the reference.
#[derive(Debug, Clone)]
struct Drawn {
    predicates: Vec<Predicate>,
    deed: Deed,
}

impl Drawn {
    fn random(random: &mut Random, table: &TableState) -> Self {
        let count = 1 + random.below(2);
        let predicates = (0..count).map(|_| random_predicate(random, table)).collect();
        let column = 1 + random.below(4) as usize;
        let is_key = |column: usize| table.schema.is_indexed(column);
        let deed = match random.below(6) {
            0 => Deed::Delete,
            1 | 2 if !is_key(1) => Deed::Step { refused: random.below(200) as i64 - 20 },
            _ if !is_key(column) => Deed::Set(column, random_value(random, column, true)),
            _ => Deed::Delete,
        };
        Self { predicates, deed }
    }

    fn modification(&self) -> Modification {
        let fate = match self.deed.clone() {
            Deed::Delete => Fate::Deleted,
            Deed::Set(column, value) => Fate::Changed(NewValues {
                columns: vec![column],
                reads: Vec::new(),
                make: Arc::new(move |_, new| {
                    new.push(value.clone());
                    Ok(())
                }),
            }),
            Deed::Step { refused } => Fate::Changed(NewValues {
                columns: vec![1],
                reads: vec![1],
                make: Arc::new(move |old, new| {
                    stepped(&old[0], refused).map(|value| new.push(value))
                }),
            }),
        };
        Modification { predicates: self.predicates.clone(), fate }
    }

    fn question(&self) -> Question {
        Question {
            predicates: self.predicates.clone(),
            wanted: Wanted::Rows { rows_max: usize::MAX },
        }
    }

    /// Does the same to the reference; returns how many rows it has changed.
    fn apply(&self, table: &mut TableState) -> Result<u64> {
        let passes =
            |row: &&Row| self.predicates.iter().all(|one| one.test.passes(&row[one.column]));
        let rows = table.rows.values().filter(passes).cloned().collect::<Vec<_>>();
        let mut changed = BTreeMap::new();
        for mut row in rows {
            let first = integer(&row[0]);
            match &self.deed {
                Deed::Delete => {
                    changed.insert(first, None);
                    continue;
                }
                Deed::Set(column, value) => row[*column] = value.clone(),
                Deed::Step { refused } => row[1] = stepped(&row[1], *refused)?,
            }
            changed.insert(first, Some(row));
        }
        let count = changed.len() as u64;
        for (first, row) in changed {
            match row {
                Some(row) => table.rows.insert(first, row),
                None => table.rows.remove(&first),
            };
        }
        Ok(count)
    }
}

fn stepped(value: &Datum, refused: i64) -> Result<Datum> {
    match value {
        Datum::Integer(value) if *value == refused => {
            Err(Error::new(ErrorKind::OutOfRange, "a value that is refused"))
        }
        // A column of 32 bits.
        Datum::Integer(value) => Ok(Datum::Integer((value + 1).min(1_000))),
        other => Ok(other.clone()),
    }
}

/// Carries some modifications out together: those of an older snapshot's rows in a transaction, or
/// through the clock, with questions between them.
pub(crate) fn modify(
    engine: &Engine,
    history: &mut History,
    state: &mut State,
    old: &[(Snapshot, State)],
    place: &str,
) {
    let random = &mut history.random;
    let names = state.keys().cloned().collect::<Vec<_>>();
    if names.is_empty() {
        return;
    }
    let name = &names[random.below(names.len() as u64) as usize];
    let table = state.get_mut(name).unwrap();
    let drawn = (0..1 + random.below(24)).map(|_| Drawn::random(random, table)).collect::<Vec<_>>();
    let then =
        old.get(random.below(4) as usize).and_then(|(snapshot, _)| snapshot.find_table(name));
    let then = then.filter(|then| then.schema() == &table.schema);
    let mut next = table.clone();
    let (outcomes, committed) = match then {
        Some(then) => by_transaction(engine, &then, &drawn),
        None => (by_clock(engine, &table.schema.name, &drawn), Ok(())),
    };
    for (index, (one, outcome)) in drawn.iter().zip(outcomes).enumerate() {
        let what = || format!("{place}: {index} of {drawn:?}");
        match outcome {
            // Compaction has moved a row meanwhile.
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            Err(error) => {
                let expected = one.apply(&mut next).map_err(|error| error.kind());
                assert_eq!(expected, Err(error.kind()), "{}: {error}", what());
            }
            Ok(rows) => {
                let expected = one.apply(&mut next);
                assert_eq!(expected.ok(), Some(rows), "{}", what());
            }
        }
    }
    match committed {
        Ok(()) => *table = next,
        Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{place}: {error}"),
    }
}

/// Carries some modifications out together while reading may fail; returns how many failed. Those have
/// changed nothing.
pub(crate) fn modify_despite_faults(
    engine: &Engine,
    table: &mut TableState,
    random: &mut Random,
) -> usize {
    let drawn = (0..8).map(|_| Drawn::random(random, table)).collect::<Vec<_>>();
    let mut failed = 0;
    for (one, outcome) in drawn.iter().zip(by_clock(engine, &table.schema.name, &drawn)) {
        let mut next = table.clone();
        match (outcome, one.apply(&mut next)) {
            (Ok(rows), expected) => {
                assert_eq!(expected.ok(), Some(rows), "{one:?}");
                *table = next;
            }
            // What it does itself fails where it should.
            (Err(error), Err(expected)) if error.kind() == expected.kind() => {}
            (Err(error), _) => {
                assert!([ErrorKind::Io, ErrorKind::Corrupt].contains(&error.kind()), "{error}");
                failed += 1;
            }
        }
    }
    failed
}

fn by_transaction(
    engine: &Engine,
    then: &Table,
    drawn: &[Drawn],
) -> (Vec<Result<u64>>, Result<()>) {
    let questions = drawn.iter().map(Drawn::question).collect();
    let answers = then.answer(questions, 2, &|_| false).unwrap();
    let found = drawn.iter().zip(answers).map(|(one, answer)| {
        let Answer::Rows(rows) = answer.unwrap() else { panic!("rows were asked for") };
        FoundModification { modification: one.modification(), rows: Ok(rows.ids().collect()) }
    });
    let mut transaction = engine.begin().unwrap();
    let outcomes = transaction.modify_found(then, found.collect()).unwrap();
    (outcomes, transaction.commit().map(|_| ()))
}

fn by_clock(engine: &Engine, name: &str, drawn: &[Drawn]) -> Vec<Result<u64>> {
    let schema = engine.snapshot().unwrap().table(name).unwrap().schema().clone();
    let asked = drawn
        .iter()
        .map(|one| {
            let modified = engine.modify(&schema, one.modification(), Durability::Off).unwrap();
            (modified, engine.ask(&schema, one.question()).unwrap())
        })
        .collect::<Vec<_>>();
    let outcome = |(modified, asked): (gadus_engine::Asked, gadus_engine::Asked)| {
        // What is found depends on when it is asked, and on a disk that may fail.
        let _ = asked.wait();
        modified.wait().map(|answer| match &*answer {
            Answer::Changed(rows) => *rows,
            other => panic!("rows are counted: {other:?}"),
        })
    };
    asked.into_iter().map(outcome).collect()
}
