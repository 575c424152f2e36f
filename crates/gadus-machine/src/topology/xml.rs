//! A machine as hwloc 2 writes it down (`lstopo machine.xml`; format: hwloc2.dtd).
//!
//! - Foreign input: whatever it says is checked, and nothing that it says costs more memory than it has
//!   bytes.

use super::cpu_set::NUMBER_MAX;
use super::{
    CAPACITY_MAX, Cache, CacheKind, Core, CpuSet, Device, DeviceKind, MemoryNode, PageSize,
    Topology,
};
use crate::error::{ErrorKind, MachineError};
use gadus_base::ByteCount;
use roxmltree::{Document, Node, ParsingOptions};
use std::str::FromStr;

/// The largest machines' descriptions have some hundred thousand bytes.
const BYTES_MAX: usize = 16 << 20;

/// Objects within objects: some twenty in the largest machines. They are read by recursion; the parser itself
/// goes down without.
const DEPTH_MAX: usize = 200;

/// Elements and texts: what each of them takes in memory is some ten times as long as the shortest is written.
const PARTS_MAX: u32 = 1 << 20;

/// More memory nodes than any kernel knows.
const NODES_MAX: usize = 1024;

/// hwloc's bit of distances that are latencies.
const IS_LATENCY: u64 = 4;

pub(super) fn read(xml: &str, described: &str) -> Result<Topology, MachineError> {
    let wrong =
        |what: String| MachineError::new(ErrorKind::Description, format!("{described}: {what}"));
    if xml.len() > BYTES_MAX {
        return Err(wrong(format!(
            "longer than {} is no description",
            ByteCount(BYTES_MAX as u64)
        )));
    }
    let options =
        ParsingOptions { allow_dtd: true, nodes_limit: PARTS_MAX, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(xml, options).map_err(|error| wrong(error.to_string()))?;
    let root = document.root_element();
    if root.tag_name().name() != "topology" {
        return Err(wrong("is no topology of hwloc: lstopo writes one".to_owned()));
    }
    if !root.attribute("version").is_some_and(|version| version.starts_with('2')) {
        let advice = "is not in the format of hwloc 2: `lstopo --input OLD NEW.xml` converts it";
        return Err(wrong(advice.to_owned()));
    }
    let mut reading = Reading { described, root, found: Topology::default() };
    let machine = objects(root).next().ok_or_else(|| wrong("has no machine".to_owned()))?;
    let info = |name: &str| {
        let infos = machine.descendants().filter(|child| child.has_tag_name("info"));
        let mut named = infos.filter(|info| info.attribute("name") == Some(name));
        named.find_map(|info| info.attribute("value").map(str::to_owned))
    };
    reading.found.name = info("DMIProductName").or_else(|| info("CPUModel"));
    reading.object(machine, Within::default())?;
    reading.found.nodes.sort_by_key(|node| node.number);
    reading.near_nodes();
    reading.capacities()?;
    reading.distances()?;
    Ok(reading.found)
}

struct Reading<'a, 'input> {
    described: &'a str,
    root: Node<'a, 'input>,
    found: Topology,
}

/// What an object is inside of.
#[derive(Debug, Clone, Default)]
struct Within {
    depth: usize,
    socket: u32,
    nodes: CpuSet,
    is_core: bool,
}

impl<'a, 'input: 'a> Reading<'a, 'input> {
    fn object(&mut self, object: Node<'a, 'input>, mut within: Within) -> Result<(), MachineError> {
        within.depth += 1;
        if within.depth > DEPTH_MAX {
            let message =
                format!("{}: no machine has objects within {DEPTH_MAX} others", self.described);
            return Err(MachineError::new(ErrorKind::Description, message));
        }
        if object.attribute("nodeset").is_some() {
            within.nodes = self.set(object, "nodeset")?;
        }
        match object.attribute("type").unwrap_or_default() {
            "Package" => within.socket = self.number(object, "os_index")?.unwrap_or(0),
            "Core" => {
                self.core(self.set(object, "cpuset")?, &within);
                within.is_core = true;
            }
            "PU" if !within.is_core => {
                let cpu = self.index(object)?;
                self.core([cpu].into_iter().collect(), &within);
            }
            "NUMANode" => self.node(object)?,
            "OSDev" => self.device(object, &within)?,
            kind if is_cache(kind) => self.cache(object)?,
            _ => {}
        }
        objects(object).try_for_each(|child| self.object(child, within.clone()))
    }

    fn core(&mut self, cpus: CpuSet, within: &Within) {
        let core = Core { cpus, socket: within.socket, node: None, capacity: CAPACITY_MAX };
        self.found.cores.push(core);
    }

    fn cache(&mut self, object: Node<'a, 'input>) -> Result<(), MachineError> {
        let kind = match self.number::<u32>(object, "cache_type")? {
            Some(1) => CacheKind::Data,
            Some(2) => CacheKind::Instruction,
            _ => CacheKind::Unified,
        };
        let cache = Cache {
            level: self.required(object, "depth")?,
            kind,
            bytes: ByteCount(self.required(object, "cache_size")?),
            line_bytes: self
                .number(object, "cache_linesize")?
                .filter(|line| *line > 0)
                .unwrap_or(64),
            cpus: self.set(object, "cpuset")?,
        };
        // Where it is not known it is 0.
        if cache.bytes.0 > 0 && !cache.cpus.is_empty() {
            self.found.caches.push(cache);
        }
        Ok(())
    }

    fn node(&mut self, object: Node<'a, 'input>) -> Result<(), MachineError> {
        let mut pages = Vec::new();
        for page in object.children().filter(|child| child.has_tag_name("page_type")) {
            let bytes = ByteCount(self.required(page, "size")?);
            pages.push(PageSize { bytes, count: self.number(page, "count")?.unwrap_or(0) });
        }
        pages.sort_by_key(|size| size.bytes);
        // The first are the usual.
        let pages = pages.into_iter().skip(1).collect();
        let bytes = self.number::<u64>(object, "local_memory")?.filter(|bytes| *bytes > 0);
        let cpus = self.set(object, "cpuset")?;
        let number = self.index(object)?;
        if self.found.nodes.len() == NODES_MAX {
            let message =
                format!("{}: no machine has more than {NODES_MAX} memory nodes", self.described);
            return Err(MachineError::new(ErrorKind::Description, message));
        }
        self.found.nodes.push(MemoryNode { number, bytes: bytes.map(ByteCount), cpus, pages });
        Ok(())
    }

    fn device(&mut self, object: Node<'a, 'input>, within: &Within) -> Result<(), MachineError> {
        let kind = match self.number::<u32>(object, "osdev_type")? {
            Some(0) => DeviceKind::Block,
            Some(2) => DeviceKind::Network,
            _ => return Ok(()),
        };
        let node = within.nodes.first().filter(|_| within.nodes.count() == 1);
        let name = object.attribute("name").unwrap_or_default().to_owned();
        self.found.devices.push(Device { name, kind, node });
        Ok(())
    }

    /// Each core is near the node with the fewest processors that has its own; of equals, to the largest.
    fn near_nodes(&mut self) {
        let nodes = &self.found.nodes;
        for core in &mut self.found.cores {
            let near = nodes.iter().filter(|node| core.cpus.is_within(&node.cpus));
            let near = near
                .min_by_key(|node| (node.cpus.count(), std::cmp::Reverse(node.bytes), node.number));
            core.node = near.map(|node| node.number);
        }
    }

    /// Of cores that are not all alike.
    fn capacities(&mut self) -> Result<(), MachineError> {
        let mut kinds = Vec::new();
        for kind in self.root.children().filter(|child| child.has_tag_name("cpukind")) {
            let info = |name: &str| {
                let infos = kind.children().filter(|child| child.has_tag_name("info"));
                let mut named = infos.filter(|info| info.attribute("name") == Some(name));
                named.find_map(|info| info.attribute("value")?.parse::<u32>().ok())
            };
            let speed = info("LinuxCapacity").or_else(|| info("FrequencyMaxMHz"));
            if let Some(speed) = speed.filter(|speed| *speed > 0) {
                kinds.push((self.set(kind, "cpuset")?, u64::from(speed)));
            }
        }
        let Some(fastest) = kinds.iter().map(|(_, speed)| *speed).max() else { return Ok(()) };
        for core in &mut self.found.cores {
            if let Some((_, speed)) = kinds.iter().find(|(cpus, _)| core.cpus.is_within(cpus)) {
                let capacity = speed * u64::from(CAPACITY_MAX) / fastest;
                core.capacity = u32::try_from(capacity).unwrap_or(CAPACITY_MAX).max(1);
            }
        }
        Ok(())
    }

    /// Between memory nodes, as latencies.
    fn distances(&mut self) -> Result<(), MachineError> {
        let tables = self.root.children().filter(|child| child.has_tag_name("distances2"));
        for table in tables.filter(|table| table.attribute("type") == Some("NUMANode")) {
            if self.number::<u64>(table, "kind")?.unwrap_or(IS_LATENCY) & IS_LATENCY == 0 {
                continue;
            }
            let all = |tag: &str| -> Result<Vec<u64>, MachineError> {
                let parts = table.children().filter(|child| child.has_tag_name(tag));
                let words =
                    parts.flat_map(|part| part.text().unwrap_or_default().split_whitespace());
                let number = |word: &str| word.parse().map_err(|_| self.wrong(table, tag));
                words.map(number).collect()
            };
            let (indexes, values) = (all("indexes")?, all("u64values")?);
            let count = self.found.nodes.len();
            if indexes.len() != count || values.len() != count * count {
                return Err(self.wrong(table, "u64values"));
            }
            let mut distances = vec![vec![0; count]; count];
            for (from, row) in indexes.iter().zip(values.chunks(count.max(1))) {
                let from = self.place(table, *from)?;
                for (to, value) in indexes.iter().zip(row) {
                    let value =
                        u32::try_from(*value).map_err(|_| self.wrong(table, "u64values"))?;
                    distances[from][self.place(table, *to)?] = value;
                }
            }
            self.found.distances = distances;
            return Ok(());
        }
        Ok(())
    }

    fn place(&self, table: Node<'_, '_>, index: u64) -> Result<usize, MachineError> {
        let place = u32::try_from(index).ok().and_then(|number| self.found.node_place(number));
        place.ok_or_else(|| self.wrong(table, "indexes"))
    }

    fn set(&self, of: Node<'_, '_>, name: &str) -> Result<CpuSet, MachineError> {
        let mask = of.attribute(name).unwrap_or_default();
        CpuSet::from_mask(mask).ok_or_else(|| self.wrong(of, name))
    }

    /// The system's number of a processor or a memory node, of which sets are made.
    fn index(&self, of: Node<'_, '_>) -> Result<u32, MachineError> {
        let number = self.required(of, "os_index")?;
        if number > NUMBER_MAX { Err(self.wrong(of, "os_index")) } else { Ok(number) }
    }

    fn required<T: FromStr>(&self, of: Node<'_, '_>, name: &str) -> Result<T, MachineError> {
        self.number(of, name)?.ok_or_else(|| self.wrong(of, name))
    }

    fn number<T: FromStr>(&self, of: Node<'_, '_>, name: &str) -> Result<Option<T>, MachineError> {
        let Some(text) = of.attribute(name) else { return Ok(None) };
        text.trim().parse().map(Some).map_err(|_| self.wrong(of, name))
    }

    fn wrong(&self, of: Node<'_, '_>, name: &str) -> MachineError {
        let place = of.document().text_pos_at(of.range().start);
        let what = of.attribute("type").unwrap_or_else(|| of.tag_name().name());
        let value = of.attribute(name).map(|value| format!("={value:?}")).unwrap_or_default();
        let message =
            format!("{}:{place}: {name}{value} of a {what} is missing or wrong", self.described);
        MachineError::new(ErrorKind::Description, message)
    }
}

fn objects<'a, 'input: 'a>(of: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    of.children().filter(|child| child.has_tag_name("object"))
}

/// `L3Cache`, `L1iCache` and the like.
fn is_cache(kind: &str) -> bool {
    kind.starts_with('L') && kind.ends_with("Cache") && kind != "MemCache"
}
