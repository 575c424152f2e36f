//! What is quiet, by ticks that tests give.

use super::*;

#[test]
fn ticks_are_read_and_compared() {
    let before = Ticks::of("cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 1 2\n").unwrap();
    let after = Ticks::of("cpu  40 0 10 120 20 0 0 10 0 0\ncpu0 1\ncpu1 2\n").unwrap();
    let between = after.since(before);
    assert_eq!(between, Ticks { all: 100, idle: 60, stolen: 10, processors: 2 });
    assert!((between.busy() - 0.4).abs() < 1e-9);
    assert!((between.stolen_share() - 0.1).abs() < 1e-9);
    assert_eq!(Ticks::of("cpu 1 2 3"), None);
}

fn stolen(stolen: u64, all: u64, processors: u64) -> Ticks {
    Ticks { all, idle: 0, stolen, processors }
}

#[test]
fn what_is_not_known_is_not_quiet() {
    let nothing = stolen(0, 1000, 2);
    assert!(is_quiet(0.05, nothing));
    assert!(!is_quiet(0.5, nothing));
    assert!(!is_quiet(f64::NAN, nothing));
    let mut watcher = Watcher::start();
    assert!(!watcher.note(None, None));
}

#[test]
fn a_host_takes_too_much_when_chance_does_not_explain_it() {
    for (ticks, all, is_too_much) in
        [(2, 80, false), (3, 88, false), (5, 80, true), (20, 1000, false), (30, 1000, true)]
    {
        assert_eq!(stolen(ticks, all, 2).is_stolen_from(), is_too_much, "{ticks} of {all}");
    }
}

#[test]
fn what_was_loud_is_quiet_again_two_looks_later() {
    let mut watcher = Watcher { began: None, last: None, others: Vec::new(), is_quiet: true };
    let (mut all, mut idle) = (0, 0);
    let mut look = |busy: u64| {
        let before = Ticks { all, idle, stolen: 0, processors: 2 };
        (all, idle) = (all + 20, idle + 20 - busy);
        let after = Ticks { all, idle, stolen: 0, processors: 2 };
        watcher.note(Some(before), Some(after))
    };
    assert_eq!([0, 10, 0, 0].map(&mut look), [true, false, false, true]);
}

#[test]
fn one_program_that_never_sleeps_is_seen_on_any_machine() {
    for processors in [1, 2, 8, 64, 1024] {
        let share = 1.0 / figure(processors);
        assert!(!is_quiet(share, stolen(0, 1000, processors)), "{processors}");
        assert!(is_quiet(share / 20.0, stolen(0, 1000, processors)), "{processors}");
    }
}
