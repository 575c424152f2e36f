//! Random histories in step with the reference.

use crate::history::{History, commit};
use crate::modify::modify;
use crate::reference::{Row, State, compare, rows_of, verify};
use gadus_base::ByteCount;
use gadus_block::MemoryFolder;
use gadus_engine::{Engine, ErrorKind, Options, Snapshot};
use std::sync::Arc;

fn options() -> Options {
    Options {
        log_zone: ByteCount(1 << 16),
        checkpoint_log: ByteCount(1 << 18),
        cache: Some(ByteCount::mib(2)),
        threads: 2,
        ..Options::default()
    }
}

fn run(seed: u64, steps: u64, load_rows_max: u64) {
    run_with_loads(seed, steps, load_rows_max, 0.0);
}

/// The same with many loads of single small segments; returns how often rows had been moved.
fn run_with_loads(seed: u64, steps: u64, load_rows_max: u64, load_chance: f64) -> usize {
    let mut moves = 0;
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
                let mut transaction = engine.begin().unwrap();
                history.statements(&mut transaction, &mut state.clone());
            }
            9..11 => compact(&engine, &place),
            11..13 => modify(&engine, &mut history, &mut state, &old, &place),
            _ => {
                let mut transaction = engine.begin().unwrap();
                let (before, mut next) = (engine.snapshot().unwrap(), state.clone());
                let mut touched = history.statements(&mut transaction, &mut next);
                for table in next.values_mut() {
                    if history.random.chance(load_chance) {
                        let count = 8_192 + history.random.below(1_000);
                        history.load(&mut transaction, table, count);
                    }
                }
                touched.append(&mut history.statements(&mut transaction, &mut next));
                // Rows that the background has moved before they were locked.
                let refused = history.take_refused();
                assert!(!refused.contains(&ErrorKind::Locked), "{place}: nobody else locks");
                compare(&transaction.snapshot(), &next, &mut history.random, &place);
                if commit(&engine, transaction, &before, &touched, &place) {
                    state = next;
                }
            }
        }
        compare(&engine.snapshot().unwrap(), &state, &mut history.random, &place);
        if let Some((snapshot, state)) = old.get(step as usize % 4) {
            compare(snapshot, state, &mut history.random, &place);
        }
        if step % 5 == 0 {
            verify(&engine, &place);
            let before = old.first().filter(|_| load_chance > 0.0);
            moves += usize::from(
                before.is_some_and(|(old, _)| has_moved(old, &engine.snapshot().unwrap())),
            );
            old.truncate(3);
            old.insert(0, (engine.snapshot().unwrap(), state.clone()));
        }
    }
    moves
}

/// Compacts until nothing is left to compact, which is soon.
fn compact(engine: &Engine, place: &str) {
    engine.compact().unwrap_or_else(|error| panic!("{place}: {error}"));
    let done = engine.statistics().commit;
    engine.compact().unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(engine.statistics().commit, done, "{place}: compaction goes on for ever");
}

/// Whether rows of the older snapshot stand elsewhere in the newer one, unchanged.
fn has_moved(old: &Snapshot, new: &Snapshot) -> bool {
    old.tables().iter().any(|table| {
        let Some(now) = new.table_by_id(table.id()) else { return false };
        let (then, now) = (rows_of(table, Vec::new()), rows_of(&now, Vec::new()));
        let moved = |(first, (row, values)): (&i64, &(_, Row))| {
            now.get(first).is_some_and(|(at, now)| at != row && now == values)
        };
        then.iter().any(moved)
    })
}

/// Two transactions on one snapshot: what the first has changed is refused to the second, before
/// and after it commits; and so is what compaction has moved.
fn two(engine: &Engine, history: &mut History, state: &mut State, place: &str) {
    let (mut first, mut second) = (engine.begin().unwrap(), engine.begin().unwrap());
    let before = second.snapshot();
    let (mut one, mut other) = (state.clone(), state.clone());
    let changed = history.statements(&mut first, &mut one);
    let mut changed_too = history.statements(&mut second, &mut other);
    history.take_refused();
    let shapes =
        |state: &State| state.values().map(|table| table.schema.clone()).collect::<Vec<_>>();
    if shapes(&one) != shapes(state) || shapes(&other) != shapes(state) {
        return;
    }
    if !commit(engine, first, &before, &changed, place) {
        return;
    }
    match history.random.below(6) {
        0 | 1 => engine.fold().unwrap(),
        2 | 3 => engine.compact().unwrap(),
        _ => {}
    }
    changed_too.append(&mut history.statements(&mut second, &mut other));
    let refused = history.take_refused();
    assert!(!refused.contains(&ErrorKind::Locked), "{place}: the first has committed");
    if shapes(&other) != shapes(state) {
        *state = one;
        return;
    }
    let both = changed.intersection(&changed_too).collect::<Vec<_>>();
    assert!(both.is_empty(), "{place}: both changed {both:?}");
    second.commit().unwrap_or_else(|error| panic!("{place}: {error}"));
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

#[test]
fn compacted_tables_agree_with_the_reference() {
    // How often rows move before they are looked at depends on the background thread, too.
    let mut moves = 0;
    for seed in 200..240 {
        moves += run_with_loads(seed, 21, 300, 0.25);
        if seed >= 202 && moves > 1 {
            return;
        }
    }
    panic!("rows were moved {moves} times");
}
