//! Damage of shared memory: errors, never worse.

use super::*;
use gadus_base::Random;
use layout::{Connection, Request};

/// The partition, the slot and the record of what an owner holds on the first name.
fn held_request<'a>(table: &'a LockTable, owner: &LockOwner) -> (usize, u32, &'a Request) {
    let slot = owner.held.get(name(1)).unwrap().slot;
    let partition = partition::Place::of(name(1)).partition;
    (partition, slot, table.record(chunks::Use::Requests(partition), slot).unwrap())
}

#[test]
fn another_format_is_refused() {
    let machine = Machine::new(4);
    let table = machine.open();
    table.header().format.store(FORMAT + 1, Ordering::Relaxed);
    let again = LockTable::attach(table.instances.clone(), START, LockSettings::default());
    assert_eq!(again.unwrap_err().kind, LockErrorKind::Damaged);
}

#[test]
fn damaged_chains_are_noticed_and_rebuilt() {
    let machine = Machine::new(4);
    let table = machine.open();
    let mut owner = table.register().unwrap();
    owner.lock(name(1), Mode::Shared, Wait::No).unwrap();
    let (_, slot, request) = held_request(&table, &owner);
    request.next.store(slot + 1, Ordering::Relaxed); // its own successor
    let mut other = table.register().unwrap();
    let error = other.lock(name(1), Mode::Shared, Wait::No).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Damaged);
    other.lock(name(1), Mode::Shared, Wait::No).unwrap();
    table.check().unwrap();
}

#[test]
fn a_state_that_cannot_be_closes_its_partition_only() {
    let machine = Machine::new(4);
    let table = machine.open();
    let mut owner = table.register().unwrap();
    owner.lock(name(1), Mode::Shared, Wait::No).unwrap();
    let (partition, _, request) = held_request(&table, &owner);
    request.state.store(u64::MAX, Ordering::Relaxed);
    for _ in 0..2 {
        let error = owner.unlock(name(1)).unwrap_err();
        assert_eq!(error.kind, LockErrorKind::Damaged);
    }
    let elsewhere = (2..).map(name).find(|one| partition::Place::of(*one).partition != partition);
    owner.lock(elsewhere.unwrap(), Mode::Exclusive, Wait::No).unwrap();
    assert!(table.check().is_err());
}

#[test]
fn random_damage_gives_errors_and_neither_panic_nor_hang() {
    for seed in 0..60 {
        let mut random = Random::seeded(seed);
        let machine = Machine::new(5);
        let table = machine.open();
        let mut owners = (0..4).map(|_| table.register().unwrap()).collect::<Vec<_>>();
        for number in 0..40 {
            let owner = &mut owners[usize::try_from(random.below(4)).unwrap()];
            let _ = owner.lock(name(number % 13), Mode::Shared, Wait::No);
        }
        let bytes = table.memory.mapped() - START;
        let words = table.memory.slice(Offset::<AtomicU32>::new(START), bytes / 4).unwrap();
        let used = words.iter().filter(|word| word.load(Ordering::Relaxed) != 0);
        // Latches are left alone: a latch of a living owner is waited for, as it must be.
        let latches = table.header().partitions.iter().map(|part| (&raw const part.latch).cast());
        let latches = latches.collect::<BTreeSet<*const AtomicU32>>();
        let used = used.filter(|word| !latches.contains(&std::ptr::from_ref(*word)));
        for word in used.collect::<Vec<_>>() {
            if random.chance(0.05) {
                let value = match random.below(3) {
                    0 => u32::try_from(random.below(600)).unwrap(),
                    1 => word.load(Ordering::Relaxed) ^ (1 << random.below(32)),
                    _ => u32::try_from(random.below(1 << 32)).unwrap(),
                };
                word.store(value, Ordering::Relaxed);
            }
        }
        for number in 0..60 {
            let owner = &mut owners[usize::try_from(random.below(4)).unwrap()];
            let end = Wait::Until(clock().now());
            let _ = owner.lock(
                name(number % 17),
                Mode::ALL[usize::try_from(number % 10).unwrap()],
                end,
            );
            let _ = owner.unlock(name(random.below(17)));
        }
        let _ = (table.check(), table.clean(Owner { slot: 3, generation: 1 }), table.statistics());
        assert!(size_of::<Connection>() > 0, "seed {seed}");
    }
}
