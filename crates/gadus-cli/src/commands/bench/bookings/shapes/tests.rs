//! Which query of a shape is told as its worst.

use super::*;

#[test]
fn the_worst_query_is_that_of_the_lowest_ratio_of_medians() {
    let times = Times::default();
    let turn = |who, first: f64, last: f64| {
        let mut taken = vec![4.0; EACH];
        (taken[0], taken[EACH - 1]) = (first, last);
        noted(&times, who, 2, taken).unwrap()
    };
    // The first round, which would tell another.
    turn(GADUS, 100.0, 1.0);
    turn(Rival::Duckdb.name(), 1.0, 1.0);
    for disturbed in [2.0, 50.0, 2.0] {
        assert_eq!(turn(GADUS, disturbed, 8.0), [(TIME, 4.0)]);
        turn(Rival::Duckdb.name(), 1.9, 2.0);
    }
    assert!((worst(&times.into_inner(), &[Rival::Duckdb], 2) - 0.25).abs() < 1e-9);
}
