//! How much memory is left for a process, and whether anybody waits for want of it.
//!
//! - Of its control groups and the machine, that which has least left counts.
//! - What the system keeps of files, and would give up, counts as left.

use super::pressure::pressure_of;
use crate::limits::{memory_folders, mounts_of_groups};
use gadus_base::ByteCount;
use std::fs;
use std::path::{Path, PathBuf};

/// Memory that a process might still take.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Room {
    /// What there is in all; none where nobody tells.
    pub given: Option<ByteCount>,
    /// What of it nobody has.
    pub left: Option<ByteCount>,
    /// The part of the last ten seconds in which somebody waited for memory.
    pub pressure: Option<f64>,
}

/// Looks at the memory of this process's groups, those that it was in when the looks began.
#[derive(Debug)]
pub struct MemoryWatch {
    /// With whether they are of version 2.
    folders: Vec<(PathBuf, bool)>,
    root: PathBuf,
}

impl MemoryWatch {
    /// Of this process, from now on.
    #[must_use]
    pub fn begin() -> Self {
        Self::begin_at(Path::new("/"))
    }

    fn begin_at(root: &Path) -> Self {
        let process = root.join("proc/self");
        let folders = memory_folders(&mounts_of_groups(&process), &process, root);
        Self { folders, root: root.to_owned() }
    }

    /// As it is now: some small files.
    #[must_use]
    pub fn look(&self) -> Room {
        let groups = self.folders.iter().filter_map(|(folder, is_v2)| match is_v2 {
            true => of_group(folder),
            false => of_group_v1(folder),
        });
        let least = groups.chain(self.of_machine()).min_by_key(|(_, left)| *left);
        let v2 = self.folders.iter().find(|(_, is_v2)| *is_v2);
        let of_group = v2.and_then(|(own, _)| pressure_of(&own.join("memory.pressure")).ok());
        let pressure =
            of_group.or_else(|| pressure_of(&self.root.join("proc/pressure/memory")).ok());
        Room {
            given: least.map(|(given, _)| given),
            left: least.map(|(_, left)| left),
            pressure: pressure.map(|pressure| pressure.some_10s),
        }
    }

    fn of_machine(&self) -> Option<(ByteCount, ByteCount)> {
        let text = fs::read_to_string(self.root.join("proc/meminfo")).ok()?;
        let of = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
        };
        Some((ByteCount(of("MemTotal:")?), ByteCount(of("MemAvailable:")?)))
    }
}

/// What a group is given and has left; none where it has no limit.
fn of_group(folder: &Path) -> Option<(ByteCount, ByteCount)> {
    let limits = ["memory.max", "memory.high"].into_iter().filter_map(|name| number(folder, name));
    let files = ["inactive_file ", "active_file "];
    left_of(limits.min()?, number(folder, "memory.current")?, folder, files)
}

fn of_group_v1(folder: &Path) -> Option<(ByteCount, ByteCount)> {
    let limit = number(folder, "memory.limit_in_bytes")?;
    let files = ["total_inactive_file ", "total_active_file "];
    left_of(limit, number(folder, "memory.usage_in_bytes")?, folder, files)
}

fn left_of(
    limit: u64,
    used: u64,
    folder: &Path,
    files: [&str; 2],
) -> Option<(ByteCount, ByteCount)> {
    let text = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let of =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok());
    let of_files = files.into_iter().filter_map(of).fold(0, u64::saturating_add);
    let left = limit.saturating_sub(used.saturating_sub(of_files));
    Some((ByteCount(limit), ByteCount(left)))
}

fn number(folder: &Path, name: &str) -> Option<u64> {
    fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 1024 kB\n");

    fn room(given: u64, left: u64, pressure: Option<f64>) -> Room {
        Room { given: Some(ByteCount(given)), left: Some(ByteCount(left)), pressure }
    }

    #[test]
    fn where_least_is_left_counts() {
        let pressure = "some avg10=25.00 avg60=0.00 avg300=0.00 total=1\n";
        let waits = ("cg/a/memory.pressure", pressure);
        let mounts = "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw";
        let of = |used: &str| {
            let of_group = [
                MEMORY,
                waits,
                ("proc/self/cgroup", "0::/a\n"),
                ("proc/self/mountinfo", mounts),
                ("cg/a/memory.max", "max\n"),
                ("cg/a/memory.high", "2000000\n"),
                ("cg/a/memory.current", used),
                ("cg/a/memory.stat", "anon 1\ninactive_file 100000\nactive_file 200000\n"),
            ];
            MemoryWatch::begin_at(machine(&of_group).path()).look()
        };
        assert_eq!(of("1900000\n"), room(2_000_000, 400_000, Some(0.25)));
        assert_eq!(of("400000\n"), room(4096 << 10, 1024 << 10, Some(0.25)));
    }

    #[test]
    fn groups_of_version_1_and_none_at_all_are_looked_at() {
        let of_group = [
            MEMORY,
            ("proc/self/cgroup", "4:memory:/a\n"),
            ("proc/self/mountinfo", "32 23 0:28 / /cg rw - cgroup cgroup rw,memory"),
            ("cg/a/memory.limit_in_bytes", "2000000"),
            ("cg/a/memory.usage_in_bytes", "1500000"),
            ("cg/a/memory.stat", "cache 1\ntotal_inactive_file 300000\n"),
        ];
        let look = |files: &[(&str, &str)]| MemoryWatch::begin_at(machine(files).path()).look();
        assert_eq!(look(&of_group), room(2_000_000, 800_000, None));
        assert_eq!(look(&[MEMORY]), room(4096 << 10, 1024 << 10, None));
        assert_eq!(look(&[]), Room::default());
    }

    #[test]
    fn this_process_has_some_room() {
        let room = MemoryWatch::begin().look();
        assert!(room.left > Some(ByteCount(0)) && room.left <= room.given, "{room:?}");
    }
}
