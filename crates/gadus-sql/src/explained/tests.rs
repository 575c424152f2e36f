//! What is shown of figures, and how wide operators are.

use super::*;

#[test]
fn figures_are_short_and_say_their_unit() {
    let time = |micros| shown_time(Duration::from_micros(micros));
    assert_eq!(time(0), "0.00 ms");
    assert_eq!(time(1_234), "1.23 ms");
    assert_eq!(time(12_340), "12.3 ms");
    assert_eq!(time(1_234_000), "1234 ms");
    assert_eq!(time(12_340_000), "12.3 s");
    assert!(percent(Duration::ZERO, Duration::ZERO).abs() < f64::EPSILON);
}

#[test]
fn each_operator_is_as_wide_as_its_time_and_that_of_all_below() {
    let figures = |ms| Figures { time: Duration::from_millis(ms), ..Figures::default() };
    let mut join = Operator::alone("Join", "on <k>", figures(20));
    join.inputs =
        vec![Operator::alone("Scan", "t", figures(60)), Operator::alone("Scan", "o", figures(20))];
    let explained = Explained { operator: join, run: Some(Run::default()) };
    assert_eq!(explained.time(), Duration::from_millis(100));
    let page = html::render(&explained);
    for expected in ["width:100.00%;--own:20", "width:60.00%;--own:60", "width:20.00%;--own:20"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(page.contains("on &lt;k&gt;"));
}
