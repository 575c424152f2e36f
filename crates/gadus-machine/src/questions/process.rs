//! What a process takes of what it is given: threads and memory.

use crate::decision::{Alternative, Decision};
use crate::facts::{FactValue, Facts, Source};
use crate::limits::Limits;
use crate::topology::CpuSet;
use gadus_base::ByteCount;
use std::num::NonZero;

/// What is assumed where nobody tells how much memory there is.
const ASSUMED: ByteCount = ByteCount::gib(1);

/// The part of the memory that is for work; the rest is for what is kept for later, by the process and by the
/// system for it, and for what nobody counts.
const SHARE_DIVISOR: u64 = 2;

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

/// How much memory a process uses for what it works on.
#[must_use]
pub fn decide_memory_limit(limits: &Limits) -> (ByteCount, Decision) {
    let bounds = [
        ("the machine has", limits.memory_of_machine),
        ("the control group may have", limits.memory),
        ("the control group may have before it is slowed down", limits.memory_high),
    ];
    let bounds = bounds.into_iter().filter_map(|(who, bytes)| Some((who, bytes?)));
    let mut bounds = bounds.collect::<Vec<_>>();
    bounds.sort_by_key(|(_, bytes)| *bytes);
    let given = limits.memory_given().unwrap_or(ASSUMED);
    let half = |bytes: ByteCount| ByteCount(bytes.0 / SHARE_DIVISOR);
    let reason = match bounds.first() {
        Some((who, bytes)) => format!(
            "half of the {bytes} that {who}; the rest is for what is kept of files, and what is not counted"
        ),
        None => format!("half of {given}: nobody tells how much memory there is"),
    };
    let would_change = match bounds.first() {
        Some((who, bytes)) => format!("more or less than the {bytes} that {who}"),
        None => "somebody who tells how much memory there is".to_owned(),
    };
    let alternatives = bounds.iter().map(|(who, bytes)| Alternative {
        choice: format!("{}, half of what {who}", half(*bytes)),
        cost: bytes_f64(ByteCount(bytes.0.saturating_sub(given.0))),
        unit: "bytes that are not given".to_owned(),
    });
    let mut known = Facts::default();
    known.add_limits(limits);
    let unknown = || FactValue::Unknown("the system does not tell".to_owned());
    let total = limits.memory_of_machine.map_or_else(unknown, |bytes| bytes.0.into());
    known.note(("machine", "memory"), total, "bytes", Source::Discovered);
    let names = [("machine", "memory"), ("process", "memory limit"), ("process", "memory high")];
    let decision = Decision {
        facts: Decision::facts_of(&known, &names),
        alternatives: alternatives.collect(),
        would_change: vec![would_change],
        ..Decision::new("memory limit", half(given).exact(), reason)
    };
    (half(given), decision)
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

#[allow(clippy::cast_precision_loss)] // a cost
fn bytes_f64(bytes: ByteCount) -> f64 {
    bytes.0 as f64
}
