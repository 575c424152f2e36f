//! How busy processors are, and who keeps them so.

use crate::error::{ErrorKind, MachineError};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a processor has done since the system began, in the kernel's ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// It ran something.
    pub busy: u64,
    /// It had nothing to do.
    pub idle: u64,
    /// It would have run, but the host gave its time to others.
    pub stolen: u64,
}

/// All processors at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loads {
    times: BTreeMap<u32, CpuTimes>,
}

/// What a processor did between two moments, as parts of the time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Load {
    /// It ran something.
    pub busy: f64,
    /// The host gave its time to others.
    pub stolen: f64,
}

impl Loads {
    /// Now.
    ///
    /// # Errors
    /// `Unknown` where the kernel does not tell.
    pub fn read() -> Result<Self, MachineError> {
        Self::read_at(Path::new("/proc/stat"))
    }

    pub(crate) fn read_at(path: &Path) -> Result<Self, MachineError> {
        let unknown = |what: String| {
            MachineError::new(ErrorKind::Unknown, format!("{}: {what}", path.display()))
        };
        let text = fs::read_to_string(path).map_err(|error| unknown(error.to_string()))?;
        let mut times = BTreeMap::new();
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("cpu") else { continue };
            let Some((cpu, ticks)) = rest.split_once(' ') else { continue };
            // The first line is of all together.
            let Ok(cpu) = cpu.parse() else { continue };
            let ticks = ticks.split_whitespace().map(str::parse::<u64>);
            let ticks =
                ticks.collect::<Result<Vec<_>, _>>().map_err(|_| unknown(line.to_owned()))?;
            // user nice system idle iowait irq softirq steal guest guest_nice; guests are in user and nice.
            let &[user, nice, system, idle, waiting, ref rest @ ..] = &ticks[..] else {
                return Err(unknown(line.to_owned()));
            };
            let at = |place: usize| rest.get(place).copied().unwrap_or(0);
            let busy = user + nice + system + at(0) + at(1);
            times.insert(cpu, CpuTimes { busy, idle: idle + waiting, stolen: at(2) });
        }
        match times.is_empty() {
            true => Err(unknown("tells of no processor".to_owned())),
            false => Ok(Self { times }),
        }
    }

    /// For others, in numbers: what [`Self::from_words`] reads.
    #[must_use]
    pub fn to_words(&self) -> Vec<u64> {
        let words = |(cpu, times): (&u32, &CpuTimes)| {
            [u64::from(*cpu), times.busy, times.idle, times.stolen]
        };
        self.times.iter().flat_map(words).collect()
    }

    /// What somebody else has read.
    #[must_use]
    pub fn from_words(words: &[u64]) -> Self {
        let (each, _) = words.as_chunks();
        let times = each.iter().filter_map(|&[cpu, busy, idle, stolen]| {
            Some((u32::try_from(cpu).ok()?, CpuTimes { busy, idle, stolen }))
        });
        Self { times: times.collect() }
    }

    /// What each processor did since an earlier moment; those that are in both.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> BTreeMap<u32, Load> {
        let both =
            self.times.iter().filter_map(|(cpu, now)| Some((*cpu, now, earlier.times.get(cpu)?)));
        both.map(|(cpu, now, then)| (cpu, now.since(then))).collect()
    }
}

impl CpuTimes {
    #[allow(clippy::cast_precision_loss)] // ticks
    fn since(&self, earlier: &Self) -> Load {
        // Some counters have been seen to go back.
        let [busy, idle, stolen] = [
            self.busy.saturating_sub(earlier.busy),
            self.idle.saturating_sub(earlier.idle),
            self.stolen.saturating_sub(earlier.stolen),
        ];
        let all = (busy + idle + stolen).max(1) as f64;
        Load { busy: busy as f64 / all, stolen: stolen as f64 / all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_between_is_told_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stat");
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            Loads::read_at(&path)
        };
        let then =
            read("cpu 1 1 1 1\ncpu0 10 0 10 100 0 0 0 5 0 0\ncpu1 0 0 0 50 0\nintr 7\n").unwrap();
        let now = read("cpu 1 1 1 1\ncpu0 40 0 20 140 10 0 0 15 0 0\ncpu1 0 0 0 150 0\nintr 9\n")
            .unwrap();
        let loads = now.since(&then);
        let parts = |cpu: u32| (loads[&cpu].busy * 100.0, loads[&cpu].stolen * 100.0);
        assert_eq!((parts(0), parts(1)), ((40.0, 10.0), (0.0, 0.0)));
        assert!(read("").is_err() && read("cpu0 a b c d e\n").is_err());
    }

    #[test]
    fn this_machine_tells() {
        assert!(!Loads::read().unwrap().times.is_empty());
    }
}
