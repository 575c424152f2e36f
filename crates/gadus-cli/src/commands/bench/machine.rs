//! The machine that figures were measured on, and whether others used it meanwhile.
//!
//! - Linux only, from `/proc` and `/sys`; what cannot be read is said to be unknown.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::pause;
use crate::failure::Failure;

/// How long one looks at the processors before a round: ten ticks of the kernel's accounting.
const LOOK: Duration = Duration::from_millis(100);
/// A machine is quiet when others use at most this share of its processors …
const OTHERS_MAX: f64 = 0.10;
/// … and its host takes away at most this share.
const STEAL_MAX: f64 = 0.02;

/// The state of the machine during a benchmark.
#[derive(Debug)]
pub(super) struct Machine {
    began: Ticks,
    /// What was busy before each round, while nobody of ours ran.
    others: Vec<f64>,
}

/// Time of all processors since the machine started, in ticks.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    all: u64,
    idle: u64,
    stolen: u64,
}

impl Machine {
    /// Prints what the machine is, for people and for whoever reads the log later.
    pub(super) fn describe(folder: &Path) -> Result<Self, Failure> {
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let line = |path: &str| {
            fs::read_to_string(path).map_or("unknown".to_owned(), |text| text.trim().to_owned())
        };
        let load = line("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" ");
        writeln!(
            io::stderr(),
            "machine: {cores} cores ({}), governor {}, load {load}, Linux {}, {} on {}",
            processor(),
            line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            line("/proc/sys/kernel/osrelease"),
            file_system(folder),
            folder.display(),
        )?;
        Ok(Self { began: Ticks::now()?, others: Vec::new() })
    }

    /// Looks for a moment what others do; to be called while nothing of ours runs.
    pub(super) fn look_around(&mut self) -> Result<(), Failure> {
        let before = Ticks::now()?;
        pause(LOOK);
        self.others.push(Ticks::now()?.since(before).busy());
        Ok(())
    }

    /// Whether the machine was ours alone, said on standard error as well.
    pub(super) fn was_quiet(&self) -> Result<bool, Failure> {
        let others = super::figures::median(&self.others);
        let stolen = Ticks::now()?.since(self.began).stolen_share();
        let quiet = !(others > OTHERS_MAX || stolen > STEAL_MAX);
        writeln!(
            io::stderr(),
            "others used {:.0} % of the processors between rounds, {:.1} % was stolen: {}",
            others * 100.0,
            stolen * 100.0,
            if quiet { "quiet" } else { "not quiet, look at ratios only" }
        )?;
        Ok(quiet)
    }
}

impl Ticks {
    fn now() -> Result<Self, Failure> {
        let text = fs::read_to_string("/proc/stat")?;
        let first = text.lines().next().unwrap_or_default();
        // user nice system idle iowait irq softirq steal
        let counts: Vec<u64> =
            first.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
        let at = |place: usize| counts.get(place).copied().unwrap_or(0);
        Ok(Self { all: counts.iter().sum(), idle: at(3) + at(4), stolen: at(7) })
    }

    fn since(self, before: Self) -> Self {
        Self {
            all: self.all.saturating_sub(before.all),
            idle: self.idle.saturating_sub(before.idle),
            stolen: self.stolen.saturating_sub(before.stolen),
        }
    }

    #[allow(clippy::cast_precision_loss)] // ticks of a benchmark
    fn busy(self) -> f64 {
        1.0 - self.idle as f64 / self.all.max(1) as f64
    }

    #[allow(clippy::cast_precision_loss)] // ticks of a benchmark
    fn stolen_share(self) -> f64 {
        self.stolen as f64 / self.all.max(1) as f64
    }
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or("unknown".to_owned(), |(_, name)| name.trim().to_owned())
}

/// The kind of file system that a folder is on, and its device.
fn file_system(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let text = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (device, place, kind) = (words.next()?, words.next()?, words.next()?);
        folder.starts_with(place).then(|| (place.len(), format!("{kind} ({device})")))
    });
    // Of equally long places the last one is mounted over the others.
    mounts.max_by_key(|(length, _)| *length).map_or("unknown".to_owned(), |(_, name)| name)
}

/// Returns the proportional set size of a process: memory that it shares with others counts in part.
///
/// It falls as soon as another process maps the same program, so differences of two of them say little: see
/// [`data_bytes`].
pub(super) fn proportional_bytes(pid: u32) -> Result<u64, Failure> {
    rollup_bytes(pid, &["Pss:"])
}

/// Returns the proportional set size of a process without what it maps of files: anonymous and shared memory.
pub(super) fn data_bytes(pid: u32) -> Result<u64, Failure> {
    rollup_bytes(pid, &["Pss_Anon:", "Pss_Shmem:"])
}

/// Sums some lines of the kernel's totals over all mappings of a process.
fn rollup_bytes(pid: u32, names: &[&str]) -> Result<u64, Failure> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = std::fs::read_to_string(&path)?;
    let bytes = |name: &&str| {
        let line = text.lines().find_map(|line| line.strip_prefix(*name));
        let kibibytes = line
            .and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok())
            .ok_or_else(|| Failure::message(format!("{path} has no line {name}")))?;
        Ok(kibibytes * 1024)
    };
    names.iter().map(bytes).sum()
}
