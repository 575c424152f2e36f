//! Deaths before any step, and those who clean up after them.

use super::fast_path::table_lock;
use super::waiting::circle;
use super::*;

/// One death, of whoever may die, at any of its steps.
pub(super) fn mortal(preemptions: u32) -> Rules {
    Rules { preemptions, deaths: 1, lateness: Lateness::WhenStuck, ..Rules::default() }
}

/// One locks and dies, another waits for the same.
pub(super) fn death_of_a_locker(resource: Resource, mode: Mode) -> Play {
    let mut stage = Stage::new(2, &[resource]);
    let owners = [stage.owner(0), stage.owner(1)];
    stage.thread("survivor", owners[0], move |actor| {
        actor.take(resource, Mode::Exclusive);
        actor.unlock(resource);
    });
    stage.thread("mortal", owners[1], move |actor| {
        actor.take(resource, mode);
        actor.unlock(resource);
    });
    stage.may_die(1);
    stage.play(|_| ())
}

#[test]
fn who_waits_for_the_dead_goes_on_wherever_they_died() {
    let play = || death_of_a_locker(name(1), Mode::Exclusive);
    explore("death of a locker", mortal(1), play);
    let play = || death_of_a_locker(table_lock(), Mode::IntentExclusive);
    explore("death of a weak locker", mortal(1), play);
    let play = || death_of_a_locker(table_lock(), Mode::Exclusive);
    explore("death of a strong locker", mortal(1), play);
}

#[test]
fn who_would_be_woken_by_the_dead_goes_on() {
    let play = || {
        let (mut stage, owners) = Stage::of_two(name(1), 1, Mode::Exclusive);
        stage.thread("survivor", owners[0], |actor| {
            actor.take(name(1), Mode::Shared);
            actor.unlock(name(1));
        });
        stage.thread("mortal", owners[1], |actor| {
            actor.downgrade(name(1), Mode::Update);
            actor.unlock(name(1));
        });
        stage.may_die(1);
        stage.play(|_| ())
    };
    explore("death of who grants", mortal(1), play);
}

/// One writes a value and dies, another reads it.
pub(super) fn death_of_a_writer() -> Play {
    let mut stage = Stage::new(2, &[name(1)]);
    let owners = [stage.owner(0), stage.owner(1)];
    stage.prepare(owners[1], |owner| {
        owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
        owner.set_value(name(1), &[1; VALUE_BYTES]).unwrap();
    });
    stage.prepare(owners[0], |owner| owner.lock(name(1), Mode::Null, Wait::No).unwrap());
    stage.holds(1, name(1), Mode::Exclusive);
    stage.thread("reader", owners[0], |actor| {
        actor.take(name(1), Mode::Shared);
        match actor.owner.value(name(1)).unwrap() {
            Value::Missing => panic!("it was written"),
            Value::Invalid => {}
            Value::Valid { sequence, bytes } => {
                assert_eq!(bytes, [u8::try_from(sequence).unwrap(); VALUE_BYTES]);
            }
        }
    });
    stage.thread("writer", owners[1], |actor| {
        actor.owner.set_value(name(1), &[2; VALUE_BYTES]).unwrap();
        actor.unlock(name(1));
    });
    stage.may_die(1);
    stage.play(move |outcome| {
        let value = outcome.owner(owners[0], |owner| owner.value(name(1)).unwrap());
        if outcome.died_with(1, name(1)).is_some() {
            assert_eq!(value, Value::Invalid, "who died could have changed it");
        } else if !outcome.is_dead[1] {
            assert_eq!(value, Value::Valid { sequence: 2, bytes: [2; VALUE_BYTES] });
        }
    })
}

#[test]
fn a_value_whose_writer_died_is_never_read() {
    explore("death of a writer of a value", mortal(1), death_of_a_writer);
}

/// Two clean up after a third, of whom one may die; one of them wants what the dead had.
pub(super) fn two_reapers(is_mortal: bool) -> Play {
    let all = [name(1), table_lock()];
    let mut stage = Stage::new(3, &all);
    let owners = [stage.owner(0), stage.owner(1), stage.owner(2)];
    stage.prepare(owners[2], |owner| {
        owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
        owner.lock(table_lock(), Mode::IntentExclusive, Wait::No).unwrap();
    });
    stage.kill(2);
    stage.thread("waiter", owners[0], move |actor| {
        for one in all {
            actor.take(one, Mode::Exclusive);
        }
        all.into_iter().for_each(|one| actor.unlock(one));
    });
    let table = stage.tables[1].clone();
    stage.other_thread("reaper", move || {
        table.reap();
    });
    if is_mortal {
        stage.may_die(1);
    }
    stage.play(|_| ())
}

#[test]
fn two_that_clean_up_at_once_do_it_once_also_if_one_of_them_dies() {
    let rules = Rules { lateness: Lateness::WhenStuck, random: 300, ..Rules::default() };
    explore("two reapers", Rules { preemptions: 1, ..rules }, || two_reapers(false));
    explore("death of a reaper", Rules { random: 300, ..mortal(0) }, || two_reapers(true));
}

#[test]
fn who_dies_while_it_waits_keeps_nobody_waiting() {
    let play = || {
        let (mut stage, owners) = Stage::of_two(name(1), 0, Mode::Shared);
        stage.thread("survivor", owners[0], |actor| {
            // A conversion: the mortal one may be in the queue, or have it all to itself.
            actor.take(name(1), Mode::Update);
            actor.unlock(name(1));
        });
        stage.thread("mortal", owners[1], |actor| {
            actor.take(name(1), Mode::Exclusive);
            actor.unlock(name(1));
        });
        stage.may_die(1);
        stage.play(|_| ())
    };
    explore("death of a waiter", mortal(1), play);
}

#[test]
fn an_instance_that_leaves_is_cleaned_up_after_once_also_if_it_dies_leaving() {
    let play = || {
        let mut stage = Stage::new(2, &[name(1)]);
        let owners = [stage.owner(0), stage.owner(1)];
        stage.prepare(owners[1], |owner| owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap());
        stage.thread("survivor", owners[0], |actor| {
            actor.take(name(1), Mode::Shared);
            actor.unlock(name(1));
        });
        let table = stage.tables[1].clone();
        stage.thread("leaving", owners[1], move |actor| {
            actor.unlock(name(1));
            table.instances().leave(|| ());
        });
        stage.may_die(1);
        stage.play(|_| ())
    };
    explore("death of who leaves", mortal(1), play);
}

#[test]
fn who_dies_in_a_circle_or_undoing_it_leaves_the_other_what_it_wants() {
    explore("death in a circle", mortal(0), || circle(2, true));
}
