//! Where partitions go: each to a core, its memory to a node.
//!
//! Best is, in this order:
//!
//! 1. The slowest is done first. Where computing bounds the work, that is a core: the bytes of its
//!    partitions, divided by what a thread gets of it. Where memory does, it is a node, before any core: the
//!    bytes that lie there.
//! 2. Remote memory and caches cost least: each partition its distance beyond a local one, in the units of the
//!    machine's table; and for each that shares a cache against the wish, or each cache beyond the first where
//!    sharing is wanted, as much as memory at twice the local distance.
//! 3. The first cores and nodes are taken, so that equal questions have equal answers.
//!
//! - A solver answers ([`solve`]); equal partitions are counted by core and node, not placed one by one.
//! - Of Giceva et al. 2013, section 4.3: `suggest_resource_allocation`.

mod greedy;
mod model;
mod solve;

use crate::error::MachineError;
use crate::state::State;
use crate::topology::Topology;
use gadus_base::ByteCount;
use model::Model;
use std::time::Duration;

/// A request has no more partitions. Nobody has so many threads; who counts wrongly is told at once, and without a
/// solver all are placed in some tenths of a second on any machine that there is.
pub const PARTITIONS_MAX: usize = 1 << 14;

/// What is to be placed.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The bytes of each partition.
    pub partitions: Vec<ByteCount>,
    /// What the work waits for.
    pub bound: Bound,
    /// Whether threads are to share caches.
    pub cache_sharing: CacheSharing,
    /// How many mappings are wanted.
    pub mappings: usize,
    /// How long may be looked for one. A little more is used where it ends before there is any: the one without proof
    /// is then finished without a look at its costs.
    pub time: Duration,
}

/// What the work waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bound {
    /// Its own instructions: a core is done when they are.
    #[default]
    Compute,
    /// Memory: what lies on a node comes from there at one speed, whichever cores ask.
    Memory,
}

/// Whether threads are to share caches, but for one that all cores of the machine share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheSharing {
    /// It makes no difference.
    #[default]
    Any,
    /// They drive each other's data out.
    Avoid,
    /// They read the same.
    Want,
}

/// Where everything goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    /// In the order of the partitions.
    pub places: Vec<Place>,
    /// How long the slowest takes, in bytes that the fastest core does alone.
    pub slowest: f64,
    /// What remote memory and caches cost, in the units of the table of distances.
    pub cost: f64,
    /// What is known of it.
    pub proof: Proof,
}

/// Where a partition goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// By its place in the machine's list.
    pub core: usize,
    /// By its place in the machine's list; none where the machine tells of no nodes.
    pub node: Option<usize>,
}

/// What is known of a mapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Proof {
    /// None is better.
    Exact,
    /// None is better by more than this part of its slowest, or of its cost.
    Within(f64),
    /// Nothing: the solver had no answer in time. The largest came first, each where it ends first, and of equals where
    /// it costs least, as long as there was time for that.
    Greedy,
}

impl Request {
    /// Equal partitions, bound by computing, wherever their caches are.
    #[must_use]
    pub fn of_equal(partitions: usize, bytes_each: ByteCount) -> Self {
        Self {
            partitions: vec![bytes_each; partitions],
            bound: Bound::Compute,
            cache_sharing: CacheSharing::Any,
            mappings: 1,
            time: Duration::from_millis(500),
        }
    }
}

/// Where partitions go on a machine; the best mapping first. Beside each earlier one, a later one has some
/// partition where that has none.
///
/// # Errors
/// `Request` with what cannot be met: no partition, or more than [`PARTITIONS_MAX`], no core to be had, more bytes
/// than are free.
pub fn place(
    machine: &Topology,
    state: &State,
    request: &Request,
) -> Result<Vec<Mapping>, MachineError> {
    let model = Model::new(machine, state, request)?;
    solve::mappings(&model, request)
}

#[cfg(test)]
mod tests;
