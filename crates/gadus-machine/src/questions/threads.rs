//! With how many threads a process works.

use crate::decision::{Alternative, Decision};
use crate::facts::Facts;
use crate::limits::Limits;
use crate::topology::CpuSet;
use std::num::NonZero;

/// With how many threads a process reads much at once.
#[must_use]
pub fn decide_scan_threads(limits: &Limits) -> (usize, Decision) {
    let allowed = limits.allowed.as_ref().map(CpuSet::count).filter(|count| *count > 0);
    let of_system = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let all = allowed.unwrap_or_else(of_system);
    let mut counts = vec![1, all];
    counts.extend(limits.cpus.into_iter().flat_map(|time| [whole(time), whole(time.ceil())]));
    counts.retain(|count| (1..=all).contains(count));
    counts.sort_unstable();
    counts.dedup();
    let costs = counts.into_iter().map(|count| (count, scan_time(count, limits.cpus)));
    let mut costs = costs.collect::<Vec<_>>();
    costs.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let count = costs.first().map_or(1, |(count, _)| *count);
    let (reason, would_change) = match limits.cpus.filter(|time| *time < count_f64(all)) {
        Some(time) => (
            format!(
                "the control group gives the time of {time} of {all} processors: fewer threads leave some of \
                 it, more are stopped together when it is used up"
            ),
            format!("another limit of the control group on processor time than {time}"),
        ),
        None => (
            format!("one for each of {all} processors that the process may run on"),
            format!("a control group that gives less than the time of {all} processors"),
        ),
    };
    let mut known = Facts::default();
    known.add_limits(limits);
    let names = [("process", "processors"), ("process", "processor time")];
    let alternatives = costs.into_iter().map(|(count, cost)| Alternative {
        choice: count.to_string(),
        cost,
        unit: "of one thread's time".to_owned(),
    });
    let decision = Decision {
        facts: Decision::facts_of(&known, &names),
        alternatives: alternatives.collect(),
        would_change: vec![
            format!("another number of processors to run on than {all}"),
            would_change,
        ],
        ..Decision::new("scan threads", count.to_string(), reason)
    };
    (count, decision)
}

/// What threads that divide a scan take for it, beside one that has a processor for itself. Where they use up
/// their group's time, all are stopped for the rest of each period, with whatever others wait for: that counts
/// as much again.
fn scan_time(threads: usize, time: Option<f64>) -> f64 {
    let threads = count_f64(threads);
    match time.filter(|time| *time < threads) {
        Some(time) => 1.0 / time + (1.0 - time / threads),
        None => 1.0 / threads,
    }
}

/// The whole processors of a time, such as 2 of 2.5.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // processors
fn whole(time: f64) -> usize {
    time as usize
}

#[allow(clippy::cast_precision_loss)] // threads
fn count_f64(count: usize) -> f64 {
    count as f64
}
