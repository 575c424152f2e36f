//! Ratios point the same way in every unit, and say how sure they are.

use super::*;

fn series(who: &'static str, metric: Metric, values: &[f64]) -> Series {
    Series { case: "a".to_owned(), who, metric, values: values.to_vec() }
}

#[test]
fn a_ratio_above_one_says_that_gadus_is_better_in_any_unit() {
    for (metric, own, peer) in
        [(Metric::lower("time", "s"), 1.0, 2.0), (Metric::higher("rate", "commits/s"), 2.0, 1.0)]
    {
        let all = [series("gadus", metric, &[own; 5]), series("other", metric, &[peer; 5])];
        let found = figures(&all, "gadus");
        let peer = found[0].peer.as_ref().unwrap();
        assert_eq!((peer.ratio, peer.low, peer.high), (2.0, 2.0, 2.0));
    }
}

#[test]
fn the_interval_holds_the_ratio_and_narrows_to_what_varies() {
    let metric = Metric::higher("rate", "commits/s");
    let own = [10.0, 11.0, 9.0, 10.5, 10.0, 9.5, 10.0];
    let all = [series("gadus", metric, &own), series("other", metric, &[5.0; 7])];
    let found = figures(&all, "gadus");
    let peer = found[0].peer.as_ref().unwrap();
    assert!(1.8 <= peer.low && peer.low <= 2.0, "{}", peer.low);
    assert!(2.0 <= peer.high && peer.high <= 2.2, "{}", peer.high);
}

#[test]
fn a_metric_without_a_peer_stands_alone() {
    let metric = Metric::lower("time", "s");
    let other = Metric::lower("size", "bytes");
    let all = [series("gadus", metric, &[3.0, 1.0, 2.0]), series("other", other, &[1.0])];
    let found = figures(&all, "gadus");
    assert_eq!(found.len(), 1);
    let line = found[0].json("b", true);
    assert_eq!(line["value"], 2.0);
    assert_eq!(line["peer"], Value::Null);
    assert_eq!(line["rounds"], 3);
}
