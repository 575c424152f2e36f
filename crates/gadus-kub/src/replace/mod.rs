//! Who replaces pages, and who reads ahead: the kernel with advice, or a pool with a policy of its own.
//!
//! - Advice is measured on files; policies are counted on traces, where a miss is a miss on every machine.
//! - No policy can do better than the one that knows the future: it is the bound that all are compared to.

mod advice;
mod kernel_cache;
mod policies;
mod traces;

pub use policies::{Policy, misses};
pub use traces::read_trace;

use crate::error::KubError;
use crate::harness::{Budget, Harness, Ratio, Summary};
use crate::numbers::{figure, figure_of};
use crate::report::{Benchmark, Cell, Measured, Origin, Parts, Side, Stopped};
use crate::run::{Place, Task};
use std::collections::HashSet;

/// The unit of cells that count.
pub(crate) const MISSES: &str = "misses in a thousand";

pub(crate) fn tasks(budget: Budget) -> Vec<Task> {
    let mut tasks = advice::tasks(budget);
    let policies = Task::new(Benchmark::Replace, "policies of an own pool", |harness, _| {
        for pattern in traces::Pattern::ALL {
            for share in traces::POOL_SHARES {
                harness.cells.push(counted(pattern.word(), &pattern.trace(), share));
            }
        }
        Ok(())
    });
    // Counts are the same each time.
    tasks.push(policies.once());
    let shares: &[(u64, u64)] = match budget {
        Budget::Quick => &[],
        Budget::Usual => &[(1, 2)],
        Budget::Thorough => &traces::POOL_SHARES,
    };
    for pattern in traces::Pattern::ALL {
        for share in shares.iter().copied() {
            let name = format!("the kernel's cache, {}", pattern.word());
            let task = Task::new(Benchmark::Replace, name, move |harness, place| {
                kernels(harness, place, pattern, share)
            });
            tasks.push(task.once());
        }
    }
    tasks
}

/// What the kernel misses, beside the bound and the policy that it comes nearest to by its make.
fn kernels(
    harness: &mut Harness<'_>,
    place: &Place,
    pattern: traces::Pattern,
    share: (u64, u64),
) -> Result<(), KubError> {
    let trace = pattern.trace();
    let frames = frames_of(&trace, share);
    let missed = kernel_cache::misses(place, &trace, frames)?;
    let counts = [Policy::Optimum, Policy::Clock]
        .map(|policy| (policy.word(), Side::User, misses(policy, &trace, frames)));
    let kernel = ("the kernel's cache", Side::Kernel, missed);
    let all = counts.into_iter().chain([kernel]).collect::<Vec<_>>();
    harness.cells.push(cell_of_counts(
        "the kernel's cache on a trace",
        pattern.word(),
        &trace,
        share,
        &all,
    ));
    Ok(())
}

/// Counts every policy's misses on a trace of somebody's own, with pools of several sizes.
///
/// # Errors
/// `Input` where there is no page in it.
pub fn count_trace(name: &str, trace: &[u64]) -> Result<Vec<Cell>, KubError> {
    if trace.is_empty() {
        return Err(KubError::input(format!("{name} has no page in it")));
    }
    Ok(traces::POOL_SHARES.iter().map(|share| counted(name, trace, *share)).collect())
}

/// Every policy on a trace.
fn counted(pattern: &str, trace: &[u64], share: (u64, u64)) -> Cell {
    let frames = frames_of(trace, share);
    let count = |policy: Policy| (policy.word(), Side::User, misses(policy, trace, frames));
    cell_of_counts("policy on a trace", pattern, trace, share, &Policy::ALL.map(count))
}

/// A share of the pages that a trace uses.
fn frames_of(trace: &[u64], share: (u64, u64)) -> u64 {
    let pages = trace.iter().collect::<HashSet<_>>().len() as u64;
    (pages * share.0 / share.1).max(1)
}

/// Counts of misses, the bound's first: the same every time, so that one round is enough.
fn cell_of_counts(
    name: &str,
    pattern: &str,
    trace: &[u64],
    share: (u64, u64),
    counts: &[(&str, Side, u64)],
) -> Cell {
    let in_a_thousand = |misses: u64| figure(misses) * 1000.0 / figure_of(trace.len());
    let best = counts.first().map_or(f64::NAN, |(_, _, misses)| in_a_thousand(*misses));
    let measured = counts.iter().enumerate().map(|(number, (who, side, misses))| {
        let value = in_a_thousand(*misses) / best;
        let ratio = Ratio { value, low: value, high: value };
        measured_once(who, *side, in_a_thousand(*misses), (number > 0).then_some(ratio))
    });
    Cell {
        benchmark: Benchmark::Replace,
        origin: Origin::Modern,
        name: name.to_owned(),
        variables: vec![
            ("pattern".to_owned(), pattern.to_owned()),
            ("pages_per_frame".to_owned(), format!("{:.2}", figure(share.1) / figure(share.0))),
        ],
        unit: MISSES.to_owned(),
        measured: measured.collect(),
        stopped: Stopped::Narrow,
        quiet: true,
        equivalent: None,
        paper_found: None,
    }
}

fn measured_once(who: &str, side: Side, figure: f64, ratio: Option<Ratio>) -> Measured {
    Measured {
        who: who.to_owned(),
        side,
        summary: Summary::of(&[figure]),
        ratio,
        rounds: vec![figure],
        sittings: vec![1],
        parts: Parts::default(),
        steps: Vec::new(),
        counts: Vec::new(),
        user_ns: 0.0,
        system_ns: 0.0,
        voluntary_switches: 0.0,
        involuntary_switches: 0,
        minor_faults: 0.0,
        major_faults: 0,
        repetitions: 1,
        disturbed: 0.0,
        paper: None,
    }
}

#[cfg(test)]
mod tests;
