//! Control groups of single tests.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A control group, gone when dropped.
pub(crate) struct Group {
    /// One, or in version 1 one for each controller.
    folders: Vec<PathBuf>,
}

impl Group {
    /// With so many bytes of memory, and of 100 ms so many microseconds of processor time.
    pub(crate) fn make(memory: u64, quota_us: Option<u32>) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gadus-test-{}-{number}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        let (memory, memory_v1) = (memory.to_string(), root.join("memory"));
        let quota = quota_us.map(|quota| quota.to_string());
        let both = quota_us.map(|quota| format!("{quota} 100000"));
        let files = match memory_v1.is_dir() {
            true => {
                let mut files = vec![(memory_v1, "memory.limit_in_bytes", memory.as_str())];
                if let Some(quota) = &quota {
                    files.push((root.join("cpu"), "cpu.cfs_period_us", "100000"));
                    files.push((root.join("cpu"), "cpu.cfs_quota_us", quota));
                }
                files
            }
            false => {
                let mut files = vec![(root.to_owned(), "memory.max", memory.as_str())];
                files.extend(both.iter().map(|both| (root.to_owned(), "cpu.max", both.as_str())));
                files
            }
        };
        let mut group = Self { folders: Vec::new() };
        for (root, file, value) in files {
            let folder = root.join(&name);
            if !group.folders.contains(&folder) {
                fs::create_dir(&folder)?;
                group.folders.push(folder.clone());
            }
            // The file is there where the controller is: it is not created.
            fs::OpenOptions::new().write(true).open(folder.join(file))?;
            fs::write(folder.join(file), value)?;
        }
        Ok(group)
    }

    /// With so many processes and threads.
    pub(crate) fn of_tasks(count: u32) -> io::Result<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let of_version_1 = root.join("pids");
        let root = if of_version_1.is_dir() { of_version_1 } else { root.to_owned() };
        let folder = root.join(format!("gadus-test-{}-tasks-{count}", std::process::id()));
        fs::create_dir(&folder)?;
        let group = Self { folders: vec![folder.clone()] };
        fs::OpenOptions::new().write(true).open(folder.join("pids.max"))?;
        fs::write(folder.join("pids.max"), count.to_string())?;
        Ok(group)
    }

    /// The same program in this group.
    pub(crate) fn start(&self, command: &Command) -> Command {
        let enter = |folder: &PathBuf| format!("echo $$ > {}/cgroup.procs; ", folder.display());
        let enter = self.folders.iter().map(enter).collect::<String>();
        let mut inside = Command::new("sh");
        inside.arg("-c").arg(format!("set -e; {enter} exec \"$@\"")).arg("sh");
        inside.arg(command.get_program()).args(command.get_args());
        command.get_current_dir().into_iter().for_each(|folder| _ = inside.current_dir(folder));
        inside
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.folders.iter().for_each(|folder| _ = fs::remove_dir(folder));
    }
}
