//! Crashes at every operation: what is found is the state after some commit, none that was
//! acknowledged is missing, and finding it changes nothing.

use crate::history::{History, commit};
use crate::reference::{State, TableState, compare, rows_of, schema, state_of, verify};
use gadus_base::{ByteCount, Random, spawn};
use gadus_block::{CrashPolicy, MemoryFolder, Trace, TracedFolder};
use gadus_engine::{Durability, Engine, Options};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const NAME: &str = "x.gadus";

fn options() -> Options {
    Options {
        log_zone: ByteCount(4096),
        checkpoint_log: ByteCount(12_000),
        cache: Some(ByteCount::mib(1)),
        threads: 1,
        ..Options::default()
    }
}

/// A history, and what may be found at each point of its trace.
struct Run {
    seed: u64,
    trace: Trace,
    durability: Durability,
    /// The state after each commit, with the trace's length when it began and when it was
    /// acknowledged.
    commits: Vec<(usize, usize, State)>,
}

impl Run {
    fn new(seed: u64, steps: u64, load_rows_max: u64, durability: Durability) -> Self {
        let (folder, trace) = TracedFolder::new(Arc::new(MemoryFolder::new()));
        let folder = Arc::new(folder);
        let mut engine = Some(Engine::open(folder.clone(), NAME, options()).unwrap());
        let mut history = History::new(seed, load_rows_max);
        let mut state = State::new();
        let mut commits = vec![(0, trace.len(), state.clone())];
        for _ in 0..steps {
            let open = engine.as_ref().unwrap();
            let begun = trace.len();
            match history.random.below(20) {
                0 => open.fold().unwrap(),
                1 => open.compact().unwrap(),
                2 => open.checkpoint().unwrap(),
                3 => {
                    drop(engine.take());
                    engine = Some(Engine::open(folder.clone(), NAME, options()).unwrap());
                }
                4..8 if durability == Durability::Sync => {
                    history.point(open, &mut state);
                    commits.push((begun, trace.len(), state.clone()));
                }
                _ => {
                    let mut transaction = open.begin().unwrap();
                    transaction.set_durability(durability);
                    let (before, mut next) = (open.snapshot().unwrap(), state.clone());
                    let touched = history.statements(&mut transaction, &mut next);
                    let begun = trace.len();
                    if commit(open, transaction, &before, &touched, "a run") {
                        state = next;
                        commits.push((begun, trace.len(), state.clone()));
                    }
                }
            }
        }
        drop(engine);
        Self { seed, trace, durability, commits }
    }

    /// Opens an image; gives the number of the commit that it holds.
    fn recover(&self, image: &MemoryFolder, at: usize, policy: CrashPolicy) -> (Engine, usize) {
        let place = format!("seed {}, at {at}, {policy:?}", self.seed);
        let engine = Engine::open(Arc::new(image.clone()), NAME, options())
            .unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(engine.statistics().warnings, [] as [&str; 0], "{place}");
        let promised = self.durability == Durability::Sync || policy == CrashPolicy::KeepAll;
        let least = if promised {
            self.commits.partition_point(|(_, acknowledged, _)| *acknowledged <= at)
        } else {
            1
        };
        let most = self.commits.partition_point(|(begun, ..)| *begun <= at);
        let found = state_of(&engine.snapshot().unwrap());
        let candidates = least.saturating_sub(1)..most;
        let number = candidates.clone().rev().find(|&number| self.commits[number].2 == found);
        let number = number.unwrap_or_else(|| {
            let any = self.commits.iter().position(|(.., state)| *state == found);
            panic!("{place}: not the state of a commit in {candidates:?}, but of {any:?}")
        });
        verify(&engine, &place);
        (engine, number)
    }

    fn check(&self, at: usize, policy: CrashPolicy) {
        let image = self.trace.image(at, policy);
        let (engine, number) = self.recover(&image, at, policy);
        let mut random = Random::seeded(at as u64);
        let place = format!("seed {}, at {at}, {policy:?}", self.seed);
        compare(&engine.snapshot().unwrap(), &self.commits[number].2, &mut random, &place);
        // What recovery wrote alone, without the checkpoint of closing, is recovered again.
        let again = image.copy();
        drop(engine);
        for image in [again, image] {
            let engine = Engine::open(Arc::new(image), NAME, options()).unwrap();
            assert_eq!(
                state_of(&engine.snapshot().unwrap()),
                self.commits[number].2,
                "{place}, again"
            );
        }
    }

    /// Life goes on after recovery.
    fn go_on(&self, at: usize, policy: CrashPolicy) {
        let image = self.trace.image(at, policy);
        let (engine, number) = self.recover(&image, at, policy);
        let place = format!("seed {}, at {at}, {policy:?}, going on", self.seed);
        let mut state = self.commits[number].2.clone();
        let mut history = History::new(at as u64, 300);
        // First columns are unique by their order: go past those that are there.
        for _ in 0..200_000 {
            history.fresh();
        }
        for step in 0..6 {
            let mut transaction = engine.begin().unwrap();
            history.statements(&mut transaction, &mut state);
            transaction.commit().unwrap_or_else(|error| panic!("{place}: {error}"));
            if step % 3 == 1 {
                engine.fold().unwrap();
            }
        }
        verify(&engine, &place);
        drop(engine);
        let engine = Engine::open(Arc::new(image), NAME, options()).unwrap();
        compare(&engine.snapshot().unwrap(), &state, &mut history.random, &place);
        verify(&engine, &place);
    }

    /// The power fails again at every operation of the recovery, and of the closing after it.
    fn crash_again(&self, at: usize, policy: CrashPolicy) {
        let image = self.trace.image(at, policy);
        let (traced, trace) = TracedFolder::new(Arc::new(image));
        let engine = Engine::open(Arc::new(traced), NAME, options()).unwrap();
        let state = state_of(&engine.snapshot().unwrap());
        drop(engine);
        let seed = at as u64;
        // Before the files have been opened, the trace does not know them.
        for again in 3..=trace.len() {
            for policy in [CrashPolicy::DropUnsynced, CrashPolicy::Random { seed }] {
                let image = trace.image(again, policy);
                let engine = Engine::open(Arc::new(image), NAME, options()).unwrap();
                let place = format!("seed {}, at {at}, then {again}, {policy:?}", self.seed);
                assert_eq!(state_of(&engine.snapshot().unwrap()), state, "{place}");
                verify(&engine, &place);
            }
        }
    }
}

fn policies(at: usize) -> [CrashPolicy; 3] {
    let seed = at as u64;
    [CrashPolicy::KeepAll, CrashPolicy::DropUnsynced, CrashPolicy::Random { seed }]
}

#[test]
fn every_crash_leaves_the_state_of_a_commit() {
    for seed in 0..2 {
        let run = Run::new(seed, 18, 100, Durability::Sync);
        for at in 0..=run.trace.len() {
            // Each position with one policy, each policy at a third of them.
            run.check(at, policies(at)[(at + seed as usize) % 3]);
        }
    }
}

#[test]
fn crashes_around_loaded_segments_leave_the_state_of_a_commit() {
    let run = Run::new(50, 14, 12_000, Durability::Sync);
    for at in (0..=run.trace.len()).step_by(5) {
        run.check(at, policies(at)[at / 5 % 3]);
    }
}

#[test]
fn without_syncs_a_crash_leaves_a_prefix_and_a_kill_loses_nothing() {
    for (seed, durability) in [(60, Durability::Off), (61, Durability::Relaxed)] {
        let run = Run::new(seed, 20, 100, durability);
        for at in (0..=run.trace.len()).step_by(2) {
            run.check(at, policies(at)[at / 2 % 3]);
        }
    }
}

#[test]
fn every_recovered_state_can_go_on() {
    let run = Run::new(70, 25, 100, Durability::Sync);
    for at in (0..=run.trace.len()).step_by(9) {
        run.go_on(at, policies(at)[at / 9 % 3]);
    }
}

#[test]
fn a_crash_during_recovery_changes_nothing() {
    let run = Run::new(80, 20, 100, Durability::Sync);
    for at in (run.commits[0].1..=run.trace.len()).step_by(41) {
        run.crash_again(at, policies(at)[at / 41 % 3]);
    }
}

/// Folds and checkpoints of other threads race with the commits.
#[test]
fn racing_folds_and_checkpoints_lose_nothing_in_a_crash() {
    for seed in 90..92 {
        let (folder, trace) = TracedFolder::new(Arc::new(MemoryFolder::new()));
        let engine = Engine::open(Arc::new(folder), NAME, options()).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let racing = [Engine::fold, Engine::checkpoint, Engine::fold].map(|work| {
            let (engine, stop) = (engine.clone(), stop.clone());
            spawn("racing", move || {
                while !stop.load(Ordering::Relaxed) {
                    work(&engine).unwrap();
                    std::thread::yield_now();
                }
            })
            .unwrap()
        });
        let mut history = History::new(seed, 100);
        let mut state = State::new();
        let mut commits = vec![(0, trace.len(), state.clone())];
        for _ in 0..30 {
            let mut transaction = engine.begin().unwrap();
            history.statements(&mut transaction, &mut state);
            let begun = trace.len();
            transaction.commit().unwrap();
            commits.push((begun, trace.len(), state.clone()));
        }
        stop.store(true, Ordering::Relaxed);
        racing.into_iter().for_each(|thread| thread.join().unwrap());
        let length = trace.len();
        let run = Run { seed, trace, durability: Durability::Sync, commits };
        for at in (0..=length).step_by(1 + length / 30) {
            run.check(at, policies(at)[at % 3]);
        }
        run.check(length, CrashPolicy::KeepAll);
    }
}

/// Sparse, emptied and small segments become one; the power fails at every operation of that and
/// of the checkpoints after it, which give the space to others.
#[test]
fn crashes_within_a_compaction_leave_the_state_of_a_commit() {
    let (folder, trace) = TracedFolder::new(Arc::new(MemoryFolder::new()));
    let engine = Engine::open(Arc::new(folder), NAME, options()).unwrap();
    let mut history = History::new(95, 0);
    let mut state = State::new();
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema("t", vec![0])).unwrap();
    state.insert("t".to_owned(), TableState { schema: schema.clone(), rows: Default::default() });
    transaction.commit().unwrap();
    for _ in 0..3 {
        let mut transaction = engine.begin().unwrap();
        history.load(&mut transaction, state.get_mut("t").unwrap(), 8_192);
        transaction.commit().unwrap();
    }
    engine.checkpoint().unwrap();
    let mut transaction = engine.begin().unwrap();
    let rows = &mut state.get_mut("t").unwrap().rows;
    let there = rows_of(&transaction.snapshot().table("t").unwrap(), Vec::new());
    let last = there.values().map(|(row, _)| row.segment).max().unwrap();
    for (index, (first, (row, _))) in there.iter().enumerate() {
        // All of one segment, nearly all of the others.
        if row.segment == last || index % 100 != 0 {
            transaction.delete(&schema, &[*row]).unwrap();
            rows.remove(first);
        }
    }
    transaction.commit().unwrap();
    let begun = trace.len();
    let commits = vec![(0, begun, state.clone())];
    engine.compact().unwrap();
    assert_eq!(engine.snapshot().unwrap().table("t").unwrap().segments(), 1);
    for _ in 0..3 {
        engine.checkpoint().unwrap();
    }
    drop(engine);
    let run = Run { seed: 95, trace, durability: Durability::Sync, commits };
    for at in begun..=run.trace.len() {
        policies(at).into_iter().for_each(|policy| run.check(at, policy));
    }
}
