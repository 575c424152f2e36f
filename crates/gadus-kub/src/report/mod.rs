//! What a run has shown: the machine, cells, and what was skipped and why.
//!
//! - Only what was measured is in a cell; what was not is named, and never estimated.
//! - A report is written and read back as lines of JSON.

mod cell;
mod json;
#[cfg(test)]
pub(crate) mod sample;
mod sittings;

pub use cell::{Benchmark, Cell, Finding, Measured, Origin, Side, Skipped, Stopped};
pub(crate) use cell::{Parts, title_of};
pub use gadus_machine::Identity;
pub(crate) use sittings::add_sitting;

use crate::harness::Quietness;

/// What a run has shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Of which machine, kernel, file system and device.
    pub identity: Identity,
    /// How thorough it was: see [`crate::Budget`].
    pub budget: String,
    /// When it began, in seconds since 1970.
    pub seconds: u64,
    /// How long it took, in seconds.
    pub took_seconds: f64,
    /// What others did meanwhile.
    pub quietness: Quietness,
    /// What a look at the clock costs, in nanoseconds.
    pub clock_cost_ns: f64,
    /// What was measured.
    pub cells: Vec<Cell>,
    /// What else was found.
    pub findings: Vec<Finding>,
    /// What was not.
    pub skipped: Vec<Skipped>,
}

impl Report {
    /// What was found of something.
    #[must_use]
    pub fn finding(&self, benchmark: Benchmark, what: &str) -> Option<&str> {
        let is_it = |finding: &&Finding| finding.benchmark == benchmark && finding.what == what;
        self.findings.iter().find(is_it).map(|finding| finding.found.as_str())
    }

    /// The cells of a benchmark.
    pub fn of(&self, benchmark: Benchmark) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |cell| cell.benchmark == benchmark)
    }

    /// A cell by its name and what is varied in it.
    #[must_use]
    pub fn cell(
        &self,
        benchmark: Benchmark,
        name: &str,
        variables: &[(&str, &str)],
    ) -> Option<&Cell> {
        let is_it = |cell: &&Cell| {
            cell.name == name
                && variables.iter().all(|(variable, value)| cell.variable(variable) == Some(value))
        };
        self.of(benchmark).find(is_it)
    }
}
