//! What a report says that somebody may decide by: facts, as `gadus-machine` keeps them.
//!
//! - A fact is measured, with the time of its run, and is as sure as its interval is narrow and its machine was quiet.
//! - Facts are of one machine, kernel, file system and device. Those of another are refused.

use crate::error::KubError;
use crate::harness::Summary;
use crate::report::{Benchmark, Cell, Identity, Origin, Report};
use gadus_machine::{Fact, FactValue, Facts, Source};

/// The subject of all of them.
const SUBJECT: &str = "kernel";

const MIB: f64 = 1_048_576.0;

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
        for (prefix, divisor, unit, cell) in self.ways() {
            for measured in &cell.measured {
                let sure = confidence(&measured.summary, cell.quiet);
                let value = FactValue::Number(measured.summary.median / divisor);
                note(&format!("{prefix}{}", measured.who), value, unit, sure);
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
            (
                "thread made and ended",
                self.cell(Benchmark::Schedule, "make, run once, end", &[]),
                "thread",
            ),
        ];
        all.into_iter().filter_map(|(name, cell, who)| Some((name, cell?, who))).collect()
    }

    /// Cells of which every way is a fact: what its name begins with, what the time is divided by, and its unit then.
    fn ways(&self) -> Vec<(String, f64, &'static str, &Cell)> {
        let modern = |benchmark, name: &'static str| {
            self.of(benchmark)
                .filter(move |cell| cell.name == name && cell.origin == Origin::Modern)
        };
        let bytes =
            |cell: &Cell| cell.variable("bytes").and_then(|bytes| bytes.parse::<f64>().ok());
        let largest = |state: &'static str| {
            let cells = modern(Benchmark::Bind, "scan a file")
                .filter(|cell| cell.variable("cache") == Some(state));
            let sized = cells.filter_map(|cell| Some((bytes(cell)?, cell)));
            let largest = sized.max_by(|(one, _), (other, _)| one.total_cmp(other));
            largest.map(|(size, cell)| (format!("{state} scan by "), size / MIB, "ns/MiB", cell))
        };
        let echoes = modern(Benchmark::Message, "echo")
            .filter(|cell| cell.variable("processor") == Some("other"))
            .filter_map(|cell| {
                let prefix = format!("message of {} bytes by ", cell.variable("bytes")?);
                Some((prefix, 1.0, "ns", cell))
            });
        ["cold", "warm"].into_iter().filter_map(largest).chain(echoes).collect()
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
