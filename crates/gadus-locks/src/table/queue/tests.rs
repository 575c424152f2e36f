//! Who is granted when, in a queue of requests.

use super::*;
use crate::latch::Owner;
use gadus_base::Random;

fn entry(slot: u32, state: State, ticket: u64) -> Entry {
    let holder = Holder { instance: Owner { slot: 0, generation: 1 }, record: slot };
    Entry { slot, state, ticket, holder, since: 0 }
}

fn settled(mut entries: Vec<Entry>) -> Vec<Entry> {
    settle(&mut entries, |_| {});
    entries
}

#[test]
fn waiters_are_granted_in_the_order_of_arrival() {
    let entries = settled(vec![
        entry(0, State::waiting(Mode::Exclusive), 3),
        entry(1, State::waiting(Mode::Shared), 2),
        entry(2, State::waiting(Mode::Shared), 4),
        entry(3, State::waiting(Mode::Shared), 1),
    ]);
    let granted = entries.iter().map(|entry| entry.state.granted).collect::<Vec<_>>();
    assert_eq!(granted, [Mode::Null, Mode::Shared, Mode::Null, Mode::Shared]);
    assert_eq!(edge(&entries[0], &entries[1]), Some(Edge::Hard));
    assert_eq!(edge(&entries[2], &entries[0]), Some(Edge::Soft));
}

#[test]
fn conversions_go_before_waiters() {
    let entries = settled(vec![
        entry(0, State::granted(Mode::Shared).converting(Mode::Exclusive), 9),
        entry(1, State::waiting(Mode::Shared), 1),
    ]);
    assert_eq!(entries[0].state, State::granted(Mode::Exclusive));
    assert_eq!(entries[1].state.passed, 1);
}

#[test]
fn conversions_pass_over_a_waiter_a_bounded_number_of_times() {
    let mut entries = vec![entry(0, State::waiting(Mode::Shared), 1)];
    let mut passes = 0;
    loop {
        // Keeps the waiter from being granted without being blocked itself.
        entries.truncate(1);
        entries.push(entry(1, State::granted(Mode::SchemaStability), 0));
        let state = entries[1].state.converting(Mode::IntentExclusive);
        entries[1] = entry(1, state, 2);
        if is_blocked(&entries, &entries[1]) {
            break;
        }
        grant(&mut entries, 1, |_| {});
        passes += 1;
    }
    assert_eq!(passes, PASSES_MAX);
    assert!(!is_blocked(&entries, &entries[0]), "the waiter does not wait for the conversion");
}

#[test]
fn a_waiter_that_must_wait_for_the_converter_anyway_does_not_hold_it_up() {
    let exhausted = State { passed: PASSES_MAX, ..State::waiting(Mode::Exclusive) };
    let entries = settled(vec![
        entry(0, exhausted, 1),
        entry(1, State::granted(Mode::IntentShared).converting(Mode::Shared), 2),
    ]);
    assert_eq!(entries[1].state, State::granted(Mode::Shared));
}

#[test]
fn settling_leaves_nobody_who_could_go_on_and_nobody_together_who_may_not() {
    for seed in 0..3000 {
        let mut random = Random::seeded(seed);
        let mut entries = Vec::new();
        for slot in 0..u32::try_from(1 + random.below(8)).unwrap() {
            let mode = Mode::ALL[usize::try_from(random.below(10)).unwrap()];
            let holds = |entries: &[Entry], mode: Mode| {
                entries.iter().all(|other| mode.is_compatible_with(other.state.held()))
            };
            let mut state = State::waiting(mode);
            if holds(&entries, mode) && random.chance(0.6) {
                state = State::granted(mode);
                let other = Mode::ALL[usize::try_from(random.below(10)).unwrap()];
                if !mode.covers(other) && random.chance(0.5) {
                    state = state.converting(mode.supremum(other));
                }
            }
            if state.is_waiting() {
                state.passed = u8::try_from(random.below(u64::from(PASSES_MAX) + 1)).unwrap();
                state.moved = random.chance(0.2);
            }
            entries.push(entry(slot, state, random.below(5)));
        }
        let before = entries.clone();
        let mut told = before.clone();
        settle(&mut entries, |changed| told[changed.slot as usize] = *changed);
        assert_eq!(told, entries, "seed {seed}: all changes are told");
        for one in &entries {
            for other in &entries {
                let apart = one.slot == other.slot
                    || one.state.held().is_compatible_with(other.state.held());
                assert!(apart, "seed {seed}: {before:?} {entries:?}");
                assert!(
                    edge(one, other).is_none()
                        || edge(other, one) != Some(Edge::Soft)
                        || edge(one, other) == Some(Edge::Hard),
                    "seed {seed}"
                );
            }
            let stuck = one.state.is_waiting() && !is_blocked(&entries, one);
            assert!(!stuck, "seed {seed}: {one:?} in {before:?} {entries:?}");
        }
    }
}
