//! The explorer, on things simpler than a lock table.

use super::*;
use crate::latch::{Latch, Liveness, Owner};
use crate::memory::{wait_on, wake};
use crate::steps;
use std::sync::atomic::{AtomicBool, Ordering};

fn play(bodies: Vec<Box<dyn FnOnce() + Send>>, finally: impl FnOnce() + 'static) -> Play {
    let names = ["one", "other", "third"];
    let threads = names.into_iter().zip(bodies);
    Play {
        threads: threads.map(|(name, body)| Thread { name, body, death: None }).collect(),
        mappings: Vec::new(),
        ignored: Vec::new(),
        always: Box::new(|_| Ok(())),
        finally: Box::new(move |_| finally()),
        clear: Box::new(|| ()),
    }
}

/// Two that add by a load and a store.
fn adding() -> Play {
    let count = Arc::new(AtomicU32::new(0));
    let add = |count: Arc<AtomicU32>| -> Box<dyn FnOnce() + Send> {
        Box::new(move || {
            steps::before(&*count);
            let seen = count.load(Ordering::SeqCst);
            steps::before(&*count);
            count.store(seen + 1, Ordering::SeqCst);
        })
    };
    let bodies = vec![add(count.clone()), add(count.clone())];
    play(bodies, move || assert_eq!(count.load(Ordering::SeqCst), 2))
}

/// One that waits for a word that another changes.
fn waiting(wakes: bool) -> Play {
    let word = Arc::new(AtomicU32::new(0));
    let (here, there) = (word.clone(), word.clone());
    let wait: Box<dyn FnOnce() + Send> = Box::new(move || {
        while here.load(Ordering::SeqCst) == 0 {
            wait_on(&here, 0, Some(Duration::from_millis(10)));
        }
    });
    let change: Box<dyn FnOnce() + Send> = Box::new(move || {
        steps::before(&*there);
        there.store(1, Ordering::SeqCst);
        if wakes {
            wake(&there, 1);
        }
    });
    play(vec![wait, change], || ())
}

#[derive(Debug)]
struct Lives;

impl Liveness for Lives {
    fn is_dead(&self, _: Owner) -> bool {
        false
    }
}

/// Some who take a latch, of whom one only is inside.
fn latching(count: u32) -> Play {
    let (latch, inside) = (Arc::new(Latch::default()), Arc::new(AtomicBool::new(false)));
    let enter = |slot: u32| -> Box<dyn FnOnce() + Send> {
        let (latch, inside) = (latch.clone(), inside.clone());
        Box::new(move || {
            for generation in 0..2 {
                let me = Owner { slot, generation };
                let _ = latch.lock(me, &Lives);
                assert!(!inside.swap(true, Ordering::SeqCst), "another is inside");
                steps::before(&*inside);
                inside.store(false, Ordering::SeqCst);
                latch.unlock(me);
            }
        })
    };
    let bodies = (0..count).map(enter).collect();
    play(bodies, move || assert_eq!(latch.owner(), None))
}

#[test]
fn an_addition_that_is_lost_is_found_and_needs_a_preemption() {
    let found = find(Rules { random: 0, ..Rules::default() }, adding).unwrap_err();
    assert_eq!((found.preemptions, found.seed), (1, None), "{found:?}");
    assert!(find(Rules { preemptions: 0, random: 0, ..Rules::default() }, adding).is_ok());
    let random = Rules { preemptions: 0, random: 1000, ..Rules::default() };
    let found = find(random, adding).unwrap_err();
    assert!(found.seed.is_some());
    let again = find(random, adding).unwrap_err();
    assert_eq!(format!("{found:?}"), format!("{again:?}"), "its seed repeats it, step by step");
}

#[test]
fn a_lost_wake_up_is_found_whether_it_is_not_sent_or_comes_too_early() {
    assert!(find(Rules::default(), || waiting(true)).is_ok());
    let found = find(Rules::default(), || waiting(false)).unwrap_err();
    assert_eq!((found.preemptions, found.schedules), (0, 1), "{found:?}");
    let blind = Rules { sleeps_blindly: true, ..Rules::default() };
    let found = find(blind, || waiting(true)).unwrap_err();
    assert_eq!(found.wrong, "nobody can go on");
    // It is the end of the sleep then that helps.
    assert!(find(Rules { lateness: Lateness::WhenStuck, ..blind }, || waiting(true)).is_ok());
}

#[test]
fn latches_exclude_and_wake_whoever_sleeps() {
    explore("two at a latch", Rules { preemptions: 4, ..Rules::default() }, || latching(2));
    explore("three at a latch", Rules { preemptions: 2, ..Rules::default() }, || latching(3));
    let blind = Rules { sleeps_blindly: true, ..Rules::default() };
    let found = find(blind, || latching(2)).unwrap_err();
    assert_eq!(found.wrong, "nobody can go on");
}
