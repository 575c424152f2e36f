//! Figures of which the answers are known.

use super::*;
use crate::harness::Budget;

#[test]
fn what_is_said_of_a_hundred_figures_is_what_anybody_counts() {
    let figures = (1..=100).rev().map(f64::from).collect::<Vec<_>>();
    let summary = Summary::of(&figures);
    assert_eq!((summary.count, summary.median, summary.least), (100, 50.5, 1.0));
    assert_eq!((summary.p10, summary.p90, summary.p99), (10.0, 90.0, 99.0));
    assert_eq!(summary.deviation, 25.0);
    assert!(summary.low < 50.5 && 50.5 < summary.high, "{summary:?}");
    assert!(summary.high - summary.low < 30.0, "{summary:?}");
}

#[test]
fn a_ratio_ignores_what_disturbs_both_in_the_same_rounds() {
    // Half of the rounds are three times as slow, for both alike.
    let slow = |round: usize| if round.is_multiple_of(2) { 3.0 } else { 1.0 };
    let one = (0..31).map(|round| 20.0 * slow(round)).collect::<Vec<_>>();
    let other = (0..31).map(|round| 10.0 * slow(round)).collect::<Vec<_>>();
    let ratio = Ratio::of(&one, &other);
    assert_eq!((ratio.value, ratio.low, ratio.high), (2.0, 2.0, 2.0));
    assert_eq!(ratio.uncertainty(), 0.0);
}

#[test]
fn a_ratio_of_pairs_ignores_what_disturbs_one_round_of_many_different() {
    let (one, other) = ([1.0, 10.9, 100.0], [1.0, 10.0, 100.0]);
    assert!((Ratio::of(&one, &other).value - 1.09).abs() < 1e-9);
    let pairs = Ratio::of_pairs(&one, &other);
    assert!((pairs.value - 1.0).abs() < 1e-9 && (pairs.high - 1.09).abs() < 1e-9, "{pairs:?}");
    assert!(Ratio::of_pairs(&[], &[]).value.is_nan());
}

#[test]
fn the_interval_holds_the_true_ratio_about_as_often_as_it_says() {
    let mut random = Random::seeded(7);
    let (mut held, runs) = (0, 200);
    for _ in 0..runs {
        let mut noisy = |truth: f64| truth * (1.0 + 0.2 * (random.unit() + random.unit() - 1.0));
        let pairs = (0..21).map(|_| (noisy(30.0), noisy(10.0)));
        let (one, other): (Vec<_>, Vec<_>) = pairs.unzip();
        let ratio = Ratio::of(&one, &other);
        held += u32::from(ratio.low <= 3.0 && 3.0 <= ratio.high);
    }
    assert!(held >= runs * 88 / 100, "{held} of {runs}");
}

#[test]
fn of_nothing_nothing_is_said() {
    let summary = Summary::of(&[]);
    assert!(summary.count == 0 && summary.median.is_nan() && summary.low.is_nan());
    assert!(Ratio::of(&[], &[]).value.is_nan());
}

#[test]
fn intervals_differ_where_they_have_nothing_in_common() {
    let ratio = |low: f64, high: f64| Ratio { value: f64::midpoint(low, high), low, high };
    assert!(ratio(1.0, 2.0).differs_from(ratio(2.1, 3.0)));
    assert!(ratio(2.1, 3.0).differs_from(ratio(1.0, 2.0)));
    assert!(!ratio(1.0, 2.0).differs_from(ratio(1.9, 3.0)));
}

#[test]
fn sittings_that_differ_make_the_interval_as_wide_as_they_do() {
    // Within a sitting all is alike to a thousandth; the next one finds its memory elsewhere.
    let sitting = |level: f64| (0..9).map(move |round| level + 0.01 * f64::from(round % 2));
    let figures = [10.0, 10.5, 11.0].into_iter().flat_map(sitting).collect::<Vec<_>>();
    let summary = Summary::of_sittings(&figures, &[9, 9, 9]);
    assert!(summary.low < 10.02 && summary.high > 10.99, "{summary:?}");
    let twice = figures.iter().map(|figure| figure * 2.0).collect::<Vec<_>>();
    let ratio = Ratio::of_sittings(&twice, &figures, &[9, 9, 9]);
    assert_eq!((ratio.low, ratio.high), (2.0, 2.0), "what both meet is no difference");
}

/// Two runs whose sittings differ by chance alone overlap as often as two runs should.
#[test]
fn two_runs_of_several_sittings_overlap() {
    let mut random = Random::seeded(5);
    let mut run = || {
        let mut figures = Vec::new();
        for _ in 0..Budget::Usual.sittings() {
            let level = 100.0 + 4.0 * (random.unit() + random.unit() + random.unit());
            figures.extend((0..7).map(|_| level + random.unit()));
        }
        Summary::of_sittings(&figures, &[7; 4])
    };
    let overlapping = (0..300).filter(|_| {
        let (one, other) = (run(), run());
        one.low <= other.high && other.low <= one.high
    });
    let overlapping = overlapping.count();
    assert!(overlapping >= 270, "{overlapping} of 300");
}
