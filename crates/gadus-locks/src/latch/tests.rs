//! Exclusion between threads, and owners that are said to be dead.

use super::*;
use gadus_base::clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

#[derive(Debug, Default)]
struct Dead(AtomicBool);

impl Liveness for Dead {
    fn is_dead(&self, owner: Owner) -> bool {
        self.0.load(Ordering::Relaxed) && owner.slot == 9
    }
}

fn owner(slot: u32) -> Owner {
    Owner { slot, generation: 70_000 }
}

#[test]
fn one_at_a_time_has_the_latch_however_often_one_tries_before_sleeping() {
    let usual = latch_tries();
    for tries in [0, 1_000, usual] {
        set_latch_tries(tries);
        assert_eq!(latch_tries(), tries.max(1));
        one_at_a_time_has_the_latch();
    }
}

fn one_at_a_time_has_the_latch() {
    let latch = Arc::new(Latch::default());
    let inside = Arc::new(AtomicU64::new(0));
    let threads = (0..4).map(|slot| {
        let (latch, inside) = (latch.clone(), inside.clone());
        gadus_base::spawn("latch-test", move || {
            for _ in 0..20_000 {
                assert_eq!(latch.lock(owner(slot), &Dead::default()), Acquired::Free);
                // Not atomic on purpose: two at a time would lose increments.
                let value = inside.load(Ordering::Relaxed);
                inside.store(value + 1, Ordering::Relaxed);
                latch.unlock(owner(slot));
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.unwrap().join().unwrap();
    }
    assert_eq!(inside.load(Ordering::Relaxed), 80_000);
    assert_eq!(latch.owner(), None);
}

#[test]
fn the_latch_of_a_dead_owner_is_taken_over_and_its_taker_told() {
    let latch = Arc::new(Latch::default());
    let dead = Arc::new(Dead::default());
    assert!(latch.try_lock(owner(9)));
    let waiter = {
        let (latch, dead) = (latch.clone(), dead.clone());
        gadus_base::spawn("latch-test", move || latch.lock(owner(1), &*dead)).unwrap()
    };
    assert!(!latch.try_lock(owner(2)), "an owner not proven dead keeps the latch");
    dead.0.store(true, Ordering::Relaxed);
    let Acquired::FromDead(before) = waiter.join().unwrap() else { panic!("it was not free") };
    assert!(owner(9).is_named_by(before));
    latch.unlock(owner(1));
    assert!(latch.try_lock(owner(2)));
}

/// Nobody is dead; the thread of number 7 is over.
#[derive(Debug)]
struct Dying;

impl Liveness for Dying {
    fn is_dead(&self, _: Owner) -> bool {
        false
    }

    fn has_lost(&self, owner: Owner, thread: u32) -> bool {
        owner.slot == 9 && thread == 7
    }
}

#[test]
fn the_latch_of_a_thread_that_is_over_is_taken_over_and_no_other_of_its_process() {
    let latch = Latch::default();
    assert!(latch.try_lock(owner(9)));
    let late = latch.lock_until(owner(1), &Dying, Some(clock().now()));
    assert!(owner(9).is_named_by(late.unwrap_err()));
    latch.unlock(owner(9));
    latch.word.store((7 << 32) | u64::from(owner(9).code()), Ordering::Relaxed);
    let Acquired::FromDead(before) = latch.lock(owner(1), &Dying) else { panic!("it was free") };
    assert!(owner(9).is_named_by(before));
    latch.unlock(owner(1));
    assert!(latch.try_lock(owner(2)));
}

#[test]
fn who_is_late_is_told_who_has_the_latch() {
    let latch = Latch::default();
    assert!(latch.try_lock(owner(1)));
    let late = latch.lock_until(owner(2), &Dead::default(), Some(clock().now()));
    assert!(owner(1).is_named_by(late.unwrap_err()));
    latch.unlock(owner(1));
    let free = latch.lock_until(owner(2), &Dead::default(), Some(clock().now()));
    assert_eq!(free, Ok(Acquired::Free));
}
