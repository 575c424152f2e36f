//! How everything here is measured.
//!
//! - Contestants take turns in rounds: in an order drawn anew, and then in the reverse of it, so that what rises or
//!   falls steadily meanwhile meets all alike. A round's figure is the mean of the two turns.
//! - A turn repeats the work so often that the clock does not matter, and first the turns are repeated until they
//!   take alike.
//! - A contest ends when the intervals of its ratios are narrow enough, or its time or its rounds are used up; the
//!   result says which.
//! - What measuring itself costs is measured the same way and told, not subtracted.

mod budget;
mod contest;
mod instruments;
mod known_delay;
mod quiet;
mod rounds;
mod statistics;
mod stopwatch;

pub use budget::Budget;
use budget::ROUNDS_MIN;
pub(crate) use contest::{Contest, Noise, Repetitions, Work};
pub use instruments::{Instruments, SystemInstruments, Usage};
pub use known_delay::{KnownDelay, check_known_delays};
pub use quiet::Quietness;
pub(crate) use quiet::Watcher;
pub(crate) use rounds::summaries;
pub use statistics::{Ratio, Summary, median};
pub use stopwatch::Stopwatch;

use crate::error::KubError;
use crate::numbers::nanoseconds;
use crate::report::{Benchmark, Cell, Finding, Skipped};
use gadus_base::Random;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Measures contests.
pub(crate) struct Harness<'a> {
    instruments: &'a dyn Instruments,
    budget: Budget,
    /// How long a contest may take.
    time: Duration,
    /// What a look at the clock costs.
    clock_cost: Duration,
    random: Random,
    cancelled: &'a AtomicBool,
    pub(crate) cells: Vec<Cell>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) skipped: Vec<Skipped>,
}

/// Looks at the clock whose cost is told.
const LOOKS: u32 = 2000;

/// A turn takes this many looks at the clock at least, so that one in it makes less than a hundredth of a percent.
const LOOKS_PER_TURN: u32 = 10_000;

/// A turn takes this long at least: shorter ones meet too few of the machine's interruptions to be alike.
const TURN_MIN: Duration = Duration::from_micros(500);

/// A turn takes no longer if the work can be divided: contestants are to take turns often.
const TURN_MAX: Duration = Duration::from_millis(20);

impl<'a> Harness<'a> {
    pub(crate) fn new(
        instruments: &'a dyn Instruments,
        budget: Budget,
        random: Random,
        cancelled: &'a AtomicBool,
    ) -> Self {
        let began = instruments.now();
        for _ in 0..LOOKS {
            std::hint::black_box(instruments.now());
        }
        let clock_cost = instruments.now().saturating_sub(began) / LOOKS;
        let time = budget.of_contest();
        let (cells, findings, skipped) = (Vec::new(), Vec::new(), Vec::new());
        Self { instruments, budget, time, clock_cost, random, cancelled, cells, findings, skipped }
    }

    /// What a look at the clock costs, in nanoseconds.
    pub(crate) fn clock_cost_ns(&self) -> f64 {
        nanoseconds(self.clock_cost)
    }

    /// Lets the next contests take at most this long each.
    pub(crate) fn allow(&mut self, time: Duration) {
        self.time = time.min(self.budget.of_contest());
    }

    /// What another harness of the same run needs.
    pub(crate) fn parts(&self) -> (Budget, &'a AtomicBool) {
        (self.budget, self.cancelled)
    }

    /// How long a contest may take now.
    pub(crate) fn time_allowed(&self) -> Duration {
        self.time
    }

    /// Measures a contest and keeps its cell; who could not take part is named as skipped.
    ///
    /// # Errors
    /// When somebody has ended the run, or a contestant did not do its work.
    pub(crate) fn measure(&mut self, contest: Contest<'_>) -> Result<(), KubError> {
        if let Some(cell) = rounds::measure(self, contest)? {
            self.cells.push(cell);
        }
        Ok(())
    }

    /// Tells something that is no figure of a contest.
    pub(crate) fn find(&mut self, benchmark: Benchmark, what: &str, found: impl Into<String>) {
        self.note(Finding { benchmark, what: what.to_owned(), found: found.into() });
    }

    /// Keeps what was found, once.
    pub(crate) fn note(&mut self, finding: Finding) {
        let is_same =
            |known: &Finding| known.benchmark == finding.benchmark && known.what == finding.what;
        if !self.findings.iter().any(is_same) {
            self.findings.push(finding);
        }
    }

    /// Names what is not measured, once.
    pub(crate) fn skip(&mut self, skipped: Skipped) {
        let is_same =
            |known: &Skipped| known.benchmark == skipped.benchmark && known.what == skipped.what;
        if !self.skipped.iter().any(is_same) {
            self.skipped.push(skipped);
        }
    }

    /// Whether somebody has ended the run.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn check(&self) -> Result<(), KubError> {
        match self.is_cancelled() {
            true => Err(KubError::interrupted()),
            false => Ok(()),
        }
    }

    /// How long a turn is to take, where so many take part.
    fn turn(&self, contestants: usize) -> Duration {
        let turns = u32::try_from(contestants * 2 * ROUNDS_MIN).unwrap_or(u32::MAX);
        // Half of the time is left for more rounds, and for warming up.
        let fair = self.time / turns.max(1) / 2;
        fair.max(self.clock_cost * LOOKS_PER_TURN).clamp(TURN_MIN, TURN_MAX)
    }
}

impl std::fmt::Debug for Harness<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Harness").field("budget", &self.budget).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
