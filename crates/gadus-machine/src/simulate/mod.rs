//! What scans of placed partitions would take on a machine, from what one thread takes alone.
//!
//! - A simulation, for machines that nobody here has: threads are streams that flow as fast as the narrowest
//!   of three lets them, and get faster when others are done. The three are the core, whose time its
//!   partitions share; what one thread gets of a node's memory, less the further it is; and what the node
//!   gives to all, of which nobody gets more than the others who want as much.
//! - It replays the two experiments of Giceva et al. 2013, section 5: the traffic of each memory node, and
//!   scans beside a busy core.

use crate::error::{ErrorKind, MachineError};
use crate::partitions::Bandwidth;
use crate::placement::Place;
use crate::state::State;
use crate::topology::{LOCAL_DISTANCE, Topology};
use gadus_base::ByteCount;

/// What one thread does alone, measured or said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScanCost {
    /// Seconds of the fastest core's time for a byte.
    pub seconds_per_byte: f64,
    /// What memory gives.
    pub bandwidth: Bandwidth,
}

/// What a scan would take.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// Until the slowest partition is done.
    pub seconds: f64,
    /// Until each partition is done.
    pub partitions: Vec<f64>,
    /// Bytes a second that each memory node gives, on average, by the nodes' places.
    pub traffic: Vec<f64>,
}

/// A partition that is scanned.
struct Stream {
    core: usize,
    node: usize,
    left: f64,
    /// What one thread gets of this memory from this core.
    reach: f64,
}

/// Scans partitions of some bytes each at their places, all at once.
///
/// # Errors
/// `Request` where a cost is none, a partition lies where the machine has nothing, or on a core without time.
pub fn simulate(
    machine: &Topology,
    state: &State,
    bytes_each: ByteCount,
    places: &[Place],
    cost: ScanCost,
) -> Result<Simulated, MachineError> {
    let ScanCost { seconds_per_byte, bandwidth: Bandwidth { thread, node } } = cost;
    let refused = |message: String| Err(MachineError::new(ErrorKind::Request, message));
    let is_cost = |value: f64| value.is_finite() && value > 0.0;
    if !is_cost(seconds_per_byte) || !is_cost(thread) || !is_cost(node) {
        return refused("costs and bandwidths are more than nothing".to_owned());
    }
    check(machine, state)?;
    for Place { core, node } in places {
        match state.speeds.get(*core) {
            None => return refused(format!("the machine has no core {core}")),
            Some(speed) if *speed <= 0.0 => {
                return refused(format!("core {core} has no time left"));
            }
            Some(_) => {}
        }
        if let Some(node) = node.filter(|node| *node >= machine.nodes.len()) {
            return refused(format!("the machine has no memory node at place {node}"));
        }
    }
    let bytes = as_f64(bytes_each.0);
    let stream = |place: &Place| {
        let at = place.node.unwrap_or(0);
        let memory = Some(at).filter(|at| *at < machine.nodes.len());
        let further = f64::from(machine.distance_of_core(place.core, memory).max(LOCAL_DISTANCE));
        let reach = thread * f64::from(LOCAL_DISTANCE) / further;
        Stream { core: place.core, node: at, left: bytes, reach }
    };
    let mut streams = places.iter().map(stream).collect::<Vec<_>>();
    let mut done = vec![0.0; streams.len()];
    let mut now = 0.0;
    while streams.iter().any(|stream| stream.left > 0.0) {
        let rates = rates(&streams, &state.speeds, seconds_per_byte, node);
        let ends = streams.iter().zip(&rates).filter(|(stream, _)| stream.left > 0.0);
        let step = ends.map(|(stream, rate)| stream.left / rate).fold(f64::INFINITY, f64::min);
        now += step;
        for ((stream, rate), done) in streams.iter_mut().zip(&rates).zip(&mut done) {
            if stream.left > 0.0 {
                stream.left -= rate * step;
                // What is left of a division is nothing.
                if stream.left <= bytes * 1e-9 {
                    stream.left = 0.0;
                    *done = now;
                }
            }
        }
    }
    let mut traffic = vec![0.0; machine.nodes.len().max(1)];
    for stream in &streams {
        traffic[stream.node] += bytes / now.max(f64::MIN_POSITIVE);
    }
    Ok(Simulated { seconds: now, partitions: done, traffic })
}

/// Whether a state is one of this machine, and there is anything to run on.
fn check(machine: &Topology, state: &State) -> Result<(), MachineError> {
    let is_of =
        state.speeds.len() == machine.cores.len() && state.free.len() == machine.nodes.len();
    match (machine.cores.is_empty(), is_of) {
        (false, true) => Ok(()),
        (true, _) => Err(MachineError::new(ErrorKind::Request, "the machine has no cores")),
        _ => Err(MachineError::new(ErrorKind::Request, "the state is another machine's")),
    }
}

/// Bytes a second of each stream, now.
fn rates(streams: &[Stream], speeds: &[f64], seconds_per_byte: f64, node: f64) -> Vec<f64> {
    let open = || streams.iter().enumerate().filter(|(_, stream)| stream.left > 0.0);
    let mut rates = vec![0.0; streams.len()];
    for (at, stream) in open() {
        let beside = open().filter(|(_, other)| other.core == stream.core).count();
        let computed = speeds[stream.core] / seconds_per_byte / as_f64(beside as u64);
        rates[at] = computed.min(stream.reach);
    }
    let nodes = open().map(|(_, stream)| stream.node).collect::<std::collections::BTreeSet<_>>();
    for of in nodes {
        let here = open().filter(|(_, stream)| stream.node == of).map(|(at, _)| at);
        share(&mut rates, here.collect(), node);
    }
    rates
}

/// Divides what a node gives among those that want some of it: those that want least get it, and what they
/// leave is the others'.
fn share(rates: &mut [f64], mut streams: Vec<usize>, gives: f64) {
    streams.sort_by(|one, other| rates[*one].total_cmp(&rates[*other]));
    let (mut left, mut sharing) = (gives, streams.len());
    for at in streams {
        rates[at] = rates[at].min(left / as_f64(sharing as u64));
        left -= rates[at];
        sharing -= 1;
    }
}

/// What a program gets that leaves all to the system: a thread on each core in turn that has time, and its memory
/// where the one thread that loaded it was, or as near as there was room.
///
/// # Errors
/// `Request` where it does not fit.
pub fn naive(
    machine: &Topology,
    state: &State,
    bytes_each: ByteCount,
    partitions: usize,
) -> Result<Vec<Place>, MachineError> {
    check(machine, state)?;
    let refused = |message: String| MachineError::new(ErrorKind::Request, message);
    let cores = (0..machine.cores.len()).filter(|core| state.speeds[*core] > 0.0);
    let cores = cores.collect::<Vec<_>>();
    let first = *cores.first().ok_or_else(|| refused("no core has time left".to_owned()))?;
    let mut free = state.free.clone();
    let mut left = state.memory_max.map_or(u64::MAX, |most| most.0);
    let mut near = (0..free.len()).collect::<Vec<_>>();
    near.sort_by_key(|place| {
        let is_other = machine.cores[first].node != Some(machine.nodes[*place].number);
        (is_other, machine.distance_of_core(first, Some(*place)))
    });
    let mut place_next = |partition: usize| -> Result<Place, MachineError> {
        let core = cores[partition % cores.len()];
        let none = || refused(format!("partition {partition} of {bytes_each} fits on no node"));
        left = left.checked_sub(bytes_each.0).ok_or_else(none)?;
        if near.is_empty() {
            return Ok(Place { core, node: None });
        }
        let fits = |place: &&usize| free[**place].is_none_or(|free| free >= bytes_each);
        let node = near.iter().find(fits).copied().ok_or_else(none)?;
        if let Some(free) = free[node].as_mut() {
            free.0 -= bytes_each.0;
        }
        Ok(Place { core, node: Some(node) })
    };
    (0..partitions).map(&mut place_next).collect()
}

#[allow(clippy::cast_precision_loss)] // bytes and threads
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
