//! Intention locks without requests beside strong locks of the same table.

use super::*;

pub(super) fn table_lock() -> Resource {
    Resource::table(gadus_base::TableId(1))
}

/// One locks weakly, another strongly.
pub(super) fn weak_and_strong(strong: Mode) -> Play {
    let table = table_lock();
    let mut stage = Stage::new(2, &[table]);
    let owners = [stage.owner(0), stage.owner(1)];
    stage.thread("weak", owners[0], move |actor| {
        actor.take(table, Mode::IntentExclusive);
        actor.unlock(table);
    });
    stage.thread("strong", owners[1], move |actor| {
        actor.take(table, strong);
        actor.unlock(table);
    });
    stage.play(|_| ())
}

#[test]
fn a_weak_lock_is_not_overlooked_by_a_strong_one() {
    explore("weak and strong", Rules::default(), || weak_and_strong(Mode::Exclusive));
}

#[test]
fn a_weak_lock_that_is_given_up_or_strengthened_while_it_is_moved_is_moved_once() {
    let table = table_lock();
    let play = |strengthens: bool| {
        let (mut stage, owners) = Stage::of_two(table, 0, Mode::IntentShared);
        stage.thread("weak", owners[0], move |actor| {
            if strengthens {
                actor.take(table, Mode::IntentExclusive);
            }
            actor.unlock(table);
        });
        stage.thread("strong", owners[1], move |actor| {
            actor.take(table, Mode::Exclusive);
            actor.unlock(table);
        });
        stage.play(|_| ())
    };
    explore("weak given up", Rules::default(), || play(false));
    explore("weak strengthened", Rules::default(), || play(true));
}

#[test]
fn strong_locks_of_two_move_a_weak_one_once() {
    let table = table_lock();
    let play = || {
        let mut stage = Stage::new(3, &[table]);
        let owners = [stage.owner(0), stage.owner(1), stage.owner(2)];
        stage.thread("weak", owners[0], move |actor| {
            actor.take(table, Mode::IntentShared);
            actor.unlock(table);
        });
        for (name, owner) in ["one strong", "other strong"].into_iter().zip(&owners[1..]) {
            stage.thread(name, *owner, move |actor| {
                actor.take(table, Mode::Exclusive);
                actor.unlock(table);
            });
        }
        stage.play(|_| ())
    };
    explore("weak and two strong", Rules { preemptions: 1, ..Rules::default() }, play);
}

#[test]
fn a_weak_lock_of_a_connection_that_comes_and_goes_is_not_overlooked() {
    let table = table_lock();
    let play = || {
        let mut stage = Stage::new(2, &[table]);
        let strong = stage.owner(1);
        let weak = stage.tables[0].clone();
        stage.other_thread("weak", move || {
            let mut owner = weak.register().unwrap();
            owner.lock(table, Mode::IntentExclusive, Wait::Forever).unwrap();
        });
        stage.thread("strong", strong, move |actor| {
            actor.take(table, Mode::Shared);
            actor.unlock(table);
        });
        stage.play(|outcome| assert_eq!(outcome.table.connections().unwrap().len(), 1))
    };
    explore("a weak connection", Rules { preemptions: 1, ..Rules::default() }, play);
}
