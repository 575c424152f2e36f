//! Claims, deaths and clean-ups, with liveness as a set of slots.

use super::*;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::time::Duration;

/// Slots whose users live.
#[derive(Debug, Default)]
struct Alive(Mutex<BTreeSet<u32>>);

impl Fence for Alive {
    fn is_quiet(&self, slot: u32) -> bool {
        !self.0.lock().contains(&slot)
    }
}

fn claim(memory: &Arc<Memory>, alive: &Arc<Alive>) -> Instances {
    let own = |slot| Ok::<_, MemoryError>(alive.0.lock().insert(slot));
    Instances::claim(memory.clone(), Offset::new(0), alive.clone(), own).unwrap()
}

#[test]
fn a_slot_is_used_again_only_after_its_user_left_or_was_cleaned_up_after() {
    let memory = Arc::new(Memory::private(1 << 20).unwrap());
    let alive = Arc::new(Alive::default());
    let (a, b) = (claim(&memory, &alive), claim(&memory, &alive));
    assert_eq!((a.me().slot, b.me().slot), (0, 1));
    assert!(!a.is_dead(b.me()));

    alive.0.lock().remove(&1); // killed
    assert!(a.is_dead(b.me()));
    assert_eq!(a.living().len(), 1);
    let c = claim(&memory, &alive);
    assert_eq!(c.me().slot, 2, "nobody has cleaned up yet");

    let mut cleaned = Vec::new();
    assert_eq!(a.reap(|owner| cleaned.push(owner)), 1);
    assert_eq!(cleaned, [b.me()]);
    assert_eq!(a.reap(|_| panic!("nobody is dead")), 0);
    let d = claim(&memory, &alive);
    assert_eq!((d.me().slot, d.me().generation), (1, b.me().generation + 1));
    assert!(a.is_dead(b.me()), "another user of the slot does not revive the former");
    assert!(!a.is_dead(d.me()));
    d.leave(|| ());
    assert!(a.is_dead(d.me()));
}

#[test]
fn a_dead_cleaner_is_followed_by_another() {
    let memory = Arc::new(Memory::private(1 << 20).unwrap());
    let alive = Arc::new(Alive::default());
    let (a, b, c) = (claim(&memory, &alive), claim(&memory, &alive), claim(&memory, &alive));
    alive.0.lock().remove(&2);
    // Dies in the middle of cleaning up after `c`.
    let interrupted =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| b.reap(|_| panic!())));
    assert!(interrupted.is_err());
    assert_eq!(a.reap(|_| panic!("its cleaner lives")), 0);
    alive.0.lock().remove(&1);
    let mut cleaned = Vec::new();
    a.reap(|owner| cleaned.push(owner));
    a.reap(|owner| cleaned.push(owner));
    cleaned.sort_by_key(|owner| owner.slot);
    assert_eq!(cleaned, [b.me(), c.me()]);
}

/// It dies when somebody who looks for the dead is past the one it cleans up after, and is found itself.
#[test]
fn who_has_the_slot_of_a_dead_cleaner_is_not_taken_for_it() {
    let memory = Arc::new(Memory::private(1 << 20).unwrap());
    let alive = Arc::new(Alive::default());
    let [first, second, a, cleaner] = [(); 4].map(|()| claim(&memory, &alive));
    alive.0.lock().remove(&first.me().slot);
    let mut cleaned = Vec::new();
    let interrupted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cleaner.reap(|_| {
            alive.0.lock().remove(&second.me().slot);
            a.reap(|owner| {
                alive.0.lock().remove(&cleaner.me().slot);
                cleaned.push(owner);
            });
            panic!("it is dead");
        })
    }));
    assert!(interrupted.is_err());
    assert_eq!(cleaned, [second.me(), cleaner.me()]);
    let next = [claim(&memory, &alive), claim(&memory, &alive)];
    assert_eq!(next.map(|next| next.me().slot), [second.me().slot, cleaner.me().slot]);
    cleaned.clear();
    a.reap(|owner| cleaned.push(owner));
    assert_eq!(cleaned, [first.me()]);
}

#[test]
fn an_instance_says_who_it_is() {
    let memory = Arc::new(Memory::private(1 << 20).unwrap());
    let a = claim(&memory, &Arc::new(Alive::default()));
    let said = a.describe(a.me()).unwrap();
    assert_eq!(said.pid, std::process::id());
    assert!(said.program.contains("gadus_locks"), "{}", said.program);
    assert!(said.since_seconds > 1_700_000_000);
}

#[test]
fn others_are_told_who_is_busy_until_that_ends() {
    let memory = Arc::new(Memory::private(1 << 20).unwrap());
    let alive = Arc::new(Alive::default());
    let (a, b, c) = (claim(&memory, &alive), claim(&memory, &alive), claim(&memory, &alive));
    let others = |instances: &Instances| {
        let BusyOthers { count, before } = instances.busy_others(Busy::Scanning);
        (count, before)
    };
    assert_eq!(others(&a), (0, 0));
    let month = Duration::from_hours(30 * 24);
    let past = super::busy::short(clock().wall_time().0 - month);
    let said = &b.slots()[b.me().slot as usize].busy_until[Busy::Scanning as usize];
    said.store(past, Ordering::Relaxed);
    assert_eq!(others(&a), (0, 0), "who has been quiet for a month");
    b.busy_for(Busy::Scanning, month);
    c.busy_for(Busy::Scanning, Duration::from_mins(1));
    assert_eq!([others(&a), others(&b), others(&c)], [(2, 0), (1, 0), (1, 1)]);
    assert_eq!(a.busy_others(Busy::Gathering), BusyOthers::default());
    c.busy_for(Busy::Scanning, Duration::ZERO);
    assert_eq!(others(&a), (1, 0));
    c.busy_for(Busy::Scanning, Duration::from_mins(1));
    alive.0.lock().remove(&c.me().slot);
    assert_eq!(others(&a), (1, 0), "who was killed is busy no more");
    b.leave(|| ());
    alive.0.lock().remove(&1);
    assert_eq!(others(&a), (0, 0));
    let again = claim(&memory, &alive);
    assert_eq!((again.me().slot, others(&a)), (1, (0, 0)), "not what another said");
}

/// What is looked through for others ends with the first slot that was never used: none of theirs is behind it.
#[test]
fn a_slot_that_could_not_be_had_hides_nobody() {
    let memory = Arc::new(Memory::private(1 << 20).unwrap());
    let alive = Arc::new(Alive::default());
    let a = claim(&memory, &alive);
    alive.0.lock().insert(1); // in flight
    let b = claim(&memory, &alive);
    assert_eq!(b.me().slot, 2);
    b.busy_for(Busy::Scanning, Duration::from_mins(1));
    assert_eq!(a.busy_others(Busy::Scanning).count, 1);
    alive.0.lock().remove(&1);
    let c = claim(&memory, &alive);
    assert_eq!(c.me().slot, 1);
    assert_eq!(c.busy_others(Busy::Scanning), BusyOthers { count: 1, before: 0 });
}
