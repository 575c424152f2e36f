//! The time of statements and of what prepares them.

use super::*;

/// Parsing is a part of the time of the statement behind it, once, as in PostgreSQL.
#[test]
fn a_statement_has_the_time_that_preparing_it_has_left() {
    let (cancel, time) = (Cancel::default(), Some(Duration::from_secs(60)));
    let preparing = cancel.begin_preparing(time, clock().now());
    assert!(cancel.begin(time).deadline() > preparing.deadline(), "nothing was kept");

    cancel.keep_limit(&preparing);
    let described = cancel.begin_preparing(time, clock().now());
    let ran = cancel.begin(time);
    assert_eq!(described.deadline(), preparing.deadline());
    assert_eq!(ran.deadline(), preparing.deadline());
    assert!(cancel.begin(time).deadline() > preparing.deadline(), "the next has its own");

    cancel.keep_limit(&preparing);
    cancel.forget_limit();
    assert!(cancel.begin(time).deadline() > preparing.deadline());
}
