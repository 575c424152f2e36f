//! How much memory the process may use.
//!
//! - Of its control group and those above it the least limit counts, and never more than the machine has.

use crate::ByteCount;
use std::fs;
use std::path::Path;

/// What is assumed where the system does not say.
const ASSUMED: ByteCount = ByteCount::gib(1);

/// What the machine and the process's control groups give.
#[must_use]
pub fn usable_memory() -> ByteCount {
    usable(Path::new("/"))
}

fn usable(root: &Path) -> ByteCount {
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let machine = text("proc/meminfo").lines().find_map(|line| {
        let kib = line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?;
        kib.trim().parse::<u64>().ok()
    });
    let groups = text("proc/self/cgroup");
    let limits = groups.lines().flat_map(|line| {
        // `0::/path` in version 2, `4:memory:/path` in version 1.
        let mut parts = line.splitn(3, ':').skip(1);
        let (top, file) = match parts.next() {
            Some("") => ("sys/fs/cgroup", "memory.max"),
            Some("memory") => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return Vec::new(),
        };
        let path = parts.next().unwrap_or("/").trim_start_matches('/');
        let groups = Path::new(path).ancestors();
        let limit = |group: &Path| {
            fs::read_to_string(root.join(top).join(group).join(file)).ok()?.trim().parse().ok()
        };
        groups.filter_map(limit).collect()
    });
    let least = limits.chain(machine.map(|kib| kib << 10)).min();
    least.map_or(ASSUMED, ByteCount)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    #[test]
    fn the_least_of_all_groups_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        assert_eq!(usable(root), ASSUMED);
        write(root, "proc/meminfo", "MemTotal:        8388608 kB\nMemFree:  1 kB\n");
        assert_eq!(usable(root), ByteCount::gib(8));
        write(root, "proc/self/cgroup", "0::/outer/inner\n");
        write(root, "sys/fs/cgroup/outer/inner/memory.max", "max\n");
        assert_eq!(usable(root), ByteCount::gib(8));
        write(root, "sys/fs/cgroup/outer/memory.max", "2147483648\n");
        assert_eq!(usable(root), ByteCount::gib(2));
        write(root, "proc/self/cgroup", "3:cpu:/x\n4:memory:/outer\n");
        write(root, "sys/fs/cgroup/memory/outer/memory.limit_in_bytes", "1073741824\n");
        assert_eq!(usable(root), ByteCount::gib(1));
        write(root, "sys/fs/cgroup/memory/outer/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(usable(root), ByteCount::gib(8), "version 1 has no word for none");
    }

    #[test]
    fn this_machine_has_some() {
        assert!(usable_memory() >= ByteCount::mib(64));
    }
}
