//! Random histories in step with the reference.

use crate::history::History;
use crate::reference::{State, compare, verify};
use gadus_base::ByteCount;
use gadus_block::MemoryFolder;
use gadus_engine::{Engine, ErrorKind, Options, Snapshot};
use std::sync::Arc;

fn options() -> Options {
    Options {
        log_zone: ByteCount(1 << 16),
        checkpoint_log: ByteCount(1 << 18),
        cache: ByteCount::mib(2),
        threads: 2,
        ..Options::default()
    }
}

fn run(seed: u64, steps: u64, load_rows_max: u64) {
    let folder = Arc::new(MemoryFolder::new());
    let mut engine = Engine::open(folder.clone(), "x.gadus", options()).unwrap();
    let mut history = History::new(seed, load_rows_max);
    let mut state = State::new();
    let mut old: Vec<(Snapshot, State)> = Vec::new();
    for step in 0..steps {
        let place = format!("seed {seed}, step {step}");
        match history.random.below(20) {
            0 => engine.fold().unwrap(),
            1 => engine.checkpoint().unwrap(),
            2 => {
                old.clear();
                drop(engine);
                engine = Engine::open(folder.clone(), "x.gadus", options()).unwrap();
                assert_eq!(engine.statistics().warnings, [] as [&str; 0]);
            }
            3..7 => {
                history.point(&engine, &mut state);
            }
            7 => two(&engine, &mut history, &mut state, &place),
            8 => {
                let mut transaction = engine.begin();
                history.statements(&mut transaction, &mut state.clone());
            }
            _ => {
                let mut transaction = engine.begin();
                history.statements(&mut transaction, &mut state);
                compare(&transaction.snapshot(), &state, &mut history.random, &place);
                transaction.commit().unwrap_or_else(|error| panic!("{place}: {error}"));
            }
        }
        compare(&engine.snapshot(), &state, &mut history.random, &place);
        if let Some((snapshot, state)) = old.get(step as usize % 4) {
            compare(snapshot, state, &mut history.random, &place);
        }
        if step % 5 == 0 {
            verify(&engine, &place);
            old.truncate(3);
            old.insert(0, (engine.snapshot(), state.clone()));
        }
    }
}

/// Two transactions on one snapshot: the second fails exactly when both changed the same row.
fn two(engine: &Engine, history: &mut History, state: &mut State, place: &str) {
    let (mut first, mut second) = (engine.begin(), engine.begin());
    let (mut one, mut other) = (state.clone(), state.clone());
    let changed = history.statements(&mut first, &mut one);
    let changed_too = history.statements(&mut second, &mut other);
    let shapes =
        |state: &State| state.values().map(|table| table.schema.clone()).collect::<Vec<_>>();
    if shapes(&one) != shapes(state) || shapes(&other) != shapes(state) {
        return;
    }
    first.commit().unwrap_or_else(|error| panic!("{place}: {error}"));
    if history.random.chance(0.3) {
        engine.fold().unwrap();
    }
    let is_conflict = changed.iter().any(|row| changed_too.contains(row));
    match second.commit() {
        Ok(_) => assert!(!is_conflict, "{place}: both changed a row"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Conflict, "{place}: {error}");
            assert!(is_conflict, "{place}: {error}");
            *state = one;
            return;
        }
    }
    for (name, base) in state.iter() {
        let merged = one.get_mut(name).unwrap();
        let other = &other[name];
        for first in base.rows.keys().filter(|first| !other.rows.contains_key(first)) {
            merged.rows.remove(first);
        }
        let news = other.rows.iter().filter(|(first, row)| base.rows.get(first) != Some(row));
        merged.rows.extend(news.map(|(first, row)| (*first, row.clone())));
    }
    *state = one;
}

#[test]
fn every_snapshot_agrees_with_the_reference() {
    for seed in 0..3 {
        run(seed, 50, 500);
    }
}

#[test]
fn bulk_loads_of_whole_segments_agree_with_the_reference() {
    for seed in 100..102 {
        run(seed, 12, 12_000);
    }
}
