//! Counts as Prometheus reads them.

use super::page::put_counts;
use super::process::{Process, Stat};
use super::text::Text;
use super::{Metrics, TIMES};
use std::collections::HashSet;
use std::time::Duration;

fn page_of(metrics: &Metrics) -> String {
    let mut text = Text::default();
    put_counts(&mut text, metrics);
    text.finish()
}

#[test]
fn families_are_told_once_before_their_samples() {
    let mut told = HashSet::new();
    let mut current = String::new();
    for line in page_of(&Metrics::default()).lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').expect("a text");
            assert!(help.ends_with('.'), "{line}");
            assert!(told.insert(name.to_owned()), "{name} twice");
            name.clone_into(&mut current);
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a type");
            assert_eq!(name, current);
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        } else {
            assert!(line.starts_with("gadus_") && line.starts_with(&current), "{line}");
            let (_, value) = line.rsplit_once(' ').expect("a value");
            assert_eq!(value.parse::<f64>().expect("a number"), 0.0);
        }
    }
}

#[test]
fn statements_are_counted_by_class_and_time() {
    let metrics = Metrics::default();
    metrics.count_statement(Duration::from_micros(100), None);
    metrics.count_statement(Duration::from_micros(101), Some("23505"));
    metrics.count_statement(Duration::from_secs(200), Some("ZZ999"));
    let page = page_of(&metrics);
    for line in [
        "gadus_statements_total{outcome=\"ok\",class=\"00\"} 1",
        "gadus_statements_total{outcome=\"error\",class=\"23\"} 1",
        "gadus_statements_total{outcome=\"error\",class=\"42\"} 0",
        "gadus_statements_total{outcome=\"error\",class=\"other\"} 1",
        "gadus_statement_seconds_bucket{le=\"0.0001\"} 1",
        "gadus_statement_seconds_bucket{le=\"0.0003\"} 2",
        "gadus_statement_seconds_bucket{le=\"100\"} 2",
        "gadus_statement_seconds_bucket{le=\"+Inf\"} 3",
        "gadus_statement_seconds_sum 200.000201",
        "gadus_statement_seconds_count 3",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} in {page}");
    }
}

#[test]
fn ends_of_times_are_what_they_are_called() {
    assert!(TIMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    for (end_ns, name) in TIMES {
        let end = Duration::from_secs_f64(name.parse().expect("seconds"));
        assert_eq!(end, Duration::from_nanos(end_ns));
    }
}

#[test]
fn a_process_is_read_whatever_it_is_called() {
    let fields = (5..=52).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    let stat = Stat::read(&format!("17 (a ) b) S 4 {fields}\n"));
    assert_eq!(stat, Some(Stat { cpu_ticks: 14 + 15, start_ticks: 22, resident_pages: 24 }));
    assert_eq!(Stat::read("17 (gadus) S 1"), None);
    let process = Process::read().expect("this process");
    assert!(process.resident_bytes > 1 << 20 && process.open_files > 2, "{process:?}");
    assert!(process.start_seconds > 1.6e9, "{process:?}");
}
