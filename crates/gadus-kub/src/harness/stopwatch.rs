//! What a contestant takes time with: all that it does, but what it says is not to count.
//!
//! - Steps that are timed apart count in the whole as well.

use super::instruments::Instruments;
use std::time::Duration;

/// Runs while a contestant does.
pub struct Stopwatch<'a> {
    instruments: &'a dyn Instruments,
    steps: Vec<(&'static str, Duration)>,
    counts: Vec<(&'static str, f64)>,
    paused: Duration,
}

/// What a stopwatch was told.
pub(super) struct Told {
    pub(super) steps: Vec<(&'static str, Duration)>,
    pub(super) counts: Vec<(&'static str, f64)>,
    pub(super) paused: Duration,
}

impl<'a> Stopwatch<'a> {
    pub(crate) fn new(instruments: &'a dyn Instruments) -> Self {
        Self { instruments, steps: Vec::new(), counts: Vec::new(), paused: Duration::ZERO }
    }

    /// Does something whose time is also told by itself.
    pub fn step<T>(&mut self, name: &'static str, body: impl FnOnce() -> T) -> T {
        let began = self.instruments.now();
        let done = body();
        self.add(name, self.instruments.now().saturating_sub(began));
        done
    }

    /// Adds time to a step that began and ended elsewhere.
    pub fn add(&mut self, name: &'static str, time: Duration) {
        match self.steps.iter_mut().find(|(known, _)| *known == name) {
            Some((_, total)) => *total += time,
            None => self.steps.push((name, time)),
        }
    }

    /// Does something that is not to count, such as making a file anew.
    pub fn untimed<T>(&mut self, body: impl FnOnce() -> T) -> T {
        let began = self.instruments.now();
        let done = body();
        self.paused += self.instruments.now().saturating_sub(began);
        done
    }

    /// Tells what else happened in this turn, such as what others got done.
    pub fn count(&mut self, name: &'static str, count: f64) {
        self.counts.push((name, count));
    }

    /// Now, on the same clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.instruments.now()
    }

    /// How long what is not to count took.
    pub(crate) fn paused(&self) -> Duration {
        self.paused
    }

    pub(super) fn finish(self) -> Told {
        Told { steps: self.steps, counts: self.counts, paused: self.paused }
    }
}

impl std::fmt::Debug for Stopwatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stopwatch").field("steps", &self.steps).finish_non_exhaustive()
    }
}
