//! Figures of builds match by name, ratios point the same way in every unit, and a turn has no peers.

use serde_json::json;

use super::super::figures::Better;
use super::matching::matched;
use super::turn::{Report, Reported, figures, last_message, turn_arguments};

const OLD: &str = "gadus=/old";

/// A report with one value for each case, metric and unit.
fn report(figures: &[(&str, &str, &str, Better, f64)]) -> Report {
    let figure = |&(case, metric, unit, better, value): &(&str, &str, &str, Better, f64)| {
        let (case, metric, unit) = (case.to_owned(), metric.to_owned(), unit.to_owned());
        Reported { case, metric, unit, better: Some(better), value }
    };
    let figures = figures.iter().map(figure).collect();
    Report { figures, last_message: "error: no such case".to_owned() }
}

/// Printed figures and gaps of two builds.
fn compared(own: &[Report], other: &[Report]) -> (Vec<serde_json::Value>, Vec<String>) {
    let matched = matched(own, &[(OLD.to_owned(), other.to_vec())]);
    (matched.figures.iter().map(|figure| figure.json("b", true)).collect(), matched.gaps)
}

#[test]
fn a_ratio_above_one_says_that_this_build_is_better_in_any_direction() {
    let rates = |value| report(&[("a", "rate", "commits/s", Better::Higher, value)]);
    let times = |value| report(&[("a", "time", "count", Better::Lower, value)]);
    let rounds = [(2.0, 1.0), (6.0, 2.0), (4.0, 1.0)];
    let both = rounds.map(|(high, low)| (rates(high), rates(low)));
    let (own, other): (Vec<_>, Vec<_>) = both.into_iter().unzip();
    let (figures, gaps) = compared(&own, &other);
    assert_eq!(gaps, Vec::<String>::new());
    let only = json!({
        "bench": "b", "case": "a", "metric": "rate", "value": 4.0, "unit": "commits/s",
        "better": "higher", "peer": OLD, "peer_value": 1.0, "ratio": 4.0, "ratio_low": 2.0,
        "ratio_high": 4.0, "rounds": 3, "quiet": true,
    });
    assert_eq!(figures, [only]);
    let both = rounds.map(|(high, low)| (times(low), times(high)));
    let (own, other): (Vec<_>, Vec<_>) = both.into_iter().unzip();
    let (figures, _) = compared(&own, &other);
    assert_eq!(figures[0]["ratio"], 4.0);
    assert_eq!(figures[0]["ratio_low"], 2.0);
    assert_eq!(figures[0]["ratio_high"], 4.0);
}

#[test]
fn equal_zeros_are_equally_good() {
    let errors = || report(&[("all", "errors", "count", Better::Lower, 0.0)]);
    let (figures, _) = compared(&[errors()], &[errors()]);
    assert_eq!(figures[0]["ratio"], 1.0);
}

#[test]
fn figures_match_by_case_and_metric_and_what_is_missing_is_named() {
    let own = report(&[
        ("a", "time", "s", Better::Lower, 1.0),
        ("a", "size", "bytes", Better::Lower, 10.0),
        ("b", "time", "s", Better::Lower, 3.0),
        // The same figure beside a second peer.
        ("a", "time", "s", Better::Lower, 1.0),
    ]);
    let other = report(&[
        ("c", "time", "s", Better::Lower, 9.0),
        ("a", "size", "pages", Better::Lower, 10.0),
        ("a", "time", "s", Better::Lower, 2.0),
    ]);
    let (figures, gaps) = compared(&[own], &[other]);
    let ratios = figures.iter().map(|one| (&one["case"], &one["metric"], one["ratio"].as_f64()));
    let expected = [("a", "time", Some(2.0)), ("a", "size", None), ("b", "time", None)]
        .map(|one| (json!(one.0), json!(one.1), one.2));
    assert!(ratios.eq(expected.iter().map(|one| (&one.0, &one.1, one.2))), "{figures:?}");
    assert_eq!(
        gaps,
        [
            "gadus=/old: size of \"a\" is in \"pages\", not \"bytes\"",
            "gadus=/old: no time of \"b\"; its last message: error: no such case",
            "gadus: no time of \"c\", which gadus=/old has",
        ]
    );
}

#[test]
fn a_figure_of_some_rounds_is_compared_in_these() {
    let with = |value| report(&[("a", "time", "s", Better::Lower, value)]);
    let (figures, gaps) =
        compared(&[with(1.0), with(1.0), with(1.0)], &[with(5.0), Report::default(), with(3.0)]);
    assert_eq!((&figures[0]["rounds"], &figures[0]["ratio"]), (&json!(2), &json!(4.0)));
    assert_eq!(gaps, ["gadus=/old: time of \"a\" is compared in 2 of 3 rounds"]);
}

#[test]
fn a_turn_has_no_peers_and_few_rounds() {
    let words = [
        "bench",
        "commit",
        "--against",
        "sqlite,gadus=/old",
        "--clients",
        "1,64",
        "--json",
        "--rounds=9",
        "--against=gadus=/older",
        "--plot",
        "out.svg",
        "--rounds",
        "7",
        "--time",
        "1s",
    ];
    let turn = |rounds| turn_arguments(words.iter().map(Into::into), rounds);
    let common = ["bench", "commit", "--clients", "1,64", "--time", "1s"];
    assert_eq!(turn(Some(5)), [&common[..], &["--rounds=5", "--json"]].concat());
    assert_eq!(turn(None), [&common[..], &["--json"]].concat());
}

#[test]
fn figures_of_an_older_build_have_no_direction() {
    let line = r#"{"case":"a","metric":"time","unit":"s","value":1.5,"peer":null}"#;
    let none = r#"{"case":"a","metric":"ratio","unit":"","value":null,"better":"lower"}"#;
    let found = figures(&format!("{line}\n{none}\n")).unwrap();
    let (case, metric, unit) = ("a".to_owned(), "time".to_owned(), "s".to_owned());
    assert_eq!(found, [Reported { case, metric, unit, better: None, value: 1.5 }]);
    assert!(figures("no figure").is_err());
}

#[test]
fn the_error_of_a_wrong_command_line_is_not_its_usage() {
    let text = "error: unrecognized subcommand 'freeze'\n\nUsage: gadus bench\n";
    assert_eq!(last_message(text), "error: unrecognized subcommand 'freeze'");
    assert_eq!(last_message("machine: 2 cores\nquiet\n"), "quiet");
}
