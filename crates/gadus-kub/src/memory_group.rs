//! A control group of its own with little memory, where that is permitted.
//!
//! - Of version 1, below the group that this process is in; of version 2 likewise, where the group above hands memory
//!   on. Removed when dropped, when nobody may be in it any more.

use crate::error::{KubError, Refused};
use std::fs;
use std::path::{Path, PathBuf};

/// A control group.
#[derive(Debug)]
pub struct MemoryGroup {
    path: PathBuf,
    files: Files,
}

/// What a version calls the files of a group, and lines in them.
#[derive(Debug)]
struct Files {
    limit: &'static str,
    usage: &'static str,
    peak: &'static str,
    /// Of the file `memory.stat`.
    anonymous: &'static str,
    /// The file that counts what was killed.
    events: &'static str,
}

const VERSION_1: Files = Files {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    peak: "memory.max_usage_in_bytes",
    anonymous: "rss ",
    events: "memory.oom_control",
};

const VERSION_2: Files = Files {
    limit: "memory.max",
    usage: "memory.current",
    peak: "memory.peak",
    anonymous: "anon ",
    events: "memory.events",
};

impl MemoryGroup {
    /// Makes a group.
    ///
    /// # Errors
    /// `Unavailable` where there are no control groups for memory, or nobody may make one.
    pub fn create() -> Result<Self, KubError> {
        let groups = fs::read_to_string("/proc/self/cgroup").or_refused("/proc/self/cgroup")?;
        let mounts = fs::read_to_string("/proc/self/mounts").or_refused("/proc/self/mounts")?;
        let (parent, files) = match version_1(&groups, &mounts) {
            Some(parent) => (parent, VERSION_1),
            None => {
                let parent = version_2(&groups, &mounts);
                let none = || KubError::unavailable("no control groups for memory are mounted");
                (parent.ok_or_else(none)?, VERSION_2)
            }
        };
        let path = parent.join(format!("gadus-kub-{}", std::process::id()));
        fs::create_dir(&path).or_refused("a control group cannot be made")?;
        let group = Self { path, files };
        match group.path.join(group.files.limit).exists() {
            true => Ok(group),
            false => Err(KubError::unavailable("the control group above does not hand memory on")),
        }
    }

    /// Its folder: who is in it is in the file `cgroup.procs`.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// Moves a process into it.
    pub(crate) fn admit(&self, pid: i32) -> Result<(), KubError> {
        let moved = fs::write(self.path.join("cgroup.procs"), pid.to_string());
        moved.or_refused("a process cannot be moved to a control group")
    }

    /// Lets those in it have this much more than they have now.
    pub(crate) fn allow(&self, more_bytes: u64) -> Result<(), KubError> {
        self.limit(self.number(self.files.usage, "")? + more_bytes)
    }

    /// Lets those in it have so much.
    ///
    /// # Errors
    /// `Unavailable` where that is not permitted.
    pub fn limit(&self, bytes: u64) -> Result<(), KubError> {
        fs::write(self.path.join(self.files.limit), bytes.to_string()).or_refused("a group's limit")
    }

    /// The most that those in it had at once, with what the system kept of files for them.
    ///
    /// # Errors
    /// `Unavailable` where the kernel does not tell.
    pub fn peak(&self) -> Result<u64, KubError> {
        self.number(self.files.peak, "")
    }

    /// What those in it have without files.
    ///
    /// # Errors
    /// `Unavailable` where the kernel does not tell.
    pub fn anonymous(&self) -> Result<u64, KubError> {
        self.number("memory.stat", self.files.anonymous)
    }

    /// How many processes were killed for having too much.
    ///
    /// # Errors
    /// `Unavailable` where the kernel does not tell.
    pub fn killed(&self) -> Result<u64, KubError> {
        self.number(self.files.events, "oom_kill ")
    }

    /// A number of one of its files, in the line that begins so.
    fn number(&self, file: &str, name: &str) -> Result<u64, KubError> {
        let text = fs::read_to_string(self.path.join(file)).or_refused("a group's memory")?;
        let number = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        number.ok_or_else(|| KubError::unavailable(format!("{file} of a group has no number")))
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
mod tests;
