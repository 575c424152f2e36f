//! Pauses without what witnesses saw.

use super::*;

/// Returns pauses by their milliseconds after one and the same instant.
fn pauses() -> impl Fn(u64, u64) -> Pause {
    let begin = clock().now();
    let at = move |milliseconds| begin.plus(Duration::from_millis(milliseconds));
    move |from, to| Pause { from: at(from), to: at(to) }
}

#[test]
fn what_the_disk_did_to_the_witness_is_not_counted() {
    let between = pauses();
    let mut disk = Disk::default();
    for (from, to) in [(100, 200), (210, 211), (250, 300)] {
        disk.note(between(from, to));
    }
    let seen = Seen::new(disk, &[]);
    let left = |from, to| seen.without_disk(between(from, to)).as_millis();
    assert_eq!(left(0, 50), 50, "nothing hung");
    assert_eq!(left(90, 205), 15);
    assert_eq!(left(120, 180), 0, "within");
    assert_eq!(left(205, 240), 35, "a sync that did not hang");
    assert_eq!(left(150, 400), 150, "twice");
}

#[test]
fn a_moment_in_which_several_hung_counts_once() {
    let between = pauses();
    let mut disk = Disk::default();
    disk.note(between(100, 140));
    let seen = Seen::new(disk, &[between(120, 150), between(130, 160), between(300, 310)]);
    assert_eq!(seen.without_disk(between(90, 200)).as_millis(), 70);
    assert_eq!(seen.without_machine(between(90, 200)).as_millis(), 50);
    assert_eq!(seen.without_machine(between(90, 400)).as_millis(), 240);
    assert_eq!(seen.waits.len(), 3);
}
