//! What the model shows.

use super::instance::{Following, Pinning};
use super::state::{HEADERS, Left, NOTHING, SLOTS, State, Status};
use super::{Recycling, Rules, Step};
use crate::explorer::{Model, explore};
use std::collections::BTreeMap;

const YES: bool = true;
const NO: bool = false;

/// One writes checkpoints, one reads; nobody joins, nobody dies.
fn two(rules: Rules) -> Recycling {
    Recycling {
        rules,
        instances: 2,
        left: Left { commits: 2, checkpoints: 3, deaths: 0, joins: 0 },
        reads: [NO, YES, NO],
        checkpoints: [YES, NO, NO],
        newer: YES,
        dies: [NO; SLOTS],
    }
}

/// How many states show something that the model must reach to prove anything.
#[derive(Debug, Default)]
struct Seen(BTreeMap<&'static str, usize>);

impl Seen {
    fn look(&mut self, model: &Recycling, state: &State) {
        let users = || state.slots.iter().filter_map(|slot| slot.user.as_ref());
        let reads = |pinning| matches!(pinning, Pinning::Reads { .. });
        let is_read = users().any(|user| reads(user.pinning));
        let first = &state.slots[..model.instances];
        let joined_again = first.iter().filter_map(|slot| slot.user.as_ref());
        let facts = [
            ("a zone is given back", state.zones & 1 == 0),
            ("an extent is given away", state.freed != 0),
            ("an extent is given away while another is read", state.freed != 0 && is_read),
            ("a pin is refused", users().any(|user| user.pinning == Pinning::ClearsPosition)),
            (
                "one begins anew",
                users().any(|user| !user.opens && user.following == Following::ReadsOneHeader),
            ),
            (
                "one joins",
                state.slots.iter().any(|slot| slot.user.as_ref().is_some_and(|u| u.opens)),
            ),
            ("one joins in a slot that was used", joined_again.clone().any(|user| user.opens)),
            ("a turn is left by the dead", state.turn.is_some_and(|turn| turn.holder == NOTHING)),
        ];
        for (fact, is_so) in facts {
            *self.0.entry(fact).or_default() += usize::from(is_so);
        }
    }

    fn shows(&self, facts: &[&str]) {
        for fact in facts {
            assert!(self.0[fact] > 0, "no state shows that {fact}: {self:?}");
        }
    }
}

impl Recycling {
    /// What comes of a state when nobody commits, joins, dies or begins to read any more, and
    /// checkpoints are written.
    fn settled(&self, state: &State) -> Option<State> {
        let mut state = state.clone();
        let rest = u8::try_from(HEADERS).unwrap() - state.written;
        state.left = Left { commits: 0, checkpoints: rest, deaths: 0, joins: 0 };
        let may_checkpoint =
            |slot: usize| self.checkpoints[slot] && state.slots[slot].user.is_some();
        (0..SLOTS).find(|slot| may_checkpoint(*slot))?;
        let mut steps = Vec::new();
        loop {
            steps.clear();
            self.steps(&state, &mut steps);
            // First everybody ends what he does, but for checkpoints.
            let order = |step: &&Step| match **step {
                Step::Pin(slot) if state.user(slot).pinning == Pinning::Idle => None,
                Step::PinNewer(_) => None,
                Step::Checkpoint(_) => Some(1),
                _ => Some(0),
            };
            let next = steps.iter().filter(|step| order(step).is_some()).min_by_key(order);
            let Some(step) = next else { return Some(state) };
            state = self.take(&state, *step);
        }
    }

    /// Whether in the end all is given back that nobody needs.
    fn wrong_when_settled(&self, state: &State) -> Option<String> {
        let settled = self.settled(state)?;
        let versions = (1..settled.end).fold(0, |all, version| all | 1_u16 << version);
        let all = settled.recycled == settled.end
            && settled.zones == 1 << (settled.end - 1)
            && settled.freed & versions == versions
            && settled.slots.iter().all(|slot| slot.user.is_some() || slot.status == Status::Free);
        (!all).then(|| format!("{state:?} settles as {settled:?}"))
    }
}

/// Looks at every state, and at what becomes of one of so many.
fn holds(model: Recycling, one_of: usize, facts: &[&str]) -> String {
    let (mut seen, mut count) = (Seen::default(), 0);
    let begun = gadus_base::clock().now();
    let explored = explore(&model, |state| {
        seen.look(&model, state);
        count += 1;
        if count % one_of == 0 {
            assert_eq!(model.wrong_when_settled(state), None);
        }
    });
    let explored = explored.unwrap_or_else(|found| panic!("{found}"));
    let (states, steps) = (explored.states, explored.steps);
    seen.shows(facts);
    format!("{states} states, {steps} steps in {:?}: {seen:#?}", begun.elapsed())
}

/// What is wrong with rules that lack something.
fn found(model: Recycling) -> String {
    explore(&model, |_| ()).expect_err("something is wrong with such rules").wrong
}

#[test]
fn what_is_read_stays_until_nobody_reads_it_and_then_goes() {
    let facts = [
        "a zone is given back",
        "an extent is given away",
        "an extent is given away while another is read",
        "a pin is refused",
        "one begins anew",
    ];
    println!("{}", holds(two(Rules::Whole), 16, &facts));
}

#[test]
fn instances_that_read_and_write_checkpoints_in_turn_keep_what_the_other_reads() {
    let left = Left { checkpoints: 2, ..two(Rules::Whole).left };
    let (reads, checkpoints) = ([YES, NO, NO], [YES, YES, NO]);
    let facts = ["an extent is given away while another is read", "one begins anew"];
    println!("{}", holds(Recycling { left, reads, checkpoints, ..two(Rules::Whole) }, 32, &facts));
}

#[test]
fn joiners_find_a_state_beside_a_reader_and_in_the_slot_of_a_dead_one() {
    let left = Left { commits: 1, checkpoints: 2, deaths: 1, joins: 1 };
    let facts = ["an extent is given away", "one joins", "one joins in a slot that was used"];
    println!(
        "{}",
        holds(Recycling { left, newer: NO, dies: [NO, YES, NO], ..two(Rules::Whole) }, 256, &facts)
    );
}

#[test]
fn a_dead_checkpointer_is_followed_by_another() {
    let left = Left { commits: 1, checkpoints: 2, deaths: 1, joins: 1 };
    let (checkpoints, dies) = ([YES, YES, NO], [YES, NO, NO]);
    let facts = ["a turn is left by the dead", "one joins in a slot that was used"];
    let model = Recycling { left, reads: [NO; SLOTS], checkpoints, dies, ..two(Rules::Whole) };
    println!("{}", holds(model, 32, &facts));
}

#[test]
fn one_thread_alone_may_look_at_its_pin_first() {
    println!("{}", holds(two(Rules::OneThread), 32, &["a pin is refused", "one begins anew"]));
}

#[test]
fn who_catches_up_beside_a_reader_and_looks_at_the_pin_first_takes_its_version_away() {
    let wrong = found(two(Rules::LooksAtPinFirst));
    assert_eq!(wrong, "an instance begins anew although it reads a version");
}

#[test]
fn who_pins_and_does_not_look_at_the_horizon_reads_what_is_gone() {
    let wrong = found(two(Rules::NeverLooks));
    assert_eq!(wrong, "version 2 is read, and the log after it is gone");
}

#[test]
fn who_pins_without_a_fence_reads_what_is_gone() {
    let wrong = found(two(Rules::LooksBeforeItStores));
    assert_eq!(wrong, "version 2 is read, and the log after it is gone");
}

#[test]
fn who_gives_space_away_without_asking_takes_it_from_a_reader() {
    let wrong = found(two(Rules::FreesWithoutAsking));
    assert_eq!(wrong, "version 2 is read, and its extent was freed");
}

#[test]
fn a_joiner_whose_slot_pins_nothing_reads_what_is_gone() {
    let left = Left { commits: 2, checkpoints: 2, deaths: 0, joins: 1 };
    let wrong = found(Recycling { left, instances: 1, ..two(Rules::JoinsUnpinned) });
    assert_eq!(wrong, "a record that is read has no place any more");
}
