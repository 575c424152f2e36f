//! The lock of its own excludes whom it should, and grants and refuses in time.

use super::shared_exclusive::SharedExclusive;
use gadus_base::clock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn readers_share_and_writers_do_not() {
    let word = AtomicU32::new(0);
    let lock = SharedExclusive(&word);
    let now = Some(clock().now());
    assert!(lock.share(now) && lock.share(now));
    assert!(!lock.exclude(now) && !lock.upgrade(now));
    lock.end_sharing();
    assert!(lock.upgrade(now));
    assert!(!lock.share(now) && !lock.exclude(now));
    lock.end_excluding();
    assert!(lock.exclude(now));
    lock.end_excluding();
    assert_eq!(word.load(Ordering::Relaxed) & !(1 << 30), 0);
}

#[test]
fn what_is_locked_is_changed_by_one_at_a_time() {
    // Two halves that are equal whenever nobody writes.
    let (word, one, other) = (AtomicU32::new(0), AtomicU64::new(0), AtomicU64::new(0));
    const WRITES: u64 = 20_000;
    let lock = SharedExclusive(&word);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for turn in 0..WRITES {
                    let end = Some(clock().now().plus(Duration::from_secs(60)));
                    if turn % 3 == 0 {
                        assert!(lock.exclude(end));
                        one.store(one.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        other.store(other.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        lock.end_excluding();
                    } else {
                        assert!(lock.share(end));
                        assert_eq!(one.load(Ordering::Relaxed), other.load(Ordering::Relaxed));
                        lock.end_sharing();
                    }
                }
            });
        }
    });
    assert_eq!(one.into_inner(), 2 * WRITES.div_ceil(3));
}

#[test]
fn who_sleeps_for_an_upgrade_is_woken_by_the_last_other_reader() {
    let word = AtomicU32::new(0);
    let lock = SharedExclusive(&word);
    assert!(lock.share(None) && lock.share(None));
    std::thread::scope(|scope| {
        let upgraded =
            scope.spawn(|| lock.upgrade(Some(clock().now().plus(Duration::from_secs(60)))));
        while word.load(Ordering::Acquire) & (1 << 30) == 0 {
            std::thread::yield_now();
        }
        lock.end_sharing();
        assert!(upgraded.join().unwrap());
    });
    lock.end_excluding();
}
