//! Circles of waiters.

use super::waiting::locking;
use super::*;
use gadus_base::{Random, spawn};

#[test]
fn the_youngest_of_a_circle_is_refused_and_the_other_goes_on() {
    let machine = Machine::new(4);
    let (table, other) = (machine.open(), machine.open());
    let (mut old, mut young) = (table.register().unwrap(), other.register().unwrap());
    old.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    young.lock(name(2), Mode::Exclusive, Wait::No).unwrap();
    let old_number = old.number();
    let young = locking(young, name(1), Mode::Shared, Wait::Forever);
    until(|| waiters(&table) == 1);
    let old = locking(old, name(2), Mode::Shared, Wait::Forever);
    let (error, young) = young.join().unwrap();
    let error = error.unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Deadlock, "{error}");
    assert_eq!(error.holder.as_ref().unwrap().connection, old_number);
    assert_eq!(young.mode(name(2)), Some(Mode::Exclusive), "what it held it holds");
    drop(young);
    let (grant, old) = old.join().unwrap();
    assert_eq!(grant.unwrap().deadlocks_survived, 1);
    assert_eq!(old.deadlocks_survived(), 1);
    assert_eq!(table.statistics().deadlocks, 1);
    table.check().unwrap();
}

#[test]
fn two_readers_that_both_want_to_write_do_not_wait_for_ever() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    one.lock(name(1), Mode::Shared, Wait::No).unwrap();
    other.lock(name(1), Mode::Shared, Wait::No).unwrap();
    // It begins anew, and so is the youngest.
    one.begin_transaction();
    let one = locking(one, name(1), Mode::Exclusive, Wait::Forever);
    let other = locking(other, name(1), Mode::Exclusive, Wait::Forever);
    let (error, one) = one.join().unwrap();
    assert_eq!(error.unwrap_err().kind, LockErrorKind::Deadlock);
    assert_eq!(one.mode(name(1)), Some(Mode::Shared));
    drop(one);
    other.join().unwrap().0.unwrap();
    table.check().unwrap();
}

#[test]
fn a_circle_through_a_queue_is_broken_by_letting_one_go_first() {
    let machine = Machine::new(4);
    let table = machine.open();
    let owners = [table.register(), table.register(), table.register()];
    let [mut a, b, mut c] = owners.map(Result::unwrap);
    a.lock(name(1), Mode::Shared, Wait::No).unwrap();
    c.lock(name(2), Mode::Exclusive, Wait::No).unwrap();
    let b = locking(b, name(1), Mode::Exclusive, Wait::Forever);
    until(|| waiters(&table) == 1);
    // Behind `b` only because it came later.
    let c = locking(c, name(1), Mode::Shared, Wait::Forever);
    until(|| waiters(&table) == 2);
    let a = locking(a, name(2), Mode::Shared, Wait::Forever);
    let (grant, c) = c.join().unwrap();
    grant.unwrap();
    drop(c);
    let (grant, a) = a.join().unwrap();
    grant.unwrap();
    drop(a);
    b.join().unwrap().0.unwrap();
    let statistics = table.statistics();
    assert_eq!((statistics.reorders, statistics.deadlocks), (1, 0), "{statistics:?}");
    table.check().unwrap();
}

#[test]
fn a_long_circle_has_one_victim() {
    let machine = Machine::new(4);
    let table = machine.open();
    let mut owners = (0..8).map(|_| table.register().unwrap()).collect::<Vec<_>>();
    for (number, owner) in (0..).zip(&mut owners) {
        owner.lock(name(number), Mode::Exclusive, Wait::No).unwrap();
    }
    let threads = (0..).zip(owners).map(|(number, mut owner)| {
        let next = name((number + 1) % 8);
        spawn("locking", move || owner.lock(next, Mode::Exclusive, Wait::Forever).is_err())
    });
    let threads = threads.collect::<Vec<_>>();
    let refused = threads.into_iter().map(|thread| thread.unwrap().join().unwrap());
    assert_eq!(refused.filter(|refused| *refused).count(), 1);
    assert_eq!(table.statistics().deadlocks, 1);
    table.check().unwrap();
}

#[test]
fn whatever_is_locked_in_whatever_order_nobody_waits_for_ever() {
    let machine = Machine::new(8);
    let settings = LockSettings { deadlock_after: Duration::from_millis(1), ..Default::default() };
    let tables = [machine.open_with(settings.clone()), machine.open_with(settings)];
    let threads = (0..6).map(|seed| {
        let mut owner = tables[usize::try_from(seed % 2).unwrap()].register().unwrap();
        spawn("locking", move || {
            let mut random = Random::seeded(seed);
            for _ in 0..25 {
                owner.begin_transaction();
                for _ in 0..4 {
                    let mode = Mode::ALL[usize::try_from(random.below(9)).unwrap()];
                    match owner.lock(name(random.below(4)), mode, Wait::Forever) {
                        Ok(_) => {}
                        Err(error) if error.kind == LockErrorKind::Deadlock => break,
                        Err(error) => panic!("seed {seed}: {error}"),
                    }
                }
                owner.release_all().unwrap();
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.unwrap().join().unwrap();
    }
    tables[0].check().unwrap();
    assert_eq!(tables[0].statistics().slots_used, 0);
}

#[test]
fn a_crowd_that_waits_for_the_same_is_in_no_circle() {
    let machine = Machine::new(4);
    let settings = LockSettings { deadlock_after: Duration::from_millis(1), ..Default::default() };
    let table = machine.open_with(settings);
    let mut holder = table.register().unwrap();
    holder.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    let crowd = (0..60).map(|_| {
        let mut owner = table.register().unwrap();
        let lock = move || owner.lock(name(1), Mode::Exclusive, Wait::Forever).map(drop);
        spawn("locking", lock).unwrap()
    });
    let crowd = crowd.collect::<Vec<_>>();
    until(|| waiters(&table) == 60);
    // Long enough for all of them to have searched.
    let bell = table.statistics().notifications;
    until(|| table.statistics().notifications > bell + 60);
    assert_eq!(table.undo_deadlock(holder.holder), Ok(false));
    holder.unlock(name(1)).unwrap();
    crowd.into_iter().for_each(|one| assert_eq!(one.join().unwrap(), Ok(())));
    assert_eq!(table.statistics().deadlocks, 0);
    table.check().unwrap();
}
