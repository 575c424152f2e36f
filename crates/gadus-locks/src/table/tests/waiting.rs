//! Waiting, on threads.

use super::*;
use gadus_base::spawn;
use std::thread::JoinHandle;

type Locked = JoinHandle<(Result<Grant, LockError>, LockOwner)>;

/// Locks on a thread of its own.
pub(super) fn locking(mut owner: LockOwner, resource: Resource, mode: Mode, wait: Wait) -> Locked {
    spawn("locking", move || (owner.lock(resource, mode, wait), owner)).unwrap()
}

#[test]
fn a_waiter_is_granted_when_the_holder_releases() {
    let machine = Machine::new(4);
    let (table, other) = (machine.open(), machine.open());
    let mut holder = table.register().unwrap();
    holder.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    let waiter = locking(other.register().unwrap(), name(1), Mode::Shared, Wait::Forever);
    until(|| waiters(&table) == 1);
    table.check().unwrap();
    holder.unlock(name(1)).unwrap();
    let (grant, owner) = waiter.join().unwrap();
    assert!(grant.unwrap().waited.is_some());
    assert_eq!(owner.mode(name(1)), Some(Mode::Shared));
    assert_eq!(table.statistics().waits, 1);
    table.check().unwrap();
}

#[test]
fn nobody_overtakes_an_earlier_waiter() {
    let machine = Machine::new(4);
    let table = machine.open();
    let mut holder = table.register().unwrap();
    holder.lock(name(1), Mode::Shared, Wait::No).unwrap();
    let writer = locking(table.register().unwrap(), name(1), Mode::Exclusive, Wait::Forever);
    until(|| waiters(&table) == 1);
    let mut reader = table.register().unwrap();
    let error = reader.lock(name(1), Mode::Shared, Wait::No).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Timeout);
    let reader = locking(reader, name(1), Mode::Shared, Wait::Forever);
    until(|| waiters(&table) == 2);
    holder.unlock(name(1)).unwrap();
    let (granted, writer) = writer.join().unwrap();
    granted.unwrap();
    assert_eq!(waiters(&table), 1);
    drop(writer);
    reader.join().unwrap().0.unwrap();
}

#[test]
fn a_late_waiter_gives_up_and_lets_those_behind_it_go_on() {
    let machine = Machine::new(4);
    let table = machine.open();
    let mut holder = table.register().unwrap();
    holder.lock(name(1), Mode::Shared, Wait::No).unwrap();
    let end = Wait::Until(clock().now().plus(Duration::from_millis(40)));
    let writer = locking(table.register().unwrap(), name(1), Mode::Exclusive, end);
    until(|| table.statistics().waits == 1);
    let reader = locking(table.register().unwrap(), name(1), Mode::Shared, Wait::Forever);
    let (error, writer) = writer.join().unwrap();
    let error = error.unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Timeout);
    assert_eq!(error.holder.as_ref().unwrap().connection, holder.number());
    assert_eq!(writer.mode(name(1)), None);
    reader.join().unwrap().0.unwrap();
    table.check().unwrap();
}

#[test]
fn a_cancelled_conversion_keeps_what_it_had() {
    let machine = Machine::new(4);
    let table = machine.open();
    let (mut one, mut other) = (table.register().unwrap(), table.register().unwrap());
    one.lock(name(1), Mode::Shared, Wait::No).unwrap();
    other.lock(name(1), Mode::Shared, Wait::No).unwrap();
    let canceller = other.canceller();
    canceller.cancel();
    other.forget_cancellation();
    let waiter = locking(other, name(1), Mode::Exclusive, Wait::Forever);
    until(|| table.statistics().waits == 1 && waiters(&table) == 1);
    // The call clears an earlier wish when it begins to wait.
    until(|| {
        canceller.cancel();
        waiters(&table) == 0
    });
    let (error, other) = waiter.join().unwrap();
    assert_eq!(error.unwrap_err().kind, LockErrorKind::Cancelled);
    assert_eq!(other.mode(name(1)), Some(Mode::Shared));
    drop(other);
    one.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    table.check().unwrap();
}

#[test]
fn many_threads_exclude_each_other() {
    let machine = Machine::new(4);
    let tables = [machine.open(), machine.open()];
    let inside = Arc::new(AtomicU64::new(0));
    let threads = (0..6).map(|number: usize| {
        let (mut owner, inside) = (tables[number % 2].register().unwrap(), inside.clone());
        spawn("locking", move || {
            for _ in 0..150 {
                owner.lock(name(1), Mode::Exclusive, Wait::Forever).unwrap();
                // Not atomic on purpose: two at a time would lose increments.
                inside.store(inside.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                owner.unlock(name(1)).unwrap();
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.unwrap().join().unwrap();
    }
    assert_eq!(inside.load(Ordering::Relaxed), 900);
    tables[0].check().unwrap();
    assert_eq!(tables[0].statistics().slots_used, 0);
}

#[test]
fn the_watcher_hears_of_those_who_wait() {
    let machine = Machine::new(4);
    let (table, other) = (machine.open(), machine.open());
    let mut holder = table.register().unwrap();
    holder.lock(name(1), Mode::Exclusive, Wait::No).unwrap();
    let mut watcher = table.watcher();
    assert_eq!(watcher.wait(Some(Duration::ZERO)), Ok(Vec::new()));
    let waiter = locking(other.register().unwrap(), name(1), Mode::Update, Wait::Forever);
    // Twice: who has not answered is reminded.
    for _ in 0..2 {
        let expected =
            Notification { connection: holder.number(), resource: name(1), wanted: Mode::Update };
        assert_eq!(next_event(&mut watcher), Event::InTheWay(expected));
    }
    holder.downgrade(name(1), Mode::Shared).unwrap();
    waiter.join().unwrap().0.unwrap();
    assert!(table.statistics().notifications >= 2);
    table.check().unwrap();
}

/// What a watcher hears next, of one thing at a time.
fn next_event(watcher: &mut Watcher) -> Event {
    let began = clock().now();
    loop {
        let heard = watcher.wait(Some(Duration::from_secs(20))).unwrap();
        assert!(heard.len() <= 1, "{heard:?}");
        if let Some(event) = heard.first() {
            return *event;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it hears nothing");
    }
}

#[test]
fn a_connection_is_asked_to_end_by_another_instance() {
    let machine = Machine::new(4);
    let (table, other) = (machine.open(), machine.open());
    let (kept, asked) = (table.register().unwrap(), table.register().unwrap());
    let mut watcher = table.watcher();
    let views = other.connections().unwrap();
    let view = |number: u32| views.iter().find(|view| view.number == number).unwrap();
    assert_eq!(views.len(), 2);
    assert_eq!(view(kept.number()).instance.as_ref().unwrap().pid, std::process::id());
    let id = view(asked.number()).id;
    for what in [Ending::Statement, Ending::Connection] {
        assert!(!asked.canceller().is_asked_to_end());
        assert!(other.ask_to_end(id, what).unwrap());
        // It knows before its instance has heard.
        assert_eq!(asked.canceller().is_asked_to_end(), what == Ending::Connection);
        let expected = Event::End { connection: asked.number(), what };
        assert_eq!(next_event(&mut watcher), expected);
    }
    assert_eq!(watcher.wait(Some(Duration::ZERO)), Ok(Vec::new()));
    let canceller = asked.canceller();
    assert!(canceller.is_asked_to_end() && !kept.canceller().is_asked_to_end());
    drop(asked);
    assert!(!canceller.is_asked_to_end());
    for nobody in [id, 0, 5_000, u32::MAX] {
        assert!(!other.ask_to_end(nobody, Ending::Connection).unwrap(), "{nobody}");
    }
    // Whoever is there next has not been asked.
    let next = table.register().unwrap();
    assert!(!next.canceller().is_asked_to_end());
    assert!(other.connections().unwrap().iter().any(|view| view.number == next.number()));
    assert_eq!(watcher.wait(Some(Duration::ZERO)), Ok(Vec::new()));
}

#[test]
fn a_watcher_is_woken_by_its_own_instance() {
    let machine = Machine::new(4);
    let table = machine.open();
    let mut watcher = table.watcher();
    // Before its first look, and after; each returns at once, or the test would never end.
    for _ in 0..2 {
        table.wake_watcher();
        assert_eq!(watcher.wait(None), Ok(Vec::new()));
    }
}

#[test]
fn a_look_at_the_table_shows_who_holds_and_who_waits() {
    let machine = Machine::new(4);
    let (table, other) = (machine.open(), machine.open());
    let mut holder = table.register().unwrap();
    holder.lock(name(2), Mode::Shared, Wait::No).unwrap();
    holder.lock(name(1), Mode::Shared, Wait::No).unwrap();
    let waiter = other.register().unwrap();
    let number = waiter.number();
    let canceller = waiter.canceller();
    let waiter = locking(waiter, name(1), Mode::Exclusive, Wait::Forever);
    until(|| waiters(&table) == 1);
    let views = table.snapshot().unwrap();
    let seen = views.iter().map(|view| (view.resource, view.granted, view.wanted));
    let expected = [
        (name(1), Some(Mode::Shared), None),
        (name(1), None, Some(Mode::Exclusive)),
        (name(2), Some(Mode::Shared), None),
    ];
    assert!(seen.eq(expected), "{views:?}");
    assert_eq!(views[1].holder.connection, number);
    assert_eq!(views[1].holder.instance.as_ref().unwrap().owner, other.instances().me());
    assert!(views[1].to_string().starts_with("'resource 1': X wanted: connection 1 of process"));
    until(|| {
        canceller.cancel();
        waiters(&table) == 0
    });
    assert_eq!(waiter.join().unwrap().0.unwrap_err().kind, LockErrorKind::Cancelled);
    assert_eq!(table.statistics().cancellations, 1);
}

#[test]
fn who_is_stopped_at_work_on_the_table_is_named_and_robbed_of_nothing() {
    let machine = Machine::new(4);
    let (stopped, table) = (machine.open(), machine.open());
    let (mut holder, mut one) = (table.register().unwrap(), table.register().unwrap());
    holder.lock(name(1), Mode::Shared, Wait::No).unwrap();
    one.lock(name(1), Mode::Shared, Wait::No).unwrap();
    let soon = || Wait::Until(clock().now().plus(Duration::from_millis(200)));
    // One waits with a new request, one with a conversion, when the table is held up.
    let new = locking(table.register().unwrap(), name(1), Mode::Exclusive, soon());
    let converting = locking(one, name(1), Mode::Exclusive, soon());
    until(|| waiters(&table) == 2);
    let inside = stopped.enter(partition::Place::of(name(1)).partition).unwrap();
    let mut late = table.register().unwrap();
    let end = Wait::Until(clock().now().plus(Duration::from_millis(20)));
    let error = late.lock(name(1), Mode::Shared, end).unwrap_err();
    let mut owners = Vec::new();
    for result in [(Err(error), late), new.join().unwrap(), converting.join().unwrap()] {
        let error = result.0.unwrap_err();
        assert_eq!((error.kind, error.resource), (LockErrorKind::Timeout, Some(name(1))));
        let named = error.holder.as_ref().unwrap().instance.as_ref().unwrap();
        assert_eq!(named.owner, stopped.instances().me());
        assert!(error.to_string().ends_with("is in the way"), "{error}");
        owners.push(result.1);
    }
    drop(inside); // It goes on.
    assert_eq!(waiters(&table), 2, "what could not be withdrawn is there still");
    owners[1].release_all().unwrap();
    assert_eq!(owners[2].mode(name(1)), Some(Mode::Shared));
    owners[2].lock(name(2), Mode::Shared, Wait::No).unwrap();
    assert_eq!(waiters(&table), 0);
    owners[0].lock(name(1), Mode::Shared, Wait::No).unwrap();
    table.check().unwrap();
    drop((owners, holder));
    assert_eq!(table.statistics().slots_used, 0);
}
