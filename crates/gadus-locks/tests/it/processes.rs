//! Processes that lock, wait and are killed.

use crate::machine::{Machine, Process, until};
use gadus_base::{Random, RowId, SegmentId, TableId, clock};
use gadus_locks::{
    Liveness, LockErrorKind, LockOwner, LockTable, Memory, Mode, Owner, Resource, VALUE_BYTES,
    Value, Wait,
};
use std::sync::atomic::Ordering;
use std::time::Duration;

const CELLS: usize = 4;
const STOP: usize = 10;
const VIOLATIONS: usize = 11;
const ROUNDS: usize = 12;
const READY: usize = 13;
const CLEANED: usize = 14;

/// What a child does; nothing in the parent.
#[test]
fn child() {
    let Some((role, machine)) = Machine::of_child() else { return };
    let table = machine.open();
    match role.as_str() {
        "holder" => hold(&machine, &table),
        "worker" => work(&machine, &table),
        "grower" => grow(&machine, &table),
        "reaper" => reap(&machine, &table),
        role => panic!("what is a {role}?"),
    }
    table.instances().leave(|| ());
}

/// Some of them are tables, whose weak locks need no requests.
fn cell(index: usize) -> Resource {
    match index {
        0 | 1 => Resource::named(&format!("cell {index}")),
        _ => Resource::table(TableId(u32::try_from(9000 + index).unwrap())),
    }
}

fn hold(machine: &Machine, table: &std::sync::Arc<LockTable>) {
    let mut owner = table.register().unwrap();
    owner.lock(cell(0), Mode::Exclusive, Wait::No).unwrap();
    owner.set_value(cell(0), &[1; VALUE_BYTES]).unwrap();
    machine.word(READY).store(1, Ordering::SeqCst);
    let mut other = table.register().unwrap();
    let _ = other.lock(cell(0), Mode::Exclusive, Wait::Until(clock().now().plus(MINUTE)));
}

const MINUTE: Duration = Duration::from_secs(60);

/// Locks cells of memory, and says so there; locks rows, in numbers that let the table grow.
fn work(machine: &Machine, table: &std::sync::Arc<LockTable>) {
    let mut random = Random::from_system();
    let me = table.instances().me();
    let code = u64::from(me.generation) << 32 | u64::from(me.slot + 1);
    let mut owners = [table.register().unwrap(), table.register().unwrap()];
    while machine.word(STOP).load(Ordering::SeqCst) == 0 {
        let owner = &mut owners[usize::from(random.chance(0.5))];
        let index = usize::try_from(random.below(CELLS as u64)).unwrap();
        if random.chance(0.3) {
            owner.lock(cell(index), Mode::Update, Wait::Forever).unwrap();
        }
        if random.chance(0.2) {
            // May fail: others read, too.
            let _ = owner.lock(Resource::database(), Mode::Shared, Wait::No);
        }
        if random.chance(0.5) {
            look(machine, table, owner, index);
            continue;
        }
        owner.lock(cell(index), Mode::Exclusive, Wait::Forever).unwrap();
        let word = machine.word(index);
        let before = word.swap(code, Ordering::SeqCst);
        if before != 0 && !table.instances().is_dead(of_code(before)) {
            machine.word(VIOLATIONS).fetch_add(1, Ordering::SeqCst);
        }
        if random.chance(0.02) {
            lock_rows(owner, me.slot, 1000);
        }
        if random.chance(0.1) {
            // In no order, so there are deadlocks, and their victims give up.
            let other = cell(usize::try_from(random.below(CELLS as u64)).unwrap());
            if let Err(error) = owner.lock(other, Mode::Exclusive, Wait::Forever) {
                assert_eq!(error.kind, LockErrorKind::Deadlock, "{error}");
            }
        }
        machine.word(ROUNDS).fetch_add(1, Ordering::SeqCst);
        if word.swap(0, Ordering::SeqCst) != code {
            machine.word(VIOLATIONS).fetch_add(1, Ordering::SeqCst);
        }
        owner.release_all().unwrap();
    }
}

/// Holds a cell weakly for a moment, during which nobody may have it alone.
fn look(machine: &Machine, table: &LockTable, owner: &mut LockOwner, index: usize) {
    owner.lock(cell(index), Mode::IntentShared, Wait::Forever).unwrap();
    let there = machine.word(index).load(Ordering::SeqCst);
    if there != 0 && !table.instances().is_dead(of_code(there)) {
        machine.word(VIOLATIONS).fetch_add(1, Ordering::SeqCst);
    }
    machine.word(ROUNDS).fetch_add(1, Ordering::SeqCst);
    owner.release_all().unwrap();
}

fn of_code(code: u64) -> Owner {
    let slot = u32::try_from(code & 0xFFFF_FFFF).unwrap() - 1;
    Owner { slot, generation: u32::try_from(code >> 32).unwrap() }
}

/// Locks more rows than the table has had room for, and keeps them for a while.
fn grow(machine: &Machine, table: &std::sync::Arc<LockTable>) {
    let mut owner = table.register().unwrap();
    lock_rows(&mut owner, table.instances().me().slot, ROWS);
    machine.word(READY).fetch_add(1, Ordering::SeqCst);
    until("the others have grown, too", || machine.word(STOP).load(Ordering::SeqCst) == 1);
    owner.release_all().unwrap();
}

/// Looks for the dead all the time, and so is the first to find them.
fn reap(machine: &Machine, table: &LockTable) {
    machine.word(READY).fetch_add(1, Ordering::SeqCst);
    while machine.word(STOP).load(Ordering::SeqCst) == 0 {
        if table.reap() > 0 {
            machine.word(CLEANED).fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// The table begins with room for 16,384.
const ROWS: u32 = 10_000;

fn lock_rows(owner: &mut LockOwner, table: u32, count: u32) {
    for position in 0..count {
        let row = RowId { segment: SegmentId(1), position };
        let resource = Resource::row(TableId(table), row);
        owner.lock(resource, Mode::Exclusive, Wait::Forever).unwrap();
    }
}

#[test]
fn processes_go_on_when_others_are_killed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::create(folder.path());
    let table = machine.open();
    let mut random = Random::from_system();
    let mut workers = (0..4).map(|_| machine.spawn("worker")).collect::<Vec<_>>();
    for kill in 0..150 {
        let rounds = machine.word(ROUNDS).load(Ordering::SeqCst);
        let more = 1 + random.below(60);
        until(&format!("work after {kill} kills"), || {
            machine.word(ROUNDS).load(Ordering::SeqCst) >= rounds + more
        });
        let victim = usize::try_from(random.below(4)).unwrap();
        workers[victim].kill();
        workers[victim] = machine.spawn("worker");
    }
    machine.word(STOP).store(1, Ordering::SeqCst);
    assert!(workers.iter_mut().all(Process::ends_well), "who was not killed meets no error");
    table.reap();
    table.check().unwrap();
    assert_eq!(machine.word(VIOLATIONS).load(Ordering::SeqCst), 0);
    let statistics = table.statistics();
    assert_eq!(statistics.slots_used, 0, "{statistics:?}");
    assert!(statistics.cleanups >= 75, "{statistics:?}");
}

#[test]
fn processes_go_on_when_two_are_killed_at_once_and_then_who_cleans_up_after_them() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::create(folder.path());
    let table = machine.open();
    let mut random = Random::from_system();
    let mut workers = (0..4).map(|_| machine.spawn("worker")).collect::<Vec<_>>();
    let mut reaper = machine.spawn("reaper");
    let mut died_cleaning = 0;
    for kill in 0..30 {
        let rounds = machine.word(ROUNDS).load(Ordering::SeqCst);
        until(&format!("work after {kill} kills"), || {
            machine.word(ROUNDS).load(Ordering::SeqCst) >= rounds + 20
                && machine.word(READY).load(Ordering::SeqCst) > kill
        });
        let first = usize::try_from(random.below(3)).unwrap();
        let (some, others) = workers.split_at_mut(first + 1);
        let cleaned = machine.word(CLEANED).load(Ordering::SeqCst);
        Process::kill_at_once([&mut some[first], &mut others[0]]);
        // From nothing to longer than it takes to clean up after both, of all magnitudes.
        (0..1_u64 << random.below(18)).for_each(|_| std::hint::spin_loop());
        reaper.kill();
        died_cleaning += u64::from(machine.word(CLEANED).load(Ordering::SeqCst) == cleaned);
        workers[first] = machine.spawn("worker");
        workers[first + 1] = machine.spawn("worker");
        reaper = machine.spawn("reaper");
    }
    machine.word(STOP).store(1, Ordering::SeqCst);
    assert!(workers.iter_mut().all(Process::ends_well), "who was not killed meets no error");
    assert!(reaper.ends_well());
    assert!(died_cleaning > 0, "who cleaned up was through each time");
    table.reap();
    table.check().unwrap();
    assert_eq!(machine.word(VIOLATIONS).load(Ordering::SeqCst), 0);
    assert_eq!(table.statistics().slots_used, 0);
}

#[test]
fn the_locks_of_a_killed_process_are_granted_and_its_values_are_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::create(folder.path());
    let table = machine.open();
    let mut holder = machine.spawn("holder");
    until("the child has the lock", || machine.word(READY).load(Ordering::SeqCst) == 1);
    let mut keeper = table.register().unwrap();
    keeper.lock(cell(0), Mode::Null, Wait::No).unwrap();
    let mut owner = table.register().unwrap();
    let waiting = gadus_base::spawn("waiter", move || {
        owner.lock(cell(0), Mode::Shared, Wait::Forever).unwrap();
        owner
    });
    until("both wait", || table.statistics().waits == 2);
    holder.kill();
    let owner = waiting.unwrap().join().unwrap();
    assert_eq!(owner.value(cell(0)), Ok(Value::Invalid));
    table.check().unwrap();
}

#[test]
fn a_stopped_process_keeps_its_locks_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::create(folder.path());
    let table = machine.open();
    let holder = machine.spawn("holder");
    until("the child has the lock", || machine.word(READY).load(Ordering::SeqCst) == 1);
    holder.stop();
    let mut owner = table.register().unwrap();
    let end = Wait::Until(clock().now().plus(Duration::from_millis(100)));
    let error = owner.lock(cell(0), Mode::Shared, end).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Timeout, "{error}");
    let named = error.holder.as_ref().and_then(|holder| holder.instance.as_ref()).unwrap();
    assert_eq!(named.pid, holder.id());
    assert_eq!(table.reap(), 0);
}

#[test]
fn processes_let_the_table_grow_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::create(folder.path());
    let table = machine.open();
    let mut growers = (0..3).map(|_| machine.spawn("grower")).collect::<Vec<_>>();
    until("all have grown", || machine.word(READY).load(Ordering::SeqCst) == 3);
    table.check().unwrap();
    let statistics = table.statistics();
    assert_eq!(statistics.slots_used, 3 * u64::from(ROWS), "{statistics:?}");
    assert!(statistics.extents > 2, "{statistics:?}");
    // What the others have mapped is found by who has not.
    let mut late = Machine::join(folder.path()).open().register().unwrap();
    for slot in 1..=3 {
        let row = RowId { segment: SegmentId(1), position: ROWS - 1 };
        let resource = Resource::row(TableId(slot), row);
        let error = late.lock(resource, Mode::Shared, Wait::No).unwrap_err();
        assert_eq!(error.kind, LockErrorKind::Timeout, "{error}");
    }
    machine.word(STOP).store(1, Ordering::SeqCst);
    assert!(growers.iter_mut().all(Process::ends_well));
    table.check().unwrap();
    assert_eq!(table.statistics().slots_used, 0);
}

#[test]
fn the_memory_of_a_killed_process_is_used_by_nobody_and_that_of_a_stopped_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::create(folder.path());
    let mut holder = machine.spawn("holder");
    until("the child has the lock", || machine.word(READY).load(Ordering::SeqCst) == 1);
    drop(machine);
    let path = folder.path().join("memory");
    let removed = || Memory::remove_unused(&path, |_: &[u8; 8]| true);
    assert!(!removed());
    holder.stop();
    assert!(!removed());
    holder.kill();
    // A child that another test spawns has what is open here until it becomes another program.
    until("the memory is unused", removed);
    assert!(!path.exists());
}
