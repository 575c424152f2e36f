//! From where on another service is the cheaper one.

use super::criteria::by_number;
use crate::report::{Benchmark, Cell, Origin, Report, Side};
use gadus_base::ByteCount;

pub(super) fn crossovers(report: &Report) -> Vec<String> {
    let mut found = transports(report);
    found.extend(spinning(report));
    found.extend(held_locks(report));
    found.extend(mappings(report));
    found
}

/// The cheapest of the kernel's ways by the message's size.
fn transports(report: &Report) -> Vec<String> {
    let echoes = by_number(report, Benchmark::Message, "echo", "bytes", &[("processor", "other")]);
    let modern = echoes.into_iter().filter(|(_, cell)| cell.origin == Origin::Modern);
    let best = modern.filter_map(|(bytes, cell)| Some((bytes, cell.best(Side::Kernel)?)));
    let mut said: Vec<(u64, u64, &str)> = Vec::new();
    for (bytes, measured) in best {
        match said.last_mut() {
            Some((_, last, who)) if *who == measured.who => *last = bytes,
            _ => said.push((bytes, bytes, &measured.who)),
        }
    }
    let say = |(first, last, who): (u64, u64, &str)| match first == last {
        true => format!("at {} the cheapest way of the kernel is {who}", ByteCount(first)),
        false => format!(
            "from {} to {} the cheapest way of the kernel is {who}",
            ByteCount(first),
            ByteCount(last)
        ),
    };
    said.into_iter().map(say).collect()
}

/// Who waits for somebody on another processor loses by spinning longer than waking takes.
fn spinning(report: &Report) -> Option<String> {
    let cell = report.cell(Benchmark::Schedule, "switch", &[("processor", "other")])?;
    let wake = cell.median_of("threads, futex")?;
    let micros = wake / 1e3;
    Some(format!(
        "to spin pays for waits below {micros:.1} µs: a wake-up on another processor takes that"
    ))
}

fn held_locks(report: &Report) -> Option<String> {
    const DEAR: f64 = 2.0;
    let held = by_number(report, Benchmark::Lock, "a lock beside held ones", "held", &[]);
    let of = |cell: &Cell| cell.median_of("file range, description");
    let first = held.first().and_then(|(_, cell)| of(cell))?;
    let dear = held.iter().find(|(_, cell)| of(cell).is_some_and(|cost| cost > first * DEAR));
    let most = held.last().map(|(held, _)| *held)?;
    Some(match dear {
        Some((held, _)) => format!(
            "with {held} ranges of a file locked, a lock costs more than twice what it does alone"
        ),
        None => format!(
            "up to {most} locked ranges, a lock of a file costs at most twice what it does alone"
        ),
    })
}

fn mappings(report: &Report) -> Vec<String> {
    ["warm", "cold"]
        .into_iter()
        .filter_map(|cached| {
            let rewrites =
                by_number(report, Benchmark::Bind, "rewrite a file", "bytes", &[("cache", cached)]);
            let ratio = |cell: &Cell| Some(cell.by("mapped")?.ratio?.value);
            let cheaper = rewrites.iter().filter_map(|(bytes, cell)| Some((bytes, ratio(cell)?)));
            let cheaper = cheaper
                .filter(|(_, ratio)| *ratio < 1.0)
                .map(|(bytes, _)| ByteCount(*bytes).to_string());
            let cheaper = cheaper.collect::<Vec<_>>();
            match (rewrites.is_empty(), cheaper.is_empty()) {
                (true, _) => None,
                (_, true) => Some(format!(
                    "to rewrite a file ({cached}) through a mapping is not cheaper at any size"
                )),
                (_, false) => Some(format!(
                    "to rewrite a file ({cached}) through a mapping is cheaper at {}",
                    cheaper.join(", ")
                )),
            }
        })
        .collect()
}
