//! What the process may take of the machine: control groups of both versions, its affinity, and what there is.
//!
//! - A group's limit holds for all below it: of the groups from the process's own to the root of what is
//!   mounted, the least counts.
//! - A group that is mounted somewhere out of sight, as in containers, is taken for the mount's root.

use crate::topology::{CpuSet, Topology};
use gadus_base::ByteCount;
use std::fs;
use std::path::{Path, PathBuf};

/// Limits of a process; none of each where there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Processors' worth of time, such as 2.5.
    pub cpus: Option<f64>,
    /// The weight of its group's time beside other groups', 100 being usual.
    pub cpu_weight: Option<u32>,
    /// The processors that it may run on.
    pub allowed: Option<CpuSet>,
    /// The memory nodes that it may have memory of.
    pub allowed_nodes: Option<CpuSet>,
    /// Memory, behind which it is killed.
    pub memory: Option<ByteCount>,
    /// Memory, behind which it is slowed down.
    pub memory_high: Option<ByteCount>,
    /// Memory that the machine has.
    pub memory_of_machine: Option<ByteCount>,
}

/// Version 1 has this for a limit that is none: the largest number of whole pages.
const NO_LIMIT_V1: u64 = 1 << 62;

/// What version 1 calls shares, for what version 2 calls weights.
const SHARES_USUAL: u64 = 1024;
const WEIGHT_USUAL: u64 = 100;

impl Limits {
    /// Of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self::read(Path::new("/proc/self"), Path::new("/"))
    }

    /// Of a process that may take all of a machine.
    #[must_use]
    pub fn all_of(machine: &Topology) -> Self {
        let nodes = machine.nodes.iter().filter_map(|node| node.bytes);
        let bytes = nodes.fold(0_u64, |all, bytes| all.saturating_add(bytes.0));
        let memory_of_machine = Some(ByteCount(bytes)).filter(|bytes| bytes.0 > 0);
        Self { allowed: Some(machine.cpus()), memory_of_machine, ..Self::default() }
    }

    /// Memory that it may have before it is slowed down or killed, and no more than there is; none where
    /// nobody tells.
    #[must_use]
    pub fn memory_given(&self) -> Option<ByteCount> {
        [self.memory, self.memory_high, self.memory_of_machine].into_iter().flatten().min()
    }

    /// Of a process by its folder in /proc; mounts lie beneath `root`.
    fn read(process: &Path, root: &Path) -> Self {
        Self::read_by(&mounts_of_groups(process), process, root)
    }

    /// The same by what [`mounts_of_groups`] has told before.
    pub(crate) fn read_by(mounts: &str, process: &Path, root: &Path) -> Self {
        let groups = text(&process.join("cgroup")).unwrap_or_default();
        let mut limits = Self::default();
        for group in groups.lines().filter_map(Group::of) {
            for mount in mounts.lines().filter_map(Mount::of) {
                if group.is_in(&mount) {
                    limits.add(&group, &mount, root);
                }
            }
        }
        let status = text(&process.join("status")).unwrap_or_default();
        let list = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            CpuSet::from_list(line.trim_start_matches(':'))
        };
        // What the group allows is in the mask, as far as the process has not narrowed it; so are, in virtual
        // machines, processors that might be added.
        let online = text(&root.join("sys/devices/system/cpu/online"));
        let online = online.as_deref().and_then(CpuSet::from_list);
        let is_there = |cpu: &u32| online.as_ref().is_none_or(|online| online.contains(*cpu));
        let allowed = list("Cpus_allowed_list");
        limits.allowed = allowed.map(|allowed| allowed.iter().filter(is_there).collect());
        limits.allowed_nodes = list("Mems_allowed_list");
        let memory = text(&root.join("proc/meminfo")).unwrap_or_default();
        let total = memory.lines().find_map(|line| {
            let kibibytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?;
            kibibytes.trim().parse::<u64>().ok()?.checked_mul(1024)
        });
        limits.memory_of_machine = total.map(ByteCount);
        limits
    }

    fn add(&mut self, group: &Group<'_>, mount: &Mount<'_>, root: &Path) {
        for (place, folder) in group.folders(mount, root).into_iter().enumerate() {
            let is_own = place == 0;
            let file = |name: &str| text(&folder.join(name));
            let number = |name: &str| file(name)?.parse::<u64>().ok();
            if mount.is_v2 {
                least(&mut self.cpus, file("cpu.max").as_deref().and_then(quota));
                least(&mut self.memory, number("memory.max").map(ByteCount));
                least(&mut self.memory_high, number("memory.high").map(ByteCount));
                if is_own {
                    let weight = number("cpu.weight").and_then(|weight| u32::try_from(weight).ok());
                    self.cpu_weight = self.cpu_weight.or(weight);
                }
                continue;
            }
            let of_v1 = |name: &str| number(name).filter(|bytes| *bytes < NO_LIMIT_V1);
            if group.controls("memory") {
                least(&mut self.memory, of_v1("memory.limit_in_bytes").map(ByteCount));
                least(&mut self.memory_high, of_v1("memory.soft_limit_in_bytes").map(ByteCount));
            }
            if group.controls("cpu") {
                let period = file("cpu.cfs_period_us").unwrap_or_default();
                let both = file("cpu.cfs_quota_us").map(|quota| format!("{quota} {period}"));
                least(&mut self.cpus, both.as_deref().and_then(quota));
                if is_own {
                    let weight =
                        number("cpu.shares").map(|shares| shares * WEIGHT_USUAL / SHARES_USUAL);
                    let weight = weight.and_then(|weight| u32::try_from(weight.max(1)).ok());
                    self.cpu_weight = self.cpu_weight.or(weight);
                }
            }
        }
    }
}

/// The mounts of control groups, as the kernel writes mounts: all mounts may be thousands, and seldom change.
pub(crate) fn mounts_of_groups(process: &Path) -> String {
    let mounts = text(&process.join("mountinfo")).unwrap_or_default();
    let of_groups = mounts.lines().filter(|line| Mount::of(line).is_some());
    of_groups.collect::<Vec<_>>().join("\n")
}

/// The folders that tell of the memory of a process's groups, each with whether it is of version 2; of each
/// version the process's own is the first.
pub(crate) fn memory_folders(mounts: &str, process: &Path, root: &Path) -> Vec<(PathBuf, bool)> {
    let groups = text(&process.join("cgroup")).unwrap_or_default();
    let mut folders = Vec::new();
    for group in groups.lines().filter_map(Group::of) {
        for mount in mounts.lines().filter_map(Mount::of) {
            if group.is_in(&mount) && (mount.is_v2 || group.controls("memory")) {
                let of_mount = group.folders(&mount, root).into_iter();
                folders.extend(of_mount.map(|folder| (folder, mount.is_v2)));
            }
        }
    }
    folders
}

/// A line of /proc/self/cgroup: `4:memory:/path`, or `0::/path` of version 2.
struct Group<'a> {
    controllers: &'a str,
    path: &'a str,
}

/// A mount of control groups, of /proc/self/mountinfo.
struct Mount<'a> {
    /// The group that is seen as the mount's root.
    root: &'a str,
    point: &'a str,
    is_v2: bool,
    options: &'a str,
}

impl<'a> Group<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let mut parts = line.splitn(3, ':').skip(1);
        Some(Self { controllers: parts.next()?, path: parts.next()? })
    }

    fn controls(&self, controller: &str) -> bool {
        self.controllers.split(',').any(|known| known == controller)
    }

    fn is_in(&self, mount: &Mount<'_>) -> bool {
        match self.controllers {
            "" => mount.is_v2,
            _ if mount.is_v2 => false,
            controllers => {
                let mut all = controllers.split(',');
                all.all(|one| mount.options.split(',').any(|option| option == one))
            }
        }
    }

    /// The group's own, and those of the groups above, up to the mount.
    fn folders(&self, mount: &Mount<'_>, root: &Path) -> Vec<PathBuf> {
        let top = root.join(mount.point.trim_start_matches('/'));
        let own = self.folder(mount, &top);
        let folders = own.ancestors().take_while(|folder| folder.starts_with(&top));
        folders.map(Path::to_path_buf).collect()
    }

    fn folder(&self, mount: &Mount<'_>, top: &Path) -> PathBuf {
        let below = match mount.root {
            "/" => Some(self.path),
            seen => {
                self.path.strip_prefix(seen).filter(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        };
        let below = below.filter(|below| !below.split('/').any(|part| part == ".."));
        let own = below.map(|below| top.join(below.trim_start_matches('/')));
        own.filter(|own| own.is_dir()).unwrap_or_else(|| top.to_path_buf())
    }
}

impl<'a> Mount<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let is_v2 = match kind.next()? {
            "cgroup2" => true,
            "cgroup" => false,
            _ => return None,
        };
        Some(Self { root, point, is_v2, options: kind.nth(1)? })
    }
}

/// `250000 100000` is 2.5 processors; `max` and negative ones are no limit.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let (quota, period) = (quota.parse::<u32>().ok()?, period.trim().parse::<u32>().ok()?);
    (quota > 0 && period > 0).then(|| f64::from(quota) / f64::from(period))
}

fn least<T: PartialOrd + Copy>(limit: &mut Option<T>, other: Option<T>) {
    if let Some(other) = other
        && limit.is_none_or(|limit| other < limit)
    {
        *limit = Some(other);
    }
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests;
