//! Whether the machine was ours alone.
//!
//! - Looked at between contests, while nobody of ours runs; what a host takes away of a virtual machine is counted
//!   all the time.
//! - Linux only, from `/proc/stat`, whose ticks take ten milliseconds.

use super::statistics::median;
use crate::numbers::figure;
use gadus_base::clock;
use std::fs;
use std::time::Duration;

/// How long one looks at the processors: ten ticks.
const LOOK: Duration = Duration::from_millis(100);

/// A machine is quiet when others use at most this share of its processors …
const OTHERS_MAX: f64 = 0.10;

/// … and at most this much of one: a single program that never sleeps is nobody's quiet, however many there are …
const PROCESSOR_MAX: f64 = 0.9;

/// … and its host takes away at most this share.
const STEAL_MAX: f64 = 0.02;

/// What others did during a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quietness {
    /// Whether it was quiet.
    pub quiet: bool,
    /// The share of the processors that others used between contests: the middle of all looks.
    pub others: f64,
    /// The share that the host took away.
    pub stolen: f64,
}

/// Looks around now and then.
#[derive(Debug)]
pub(crate) struct Watcher {
    began: Option<Ticks>,
    /// At the last look.
    last: Option<Ticks>,
    others: Vec<f64>,
    is_quiet: bool,
}

/// Time of all processors since the machine started, in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ticks {
    all: u64,
    idle: u64,
    stolen: u64,
    /// Whose time that is.
    processors: u64,
}

impl Watcher {
    pub(crate) fn start() -> Self {
        let now = Ticks::now();
        Self { began: now, last: now, others: Vec::new(), is_quiet: false }
    }

    /// What the last look said.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Looks for a moment what others do, and says whether it was quiet here and since the last look.
    pub(crate) fn look(&mut self) -> bool {
        let Some(before) = Ticks::now() else { return false };
        pause(LOOK);
        let Some(now) = Ticks::now() else { return false };
        let (others, processors) = (now.since(before).busy(), now.processors);
        let stolen = self.last.map_or(0.0, |last| now.since(last).stolen_share());
        self.others.push(others);
        self.last = Some(now);
        self.is_quiet = is_quiet(others, stolen, processors);
        self.is_quiet
    }

    /// Of the whole run.
    pub(crate) fn quietness(&self) -> Quietness {
        let (Some(began), Some(now)) = (self.began, Ticks::now()) else {
            return Quietness { quiet: false, others: f64::NAN, stolen: f64::NAN };
        };
        let (others, stolen) = (median(&self.others), now.since(began).stolen_share());
        Quietness { quiet: is_quiet(others, stolen, now.processors), others, stolen }
    }
}

/// What is not known is not quiet.
fn is_quiet(others: f64, stolen: f64, processors: u64) -> bool {
    others <= OTHERS_MAX.min(PROCESSOR_MAX / figure(processors.max(1))) && stolen <= STEAL_MAX
}

fn pause(time: Duration) {
    let end = clock().now().plus(time);
    while !end.since(clock().now()).is_zero() {
        std::thread::park_timeout(end.since(clock().now()));
    }
}

impl Ticks {
    fn now() -> Option<Self> {
        Self::of(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn of(text: &str) -> Option<Self> {
        let first = text.lines().next()?;
        // user nice system idle iowait irq softirq steal
        let counts = first.split_whitespace().skip(1).take(8).map(|word| word.parse().ok());
        let counts = counts.collect::<Option<Vec<u64>>>()?;
        let [.., idle, waiting, _, _, stolen] = counts[..] else { return None };
        let is_one = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let processors = text.lines().filter(is_one).count() as u64;
        Some(Self { all: counts.iter().sum(), idle: idle + waiting, stolen, processors })
    }

    fn since(self, before: Self) -> Self {
        Self {
            all: self.all.saturating_sub(before.all),
            idle: self.idle.saturating_sub(before.idle),
            stolen: self.stolen.saturating_sub(before.stolen),
            processors: self.processors,
        }
    }

    fn busy(self) -> f64 {
        1.0 - figure(self.idle) / figure(self.all.max(1))
    }

    fn stolen_share(self) -> f64 {
        figure(self.stolen) / figure(self.all.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_read_and_compared() {
        let before = Ticks::of("cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 1 2\n").unwrap();
        let after = Ticks::of("cpu  40 0 10 120 20 0 0 10 0 0\ncpu0 1\ncpu1 2\n").unwrap();
        let between = after.since(before);
        assert_eq!(between, Ticks { all: 100, idle: 60, stolen: 10, processors: 2 });
        assert!((between.busy() - 0.4).abs() < 1e-9);
        assert!((between.stolen_share() - 0.1).abs() < 1e-9);
        assert_eq!(Ticks::of("cpu 1 2 3"), None);
    }

    #[test]
    fn what_is_not_known_is_not_quiet() {
        assert!(is_quiet(0.05, 0.0, 2));
        assert!(!is_quiet(0.5, 0.0, 2));
        assert!(!is_quiet(0.05, 0.03, 2));
        assert!(!is_quiet(f64::NAN, 0.0, 2));
    }

    #[test]
    fn one_program_that_never_sleeps_is_seen_on_any_machine() {
        for processors in [1, 2, 8, 64, 1024] {
            let share = 1.0 / figure(processors);
            assert!(!is_quiet(share, 0.0, processors), "{processors}");
            assert!(is_quiet(share / 20.0, 0.0, processors), "{processors}");
        }
    }
}
