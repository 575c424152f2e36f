//! What a report says that somebody may decide by: facts, as `gadus-machine` keeps them.
//!
//! - A fact is measured, with the time of its run, and is as sure as its interval is narrow and its machine was quiet.
//! - Facts are of one machine, kernel, file system and device. Those of another are refused.

use crate::error::KubError;
use crate::harness::Summary;
use crate::report::{Benchmark, Cell, Identity, Origin, Report, Side};
use gadus_machine::{Fact, FactValue, Facts, Source};

/// The subject of all of them.
const SUBJECT: &str = "kernel";

/// How sure a figure is of a machine that was not quiet.
const LOUD: f64 = 0.5;

impl Report {
    /// What a database decides by; what was not measured is not among them.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let mut note = |name: &str, value: FactValue, unit: &str, confidence: f64| {
            facts.set(Fact {
                subject: SUBJECT.to_owned(),
                name: name.to_owned(),
                value,
                unit: unit.to_owned(),
                source: Source::Measured,
                seconds: self.seconds,
                confidence,
            });
        };
        note("measured on", FactValue::Text(self.identity.key()), "", 1.0);
        for (name, cell, who) in self.times() {
            if let Some(measured) = cell.by(who) {
                let sure = confidence(&measured.summary, cell.quiet);
                note(name, FactValue::Number(measured.summary.median), "ns", sure);
            }
        }
        for (name, cell, side) in self.choices() {
            if let Some(best) = cell.best(side) {
                let sure = confidence(&best.summary, cell.quiet);
                note(name, FactValue::Text(best.who.clone()), "", sure);
            }
        }
        facts
    }

    /// The same, but of this machine only.
    ///
    /// # Errors
    /// `Input` with what differs.
    pub fn facts_of(&self, here: &Identity) -> Result<Facts, KubError> {
        let differences = self.identity.differences(here);
        if differences.is_empty() {
            return Ok(self.facts());
        }
        let differences = differences.into_iter().map(|(name, there, here)| {
            format!("{} is {here} here and {there} there", name.replace('_', " "))
        });
        let differences = differences.collect::<Vec<_>>().join(", ");
        Err(KubError::input(format!("this was measured on another machine: {differences}")))
    }

    /// Times by name: whose cell, and who in it.
    fn times(&self) -> Vec<(&'static str, &Cell, &'static str)> {
        let switch =
            |processor| self.cell(Benchmark::Schedule, "switch", &[("processor", processor)]);
        let record = [("bytes", "4096"), ("room", "overwritten")];
        let all = [
            ("switch on one processor", switch("same"), "threads, futex"),
            // Who spins longer than that had better slept.
            ("wake-up on another processor", switch("other"), "threads, futex"),
            (
                "sync of a record",
                self.cell(Benchmark::Sync, "a record made durable", &record),
                "write, fdatasync",
            ),
            ("system call", self.cell(Benchmark::Schedule, "call", &[]), "system call"),
        ];
        all.into_iter().filter_map(|(name, cell, who)| Some((name, cell?, who))).collect()
    }

    /// What is cheapest, by name.
    fn choices(&self) -> Vec<(&'static str, &Cell, Side)> {
        let largest = |benchmark, name: &str, variable: &str, value: &str| {
            let cells = self.of(benchmark).filter(|cell| {
                cell.name == name
                    && cell.origin == Origin::Modern
                    && cell.variable(variable) == Some(value)
            });
            cells.max_by_key(|cell| {
                cell.variable("bytes").and_then(|bytes| bytes.parse::<u64>().ok())
            })
        };
        let all = [
            ("cold scan by", largest(Benchmark::Bind, "scan a file", "cache", "cold"), Side::User),
            ("warm scan by", largest(Benchmark::Bind, "scan a file", "cache", "warm"), Side::User),
            (
                "local transport",
                largest(Benchmark::Message, "echo", "processor", "other"),
                Side::Kernel,
            ),
        ];
        all.into_iter().filter_map(|(name, cell, side)| Some((name, cell?, side))).collect()
    }
}

/// One less half the interval's share of the median.
fn confidence(summary: &Summary, quiet: bool) -> f64 {
    let uncertain = (summary.high - summary.low) / 2.0 / summary.median;
    let sure = (1.0 - uncertain).clamp(0.0, 1.0);
    if quiet { sure } else { sure * LOUD }
}

#[cfg(test)]
mod tests;
