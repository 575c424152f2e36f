//! Crashes at every operation: what was acknowledged is there, whole, and stays.

use crate::ledger::{Ledger, NAME, State, options};
use gadus_base::{CommitNumber, Random};
use gadus_block::{CrashPolicy, MemoryFolder, Trace, TracedFolder};
use gadus_storage::{Durability, ErrorKind, Options, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run, and what may be expected of an image at each point of its trace.
pub(crate) struct Run {
    pub(crate) trace: Trace,
    pub(crate) created_at: usize,
    pub(crate) states: BTreeMap<CommitNumber, State>,
    /// Trace length when a commit was appended, and when it was acknowledged.
    appended: Vec<(usize, CommitNumber)>,
    acknowledged: Vec<(usize, CommitNumber)>,
    options: Options,
}

pub(crate) fn run(seed: u64, steps: u32, options: Options) -> Run {
    let (folder, trace) = TracedFolder::new(Arc::new(MemoryFolder::new()));
    let folder = Arc::new(folder);
    let mut random = Random::seeded(seed);
    let mut ledger = Ledger::create(folder.clone(), options.clone()).unwrap();
    let mut run = Run {
        created_at: trace.len(),
        states: BTreeMap::from([(CommitNumber(0), State::default())]),
        appended: Vec::new(),
        acknowledged: Vec::new(),
        options: options.clone(),
        trace,
    };
    for _ in 0..steps {
        match random.below(20) {
            0..2 => ledger.checkpoint().unwrap(),
            2 => {
                let before = ledger.state.clone();
                drop(ledger);
                ledger = Ledger::open(folder.clone(), options.clone()).unwrap();
                assert_eq!(ledger.state, before);
            }
            _ => {
                ledger.commit(&mut random, false).unwrap();
                run.states.insert(ledger.state.commit, ledger.state.clone());
                run.appended.push((run.trace.len(), ledger.state.commit));
                if random.chance(0.6) {
                    ledger.store.wait_durable(ledger.end).unwrap();
                    run.acknowledged.push((run.trace.len(), ledger.state.commit));
                }
            }
        }
    }
    run
}

impl Run {
    /// The least commit that must be found.
    fn least(&self, at: usize, policy: CrashPolicy) -> CommitNumber {
        let survives_power = self.options.durability == Durability::Sync;
        let promised = match policy {
            CrashPolicy::KeepAll => &self.appended,
            _ if survives_power => &self.acknowledged,
            _ => return CommitNumber(0),
        };
        let before = promised.partition_point(|(length, _)| *length <= at);
        promised[..before].last().map_or(CommitNumber(0), |(_, commit)| *commit)
    }

    /// Recovers an image, checks it, and gives what was found.
    fn recover(&self, image: &MemoryFolder, at: usize, policy: CrashPolicy) -> Option<Ledger> {
        let ledger = match Ledger::open(Arc::new(image.clone()), self.options.clone()) {
            Ok(ledger) => ledger,
            Err(error) if at < self.created_at => {
                let never_finished = [ErrorKind::NotFound, ErrorKind::Unfinished];
                assert!(never_finished.contains(&error.kind), "at {at}, {policy:?}: {error}");
                Ledger::create(Arc::new(image.clone()), self.options.clone()).unwrap();
                return None;
            }
            Err(error) => panic!("at {at}, {policy:?}: {error}"),
        };
        let found = ledger.state.commit;
        assert!(found >= self.least(at, policy), "at {at}, {policy:?}: only {found} is left");
        assert_eq!(Some(&ledger.state), self.states.get(&found), "at {at}, {policy:?}");
        assert_eq!(
            ledger.warnings,
            [] as [&str; 0],
            "a crash damages nothing: at {at}, {policy:?}"
        );
        ledger.verify();
        Some(ledger)
    }

    fn check(&self, at: usize, policy: CrashPolicy) {
        let image = self.trace.image(at, policy);
        let Some(ledger) = self.recover(&image, at, policy) else { return };
        let state = ledger.state.clone();
        drop(ledger);
        let after_first = durable_bytes(&image);
        let again = self.recover(&image, at, policy).unwrap();
        assert_eq!(again.state, state);
        drop(again);
        assert!(durable_bytes(&image) == after_first, "a second recovery changes nothing");
    }

    /// Life goes on after recovery: with new commits, checkpoints and reuse of space.
    fn go_on(&self, at: usize, policy: CrashPolicy) {
        let image = self.trace.image(at, policy);
        let Some(mut ledger) = self.recover(&image, at, policy) else { return };
        let mut random = Random::seeded(at as u64);
        for step in 0..12 {
            ledger.commit(&mut random, step % 3 == 0).unwrap();
            if step % 4 == 3 {
                ledger.checkpoint().unwrap();
            }
        }
        let state = ledger.state.clone();
        drop(ledger);
        let again = Ledger::open(Arc::new(image), self.options.clone()).unwrap();
        assert_eq!(again.state, state, "at {at}, {policy:?}");
        again.verify();
    }

    /// The power fails again at every operation of the recovery.
    fn crash_again(&self, at: usize, policy: CrashPolicy) {
        let image = self.trace.image(at, policy);
        let (traced, trace) = TracedFolder::new(Arc::new(image));
        let Ok(ledger) = Ledger::open(Arc::new(traced), self.options.clone()) else { return };
        let state = ledger.state;
        let seed = at as u64;
        for again in 0..=trace.len() {
            for policy in [CrashPolicy::DropUnsynced, CrashPolicy::Random { seed }] {
                let image = trace.image(again, policy);
                let Ok(ledger) = Ledger::open(Arc::new(image.clone()), self.options.clone()) else {
                    // Before recovery has opened the files, the trace does not know them.
                    assert!(again < 3, "at {at}, then {again}");
                    continue;
                };
                assert_eq!(ledger.state, state, "at {at}, then {again}, {policy:?}");
                ledger.verify();
            }
        }
    }
}

/// Everything but the description of the holder, which recovery is free to write.
fn durable_bytes(image: &MemoryFolder) -> BTreeMap<String, Vec<u8>> {
    let mut bytes = image.snapshot();
    bytes.remove("x.gadus-lck");
    bytes
}

fn policies(seeds: u64) -> impl Iterator<Item = CrashPolicy> {
    let random = (0..seeds).map(|seed| CrashPolicy::Random { seed });
    [CrashPolicy::KeepAll, CrashPolicy::DropUnsynced].into_iter().chain(random)
}

#[test]
fn every_crash_leaves_the_acknowledged_state() {
    for seed in 0..6 {
        let run = run(seed, 60, options());
        for at in 0..=run.trace.len() {
            policies(4).for_each(|policy| run.check(at, policy));
        }
    }
}

#[test]
fn every_recovered_state_can_go_on() {
    for seed in 10..13 {
        let run = run(seed, 60, options());
        for at in (0..=run.trace.len()).step_by(3) {
            policies(2).for_each(|policy| run.go_on(at, policy));
        }
    }
}

#[test]
fn a_crash_during_recovery_changes_nothing() {
    for seed in 20..23 {
        let run = run(seed, 50, options());
        for at in (run.created_at..=run.trace.len()).step_by(7) {
            policies(2).for_each(|policy| run.crash_again(at, policy));
        }
    }
}

#[test]
fn a_checkpoint_that_returned_is_the_one_recovered_from() {
    let (folder, trace) = TracedFolder::new(Arc::new(MemoryFolder::new()));
    let mut ledger = Ledger::create(Arc::new(folder), options()).unwrap();
    let mut random = Random::seeded(1);
    for _ in 0..5 {
        ledger.commit(&mut random, false).unwrap();
        ledger.checkpoint().unwrap();
        let image = trace.image(trace.len(), CrashPolicy::DropUnsynced);
        let (_, recovered) = Store::open(Arc::new(image), NAME, options()).unwrap();
        assert_eq!(recovered.commit, ledger.state.commit);
        assert_eq!(recovered.records, []);
    }
}

#[test]
fn extents_of_records_behind_a_checkpoint_are_kept_as_long_as_it() {
    let store = Store::create(Arc::new(MemoryFolder::new()), NAME, options()).unwrap();
    let before = store.appended();
    store.checkpoint_begins();
    let (extent, _) = store.write_extent(&[&[1; 1 << 20]]).unwrap();
    let end = store.append(CommitNumber(1), &[std::io::IoSlice::new(b"names it")]).unwrap();
    drop(extent);
    store.checkpoint(b"without it", CommitNumber(0), before).unwrap();
    store.checkpoint(b"after it", CommitNumber(1), end).unwrap();
    assert!(store.statistics().pending_bytes >= 1 << 20, "the older header still replays it");
    store.checkpoint(b"long after it", CommitNumber(1), end).unwrap();
    assert!(store.statistics().pending_bytes < 1 << 20);
}

#[test]
fn without_syncs_a_crash_leaves_a_prefix_and_a_kill_nothing_less() {
    let options = Options { durability: Durability::Off, ..options() };
    for seed in 30..32 {
        let run = run(seed, 60, options.clone());
        for at in 0..=run.trace.len() {
            policies(3).for_each(|policy| run.check(at, policy));
        }
    }
}
