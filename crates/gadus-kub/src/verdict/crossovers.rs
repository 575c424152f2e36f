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

/// The cheapest of the kernel's ways by the message's size, with those that are as cheap as far as one can tell.
fn transports(report: &Report) -> Vec<String> {
    let echoes = by_number(report, Benchmark::Message, "echo", "bytes", &[("processor", "other")]);
    let modern = echoes.into_iter().filter(|(_, cell)| cell.origin == Origin::Modern);
    let mut said: Vec<(u64, u64, String)> = Vec::new();
    for (bytes, cell) in modern {
        let Some(ways) = cheapest(cell) else { continue };
        match said.last_mut() {
            Some((_, last, known)) if *known == ways => *last = bytes,
            _ => said.push((bytes, bytes, ways)),
        }
    }
    let sizes = |first: u64, last: u64| match first == last {
        true => format!("at {}", ByteCount(first)),
        false => format!("from {} to {}", ByteCount(first), ByteCount(last)),
    };
    let say = |(first, last, ways)| format!("{} the kernel's cheapest: {ways}", sizes(first, last));
    said.into_iter().map(say).collect()
}

fn cheapest(cell: &Cell) -> Option<String> {
    let best = cell.best(Side::Kernel)?;
    let others = cell.measured.iter().filter(|other| {
        other.side == Side::Kernel && other.who != best.who && other.ratio_to(best).low <= 1.0
    });
    let mut others = others.map(|other| other.who.as_str()).collect::<Vec<_>>();
    others.sort_unstable();
    Some(match others.is_empty() {
        true => best.who.clone(),
        false => format!("{}; no certain difference to: {}", best.who, others.join("; ")),
    })
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
