//! When a pass that gathers begins.

use super::*;
use gadus_base::clock;

const TOOK: Duration = Duration::from_millis(320);

/// After a pass that answered a thousand, while nobody waits.
fn gathering(began: Instant) -> Gathering {
    Gathering { expected: 1_000, answered: 1_000, took: TOOK, began, before: 0, looked: began }
}

#[test]
fn who_stands_still_for_a_moment_is_waited_for_and_who_does_not_come_is_not() {
    let began = clock().now();
    let after = |milliseconds: u64| began.plus(Duration::from_millis(milliseconds));
    let mut gathering = gathering(began);
    assert!(!gathering.is_over(0, false, after(5)), "it does not look all the time");
    assert!(!gathering.is_over(200, false, after(20)), "they come fast");
    assert!(!gathering.is_over(200, false, after(60)), "nobody came for two looks");
    assert!(gathering.is_over(200, false, after(80)), "so many the last pass answered meanwhile");
    assert!(gathering.is_over(1_000, false, after(81)), "all are there");
}

#[test]
fn nobody_is_waited_for_where_statements_come_as_they_are_answered() {
    let began = clock().now();
    let after = |milliseconds: u64| began.plus(Duration::from_millis(milliseconds));
    assert!(gathering(began).is_over(30, false, after(10)));
    let mut writing = gathering(began);
    assert!(!writing.is_over(0, true, after(100)), "who waits for his modification asks on");
    assert!(writing.is_over(0, true, after(161)), "but not for ever");
}
