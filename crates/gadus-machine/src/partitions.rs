//! How many partitions a set of rows is to have (Giceva et al. 2013, section 4.3).
//!
//! - One for each core is most parallel, as long as no core gets less time than the others: all wait for the
//!   slowest. So many are suggested that their number, multiplied by what the slowest of the best so many
//!   cores gives, is largest.
//! - Where memory bounds the work, cores beyond those that keep a node's memory busy add nothing: at most so
//!   many for each node, where it was measured how many that are.
//! - No more than a control group's time keeps busy: beyond that, all are stopped together.
//! - No partition is smaller than the cache that a core has for itself: such a one is read faster than another
//!   thread is woken.

use crate::error::{ErrorKind, MachineError};
use crate::placement::Bound;
use crate::state::State;
use crate::topology::{CpuSet, Topology};
use gadus_base::ByteCount;

/// How many, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Partitions {
    /// How many.
    pub count: usize,
    /// What set the number, in words.
    pub reason: String,
}

/// What memory gives, measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bandwidth {
    /// Bytes a second that one thread reads.
    pub thread: f64,
    /// Bytes a second that all threads near a node read together.
    pub node: f64,
}

/// The size of a cache of a level: the smallest of those that hold data.
///
/// # Errors
/// `Request` where there is no such level.
pub fn cache_size(machine: &Topology, level: u32) -> Result<ByteCount, MachineError> {
    machine.data_caches(level).map(|cache| cache.bytes).min().ok_or_else(|| {
        let levels = machine.caches.iter().map(|cache| cache.level.to_string());
        let levels = levels.collect::<std::collections::BTreeSet<_>>();
        let known = match levels.len() {
            0 => "the system tells of no cache".to_owned(),
            _ => format!("there are levels {}", levels.into_iter().collect::<Vec<_>>().join(", ")),
        };
        MachineError::new(
            ErrorKind::Request,
            format!("there is no cache of level {level}: {known}"),
        )
    })
}

/// How many partitions rows of some bytes are to have.
///
/// # Errors
/// `Request` where no core has time left, or there are no bytes.
pub fn partitions(
    machine: &Topology,
    state: &State,
    bytes: ByteCount,
    bound: Bound,
    bandwidth: Option<Bandwidth>,
) -> Result<Partitions, MachineError> {
    let refused = |message: &str| Err(MachineError::new(ErrorKind::Request, message));
    if bytes.0 == 0 {
        return refused("nothing cannot be divided");
    }
    let mut speeds = match (bound, bandwidth) {
        (Bound::Memory, Some(bandwidth)) => busy_memory(machine, state, bandwidth),
        _ => state.speeds.clone(),
    };
    speeds.retain(|speed| *speed > 0.0);
    speeds.sort_by(|one, other| other.total_cmp(one));
    // What a control group's time keeps busy, beyond which all are stopped together.
    let able = speeds.len();
    let most = state.cores_max.unwrap_or(able).min(able);
    let together = |count: usize| count_f64(count) * speeds[count - 1];
    let mut count = 0;
    for more in 1..=most {
        // Beyond what sums of parts are exact to: more threads for the same are not worth it.
        if count == 0 || together(more) > together(count) * (1.0 + 1e-9) {
            count = more;
        }
    }
    if count == 0 {
        return refused("no core has time left");
    }
    let all = machine.cores.len();
    let reason = match (count == all, bound, bandwidth) {
        (true, ..) => format!("one for each of {all} cores"),
        _ if count == most && most < able => format!(
            "{count} of {all} cores: the control group gives the time of no more processors"
        ),
        (_, Bound::Memory, Some(bandwidth)) => format!(
            "{count} threads of {:.1} GB/s keep the memory of {} nodes busy, {:.1} GB/s each",
            bandwidth.thread / 1e9,
            machine.nodes.len().max(1),
            bandwidth.node / 1e9,
        ),
        _ => format!(
            "{count} of {all} cores: all would wait for the slowest of more, which gives {:.0} % of the best",
            100.0 * speeds.get(count).copied().unwrap_or(0.0) / speeds[0],
        ),
    };
    let least = own_cache(machine);
    let most = usize::try_from(bytes.0 / least.0.max(1)).unwrap_or(usize::MAX).max(1);
    if most < count {
        let reason = format!("{bytes} make {most} of {least}, which a core's own cache holds");
        return Ok(Partitions { count: most, reason });
    }
    Ok(Partitions { count, reason })
}

/// Of each node the best cores that keep its memory busy.
fn busy_memory(machine: &Topology, state: &State, bandwidth: Bandwidth) -> Vec<f64> {
    let ratio = (bandwidth.node / bandwidth.thread).max(1.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few dozen
    let threads = ratio.ceil().min(1e6) as usize;
    let mut nodes = machine.cores.iter().map(|core| core.node).collect::<Vec<_>>();
    nodes.sort_unstable();
    nodes.dedup();
    let mut speeds = Vec::new();
    for node in nodes {
        let near = machine.cores.iter().zip(&state.speeds).filter(|(core, _)| core.node == node);
        let mut near = near.map(|(_, speed)| *speed).collect::<Vec<_>>();
        near.sort_by(|one, other| other.total_cmp(one));
        speeds.extend(near.into_iter().take(threads));
    }
    speeds
}

/// The largest cache that a core shares with no other; of several cores the least.
pub(crate) fn own_cache(machine: &Topology) -> ByteCount {
    let of = |cpus: &CpuSet| {
        let own = machine.caches.iter().filter(|cache| {
            cache.kind != crate::CacheKind::Instruction
                && cache.cpus.meets(cpus)
                && cache.cpus.is_within(cpus)
        });
        own.map(|cache| cache.bytes).max()
    };
    machine.cores.iter().filter_map(|core| of(&core.cpus)).min().unwrap_or(ByteCount(1))
}

#[allow(clippy::cast_precision_loss)] // cores
fn count_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
