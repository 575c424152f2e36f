//! What `--plot` draws: throughput of all, and the latencies of Gadus.

use super::super::figures::{self, Metric};
use super::super::plot::{Chart, Curve};
use super::super::rounds::{GADUS, Series};
use super::turn::{P50, P99, RATE};
use super::{Bookings, case, mix};

/// Throughput of all, and the latencies of Gadus.
pub(super) fn charts(command: &Bookings, series: &[Series]) -> [Chart; 2] {
    let curve = |name: String, after: u32, who: &str, metric: Metric| {
        let point = |&outstanding: &u32| {
            let case = case(after, outstanding);
            let mut fitting = series.iter().filter(|series| series.who == who);
            let found = fitting.find(|series| series.case == case && series.metric == metric)?;
            Some((f64::from(outstanding), figures::median(&found.values)))
        };
        let mut points = command.outstanding.iter().filter_map(point).collect::<Vec<_>>();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Curve { name, points }
    };
    let (mut rates, mut latencies) = (Vec::new(), Vec::new());
    for &after in &command.update_after {
        let mix = mix(after);
        for who in contestants(series) {
            rates.push(curve(format!("{who}, {mix}"), after, who, RATE));
        }
        for (name, metric) in [("p50", P50), ("p99", P99)] {
            latencies.push(curve(format!("{name}, {mix}"), after, GADUS, metric));
        }
    }
    let chart = |title: &str, y, curves| Chart {
        title: format!("{title}, {} bookings", command.rows),
        x: "statements outstanding",
        y,
        curves,
    };
    [
        chart("Throughput", "statements/s", rates),
        chart("Latency of queries (Gadus)", "ms", latencies),
    ]
}

/// Whose throughput was measured, Gadus first.
fn contestants(series: &[Series]) -> Vec<&'static str> {
    let mut all = vec![GADUS];
    for series in series.iter().filter(|series| series.metric == RATE) {
        if !all.contains(&series.who) {
            all.push(series.who);
        }
    }
    all
}
