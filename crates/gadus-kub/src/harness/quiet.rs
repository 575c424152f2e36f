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

    /// Looks for a moment what others do, and says whether it was quiet at the last look, at this one, and between.
    pub(crate) fn look(&mut self) -> bool {
        let before = Ticks::now();
        pause(LOOK);
        self.note(before, Ticks::now())
    }

    fn note(&mut self, before: Option<Ticks>, now: Option<Ticks>) -> bool {
        let is_quiet = before.zip(now).is_some_and(|(before, now)| {
            let others = now.since(before).busy();
            self.others.push(others);
            is_quiet(others, now.since(self.last.unwrap_or(before)))
        });
        self.last = now;
        std::mem::replace(&mut self.is_quiet, is_quiet) && is_quiet
    }

    /// Of the whole run.
    pub(crate) fn quietness(&self) -> Quietness {
        let (Some(began), Some(now)) = (self.began, Ticks::now()) else {
            return Quietness { quiet: false, others: f64::NAN, stolen: f64::NAN };
        };
        let (others, whole) = (median(&self.others), now.since(began));
        Quietness { quiet: is_quiet(others, whole), others, stolen: whole.stolen_share() }
    }
}

/// What is not known is not quiet. `since` is the time in which the host may have taken something away.
fn is_quiet(others: f64, since: Ticks) -> bool {
    let others_max = OTHERS_MAX.min(PROCESSOR_MAX / figure(since.processors.max(1)));
    others <= others_max && !since.is_stolen_from()
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

    /// Whether the host took too much away, for certain: two ticks of eighty may be one and a bit, or chance.
    fn is_stolen_from(self) -> bool {
        let stolen = figure(self.stolen);
        stolen - stolen.sqrt() > STEAL_MAX * figure(self.all)
    }
}

#[cfg(test)]
mod tests;
