//! Intention locks on tables, which have no requests while nobody is in their way.

use super::waiting::locking;
use super::*;
use gadus_base::{Random, TableId, spawn};

fn table_lock(number: u32) -> Resource {
    Resource::table(TableId(number))
}

#[test]
fn uncontended_intention_locks_on_tables_take_no_slot() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    for number in 0..40 {
        one.lock(table_lock(number), Mode::IntentExclusive, Wait::No).unwrap();
        other.lock(table_lock(number), Mode::IntentShared, Wait::No).unwrap();
    }
    assert_eq!(table.statistics().slots_used, 2 * (40 - layout::FAST_LOCKS as u64));
    assert_eq!(table.snapshot().unwrap().len(), 80);
    one.release_all().unwrap();
    assert_eq!(one.fast_used, 0);
    one.lock(table_lock(1), Mode::IntentShared, Wait::No).unwrap();
    assert_eq!(one.fast_used, 1);
    table.check().unwrap();
}

#[test]
fn a_strong_lock_meets_weak_ones_that_have_no_request() {
    let machine = Machine::new(4);
    let (table, other) = (machine.open(), machine.open());
    let (mut weak, mut strong) = (table.register().unwrap(), other.register().unwrap());
    weak.lock(table_lock(1), Mode::IntentExclusive, Wait::No).unwrap();
    let error = strong.lock(table_lock(1), Mode::Shared, Wait::No).unwrap_err();
    assert_eq!(error.holder.as_ref().unwrap().connection, weak.number());
    assert_eq!(table.statistics().fast_moves, 1);
    table.check().unwrap();
    let strong = locking(strong, table_lock(1), Mode::Exclusive, Wait::Forever);
    until(|| waiters(&table) == 1);
    let mut late = table.register().unwrap();
    late.lock(table_lock(1), Mode::IntentShared, Wait::No).unwrap_err();
    weak.unlock(table_lock(1)).unwrap();
    let (granted, strong) = strong.join().unwrap();
    granted.unwrap();
    late.lock(table_lock(1), Mode::IntentShared, Wait::No).unwrap_err();
    drop(strong);
    late.lock(table_lock(1), Mode::IntentShared, Wait::No).unwrap();
    assert_eq!(table.statistics().slots_used, 0, "the fast path is open again");
    table.check().unwrap();
}

#[test]
fn a_weak_lock_without_a_request_is_strengthened_and_lowered() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    one.lock(table_lock(1), Mode::IntentShared, Wait::No).unwrap();
    one.lock(table_lock(1), Mode::IntentExclusive, Wait::No).unwrap();
    other.lock(table_lock(1), Mode::IntentExclusive, Wait::No).unwrap();
    one.lock(table_lock(1), Mode::Exclusive, Wait::No).unwrap_err();
    other.downgrade(table_lock(1), Mode::Null).unwrap();
    one.lock(table_lock(1), Mode::Exclusive, Wait::No).unwrap();
    one.downgrade(table_lock(1), Mode::IntentShared).unwrap();
    other.lock(table_lock(1), Mode::IntentExclusive, Wait::No).unwrap();
    table.check().unwrap();
    drop((one, other));
    assert_eq!(table.statistics().slots_used, 0);
}

#[test]
fn a_circle_through_locks_without_requests_is_found() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    one.lock(table_lock(1), Mode::IntentExclusive, Wait::No).unwrap();
    other.lock(table_lock(2), Mode::IntentExclusive, Wait::No).unwrap();
    let one = locking(one, table_lock(2), Mode::Exclusive, Wait::Forever);
    let other = locking(other, table_lock(1), Mode::Exclusive, Wait::Forever);
    let (error, other) = other.join().unwrap();
    assert_eq!(error.unwrap_err().kind, LockErrorKind::Deadlock);
    drop(other);
    one.join().unwrap().0.unwrap();
    table.check().unwrap();
}

#[test]
fn the_locks_of_the_dead_without_requests_hinder_nobody() {
    let machine = Machine::new(4);
    let (dead, table) = (machine.open(), machine.open());
    let mut weak = dead.register().unwrap();
    weak.lock(table_lock(1), Mode::IntentExclusive, Wait::No).unwrap();
    machine.kill(&dead);
    let mut strong = table.register().unwrap();
    strong.lock(table_lock(1), Mode::Exclusive, Wait::Forever).unwrap();
    table.check().unwrap();
    std::mem::forget(weak);
}

#[test]
fn weak_and_strong_locks_exclude_each_other_under_load() {
    let machine = Machine::new(4);
    let tables = [machine.open(), machine.open()];
    let (weak, strong) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let threads = (0..4).map(|seed| {
        let mut owner = tables[usize::try_from(seed % 2).unwrap()].register().unwrap();
        let (weak, strong) = (weak.clone(), strong.clone());
        spawn("locking", move || {
            let mut random = Random::seeded(seed);
            for _ in 0..1500 {
                if random.chance(0.1) {
                    owner.lock(table_lock(1), Mode::Exclusive, Wait::Forever).unwrap();
                    assert_eq!(strong.fetch_add(1, Ordering::SeqCst), 0, "seed {seed}");
                    assert_eq!(weak.load(Ordering::SeqCst), 0, "seed {seed}");
                    strong.fetch_sub(1, Ordering::SeqCst);
                } else {
                    owner.lock(table_lock(1), Mode::IntentExclusive, Wait::Forever).unwrap();
                    weak.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(strong.load(Ordering::SeqCst), 0, "seed {seed}");
                    weak.fetch_sub(1, Ordering::SeqCst);
                }
                owner.unlock(table_lock(1)).unwrap();
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.unwrap().join().unwrap();
    }
    tables[0].check().unwrap();
    assert_eq!(tables[0].statistics().slots_used, 0);
}
