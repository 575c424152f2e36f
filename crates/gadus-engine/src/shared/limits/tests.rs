//! How many statements a pass takes.

use super::*;

#[test]
fn passes_take_what_is_answered_in_half_the_target() {
    let (limits, mut pace) = (ScanLimits::default(), Pace::default());
    for statements in [100, 1_000, 10] {
        pace.note(statements, Duration::from_micros(20_000 + 100 * statements as u64));
    }
    let bounds = |limits: &ScanLimits| {
        let Bounds { questions, modifications, may_gather } = limits.bounds(Some(&pace));
        (questions, modifications, may_gather)
    };
    assert_eq!(bounds(&limits), (BATCH_QUERIES, BATCH_UPDATES, true));
    limits.set_latency_target(Some(Duration::from_millis(100)));
    let (questions, modifications, may_gather) = bounds(&limits);
    assert!((295..=305).contains(&questions), "{questions}");
    assert!((37..=39).contains(&modifications), "{modifications}");
    assert!(!may_gather);
    // One at a time, where even that comes too late.
    limits.set_latency_target(Some(Duration::from_millis(10)));
    assert_eq!(bounds(&limits), (1, 1, false));
    limits.set_batch_queries(50);
    limits.set_latency_target(Some(Duration::from_secs(100)));
    assert_eq!(bounds(&limits), (50, BATCH_UPDATES, false));
}
