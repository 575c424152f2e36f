//! How a machine divides data: by its caches, and by its cores.

use super::bytes_f64;
use crate::decision::{Alternative, Decision};
use crate::error::MachineError;
use crate::facts::{Facts, Source};
use crate::gather::cache_subject;
use crate::partitions::{own_cache, partitions};
use crate::placement::Bound;
use crate::state::State;
use crate::topology::{Cache, Topology};
use gadus_base::ByteCount;
use std::collections::BTreeSet;

/// Into how much data that is to stay in a cache fits, of each level; none where no cache is told of.
#[must_use]
pub fn decide_cache_sizes(machine: &Topology) -> Option<Decision> {
    let levels = machine.caches.iter().map(|cache| cache.level).collect::<BTreeSet<_>>();
    let size = |cache: &&Cache| cache.bytes;
    let level = |level: u32| {
        let least = machine.data_caches(level).min_by_key(size)?;
        Some((least, machine.data_caches(level).max_by_key(size)?))
    };
    let levels = levels.into_iter().filter_map(level).collect::<Vec<_>>();
    let choices = levels.iter().map(|(least, _)| format!("L{} {}", least.level, least.bytes));
    let choice = choices.collect::<Vec<_>>().join(", ");
    let (first, _) = levels.first()?;
    let alternative = |choice: String, bytes: u64| Alternative {
        choice,
        cost: bytes_f64(bytes),
        unit: "bytes that do not fit everywhere".to_owned(),
    };
    let mut alternatives = vec![alternative(choice.clone(), 0)];
    for (least, most) in levels.iter().filter(|(least, most)| least.bytes < most.bytes) {
        let choice = format!("L{} {}", most.level, most.bytes);
        alternatives.push(alternative(choice, most.bytes.0 - least.bytes.0));
    }
    let known = Facts::of(machine);
    let subjects = levels.iter().map(|(least, _)| cache_subject(least));
    let facts = subjects.filter_map(|subject| known.get(&subject, "size").cloned());
    let reason = match alternatives.len() {
        1 => "all caches of a level have the same size".to_owned(),
        _ => "of each level the smallest: a thread may run on any core".to_owned(),
    };
    let changed = format!("a machine where L{} has not {}", first.level, first.bytes);
    Some(Decision {
        facts: facts.collect(),
        alternatives,
        would_change: vec![changed],
        ..Decision::new("cache sizes", choice, reason)
    })
}

/// Into how many parts some bytes are divided that all cores work on.
///
/// # Errors
/// `Request` where no core has time left, or there are no bytes.
pub fn decide_partitions(
    machine: &Topology,
    state: &State,
    bytes: ByteCount,
) -> Result<(usize, Decision), MachineError> {
    let best = partitions(machine, state, bytes, Bound::Compute, None)?;
    let mut speeds = state.speeds.clone();
    speeds.retain(|speed| *speed > 0.0);
    speeds.sort_by(|one, other| other.total_cmp(one));
    speeds.truncate(state.cores_max.unwrap_or(speeds.len()));
    let least = own_cache(machine).0.max(1);
    let mut counts = vec![1, best.count / 2, best.count, best.count + 1, speeds.len()];
    // Smaller ones than a cache holds were not asked for.
    counts.retain(|count| {
        *count == best.count
            || (1..=speeds.len()).contains(count) && bytes.0 / *count as u64 >= least
    });
    counts.sort_unstable();
    counts.dedup();
    let costs = counts.into_iter().map(|count| {
        let slowest = speeds.get(count - 1).copied().unwrap_or(1.0);
        (count, bytes_f64(bytes.0) / (bytes_f64(count as u64) * slowest))
    });
    let mut costs = costs.collect::<Vec<_>>();
    // Of equal ones the one that was chosen stands first.
    let is_other = |count: &usize| *count != best.count;
    costs.sort_by(|(one, cost), (other, other_cost)| {
        cost.total_cmp(other_cost).then(is_other(one).cmp(&is_other(other)))
    });
    let alternatives = costs.into_iter().map(|(count, cost)| Alternative {
        choice: count.to_string(),
        cost: cost.round(),
        unit: "bytes that the fastest core would read in the time of the slowest".to_owned(),
    });
    let mut known = Facts::of(machine);
    let mut names = vec![("machine".to_owned(), "cores")];
    for (core, speed) in state.speeds.iter().enumerate().filter(|(_, speed)| **speed < 1.0) {
        let subject = format!("core {core}");
        known.note((subject.as_str(), SPEED), *speed, "of the fastest core", Source::Observed);
        names.push((subject, SPEED));
    }
    let facts = names.iter().filter_map(|(subject, name)| known.get(subject, name).cloned());
    let decision = Decision {
        inputs: vec![("bytes".to_owned(), bytes.exact())],
        facts: facts.collect(),
        alternatives: alternatives.collect(),
        would_change: vec![
            "others that begin or cease to keep cores busy, or another limit of the control group"
                .to_owned(),
            format!("less than {} for each part", ByteCount(least)),
        ],
        ..Decision::new("partitions", best.count.to_string(), best.reason)
    };
    Ok((best.count, decision))
}

/// The name of the fact.
const SPEED: &str = "what one more thread gets";
