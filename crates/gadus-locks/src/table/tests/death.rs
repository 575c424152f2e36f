//! Death at any store.

use super::waiting::locking;
use super::*;
use crate::table::store::hook;
use std::cell::RefCell;
use std::rc::Rc;

#[test]
fn the_locks_of_a_dead_instance_are_granted_to_those_who_wait() {
    let machine = Machine::new(4);
    let (dead, table) = (machine.open(), machine.open());
    let mut holder = dead.register().unwrap();
    for number in 0..20 {
        holder.lock(name(number), Mode::Exclusive, Wait::No).unwrap();
    }
    let waiter = locking(table.register().unwrap(), name(1), Mode::Exclusive, Wait::Forever);
    until(|| waiters(&table) == 1);
    machine.kill(&dead);
    let (grant, waiter) = waiter.join().unwrap();
    grant.unwrap();
    assert_eq!(table.statistics().slots_used, 1);
    table.check().unwrap();
    drop(waiter);
    std::mem::forget(holder);
}

#[test]
fn who_does_not_wait_is_not_refused_because_of_the_dead() {
    let machine = Machine::new(4);
    let (dead, table) = (machine.open(), machine.open());
    let mut holder = dead.register().unwrap();
    holder.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    let mut owner = table.register().unwrap();
    owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap_err();
    machine.kill(&dead);
    owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    table.check().unwrap();
    std::mem::forget(holder);
}

#[test]
fn a_value_is_invalid_after_the_death_of_one_who_could_write_it() {
    let machine = Machine::new(4);
    let (dead, table) = (machine.open(), machine.open());
    let (mut writer, mut reader) = (dead.register().unwrap(), table.register().unwrap());
    for number in 0..2 {
        reader.lock(name(number), Mode::Null, Wait::No).unwrap();
        writer.lock(name(number), Mode::Exclusive, Wait::No).unwrap();
        writer.set_value(name(number), &[1; VALUE_BYTES]).unwrap();
    }
    writer.downgrade(name(0), Mode::Shared).unwrap();
    machine.kill(&dead);
    assert_eq!(table.reap(), 1);
    assert_eq!(
        reader.value(name(0)).unwrap(),
        Value::Valid { sequence: 1, bytes: [1; VALUE_BYTES] }
    );
    assert_eq!(reader.value(name(1)).unwrap(), Value::Invalid);
    reader.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    reader.set_value(name(1), &[2; VALUE_BYTES]).unwrap();
    let again = Value::Valid { sequence: 2, bytes: [2; VALUE_BYTES] };
    assert_eq!(reader.value(name(1)).unwrap(), again);
    table.check().unwrap();
    std::mem::forget(writer);
}

#[test]
fn a_partition_left_half_done_is_rebuilt_by_the_next() {
    let machine = Machine::new(4);
    let (dead, table) = (machine.open(), machine.open());
    let mut owner = table.register().unwrap();
    owner.lock(name(1), Mode::Shared, Wait::No).unwrap();
    // Dies with the latch, and with the chains in ruins.
    let partition = partition::Place::of(name(1)).partition;
    let inside = dead.enter(partition).unwrap();
    inside.part.buckets.iter().for_each(|head| head.store(0, Ordering::Relaxed));
    inside.part.free.store(u32::MAX, Ordering::Relaxed);
    std::mem::forget(inside);
    machine.kill(&dead);
    owner.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    assert_eq!(table.statistics().rebuilds, 1);
    table.check().unwrap();
}

#[test]
fn who_is_granted_a_lock_by_a_rebuild_is_woken_when_the_next_leaves() {
    let machine = Machine::new(4);
    let (dead, table) = (machine.open(), machine.open());
    let mut holder = dead.register().unwrap();
    holder.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    let mut waiter = table.register().unwrap();
    let asked = waiter.request(name(1), Mode::Shared, Wait::Forever).unwrap();
    let request::Asked::MustWait(wish) = asked else { panic!("it is held") };
    // Dies between its release and what that grants.
    let partition = partition::Place::of(name(1)).partition;
    let inside = dead.enter(partition).unwrap();
    let slot = inside.find(name(1), holder.holder).unwrap().unwrap();
    inside.request(slot).unwrap().state.store(0, Ordering::Release);
    std::mem::forget((inside, holder));
    machine.kill(&dead);
    let next = table.enter(partition).unwrap();
    assert_eq!(table.statistics().wake_ups, 0, "under the latch nobody is woken");
    drop(next);
    assert_eq!((table.statistics().rebuilds, table.statistics().wake_ups), (1, 1));
    let state = waiter.state_of(name(1), wish.slot).unwrap();
    assert_eq!(state.granted, Mode::Shared);
    waiter.note(name(1), wish.slot, Mode::Shared);
    table.check().unwrap();
}

/// The words of a memory.
fn words(memory: &Memory) -> Vec<u64> {
    let count = memory.mapped() / 8;
    let words = memory.slice(Offset::<AtomicU64>::new(0), count).unwrap();
    words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
}

/// A machine on which slot 1 has died at this moment of another's memory.
fn revive(words: &[u64], extents: usize) -> Machine {
    let machine = Machine::new(extents);
    machine.memory.ensure(words.len() * 8).unwrap();
    let place = machine.memory.slice(Offset::<AtomicU64>::new(0), words.len()).unwrap();
    for (place, word) in place.iter().zip(words).filter(|(_, word)| **word != 0) {
        place.store(*word, Ordering::Relaxed);
    }
    machine.alive.0.lock().insert(0);
    machine
}

/// Runs `body` as slot 1, and checks that after its death at each of its stores, or at each
/// `stride`-th one, all goes on.
fn die_at_every_store(
    stride: usize,
    prepare: impl FnOnce(&mut LockOwner, &mut LockOwner),
    body: impl FnOnce(&mut LockOwner, &mut LockOwner),
) -> usize {
    const EXTENTS: usize = 4;
    let machine = Machine::new(EXTENTS);
    let (survivor, victim) = (machine.open(), machine.open());
    let (mut theirs, mut mine) = (survivor.register().unwrap(), victim.register().unwrap());
    let mut second = victim.register().unwrap();
    prepare(&mut theirs, &mut mine);
    let held = theirs.held.clone();
    let seen = Rc::new(RefCell::new(vec![words(&machine.memory)]));
    let look = {
        let (seen, memory, mut count) = (seen.clone(), machine.memory.clone(), 0);
        move || {
            count += 1;
            if count % stride != 0 {
                return;
            }
            let now = words(&memory);
            if seen.borrow().last() != Some(&now) {
                seen.borrow_mut().push(now);
            }
        }
    };
    hook::watch(look, || body(&mut mine, &mut second));
    let seen = seen.take();
    for (index, words) in seen.iter().enumerate() {
        let machine = revive(words, EXTENTS);
        let table = machine.open();
        assert_eq!(table.reap(), 1, "store {index}");
        table.check().unwrap_or_else(|error| panic!("store {index}: {error}"));
        for (resource, held) in held.iter() {
            if held.slot >= 1 << 31 {
                // It has no request, or just got one.
                let mut owner = table.register().unwrap();
                let refused = owner.lock(resource, Mode::Exclusive, Wait::No).unwrap_err();
                assert_eq!(refused.kind, LockErrorKind::Timeout, "store {index}");
                continue;
            }
            let partition = partition::Place::of(resource).partition;
            let state = table.enter(partition).unwrap().state(held.slot).unwrap();
            assert_eq!(state.granted, held.mode, "store {index}: the living keep {resource}");
        }
        assert_eq!(table.statistics().slots_used, held.len() as u64, "store {index}");
    }
    seen.len()
}

#[test]
fn death_at_every_store_of_locking_and_unlocking_leaves_a_good_table() {
    let stores = die_at_every_store(
        1,
        |theirs, _| {
            theirs.lock(name(1), Mode::Shared, Wait::No).unwrap();
        },
        |mine, _| {
            mine.lock(name(1), Mode::IntentShared, Wait::No).unwrap();
            mine.lock(name(1), Mode::Update, Wait::No).unwrap();
            mine.downgrade(name(1), Mode::Null).unwrap();
            mine.unlock(name(1)).unwrap();
        },
    );
    assert!(stores > 20, "{stores}");
}

#[test]
fn death_at_every_store_of_growing_leaves_a_good_table() {
    let stores = die_at_every_store(
        // Most of them put another of 256 slots into a list.
        7,
        |_, _| {},
        |mine, _| {
            mine.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
        },
    );
    assert!(stores > 256 / 7, "{stores}");
}

#[test]
fn death_at_every_store_of_waiting_and_giving_up_leaves_a_good_table() {
    let stores = die_at_every_store(
        1,
        |theirs, _| {
            theirs.lock(name(1), Mode::Shared, Wait::No).unwrap();
        },
        |mine, second| {
            let end = || Wait::Until(clock().now());
            mine.lock(name(1), Mode::Shared, Wait::No).unwrap();
            mine.lock(name(1), Mode::Exclusive, end()).unwrap_err();
            second.lock(name(1), Mode::Exclusive, end()).unwrap_err();
            // Grants to the other by giving way.
            let waits = second.request(name(1), Mode::Exclusive, Wait::Forever).unwrap();
            assert!(matches!(waits, request::Asked::MustWait(_)));
            mine.release_all().unwrap();
        },
    );
    assert!(stores > 60, "{stores}");
}

#[test]
fn death_at_every_store_of_writing_a_value_leaves_it_whole_or_invalid() {
    let stores = die_at_every_store(
        1,
        |theirs, mine| {
            theirs.lock(name(1), Mode::Null, Wait::No).unwrap();
            mine.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
            mine.set_value(name(1), &[1; VALUE_BYTES]).unwrap();
        },
        |mine, _| {
            mine.set_value(name(1), &[2; VALUE_BYTES]).unwrap();
            mine.unlock(name(1)).unwrap();
        },
    );
    assert!(stores > 10, "{stores}");
}

#[test]
fn death_at_every_store_of_cleaning_up_is_followed_by_another_cleaner() {
    let machine = Machine::new(4);
    let (survivor, cleaner, dead) = (machine.open(), machine.open(), machine.open());
    let (mut theirs, mut gone) = (survivor.register().unwrap(), dead.register().unwrap());
    theirs.lock(name(1), Mode::Null, Wait::No).unwrap();
    for number in 0..3 {
        gone.lock(name(number), Mode::Exclusive, Wait::No).unwrap();
    }
    gone.set_value(name(1), &[1; VALUE_BYTES]).unwrap();
    machine.kill(&dead);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let (look, mut count) = {
        let (seen, memory) = (seen.clone(), machine.memory.clone());
        let look = move |number: usize| {
            // The stores are hundreds, nearly all of them of the same few kinds.
            if number < 40 || number.is_multiple_of(17) {
                seen.borrow_mut().push(words(&memory));
            }
        };
        (look, 0)
    };
    let count_and_look = move || {
        look(count);
        count += 1;
    };
    hook::watch(count_and_look, || assert_eq!(cleaner.reap(), 1));
    for (index, words) in seen.take().iter().enumerate() {
        let machine = revive(words, 4);
        let table = machine.open();
        assert!(table.reap() >= 1, "point {index}");
        table.reap();
        table.check().unwrap_or_else(|error| panic!("point {index}: {error}"));
        assert_eq!(table.statistics().slots_used, 1, "point {index}");
    }
    std::mem::forget(gone);
}

#[test]
fn death_at_every_store_of_undoing_a_deadlock_leaves_a_good_table() {
    fn ask(owner: &mut LockOwner, resource: Resource) -> u32 {
        let asked = owner.request(resource, Mode::Exclusive, Wait::Forever).unwrap();
        let request::Asked::MustWait(wish) = asked else { panic!("it is held") };
        owner.say_waits_with(wish.slot + 1);
        wish.slot
    }
    let stores = die_at_every_store(
        1,
        |theirs, mine| {
            theirs.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
            mine.lock(name(2), Mode::Exclusive, Wait::No).unwrap();
            let slot = ask(theirs, name(2));
            // It will have it when the other is dead.
            theirs.note(name(2), slot, Mode::Exclusive);
        },
        |mine, _| {
            ask(mine, name(1));
            assert_eq!(mine.table.undo_deadlock(mine.holder), Ok(true));
        },
    );
    assert!(stores > 20, "{stores}");
}

#[test]
fn death_at_every_store_beside_locks_without_requests_keeps_those_of_the_living() {
    let table_lock = |number| Resource::table(gadus_base::TableId(number));
    let stores = die_at_every_store(
        1,
        |theirs, mine| {
            theirs.lock(table_lock(1), Mode::IntentExclusive, Wait::No).unwrap();
            // The partition has slots already.
            mine.lock(table_lock(1), Mode::Null, Wait::No).unwrap();
        },
        |mine, second| {
            mine.lock(table_lock(2), Mode::IntentShared, Wait::No).unwrap();
            mine.unlock(table_lock(2)).unwrap();
            second.lock(table_lock(1), Mode::IntentShared, Wait::No).unwrap();
            mine.lock(table_lock(1), Mode::Exclusive, Wait::No).unwrap_err();
            second.release_all().unwrap();
            mine.release_all().unwrap();
        },
    );
    assert!(stores > 20, "{stores}");
}
