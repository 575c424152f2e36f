//! Waits: granted, late, cancelled, in a circle.

use super::*;
use gadus_base::{RowId, SegmentId, TableId};

#[test]
fn two_that_lock_convert_and_unlock_the_same_exclude_each_other() {
    let play = || {
        let mut stage = Stage::new(2, &[name(1)]);
        let owners = [stage.owner(0), stage.owner(1)];
        stage.thread("converts", owners[0], |actor| {
            actor.take(name(1), Mode::Update);
            actor.take(name(1), Mode::Exclusive);
            actor.downgrade(name(1), Mode::Shared);
            actor.unlock(name(1));
        });
        stage.thread("reads", owners[1], |actor| {
            actor.take(name(1), Mode::Shared);
            actor.unlock(name(1));
        });
        stage.play(|_| ())
    };
    explore("lock, convert, unlock", Rules::default(), play);
}

/// One releases while others, who wait in this mode, come.
pub(super) fn release_to_two(mode: Mode) -> Play {
    let mut stage = Stage::new(3, &[name(1)]);
    let owners = [stage.owner(0), stage.owner(1), stage.owner(2)];
    stage.prepare(owners[0], |owner| owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap());
    stage.holds(0, name(1), Mode::Exclusive);
    stage.thread("holder", owners[0], |actor| actor.unlock(name(1)));
    for (which, owner) in ["one", "other"].into_iter().zip(&owners[1..]) {
        stage.thread(which, *owner, move |actor| {
            actor.take(name(1), mode);
            actor.unlock(name(1));
        });
    }
    stage.play(|_| ())
}

#[test]
fn of_two_that_wait_for_one_release_nobody_is_forgotten() {
    let rules = Rules { preemptions: 1, ..Rules::default() };
    explore("a release to two writers", rules, || release_to_two(Mode::Exclusive));
    explore("a release to two readers", rules, || release_to_two(Mode::Shared));
}

#[test]
fn who_came_first_is_granted_first() {
    let play = || {
        let mut stage = Stage::new(2, &[name(1)]);
        let owners = [stage.owner(0), stage.owner(1), stage.owner(1)];
        stage.prepare(owners[0], |owner| owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap());
        stage.holds(0, name(1), Mode::Exclusive);
        // It waits from the beginning, on no thread.
        let first = stage.prepare(owners[1], |owner| {
            match owner.request(name(1), Mode::Exclusive, Wait::Forever).unwrap() {
                request::Asked::MustWait(wish) => wish,
                request::Asked::Granted(_) => panic!("it is held"),
            }
        });
        stage.thread("holder", owners[0], |actor| actor.unlock(name(1)));
        stage.thread("first", owners[1], move |actor| {
            actor.owner.wait(name(1), &first, Wait::Forever).unwrap();
            actor.owner.note(name(1), first.slot, Mode::Exclusive);
            actor.unlock(name(1));
        });
        stage.thread("late", owners[2], move |actor| {
            actor.take(name(1), Mode::Exclusive);
            assert!(!waits(&actor.owner.table, &first), "who came late went first");
            actor.unlock(name(1));
        });
        stage.play(|_| ())
    };
    explore("the order of arrival", Rules { preemptions: 1, ..Rules::default() }, play);
}

/// Whether a wish is still one.
fn waits(table: &LockTable, wish: &queue::Entry) -> bool {
    let partition = partition::Place::of(name(1)).partition;
    let request = table.record::<layout::Request>(chunks::Use::Requests(partition), wish.slot);
    let request = request.unwrap();
    request.owner.load(Ordering::SeqCst) == wish.holder.to_word()
        && request.state.load(Ordering::SeqCst) == wish.state.to_word()
}

#[test]
fn who_is_late_is_granted_or_not_in_the_queue() {
    let play = || {
        let (mut stage, owners) = Stage::of_two(name(1), 0, Mode::Exclusive);
        stage.thread("holder", owners[0], |actor| actor.unlock(name(1)));
        stage.thread("waiter", owners[1], |actor| {
            let end = crate::steps::now().plus(Duration::from_millis(10));
            match actor.lock(name(1), Mode::Shared, Wait::Until(end)) {
                Ok(_) => assert_eq!(actor.owner.mode(name(1)), Some(Mode::Shared)),
                Err(error) => {
                    assert_eq!(error.kind, LockErrorKind::Timeout);
                    assert_eq!(actor.owner.mode(name(1)), None);
                }
            }
        });
        stage.play(move |outcome| {
            let held = outcome.owner(owners[1], |owner| {
                // It could not be withdrawn while somebody was stopped at work on the table.
                owner.withdraw_stale(Wait::Forever).unwrap();
                owner.held_count()
            });
            assert_eq!(outcome.table.statistics().slots_used, held as u64);
        })
    };
    let rules = Rules { lateness: Lateness::Always, ..Rules::default() };
    explore("a deadline and a grant", rules, play);
}

#[test]
fn who_is_cancelled_is_granted_or_not_in_the_queue() {
    let play = || {
        let (mut stage, owners) = Stage::of_two(name(1), 0, Mode::Exclusive);
        let canceller = stage.prepare(owners[1], |owner| owner.canceller());
        stage.thread("holder", owners[0], |actor| actor.unlock(name(1)));
        stage.thread("waiter", owners[1], |actor| {
            if let Err(error) = actor.lock(name(1), Mode::Shared, Wait::Forever) {
                assert_eq!(error.kind, LockErrorKind::Cancelled);
                assert_eq!(actor.owner.mode(name(1)), None);
            }
        });
        stage.other_thread("canceller", move || canceller.cancel());
        stage.play(move |outcome| {
            let held = outcome.owner(owners[1], |owner| owner.held_count());
            assert_eq!(outcome.table.statistics().slots_used, held as u64);
        })
    };
    explore("a cancellation and a grant", Rules { preemptions: 1, ..Rules::default() }, play);
}

/// Who waits is cancelled, and nobody else helps.
pub(super) fn cancellation() -> Play {
    let mut stage = Stage::new(2, &[name(1)]);
    let owners = [stage.owner(0), stage.owner(1)];
    stage.prepare(owners[0], |owner| owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap());
    let canceller = stage.prepare(owners[1], |owner| owner.canceller());
    stage.thread("waiter", owners[1], |actor| {
        let error = actor.lock(name(1), Mode::Shared, Wait::Forever).unwrap_err();
        assert_eq!(error.kind, LockErrorKind::Cancelled);
    });
    stage.other_thread("canceller", move || canceller.cancel());
    stage.play(|_| ())
}

#[test]
fn a_cancellation_is_heard_whenever_it_comes() {
    explore("a cancellation", Rules::default(), cancellation);
}

#[test]
fn a_holder_that_releases_when_it_is_told_to_is_told() {
    let play = || {
        let (mut stage, owners) = Stage::of_two(name(1), 0, Mode::Exclusive);
        let mut watcher = stage.tables[0].watcher();
        stage.thread("holder", owners[0], move |actor| {
            let about =
                |event: &Event| matches!(event, Event::InTheWay(it) if it.resource == name(1));
            while !watcher.wait(None).unwrap().iter().any(about) {}
            actor.unlock(name(1));
        });
        stage.thread("waiter", owners[1], |actor| {
            actor.take(name(1), Mode::Shared);
            actor.unlock(name(1));
        });
        stage.play(|_| ())
    };
    explore("a notification", Rules::default(), play);
}

#[test]
fn a_notification_of_what_is_released_meanwhile_harms_nobody() {
    let play = || {
        let (mut stage, owners) = Stage::of_two(name(1), 0, Mode::Exclusive);
        let mut watcher = stage.tables[0].watcher();
        stage.thread("holder", owners[0], |actor| actor.unlock(name(1)));
        stage.thread("waiter", owners[1], |actor| {
            actor.take(name(1), Mode::Shared);
            actor.unlock(name(1));
        });
        stage.other_thread("watcher", move || {
            assert!(watcher.wait(Some(Duration::ZERO)).unwrap().len() <= 1);
        });
        stage.play(|_| ())
    };
    let rules = Rules { preemptions: 1, lateness: Lateness::WhenStuck, ..Rules::default() };
    explore("a notification and a release", rules, play);
}

/// Two that each want what the other has; the second one may die.
pub(super) fn circle(instances: usize, is_mortal: bool) -> Play {
    let mut stage = Stage::new(instances, &[name(1), name(2)]);
    let owners = [stage.owner(0), stage.owner(instances - 1)];
    for (thread, owner) in owners.into_iter().enumerate() {
        let mine = name(thread as u64 + 1);
        stage.prepare(owner, |owner| owner.lock(mine, Mode::Exclusive, Wait::No).unwrap());
        stage.holds(thread, mine, Mode::Exclusive);
    }
    for (thread, owner) in owners.into_iter().enumerate() {
        let [mine, theirs] = [thread, 1 - thread].map(|at| name(at as u64 + 1));
        stage.thread(["one", "other"][thread], owner, move |actor| {
            if let Err(error) = actor.lock(theirs, Mode::Exclusive, Wait::Forever) {
                assert_eq!(error.kind, LockErrorKind::Deadlock);
            } else {
                actor.unlock(theirs);
            }
            actor.unlock(mine);
        });
    }
    if is_mortal {
        stage.may_die(1);
    }
    stage.play(|outcome| {
        let deadlocks = outcome.table.statistics().deadlocks;
        assert!(deadlocks == 1 || deadlocks == 0 && outcome.is_dead[1], "{deadlocks}");
    })
}

#[test]
fn two_that_search_for_the_same_deadlock_refuse_one() {
    let rules = Rules { preemptions: 1, lateness: Lateness::WhenStuck, ..Rules::default() };
    explore("a deadlock of two instances", rules, || circle(2, false));
    explore("a deadlock in an instance", Rules { preemptions: 0, ..rules }, || circle(1, false));
}

#[test]
fn a_row_lock_is_not_overlooked_by_an_escalation() {
    let play = || {
        let row = |position| RowId { segment: SegmentId(1), position };
        let (table, part) = (TableId(1), Resource::segment(TableId(1), SegmentId(1)));
        let rows = [1, 2, 3].map(|position| Resource::row(table, row(position)));
        let all = [Resource::table(table), part, rows[0], rows[1], rows[2]];
        let mut stage = Stage::new(2, &all);
        let escalates = stage.tables[0].register().unwrap();
        let other = stage.owner(1);
        stage.other_thread("escalates", move || {
            let settings = EscalationSettings { rows_per_segment_max: 2, rows_per_table_max: 100 };
            let mut rows = RowLocks::new(escalates, settings);
            for position in [1, 2] {
                rows.lock_row(table, row(position), Mode::Exclusive, Wait::Forever).unwrap();
            }
            rows.release_all().unwrap();
        });
        stage.thread("other", other, move |actor| {
            actor.take(Resource::table(table), Mode::IntentExclusive);
            actor.take(part, Mode::IntentExclusive);
            actor.take(rows[2], Mode::Exclusive);
            for resource in [rows[2], part, Resource::table(table)] {
                actor.unlock(resource);
            }
        });
        stage.play(|_| ())
    };
    explore("an escalation", Rules { preemptions: 1, ..Rules::default() }, play);
}
