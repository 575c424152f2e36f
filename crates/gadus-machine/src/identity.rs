//! Which machine figures are of: two with the same identity may be compared as one.
//!
//! - What cannot be read is said to be unknown, and is no reason to refuse.

use std::fs;
use std::path::Path;

/// A machine, its kernel, and the file system and device that files were on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The processor's name.
    pub processor: String,
    /// How many of them this process may use.
    pub processors: u64,
    /// The kernel's release.
    pub kernel: String,
    /// What the kernel does against flaws of the processor, in a word each.
    pub mitigations: String,
    /// Who governs the processors' clock rate.
    pub governor: String,
    /// Whether a host runs this machine beside others.
    pub is_virtual: bool,
    /// The kind of file system.
    pub file_system: String,
    /// The device that it is on.
    pub device: String,
    /// How much the kernel reads ahead there.
    pub read_ahead: String,
}

impl Identity {
    /// Of this machine, with files in a folder.
    #[must_use]
    pub fn of_this_machine(folder: &Path) -> Self {
        let (file_system, device) = mounted(folder);
        let name = device.rsplit('/').next().unwrap_or_default();
        let allowed = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let (processor, is_virtual) = processor();
        Self {
            processor,
            processors: allowed as u64,
            kernel: line("/proc/sys/kernel/osrelease"),
            mitigations: mitigations(),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            is_virtual,
            file_system,
            read_ahead: line(&format!("/sys/class/block/{name}/queue/read_ahead_kb")),
            device,
        }
    }

    /// A name that is the same for the same identity.
    #[must_use]
    pub fn key(&self) -> String {
        let text = self.fields().map(|(_, value)| value).join("\n");
        format!("{:016x}", gadus_base::checksum(0, text.as_bytes()))
    }

    /// What it consists of, by name.
    #[must_use]
    pub fn fields(&self) -> [(&'static str, String); 9] {
        [
            ("processor", self.processor.clone()),
            ("processors", self.processors.to_string()),
            ("kernel", self.kernel.clone()),
            ("mitigations", self.mitigations.clone()),
            ("governor", self.governor.clone()),
            ("virtual", self.is_virtual.to_string()),
            ("file_system", self.file_system.clone()),
            ("device", self.device.clone()),
            ("read_ahead_kb", self.read_ahead.clone()),
        ]
    }

    /// What differs from another, by name: what is here, and what is there.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<(&'static str, String, String)> {
        let pairs = self.fields().into_iter().zip(other.fields());
        let pairs = pairs.map(|((name, here), (_, there))| (name, here, there));
        pairs.filter(|(_, here, there)| here != there).collect()
    }
}

fn line(path: &str) -> String {
    fs::read_to_string(path).map_or("unknown".to_owned(), |text| text.trim().to_owned())
}

fn processor() -> (String, bool) {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(": "));
        line.map(|(_, value)| value.trim().to_owned())
    };
    let is_virtual =
        value("flags").is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor"));
    (value("model name").unwrap_or_else(|| "unknown".to_owned()), is_virtual)
}

/// What is mitigated, and what is left as it is: each flaw by its name.
fn mitigations() -> String {
    let Ok(folder) = fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else {
        return "unknown".to_owned();
    };
    let flaws = folder.flatten().filter_map(|flaw| {
        let state = line(&flaw.path().display().to_string());
        let name = flaw.file_name().to_string_lossy().into_owned();
        let word = match state.as_str() {
            state if state.starts_with("Mitigation") => "mitigated",
            state if state.starts_with("Vulnerable") => "open",
            _ => return None,
        };
        Some(format!("{name} {word}"))
    });
    let mut flaws = flaws.collect::<Vec<_>>();
    flaws.sort();
    if flaws.is_empty() { "none needed".to_owned() } else { flaws.join(", ") }
}

/// The kind of file system that a folder is on, and its device.
fn mounted(folder: &Path) -> (String, String) {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let text = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (device, place, kind) = (words.next()?, words.next()?, words.next()?);
        folder.starts_with(place).then(|| (place.len(), (kind.to_owned(), device.to_owned())))
    });
    // Of equally long places the last one is mounted over the others.
    let unknown = || ("unknown".to_owned(), "unknown".to_owned());
    mounts.max_by_key(|(length, _)| *length).map_or_else(unknown, |(_, found)| found)
}

#[cfg(test)]
mod tests;
