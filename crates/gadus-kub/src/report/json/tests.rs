//! What is written is read back.

use super::super::sample;
use super::*;

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let futex: &[f64] = &[3.0, 4.0, 5.0];
    let contestants = [("call", Side::User, &[1.0, 1.5, 1.25][..]), ("futex", Side::Kernel, futex)];
    let cell = sample::cell(Benchmark::Schedule, "switch", &[("processor", "same")], &contestants);
    let report = sample::report(vec![cell]);
    let lines = report.to_json_lines();
    assert_eq!(lines.len(), 4);
    assert_eq!(Report::from_json_lines(&text(&lines), "a.json").unwrap(), report);
}

#[test]
fn lines_of_other_kinds_are_passed_over() {
    let report = sample::report(Vec::new());
    let mut lines = report.to_json_lines();
    lines.push(json!({ "kind": "verdict", "row": "files" }));
    assert_eq!(Report::from_json_lines(&text(&lines), "a.json").unwrap(), report);
}

#[test]
fn what_is_no_report_is_refused_with_the_line() {
    let refused = |text: &str| Report::from_json_lines(text, "a.json").unwrap_err().to_string();
    assert_eq!(refused(""), "a.json is empty");
    assert!(refused("{\"kind\": \"cell\"}").starts_with("a.json, line 1: the first line"));
    assert!(refused("what").starts_with("a.json, line 1: expected value"));
    let mut lines = sample::report(Vec::new()).to_json_lines();
    lines.push(json!({ "kind": "cell", "benchmark": "schedule" }));
    assert_eq!(refused(&text(&lines)), "a.json, line 4: this is no cell of a report");
}
