//! How to read files: through the kernel's cache, mapped, or past it.

use crate::decision::{Alternative, Decision};
use crate::facts::Facts;

/// What is assumed where nothing was measured: it is never the worst, and needs nothing of the kernel.
const ASSUMED: &str = "read, 64 KiB";

/// Whether the kernel has in its cache what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temperature {
    /// It comes from the disk.
    Cold,
    /// It is in memory.
    Warm,
}

impl Temperature {
    /// As facts name it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

/// How to read much of a file from front to back, such as `O_DIRECT, io_uring, 8 at a time`, by what was measured for its file system and device.
#[must_use]
pub fn decide_io_path(measured: &Facts, temperature: Temperature) -> (String, Decision) {
    let prefix = format!("{} scan by ", temperature.word());
    let costs = measured.numbers("kernel", &prefix);
    let inputs = vec![("cache".to_owned(), temperature.word().to_owned())];
    let Some((best, least, _)) = costs.first() else {
        let reason = "assumed, as nothing was measured here: gadus kub measures";
        let would_change = vec!["facts of this machine's kernel".to_owned()];
        let decision = Decision::new("io path", ASSUMED, reason);
        return (ASSUMED.to_owned(), Decision { inputs, would_change, ..decision });
    };
    let usual = costs.iter().find(|(name, ..)| *name == ASSUMED).map(|(_, cost, _)| cost / least);
    let reason = match usual {
        Some(ratio) if ratio > 1.0 => {
            format!("it takes the least time here: {ASSUMED} takes {ratio:.2} times as long")
        }
        _ => "it takes the least time here".to_owned(),
    };
    let decision = Decision {
        inputs,
        facts: costs.iter().map(|(.., fact)| (*fact).clone()).collect(),
        alternatives: alternatives(&costs),
        would_change: vec!["another kernel, file system or device".to_owned()],
        ..Decision::new("io path", *best, reason)
    };
    ((*best).to_owned(), decision)
}

/// What was measured, the least first.
pub(super) fn alternatives(costs: &[(&str, f64, &crate::facts::Fact)]) -> Vec<Alternative> {
    let alternative = |(name, cost, fact): &(&str, f64, &crate::facts::Fact)| Alternative {
        choice: (*name).to_owned(),
        cost: *cost,
        unit: fact.unit.clone(),
    };
    costs.iter().map(alternative).collect()
}
