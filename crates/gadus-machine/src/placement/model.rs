//! A request and a machine, in numbers.

use super::{Bound, CacheSharing, Mapping, PARTITIONS_MAX, Place, Proof, Request};
use crate::error::{ErrorKind, MachineError};
use crate::state::State;
use crate::topology::{LOCAL_DISTANCE, Topology};
use gadus_base::ByteCount;
use std::collections::{BTreeMap, BTreeSet};

/// A placement problem.
#[derive(Debug)]
pub(super) struct Model {
    /// Equal partitions, the largest first.
    pub(super) kinds: Vec<Kind>,
    /// Cores that a thread gets something of.
    pub(super) cores: Vec<CoreRoom>,
    /// At least one: where the machine tells of none, all of its memory is.
    pub(super) nodes: Vec<NodeRoom>,
    /// Cores that share a cache, by their places among `cores`; in order, no two the same.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) bound: Bound,
    pub(super) sharing: CacheSharing,
}

/// Partitions of one size.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) bytes: u64,
    /// Their places in the request.
    pub(super) partitions: Vec<usize>,
}

/// A core that partitions may go to.
#[derive(Debug)]
pub(super) struct CoreRoom {
    /// Its place in the machine.
    pub(super) place: usize,
    pub(super) speed: f64,
    /// What memory of each node costs it beyond local memory.
    pub(super) remote: Vec<u32>,
    /// The groups that it is in, by their places in the model.
    pub(super) groups: Vec<usize>,
}

/// Memory that partitions may lie in.
#[derive(Debug)]
pub(super) struct NodeRoom {
    /// Its place in the machine; none for all memory of a machine without nodes.
    pub(super) place: Option<usize>,
    pub(super) free: u64,
    /// Memory beside no core is for what does not fit elsewhere.
    pub(super) has_cores: bool,
}

/// How many partitions of a kind go to a core and a node: all three by their places in the model.
pub(super) type Counts = BTreeMap<(usize, usize, usize), u32>;

impl Model {
    pub(super) fn new(
        machine: &Topology,
        state: &State,
        request: &Request,
    ) -> Result<Self, MachineError> {
        let refused = |message: String| Err(MachineError::new(ErrorKind::Request, message));
        if request.partitions.is_empty() {
            return refused("there must be at least one partition".to_owned());
        }
        let count = request.partitions.len();
        if count > PARTITIONS_MAX {
            return refused(format!(
                "{count} partitions are too many: at most {PARTITIONS_MAX} are placed"
            ));
        }
        let mut kinds = BTreeMap::<u64, Vec<usize>>::new();
        for (partition, bytes) in request.partitions.iter().enumerate() {
            kinds.entry(bytes.0).or_default().push(partition);
        }
        let kinds = kinds.into_iter().rev();
        let kinds = kinds.map(|(bytes, partitions)| Kind { bytes, partitions }).collect();
        let nodes = nodes(machine, state);
        let mut cores = cores(machine, state, &nodes);
        if cores.is_empty() {
            return refused("no core has time left".to_owned());
        }
        let groups = groups(machine, &cores);
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|core| cores[*core].groups.push(number));
        }
        let (bound, sharing) = (request.bound, request.cache_sharing);
        let model = Self { kinds, cores, nodes, groups, bound, sharing };
        match model.too_much(state.memory_max) {
            Some(message) => refused(message),
            None => Ok(model),
        }
    }

    /// What does not fit, in words; of all nodes together `most` may be taken.
    fn too_much(&self, most: Option<ByteCount>) -> Option<String> {
        let most = most.map_or(u64::MAX, |most| most.0);
        let largest = self.nodes.iter().map(|node| node.free).max().unwrap_or(0).min(most);
        let bytes = self.kinds.first().map_or(0, |kind| kind.bytes);
        if bytes > largest {
            let (bytes, largest) = (ByteCount(bytes), ByteCount(largest));
            return Some(format!(
                "a partition of {bytes} fits on no memory node: at most {largest} are free"
            ));
        }
        let sum = |all: &mut dyn Iterator<Item = u128>| all.sum::<u128>();
        let needed = sum(&mut self
            .kinds
            .iter()
            .map(|kind| u128::from(kind.bytes) * kind.partitions.len() as u128));
        let free = sum(&mut self.nodes.iter().map(|node| u128::from(node.free)));
        let free = free.min(u128::from(most));
        if needed > free {
            let shown = |bytes: u128| ByteCount(u64::try_from(bytes).unwrap_or(u64::MAX));
            let (needed, free) = (shown(needed), shown(free));
            return Some(format!("the partitions need {needed}, and {free} of memory are free"));
        }
        let [kind] = &self.kinds[..] else { return None };
        let fitting = self.nodes.iter().map(|node| fitting(node.free, kind.bytes)).sum::<u64>();
        let count = kind.partitions.len() as u64;
        let bytes = ByteCount(kind.bytes);
        (fitting < count).then(|| {
            format!("of {count} partitions of {bytes} the free memory of all nodes holds {fitting}, none divided")
        })
    }

    /// How many partitions there are.
    pub(super) fn count(&self) -> usize {
        self.kinds.iter().map(|kind| kind.partitions.len()).sum()
    }

    /// How long each core takes, then each node where they count.
    pub(super) fn times(&self, counts: &Counts) -> (Vec<f64>, Vec<f64>) {
        let (mut cores, mut nodes) = (vec![0.0; self.cores.len()], vec![0.0; self.nodes.len()]);
        for (&(kind, core, node), &count) in counts {
            let bytes = as_f64(self.kinds[kind].bytes) * f64::from(count);
            cores[core] += bytes / self.cores[core].speed;
            nodes[node] += bytes;
        }
        (cores, nodes)
    }

    /// What remote memory and caches cost.
    pub(super) fn cost(&self, counts: &Counts) -> f64 {
        let remote = counts.iter().map(|(&(_, core, node), &count)| {
            f64::from(self.cores[core].remote[node]) * f64::from(count)
        });
        let mut cost = remote.sum::<f64>();
        let mut inside = vec![0_u32; self.groups.len()];
        for (&(_, core, _), count) in counts {
            self.cores[core].groups.iter().for_each(|group| inside[*group] += count);
        }
        let mut used = 0_u32;
        for inside in inside {
            used += u32::from(inside > 0);
            if self.sharing == CacheSharing::Avoid {
                cost += f64::from(inside.saturating_sub(1) * LOCAL_DISTANCE);
            }
        }
        if self.sharing == CacheSharing::Want {
            cost += f64::from(used.saturating_sub(1) * LOCAL_DISTANCE);
        }
        cost
    }

    /// The partitions that are counted, one by one.
    pub(super) fn mapping(&self, counts: &Counts, proof: Proof) -> Mapping {
        let mut places = vec![Place { core: 0, node: None }; self.count()];
        let mut next = self.kinds.iter().map(|kind| kind.partitions.iter()).collect::<Vec<_>>();
        for (&(kind, core, node), &count) in counts {
            let place = Place { core: self.cores[core].place, node: self.nodes[node].place };
            for &partition in next[kind].by_ref().take(count as usize) {
                places[partition] = place;
            }
        }
        let (cores, nodes) = self.times(counts);
        let times = match self.bound {
            Bound::Compute => cores,
            Bound::Memory => nodes,
        };
        let slowest = times.into_iter().fold(0.0, f64::max);
        Mapping { places, slowest, cost: self.cost(counts), proof }
    }
}

/// Partitions of a size that some bytes hold; more than can be counted are not told.
pub(super) fn fitting(free: u64, bytes: u64) -> u64 {
    free.checked_div(bytes).unwrap_or(u64::MAX).min(u64::from(u32::MAX))
}

#[allow(clippy::cast_precision_loss)] // partitions have no petabytes
pub(super) fn as_f64(bytes: u64) -> f64 {
    bytes as f64
}

fn nodes(machine: &Topology, state: &State) -> Vec<NodeRoom> {
    // Where nobody knows what is free, whatever is asked for is.
    const ANY: u64 = u64::MAX >> 16;
    let room = |(place, free): (usize, &Option<ByteCount>)| NodeRoom {
        place: Some(place),
        free: free.map_or(ANY, |free| free.0),
        has_cores: !machine.nodes[place].cpus.is_empty(),
    };
    let mut nodes = state.free.iter().enumerate().map(room).collect::<Vec<_>>();
    if nodes.is_empty() {
        nodes.push(NodeRoom { place: None, free: ANY, has_cores: true });
    }
    nodes
}

fn cores(machine: &Topology, state: &State, nodes: &[NodeRoom]) -> Vec<CoreRoom> {
    let remote = |core: usize, node: &NodeRoom| {
        machine.distance_of_core(core, node.place).saturating_sub(LOCAL_DISTANCE)
    };
    // Cores near one node have the same.
    let mut known = BTreeMap::<Option<u32>, Vec<u32>>::new();
    let all = state.speeds.iter().enumerate().filter(|(_, speed)| **speed > 0.0);
    let room = all.map(|(place, &speed)| CoreRoom {
        place,
        speed,
        remote: known
            .entry(machine.cores[place].node)
            .or_insert_with(|| nodes.iter().map(|node| remote(place, node)).collect())
            .clone(),
        groups: Vec::new(),
    });
    room.collect()
}

/// The caches that some cores share, and others do not.
fn groups(machine: &Topology, cores: &[CoreRoom]) -> Vec<Vec<usize>> {
    let data = machine.caches.iter().filter(|cache| cache.kind != crate::CacheKind::Instruction);
    let cpus = cores.iter().enumerate().flat_map(|(place, core)| {
        machine.cores[core.place].cpus.iter().map(move |cpu| (cpu, place))
    });
    let place_of = cpus.collect::<BTreeMap<_, _>>();
    let sharing = data.map(|cache| {
        let places = cache.cpus.iter().filter_map(|cpu| place_of.get(&cpu).copied());
        places.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    });
    let sharing = sharing.filter(|group| group.len() > 1 && group.len() < cores.len());
    sharing.collect::<BTreeSet<_>>().into_iter().collect()
}
