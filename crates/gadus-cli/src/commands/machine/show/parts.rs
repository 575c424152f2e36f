//! The parts of a machine, each within another: packages, memory nodes, caches, cores.
//!
//! - A cache stands around the cores that share it; what a core has for itself is said once for neighbours that
//!   have the same.

use std::collections::{BTreeMap, BTreeSet};

use gadus_machine::{Cache, CacheKind, MemoryNode, Topology};

/// A part of a machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Empty where there is nothing to say.
    pub(super) label: String,
    pub(super) inside: Inside,
}

/// What a part has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Parts(Vec<Part>),
    /// By their places in the machine.
    Cores(Vec<usize>),
}

impl Part {
    /// A machine, which is called so.
    pub(super) fn of(machine: &Topology, name: &str) -> Self {
        let mut sockets = BTreeMap::<u32, Vec<usize>>::new();
        for (place, core) in machine.cores.iter().enumerate() {
            sockets.entry(core.socket).or_default().push(place);
        }
        let package = |(socket, cores): (u32, Vec<usize>)| {
            Self::new(format!("package {socket}"), nodes(machine, cores))
        };
        let mut parts = sockets.into_iter().map(package).collect::<Vec<_>>();
        let near = machine.cores.iter().filter_map(|core| core.node).collect::<BTreeSet<_>>();
        let alone = machine.nodes.iter().filter(|node| !near.contains(&node.number));
        parts
            .extend(alone.map(|node| {
                Self::new(format!("{}, beside no core", node_label(node)), Vec::new())
            }));
        let counted = |count: usize, one: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {one}s"),
        };
        let label = format!(
            "{name}: {}, {}, {}",
            counted(machine.cores.len(), "core"),
            counted(machine.cpus().count(), "processor"),
            counted(machine.nodes.len(), "memory node"),
        );
        // What a file calls a machine is shown, and does nothing else to a terminal.
        Self::new(label.replace(char::is_control, " "), parts)
    }

    fn new(label: String, parts: Vec<Self>) -> Self {
        Self { label, inside: Inside::Parts(parts) }
    }
}

/// The memory nodes of a package's cores.
fn nodes(machine: &Topology, cores: Vec<usize>) -> Vec<Part> {
    let mut by_node = BTreeMap::<Option<u32>, Vec<usize>>::new();
    for core in cores {
        by_node.entry(machine.cores[core].node).or_default().push(core);
    }
    let mut parts = Vec::new();
    for (number, cores) in by_node {
        let node = machine.nodes.iter().find(|node| Some(node.number) == number);
        let inside = caches(machine, cores, u32::MAX);
        match node {
            Some(node) => parts.push(Part::new(node_label(node), inside)),
            None => parts.extend(inside),
        }
    }
    parts
}

fn node_label(node: &MemoryNode) -> String {
    match node.bytes {
        Some(bytes) => format!("node {}, {bytes}", node.number),
        None => format!("node {}", node.number),
    }
}

/// The caches below a level that some of these cores share, the outermost first.
fn caches(machine: &Topology, cores: Vec<usize>, below: u32) -> Vec<Part> {
    let has = |cache: &Cache, core: usize| machine.cores[core].cpus.meets(&cache.cpus);
    let is_shared = |cache: &Cache| cores.iter().filter(|core| has(cache, **core)).nth(1).is_some();
    let data = machine.caches.iter().filter(|cache| cache.kind != CacheKind::Instruction);
    let shared = data.filter(|cache| cache.level < below && is_shared(cache));
    let shared = shared.collect::<Vec<_>>();
    let Some(level) = shared.iter().map(|cache| cache.level).max() else {
        return alike(machine, cores);
    };
    let (mut parts, mut rest) = (Vec::new(), cores);
    for cache in shared.into_iter().filter(|cache| cache.level == level) {
        let (inside, outside) = rest.into_iter().partition::<Vec<_>, _>(|core| has(cache, *core));
        rest = outside;
        if !inside.is_empty() {
            let label = format!("L{level} {} of {}", cache.bytes, cache.cpus);
            parts.push(Part::new(label, caches(machine, inside, level)));
        }
    }
    if !rest.is_empty() {
        parts.extend(caches(machine, rest, level));
    }
    parts
}

/// Cores that share nothing: neighbours that are alike together.
fn alike(machine: &Topology, cores: Vec<usize>) -> Vec<Part> {
    let mut parts = Vec::<Part>::new();
    for core in cores {
        let own = own(machine, core);
        match parts.last_mut() {
            Some(Part { label, inside: Inside::Cores(cores) }) if *label == own => cores.push(core),
            _ => parts.push(Part { label: own, inside: Inside::Cores(vec![core]) }),
        }
    }
    parts
}

/// What a core has for itself.
fn own(machine: &Topology, core: usize) -> String {
    let core = &machine.cores[core];
    let own = machine.caches.iter().filter(|cache| {
        cache.kind != CacheKind::Instruction
            && cache.cpus.meets(&core.cpus)
            && cache.cpus.is_within(&core.cpus)
    });
    let mut own = own.map(|cache| format!("L{} {}", cache.level, cache.bytes)).collect::<Vec<_>>();
    if core.capacity < FASTEST {
        own.push(format!("{} % as fast as the fastest", core.capacity * 100 / FASTEST));
    }
    match own.is_empty() {
        true => String::new(),
        false => format!("each core: {}", own.join(", ")),
    }
}

/// The capacity of the fastest core.
const FASTEST: u32 = 1024;
