//! A contest: the same work, done by the kernel's service and by user-mode ones.

use super::stopwatch::Stopwatch;
use crate::error::KubError;
use crate::report::{Benchmark, Origin, Side};
use std::time::Duration;

/// What a contestant does, a number of times.
pub(crate) type Work<'a> = Box<dyn FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a>;

/// Who does the work.
pub(crate) struct Contestant<'a> {
    pub(crate) who: String,
    pub(crate) side: Side,
    /// What the paper measured, in the contest's unit.
    pub(crate) paper: Option<f64>,
    pub(crate) work: Work<'a>,
}

/// The same work, done by several.
pub(crate) struct Contest<'a> {
    pub(crate) benchmark: Benchmark,
    pub(crate) origin: Origin,
    pub(crate) name: String,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) noise: Noise,
    pub(crate) repetitions: Repetitions,
    /// The first is whom the others are compared to.
    pub(crate) contestants: Vec<Contestant<'a>>,
    /// How else to check a figure, such as the command of another tool.
    pub(crate) equivalent: Option<String>,
    /// What the paper found, in a sentence.
    pub(crate) paper_found: Option<String>,
}

/// How much figures of a contest vary by nature; by that its interval is narrow enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// Nobody waits.
    Processor,
    /// Somebody is woken up, or a device works.
    Waiting,
}

/// How often the work is done between two looks at the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repetitions {
    /// As often as it takes for the clock not to matter, at most.
    Calibrated(u64),
    /// This often, since the number is part of the question.
    Exactly(u64),
}

impl Noise {
    /// Half the interval, as a share of the ratio, at which one may stop.
    pub(crate) fn uncertainty_max(self) -> f64 {
        match self {
            Self::Processor => 0.05,
            Self::Waiting => 0.15,
        }
    }
}

impl<'a> Contest<'a> {
    pub(crate) fn new(benchmark: Benchmark, origin: Origin, name: impl Into<String>) -> Self {
        Self {
            benchmark,
            origin,
            name: name.into(),
            variables: Vec::new(),
            noise: Noise::Waiting,
            repetitions: Repetitions::Calibrated(1 << 24),
            contestants: Vec::new(),
            equivalent: None,
            paper_found: None,
        }
    }

    pub(crate) fn with(mut self, variable: &str, value: impl ToString) -> Self {
        self.variables.push((variable.to_owned(), value.to_string()));
        self
    }

    pub(crate) fn noise(self, noise: Noise) -> Self {
        Self { noise, ..self }
    }

    pub(crate) fn repetitions(self, repetitions: Repetitions) -> Self {
        Self { repetitions, ..self }
    }

    pub(crate) fn equivalent(self, command: impl Into<String>) -> Self {
        Self { equivalent: Some(command.into()), ..self }
    }

    /// What the paper found of the same work.
    pub(crate) fn paper_found(self, found: &str) -> Self {
        Self { paper_found: Some(found.to_owned()), ..self }
    }

    /// Adds who does it by the kernel.
    pub(crate) fn kernel(
        self,
        who: impl Into<String>,
        work: impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a,
    ) -> Self {
        self.contestant(who, Side::Kernel, work)
    }

    /// Adds who does it in user mode.
    pub(crate) fn user(
        self,
        who: impl Into<String>,
        work: impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a,
    ) -> Self {
        self.contestant(who, Side::User, work)
    }

    fn contestant(
        mut self,
        who: impl Into<String>,
        side: Side,
        work: impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a,
    ) -> Self {
        let (who, work) = (who.into(), Box::new(work));
        self.contestants.push(Contestant { who, side, paper: None, work });
        self
    }

    /// Says what the paper measured of the contestant that was added last.
    pub(crate) fn paper(mut self, time: Duration) -> Self {
        if let Some(last) = self.contestants.last_mut() {
            last.paper = Some(crate::numbers::nanoseconds(time));
        }
        self
    }
}

impl std::fmt::Debug for Contest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let who = self.contestants.iter().map(|contestant| &contestant.who).collect::<Vec<_>>();
        f.debug_struct("Contest").field("name", &self.name).field("who", &who).finish()
    }
}
