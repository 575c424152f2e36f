//! The parts of a machine: processors, the caches between them and memory, memory nodes, devices.
//!
//! - Of this machine as the kernel tells it, or of another as hwloc has written it down.
//! - Numbers of processors and nodes are the system's own; cores have their place in the list.
//! - Whatever is handed out went through [`Topology::checked`].

mod cpu_set;
mod sys;
mod xml;

pub use cpu_set::CpuSet;

use crate::error::{ErrorKind, MachineError};
use gadus_base::ByteCount;
use std::collections::BTreeSet;
use std::path::Path;

/// A machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// What it calls itself, where it does.
    pub name: Option<String>,
    /// By their least processor.
    pub cores: Vec<Core>,
    /// By level, and the least processor that has them.
    pub caches: Vec<Cache>,
    /// By number.
    pub nodes: Vec<MemoryNode>,
    /// Of node from node, by their places: 10 is local, 20 takes twice as long. Empty where nobody tells.
    pub distances: Vec<Vec<u32>>,
    /// By name.
    pub devices: Vec<Device>,
}

/// A core and its hardware threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    /// The processors that it has; more than one with SMT.
    pub cpus: CpuSet,
    /// The socket that it is in.
    pub socket: u32,
    /// The memory node that is nearest, by its number.
    pub node: Option<u32>,
    /// How fast it is beside the fastest of the machine, which has 1024.
    pub capacity: u32,
}

/// A cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// From 1, the nearest to a core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// How much.
    pub bytes: ByteCount,
    /// What it reads and writes at a time.
    pub line_bytes: u32,
    /// Who shares it.
    pub cpus: CpuSet,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheKind {
    /// Data alone.
    Data,
    /// Instructions alone.
    Instruction,
    /// Both.
    Unified,
}

/// Memory at one distance from each core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryNode {
    /// The system's number.
    pub number: u32,
    /// How much; none where nobody tells.
    pub bytes: Option<ByteCount>,
    /// Processors that are near; none for memory alone.
    pub cpus: CpuSet,
    /// Pages of other sizes than the usual, and how many of them are set aside.
    pub pages: Vec<PageSize>,
}

/// Huge pages of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    /// Of one.
    pub bytes: ByteCount,
    /// Set aside.
    pub count: u64,
}

/// A device, and what it is near to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The system's name.
    pub name: String,
    /// What it is.
    pub kind: DeviceKind,
    /// The memory node that it is near to; none where that makes no difference, or nobody tells.
    pub node: Option<u32>,
}

/// What a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// It keeps blocks.
    Block,
    /// It sends and receives.
    Network,
}

/// The capacity of the fastest core.
pub(crate) const CAPACITY_MAX: u32 = 1024;

/// The distance from a node to itself.
pub(crate) const LOCAL_DISTANCE: u32 = 10;

impl Topology {
    /// This machine, as the kernel tells it.
    ///
    /// # Errors
    /// `Unknown` where it does not tell which processors there are.
    pub fn discover() -> Result<Self, MachineError> {
        sys::read(Path::new("/sys"))?.checked("/sys")
    }

    /// The caches of some of this machine's processors, for whoever needs to know no more: some files of each.
    #[must_use]
    pub fn caches_of(cpus: &CpuSet) -> Vec<Cache> {
        sys::caches_of(cpus, Path::new("/sys"))
    }

    /// A machine as hwloc writes it down, `lstopo machine.xml`.
    ///
    /// # Errors
    /// `Description` with what is wrong with it and where; `described` says what it is.
    pub fn from_xml(xml: &str, described: &str) -> Result<Self, MachineError> {
        xml::read(xml, described)?.checked(described)
    }

    /// The processors of all cores.
    #[must_use]
    pub fn cpus(&self) -> CpuSet {
        self.cores.iter().flat_map(|core| core.cpus.iter().collect::<Vec<_>>()).collect()
    }

    /// The core that has a processor, by its place.
    #[must_use]
    pub fn core_of(&self, cpu: u32) -> Option<usize> {
        self.cores.iter().position(|core| core.cpus.contains(cpu))
    }

    /// The place of a memory node.
    #[must_use]
    pub fn node_place(&self, number: u32) -> Option<usize> {
        self.nodes.binary_search_by_key(&number, |node| node.number).ok()
    }

    /// How far memory of a node is from a core of another, by their numbers; none where nobody tells.
    #[must_use]
    pub fn distance(&self, from: u32, to: u32) -> Option<u32> {
        let (from, to) = (self.node_place(from)?, self.node_place(to)?);
        match self.distances.get(from) {
            Some(row) => row.get(to).copied(),
            None => (from == to).then_some(LOCAL_DISTANCE),
        }
    }

    /// How far memory at a node's place is from a core, by its place; without a node, all memory is near.
    /// Where nobody tells, what is not local is twice as far.
    pub(crate) fn distance_of_core(&self, core: usize, node: Option<usize>) -> u32 {
        let (near, far) = (self.cores[core].node, node.map(|place| self.nodes[place].number));
        let distance = near.zip(far).and_then(|(near, far)| self.distance(near, far));
        let unknown = match far {
            Some(_) if near != far => 2 * LOCAL_DISTANCE,
            _ => LOCAL_DISTANCE,
        };
        distance.unwrap_or(unknown)
    }

    /// The caches of a level that hold data.
    pub fn data_caches(&self, level: u32) -> impl Iterator<Item = &Cache> {
        let caches = self.caches.iter().filter(move |cache| cache.level == level);
        caches.filter(|cache| cache.kind != CacheKind::Instruction)
    }

    /// Puts all lists in their order, and refuses what contradicts itself.
    fn checked(mut self, described: &str) -> Result<Self, MachineError> {
        self.cores.sort_by_key(|core| core.cpus.first());
        self.caches.sort_by_key(|cache| (cache.level, cache.cpus.first(), cache.kind));
        self.devices.sort_by(|one, other| one.name.cmp(&other.name));
        match self.contradiction() {
            None => Ok(self),
            Some(what) => {
                let message = format!("{described}: {what}");
                Err(MachineError::new(ErrorKind::Description, message))
            }
        }
    }

    fn contradiction(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        for core in &self.cores {
            if core.cpus.is_empty() {
                return Some("a core has no processor".to_owned());
            }
            if let Some(cpu) = core.cpus.iter().find(|cpu| !seen.insert(*cpu)) {
                return Some(format!("processor {cpu} belongs to two cores"));
            }
            if let Some(node) = core.node.filter(|node| self.node_place(*node).is_none()) {
                return Some(format!("a core is near memory node {node}, which is not there"));
            }
        }
        if seen.is_empty() {
            return Some("there is no processor".to_owned());
        }
        let nodes = self.nodes.iter().map(|node| node.number).collect::<BTreeSet<_>>();
        if nodes.len() != self.nodes.len() {
            return Some("two memory nodes have the same number".to_owned());
        }
        let is_square = self.distances.iter().all(|row| row.len() == self.nodes.len());
        if !self.distances.is_empty() && (self.distances.len() != self.nodes.len() || !is_square) {
            return Some("there is not one distance from each memory node to each".to_owned());
        }
        None
    }
}

#[cfg(test)]
mod tests;
