//! Who replaces pages, and who reads ahead: the kernel with advice, or a pool with a policy of its own.
//!
//! - Advice is measured on files; policies are counted on traces, where a miss is a miss on every machine.
//! - No policy can do better than the one that knows the future: it is the bound that all are compared to.

mod advice;
mod policies;
mod traces;

pub use policies::{Policy, misses};
pub use traces::read_trace;

use crate::error::KubError;
use crate::harness::{Budget, Ratio, Summary};
use crate::numbers::{figure, figure_of};
use crate::report::{Benchmark, Cell, Measured, Origin, Side, Stopped};
use crate::run::Task;

/// The unit of cells that count.
pub(crate) const MISSES: &str = "misses in a thousand";

pub(crate) fn tasks(budget: Budget) -> Vec<Task> {
    let mut tasks = advice::tasks(budget);
    tasks.push(Task::new(Benchmark::Replace, "policies of an own pool", |harness, _| {
        for pattern in traces::Pattern::ALL {
            for share in traces::POOL_SHARES {
                harness.cells.push(counted(pattern.word(), &pattern.trace(), share));
            }
        }
        Ok(())
    }));
    tasks
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

/// A cell of counts: the same every time, so that one round is enough.
fn counted(pattern: &str, trace: &[u64], share: (u64, u64)) -> Cell {
    let pages = trace.iter().collect::<std::collections::HashSet<_>>().len() as u64;
    let frames = (pages * share.0 / share.1).max(1);
    let in_a_thousand = |misses: u64| figure(misses) * 1000.0 / figure_of(trace.len());
    let best = in_a_thousand(misses(Policy::Optimum, trace, frames));
    let measured = Policy::ALL.into_iter().map(|policy| {
        let rounds = vec![in_a_thousand(misses(policy, trace, frames))];
        let ratio =
            Ratio { value: rounds[0] / best, low: rounds[0] / best, high: rounds[0] / best };
        Measured {
            who: policy.word().to_owned(),
            side: Side::User,
            summary: Summary::of(&rounds),
            ratio: (policy != Policy::Optimum).then_some(ratio),
            rounds,
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
    });
    let ratio = figure(share.1) / figure(share.0);
    Cell {
        benchmark: Benchmark::Replace,
        origin: Origin::Modern,
        name: "policy on a trace".to_owned(),
        variables: vec![
            ("pattern".to_owned(), pattern.to_owned()),
            ("pages_per_frame".to_owned(), format!("{ratio:.2}")),
        ],
        unit: MISSES.to_owned(),
        measured: measured.collect(),
        stopped: Stopped::Narrow,
        quiet: true,
        equivalent: None,
        paper_found: None,
    }
}

#[cfg(test)]
mod tests;
