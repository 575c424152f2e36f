//! What the explorer finds when something is left out: what it cannot miss, it need not be trusted
//! with.

use super::death::{death_of_a_writer, mortal, two_reapers};
use super::fast_path::weak_and_strong;
use super::waiting::{cancellation, release_to_two};
use super::*;
use crate::steps::Omission;

/// What is found wrong, without what is random: after how many schedules, with how many preemptions.
fn missed(name: &str, rules: Rules, play: impl Fn() -> Play) -> (String, u64, u32) {
    let found = find(Rules { random: 0, ..rules }, play).expect_err(name);
    println!("{name}: {} after {} schedules", found.wrong, found.schedules);
    (found.wrong.clone(), found.schedules, found.preemptions)
}

#[test]
fn a_wake_up_that_is_left_out_is_missed() {
    let rules = Rules { omission: Some(Omission::WakeUp), ..Rules::default() };
    let (wrong, ..) = missed("no wake-up", rules, || release_to_two(Mode::Exclusive));
    assert!(wrong.contains("whose wish is decided sleeps"), "{wrong}");
}

#[test]
fn a_sleep_that_does_not_look_again_is_missed() {
    let rules = Rules { sleeps_blindly: true, ..Rules::default() };
    let (wrong, _, preemptions) = missed("a blind sleep", rules, cancellation);
    assert_eq!((wrong.as_str(), preemptions), ("nobody can go on", 1));
}

#[test]
fn a_second_look_at_the_strong_locks_that_is_left_out_is_missed() {
    let rules = Rules { omission: Some(Omission::SecondLook), ..Rules::default() };
    let (wrong, ..) = missed("no second look", rules, || weak_and_strong(Mode::Exclusive));
    assert!(wrong.contains("are held at once"), "{wrong}");
}

#[test]
fn locks_of_the_dead_that_are_not_struck_out_are_missed() {
    let omission = Some(Omission::StrikingOut);
    let rules = Rules { omission, lateness: Lateness::WhenStuck, ..Rules::default() };
    missed("no striking out", rules, || two_reapers(false));
}

#[test]
fn a_value_that_stays_valid_is_missed() {
    let rules = Rules { omission: Some(Omission::Invalidation), ..mortal(1) };
    missed("no invalidation", rules, death_of_a_writer);
}
