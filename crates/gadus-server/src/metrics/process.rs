//! What the system knows of this process: proc(5).

use std::fs;

/// One look at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Process {
    pub(super) resident_bytes: u64,
    pub(super) open_files: usize,
    pub(super) cpu_seconds: f64,
    /// Since 1970.
    pub(super) start_seconds: f64,
}

/// Figures of `/proc/self/stat`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) cpu_ticks: u64,
    /// Since the system began.
    pub(super) start_ticks: u64,
    pub(super) resident_pages: u64,
}

impl Process {
    /// None where the system does not tell.
    #[allow(clippy::cast_precision_loss)] // of seconds, for people to read
    pub(super) fn read() -> Option<Self> {
        let stat = Stat::read(&fs::read_to_string("/proc/self/stat").ok()?)?;
        let system = fs::read_to_string("/proc/stat").ok()?;
        let boot = system.lines().find_map(|line| line.strip_prefix("btime "))?;
        let boot_seconds = boot.trim().parse::<u64>().ok()?;
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        // One of them is the folder that is being read.
        let open_files = fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
        Some(Self {
            resident_bytes: stat.resident_pages * rustix::param::page_size() as u64,
            open_files,
            cpu_seconds: stat.cpu_ticks as f64 / ticks,
            start_seconds: boot_seconds as f64 + stat.start_ticks as f64 / ticks,
        })
    }
}

impl Stat {
    /// The name of the program, in parentheses, may hold spaces and parentheses itself.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (_, behind) = text.rsplit_once(')')?;
        let fields = behind.split_ascii_whitespace().collect::<Vec<_>>();
        // The manual counts from 1, and the first of these is its third.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            cpu_ticks: field(14)?.checked_add(field(15)?)?,
            start_ticks: field(22)?,
            resident_pages: field(24)?,
        })
    }
}
