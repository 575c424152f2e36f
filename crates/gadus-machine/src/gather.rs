//! From what a machine is, and what it is doing, to facts.

use crate::error::MachineError;
use crate::facts::{FactValue, Facts, Source};
use crate::limits::Limits;
use crate::observed::pressure_of;
use crate::topology::{Cache, CacheKind, DeviceKind, Topology};
use gadus_base::ByteCount;
use std::fs;
use std::path::Path;

impl Facts {
    /// All that this machine tells at once: what it is, what this process may take of it, what runs now.
    ///
    /// # Errors
    /// `Unknown` where it does not tell which processors there are.
    pub fn discover() -> Result<Self, MachineError> {
        let mut facts = Self::of(&Topology::discover()?);
        facts.add_limits(&Limits::of_this_process());
        facts.add_pressure(Path::new("/proc/pressure"));
        facts.add_memory(Path::new("/proc/meminfo"));
        facts.add_forbidden(Path::new("/"));
        Ok(facts)
    }

    /// What a machine is.
    #[must_use]
    pub fn of(machine: &Topology) -> Self {
        let mut facts = Self::default();
        let mut is = |subject: &str, name: &str, value: FactValue, unit: &str| {
            facts.note((subject, name), value, unit, Source::Discovered);
        };
        let whole = |count: usize| FactValue::Whole(count as u64);
        let name = machine
            .name
            .clone()
            .map_or(FactValue::Unknown("it does not say".into()), FactValue::Text);
        is("machine", "name", name, "");
        is("machine", "cores", whole(machine.cores.len()), "");
        is("machine", "processors", whole(machine.cpus().count()), "");
        is("machine", "memory nodes", whole(machine.nodes.len()), "");
        for (place, core) in machine.cores.iter().enumerate() {
            let subject = format!("core {place}");
            is(&subject, "processors", core.cpus.to_string().into(), "");
            is(&subject, "socket", core.socket.into(), "");
            let near = core.node.map_or(FactValue::Unknown("no node says".into()), FactValue::from);
            is(&subject, "memory node", near, "");
            is(&subject, "capacity", core.capacity.into(), "of 1024");
        }
        for cache in &machine.caches {
            let subject = cache_subject(cache);
            is(&subject, "size", cache.bytes.0.into(), "bytes");
            is(&subject, "line", cache.line_bytes.into(), "bytes");
        }
        for (place, node) in machine.nodes.iter().enumerate() {
            let subject = format!("node {}", node.number);
            let size = node
                .bytes
                .map_or(FactValue::Unknown("nobody tells".into()), |bytes| bytes.0.into());
            is(&subject, "size", size, "bytes");
            is(&subject, "processors", node.cpus.to_string().into(), "");
            for pages in &node.pages {
                is(&subject, &format!("pages of {}", pages.bytes.exact()), pages.count.into(), "");
            }
            for (other, distance) in
                machine.nodes.iter().zip(machine.distances.get(place).into_iter().flatten())
            {
                is(&subject, &format!("distance to node {}", other.number), (*distance).into(), "");
            }
        }
        for device in &machine.devices {
            let kind = match device.kind {
                DeviceKind::Block => "block",
                DeviceKind::Network => "network",
            };
            let subject = format!("device {}", device.name);
            is(&subject, "kind", kind.into(), "");
            let near =
                device.node.map_or(FactValue::Unknown("no node is nearer".into()), FactValue::from);
            is(&subject, "memory node", near, "");
        }
        facts
    }

    /// What a process may take.
    pub fn add_limits(&mut self, limits: &Limits) {
        const NONE: &str = "no group limits it";
        let unknown = || FactValue::Unknown(NONE.to_owned());
        let bytes = |limit: Option<ByteCount>| limit.map_or_else(unknown, |bytes| bytes.0.into());
        let set = |set: &Option<crate::CpuSet>| {
            let none = || FactValue::Unknown("its status does not tell".to_owned());
            set.as_ref().map_or_else(none, |set| set.to_string().into())
        };
        let mut is = |name: &str, value: FactValue, unit: &str| {
            self.note(("process", name), value, unit, Source::Discovered);
        };
        is("processor time", limits.cpus.map_or_else(unknown, FactValue::from), "processors");
        is("processor weight", limits.cpu_weight.map_or_else(unknown, FactValue::from), "");
        is("processors", set(&limits.allowed), "");
        is("memory nodes", set(&limits.allowed_nodes), "");
        is("memory limit", bytes(limits.memory), "bytes");
        is("memory high", bytes(limits.memory_high), "bytes");
    }

    /// Who waits for want of what.
    pub fn add_pressure(&mut self, folder: &Path) {
        for resource in ["cpu", "memory", "io"] {
            let value = match pressure_of(&folder.join(resource)) {
                Ok(pressure) => FactValue::Number(pressure.some_10s),
                Err(why) => FactValue::Unknown(why),
            };
            let name = format!("{resource} pressure");
            self.note(("machine", &name), value, "of 10 s", Source::Observed);
        }
    }

    /// Memory that can be had.
    pub fn add_memory(&mut self, path: &Path) {
        let text = fs::read_to_string(path).unwrap_or_default();
        for (name, line) in [("memory", "MemTotal:"), ("memory available", "MemAvailable:")] {
            let value =
                text.lines().find_map(|known| known.strip_prefix(line)?.trim().strip_suffix(" kB"));
            let bytes = value.and_then(|digits| digits.parse::<u64>().ok()?.checked_mul(1024));
            let unknown = || FactValue::Unknown(format!("{} does not tell", path.display()));
            let value = bytes.map_or_else(unknown, FactValue::from);
            self.note(("machine", name), value, "bytes", Source::Observed);
        }
    }

    /// What the kernel's settings forbid or restrict, as far as they say; what is tried says more.
    pub fn add_forbidden(&mut self, root: &Path) {
        let read =
            |path: &str| fs::read_to_string(root.join(path)).map(|text| text.trim().to_owned());
        let settings = [
            (
                "io_uring",
                "proc/sys/kernel/io_uring_disabled",
                explain_io_uring as fn(&str) -> String,
            ),
            ("perf events", "proc/sys/kernel/perf_event_paranoid", explain_perf),
            ("bpf", "proc/sys/kernel/unprivileged_bpf_disabled", explain_bpf),
            (
                "transparent huge pages",
                "sys/kernel/mm/transparent_hugepage/enabled",
                explain_chosen,
            ),
        ];
        for (name, path, explain) in settings {
            let value = match read(path) {
                Ok(text) => FactValue::Text(explain(&text)),
                Err(error) => FactValue::Unknown(format!("/{path}: {error}")),
            };
            self.note(("kernel", name), value, "", Source::Discovered);
        }
        let value = read("proc/sys/kernel/osrelease")
            .map_or_else(|error| FactValue::Unknown(error.to_string()), FactValue::Text);
        self.note(("kernel", "release"), value, "", Source::Discovered);
    }
}

/// What facts of a cache are about.
pub(crate) fn cache_subject(cache: &Cache) -> String {
    let kind = match cache.kind {
        CacheKind::Data => "data",
        CacheKind::Instruction => "instruction",
        CacheKind::Unified => "unified",
    };
    format!("cache L{} {kind} of {}", cache.level, cache.cpus)
}

fn explain_io_uring(setting: &str) -> String {
    match setting {
        "0" => "allowed".to_owned(),
        "1" => "allowed to a group and to root: kernel.io_uring_disabled is 1".to_owned(),
        _ => format!("forbidden: kernel.io_uring_disabled is {setting}"),
    }
}

fn explain_perf(setting: &str) -> String {
    match setting.parse::<i32>() {
        Ok(..=-1) => "allowed".to_owned(),
        Ok(level @ 0..=1) => {
            format!("own processes and the kernel's: kernel.perf_event_paranoid is {level}")
        }
        Ok(level @ 2) => format!("own processes: kernel.perf_event_paranoid is {level}"),
        _ => format!("root alone: kernel.perf_event_paranoid is {setting}"),
    }
}

fn explain_bpf(setting: &str) -> String {
    match setting {
        "0" => "allowed".to_owned(),
        _ => format!("root alone: kernel.unprivileged_bpf_disabled is {setting}"),
    }
}

/// `always [madvise] never`.
fn explain_chosen(setting: &str) -> String {
    let chosen =
        setting.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    chosen.unwrap_or(setting).to_owned()
}

#[cfg(test)]
mod tests;
