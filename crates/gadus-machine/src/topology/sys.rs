//! This machine, from the files of the kernel.
//!
//! - What has no file is left out, or has the value that makes no difference: virtual machines tell little.

use super::{
    CAPACITY_MAX, Cache, CacheKind, Core, CpuSet, Device, DeviceKind, MemoryNode, PageSize,
    Topology,
};
use crate::error::{ErrorKind, MachineError};
use gadus_base::ByteCount;
use std::fs;
use std::path::Path;

pub(super) fn read(sys: &Path) -> Result<Topology, MachineError> {
    let cpus_folder = sys.join("devices/system/cpu");
    let online = list(&cpus_folder.join("online"))
        .or_else(|| {
            let all = numbered(&cpus_folder, "cpu").map(|(number, _)| number).collect::<CpuSet>();
            Some(all).filter(|all| !all.is_empty())
        })
        .ok_or_else(|| {
            let place = cpus_folder.display();
            MachineError::new(
                ErrorKind::Unknown,
                format!("{place} does not tell which processors there are"),
            )
        })?;
    let nodes_folder = sys.join("devices/system/node");
    let mut nodes = numbered(&nodes_folder, "node").collect::<Vec<_>>();
    nodes.sort_by_key(|(number, _)| *number);
    let distances = nodes.iter().map(|(_, folder)| numbers(&folder.join("distance")));
    let distances = distances.collect::<Option<Vec<_>>>().unwrap_or_default();
    let nodes = nodes.iter().map(|(number, folder)| node(*number, folder, &online));
    let nodes = nodes.collect::<Vec<_>>();
    let (mut cores, mut caches) = (Vec::<Core>::new(), Vec::<Cache>::new());
    for cpu in online.iter() {
        let folder = cpus_folder.join(format!("cpu{cpu}"));
        if !cores.iter().any(|core| core.cpus.contains(cpu)) {
            cores.push(core(cpu, &folder, &online, &nodes));
        }
        for (_, index) in numbered(&folder.join("cache"), "index") {
            let found = cache(cpu, &index, &online).filter(|cache| !caches.contains(cache));
            caches.extend(found);
        }
    }
    let name = text(&sys.join("class/dmi/id/product_name")).filter(|name| !name.is_empty());
    Ok(Topology { name, cores, caches, nodes, distances, devices: devices(sys) })
}

/// The caches of some processors.
pub(super) fn caches_of(cpus: &CpuSet, sys: &Path) -> Vec<Cache> {
    let mut caches = Vec::<Cache>::new();
    for cpu in cpus.iter() {
        let folder = sys.join(format!("devices/system/cpu/cpu{cpu}/cache"));
        for (_, index) in numbered(&folder, "index") {
            let found = cache(cpu, &index, cpus).filter(|cache| !caches.contains(cache));
            caches.extend(found);
        }
    }
    caches
}

fn core(cpu: u32, folder: &Path, online: &CpuSet, nodes: &[MemoryNode]) -> Core {
    let topology = folder.join("topology");
    let together = list(&topology.join("core_cpus_list"))
        .or_else(|| list(&topology.join("thread_siblings_list")))
        .unwrap_or_default();
    let mut cpus = together.iter().filter(|cpu| online.contains(*cpu)).collect::<CpuSet>();
    cpus.insert(cpu);
    // Where it is not known the kernel says -1.
    let socket = number(&topology.join("physical_package_id")).unwrap_or(0);
    let node = nodes.iter().find(|node| node.cpus.contains(cpu)).map(|node| node.number);
    let capacity = number(&folder.join("cpu_capacity")).unwrap_or(CAPACITY_MAX);
    Core { cpus, socket, node, capacity }
}

fn cache(cpu: u32, folder: &Path, online: &CpuSet) -> Option<Cache> {
    let kind = match text(&folder.join("type"))?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let shared = list(&folder.join("shared_cpu_list")).unwrap_or_default();
    let mut cpus = shared.iter().filter(|cpu| online.contains(*cpu)).collect::<CpuSet>();
    cpus.insert(cpu);
    Some(Cache {
        level: number(&folder.join("level"))?,
        kind,
        bytes: kibibytes(&text(&folder.join("size"))?)?,
        line_bytes: number(&folder.join("coherency_line_size")).unwrap_or(64),
        cpus,
    })
}

fn node(number: u32, folder: &Path, online: &CpuSet) -> MemoryNode {
    let meminfo = text(&folder.join("meminfo")).unwrap_or_default();
    let total = meminfo.lines().find_map(|line| line.split_once("MemTotal:"));
    let total = total.and_then(|(_, rest)| rest.trim().strip_suffix("kB"));
    let total = total.and_then(|digits| digits.trim().parse::<u64>().ok());
    let near = list(&folder.join("cpulist")).unwrap_or_default();
    let cpus = near.iter().filter(|cpu| online.contains(*cpu)).collect();
    let sizes = fs::read_dir(folder.join("hugepages")).into_iter().flatten().flatten();
    let pages = sizes.filter_map(|size| {
        let name = size.file_name().into_string().ok()?;
        let kibibytes = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse::<u64>().ok()?;
        let count = text(&size.path().join("nr_hugepages"))?.parse().ok()?;
        Some(PageSize { bytes: ByteCount(kibibytes.checked_mul(1024)?), count })
    });
    let mut pages = pages.collect::<Vec<_>>();
    pages.sort_by_key(|size| size.bytes);
    MemoryNode {
        number,
        bytes: total.and_then(|kb| kb.checked_mul(1024)).map(ByteCount),
        cpus,
        pages,
    }
}

fn devices(sys: &Path) -> Vec<Device> {
    let of_class = |class: &str, kind: DeviceKind| {
        let entries = fs::read_dir(sys.join("class").join(class)).into_iter().flatten().flatten();
        let device = entries.filter_map(move |entry| {
            let device = entry.path().join("device");
            // Partitions, loops and the like are no devices of their own.
            device.exists().then_some(())?;
            let node = number(&device.join("numa_node"));
            Some(Device { name: entry.file_name().into_string().ok()?, kind, node })
        });
        device.collect::<Vec<_>>()
    };
    let mut devices = of_class("block", DeviceKind::Block);
    devices.extend(of_class("net", DeviceKind::Network));
    devices
}

/// The folders `cpu0`, `cpu1` … of a folder.
fn numbered(folder: &Path, name: &'static str) -> impl Iterator<Item = (u32, std::path::PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let number = entry.file_name().to_str()?.strip_prefix(name)?.parse().ok()?;
        Some((number, entry.path()))
    })
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn number(path: &Path) -> Option<u32> {
    text(path)?.parse().ok()
}

fn list(path: &Path) -> Option<CpuSet> {
    CpuSet::from_list(&text(path)?)
}

fn numbers(path: &Path) -> Option<Vec<u32>> {
    text(path)?.split_whitespace().map(|number| number.parse().ok()).collect()
}

/// `32K`, `8M`, as the kernel writes sizes of caches.
fn kibibytes(text: &str) -> Option<ByteCount> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).map(ByteCount)
}
