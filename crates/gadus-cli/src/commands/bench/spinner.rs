//! A process that keeps one processor busy, as somebody else's program would.

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gadus_base::spawn;

use super::player::Player;
use super::worker;
use crate::failure::Failure;

/// The kernel counts a process's time in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// The usual weight of a control group, in both versions.
const WEIGHT_USUAL: u64 = 100;
const SHARES_USUAL: u64 = 1024;

/// A started one, until it is dropped.
pub(super) struct Spinner {
    player: Player,
    /// Its own, and this process's.
    groups: Vec<Group>,
}

impl Spinner {
    /// Starts one on a processor. With a weight, it and this process have a control group each, this
    /// process's of the usual weight.
    pub(super) fn start(cpu: u32, weight: Option<u64>) -> Result<Self, Failure> {
        let mut command = worker::command("spin")?;
        command.arg("--cpu").arg(cpu.to_string());
        let mut spinner = Self { player: Player::start(command)?, groups: Vec::new() };
        spinner.player.wait_ready()?;
        if let Some(weight) = weight {
            let groups = [
                (spinner.player.pid(), "spinner", weight),
                (std::process::id(), "gadus", WEIGHT_USUAL),
            ];
            for (pid, name, weight) in groups {
                spinner.groups.push(Group::make(name, weight, pid)?);
            }
        }
        spinner.player.go()?;
        Ok(spinner)
    }

    /// Processor time that it has had.
    pub(super) fn processor_time(&self) -> Result<Duration, Failure> {
        let path = format!("/proc/{}/stat", self.player.pid());
        let text = fs::read_to_string(&path)?;
        // The program's name may hold spaces, and ends with the last bracket.
        let after = text.rsplit_once(") ").map(|(_, after)| after);
        let ticks = after.map(|after| {
            let words = after.split(' ').skip(11).take(2);
            words.filter_map(|word| word.parse::<u32>().ok()).sum::<u32>()
        });
        ticks
            .map(|ticks| TICK * ticks)
            .ok_or_else(|| Failure::message(format!("{path} tells no times")))
    }
}

/// A control group of this benchmark, removed when it is dropped.
struct Group {
    folder: PathBuf,
    /// Where its process came from, and goes back to.
    home: PathBuf,
    pid: u32,
}

impl Group {
    fn make(name: &str, weight: u64, pid: u32) -> Result<Self, Failure> {
        let (v1, v2) = (Path::new("/sys/fs/cgroup/cpu"), Path::new("/sys/fs/cgroup"));
        let (root, controller, file, value) = match v1.join("cpu.shares").exists() {
            true => (v1, "cpu", "cpu.shares", weight * SHARES_USUAL / WEIGHT_USUAL),
            false => (v2, "", "cpu.weight", weight),
        };
        let folder = root.join(format!("gadus-bench-{name}-{}", std::process::id()));
        let failed = |error: io::Error| {
            Failure::message(format!("cannot use the control group {}: {error}", folder.display()))
        };
        fs::create_dir(&folder).map_err(failed)?;
        let home = group_of(pid, root, controller);
        let group = Self { folder: folder.clone(), home, pid };
        fs::write(group.folder.join(file), value.to_string()).map_err(failed)?;
        fs::write(group.folder.join("cgroup.procs"), pid.to_string()).map_err(failed)?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has ended has left it.
        let _ = fs::write(self.home.join("cgroup.procs"), self.pid.to_string());
        let _ = fs::remove_dir(&self.folder);
    }
}

/// The control group that a process is in, beneath `root`; of version 2 it has no controller's name.
fn group_of(pid: u32, root: &Path, controller: &str) -> PathBuf {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let path = text.lines().find_map(|line| {
        let (_, line) = line.split_once(':')?;
        let (controllers, path) = line.split_once(':')?;
        controllers.split(',').any(|one| one == controller).then_some(path)
    });
    let folder = root.join(path.unwrap_or_default().trim_start_matches('/'));
    if folder.is_dir() { folder } else { root.to_owned() }
}

/// Whether control groups with weights can be made here; else why not.
pub(super) fn may_weigh() -> Result<(), Failure> {
    Group::make("probe", WEIGHT_USUAL, std::process::id()).map(drop)
}

/// In such a process: keeps a processor busy until its input ends.
pub(super) fn spin(cpu: u32) -> Result<(), Failure> {
    gadus_machine::pin_this_thread(&[cpu].into_iter().collect())
        .map_err(|error| Failure::message(error.to_string()))?;
    super::player::await_start()?;
    let ends = Arc::new(AtomicBool::new(false));
    let told = ends.clone();
    spawn("input", move || {
        let mut lines = io::stdin().lock().lines();
        while lines.next().is_some_and(|line| line.is_ok()) {}
        told.store(true, Ordering::Relaxed);
    })?;
    while !ends.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    writeln!(io::stdout(), "{{}}")?;
    Ok(())
}
