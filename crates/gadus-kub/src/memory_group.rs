//! A control group of its own with little memory, where that is permitted.
//!
//! - Of version 1, below the group that this process is in; of version 2 likewise, where the group above hands memory
//!   on. Removed when dropped, when nobody may be in it any more.

use crate::error::{KubError, Refused};
use std::fs;
use std::path::{Path, PathBuf};

/// A control group.
#[derive(Debug)]
pub(crate) struct MemoryGroup {
    path: PathBuf,
    /// The files that have its limit and its usage.
    limit: &'static str,
    usage: &'static str,
}

impl MemoryGroup {
    /// Makes a group.
    pub(crate) fn create() -> Result<Self, KubError> {
        let groups = fs::read_to_string("/proc/self/cgroup").or_refused("/proc/self/cgroup")?;
        let mounts = fs::read_to_string("/proc/self/mounts").or_refused("/proc/self/mounts")?;
        let (parent, limit, usage) = match version_1(&groups, &mounts) {
            Some(parent) => (parent, "memory.limit_in_bytes", "memory.usage_in_bytes"),
            None => {
                let parent = version_2(&groups, &mounts);
                let none = || KubError::unavailable("no control groups for memory are mounted");
                (parent.ok_or_else(none)?, "memory.max", "memory.current")
            }
        };
        let path = parent.join(format!("gadus-kub-{}", std::process::id()));
        fs::create_dir(&path).or_refused("a control group cannot be made")?;
        let group = Self { path, limit, usage };
        match group.path.join(limit).exists() {
            true => Ok(group),
            false => Err(KubError::unavailable("the control group above does not hand memory on")),
        }
    }

    /// Moves a process into it.
    pub(crate) fn admit(&self, pid: i32) -> Result<(), KubError> {
        let moved = fs::write(self.path.join("cgroup.procs"), pid.to_string());
        moved.or_refused("a process cannot be moved to a control group")
    }

    /// Lets those in it have this much more than they have now.
    pub(crate) fn allow(&self, more_bytes: u64) -> Result<(), KubError> {
        let usage = fs::read_to_string(self.path.join(self.usage)).or_refused("a group's usage")?;
        let usage = usage.trim().parse::<u64>();
        let usage = usage.map_err(|_| KubError::unavailable("a group's usage is no number"))?;
        let limit = (usage + more_bytes).to_string();
        fs::write(self.path.join(self.limit), limit).or_refused("a group's limit")
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // What cannot be removed has the program's name.
        let _ = fs::remove_dir(&self.path);
    }
}

fn version_1(groups: &str, mounts: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        controllers.split(',').any(|controller| controller == "memory").then_some(path)
    })?;
    place(mounts, path, |kind, options| {
        kind == "cgroup" && options.split(',').any(|option| option == "memory")
    })
}

fn version_2(groups: &str, mounts: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    place(mounts, path, |kind, _| kind == "cgroup2")
}

/// Where a group lies, in the first mount that is right.
fn place(mounts: &str, path: &str, is_right: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    let mount = mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind, options) = (words.next()?, words.next()?, words.next()?);
        is_right(kind, options).then_some(place)
    })?;
    Some(Path::new(mount).join(path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_in_both_versions() {
        let mounts = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
                      none /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let one = version_1("4:memory:/a/b\n0::/c\n", mounts).unwrap();
        assert_eq!(one, Path::new("/sys/fs/cgroup/memory/a/b"));
        assert_eq!(version_1("0::/c\n", mounts), None);
        let two = version_2("4:memory:/a/b\n0::/c\n", mounts).unwrap();
        assert_eq!(two, Path::new("/sys/fs/cgroup/unified/c"));
        assert_eq!(version_2("0::/\n", ""), None);
    }
}
