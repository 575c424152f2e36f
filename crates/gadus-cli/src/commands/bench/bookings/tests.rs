//! What is done with series before they are printed.

use super::*;

fn series(case: &str, metric: Metric, values: &[f64]) -> Series {
    Series { case: case.to_owned(), who: GADUS, metric, values: values.to_vec() }
}

#[test]
fn a_rate_that_most_turns_did_not_hold_has_no_figures() {
    let mut all = vec![
        series("seldom", HELD, &[0.0, 1.0, 0.0]),
        series("seldom", RATE, &[5.0]),
        series("mostly", HELD, &[1.0, 1.0, 0.0]),
        series("mostly", RATE, &[3.0, 4.0]),
        series("closed", RATE, &[7.0, 8.0, 9.0]),
    ];
    without_what_was_not_held(&mut all).unwrap();
    let left = all.iter().map(|one| (one.case.as_str(), one.metric)).collect::<Vec<_>>();
    let expected = [("seldom", HELD), ("mostly", HELD), ("mostly", RATE), ("closed", RATE)];
    assert_eq!(left, expected);
}

#[test]
fn what_is_known_of_a_case_stands_together() {
    let mut all = vec![
        series("one", RATE, &[1.0]),
        series("two", RATE, &[2.0]),
        series("one", MEMORY, &[3.0]),
        series("two", MEMORY, &[4.0]),
    ];
    in_order_of_cases(&mut all);
    let values = all.iter().map(|one| one.values[0]);
    assert!(values.eq([1.0, 3.0, 2.0, 4.0]));
}
