//! How to read files: through the kernel's cache, mapped, or past it.

use crate::decision::{Alternative, Decision};
use crate::facts::{Fact, Facts};

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

/// Reading as assumed, after the kernel was told what will be read.
const ANNOUNCED: &str = "read, all of it announced";

/// What is to be gained before anything is done otherwise than assumed: less is noise the next time.
const GAIN_MIN: f64 = 1.1;

/// How to read much of a file from front to back, such as `O_DIRECT, io_uring, 8 at a time`, by what was measured for its file system and device.
#[must_use]
pub fn decide_io_path(measured: &Facts, temperature: Temperature) -> (String, Decision) {
    let prefix = format!("{} scan by ", temperature.word());
    let costs = measured.numbers("kernel", &prefix);
    let inputs = vec![("cache".to_owned(), temperature.word().to_owned())];
    let (path, decision) = among(&costs, 1.0);
    (path, Decision { inputs, ..decision })
}

/// Whether to tell the kernel what of a database's file will be read, of what is not in memory: the two ways that
/// a database has of those that were measured. It is told where that takes a tenth less.
#[must_use]
pub fn decide_announcing(measured: &Facts) -> (bool, Decision) {
    let prefix = format!("{} scan by ", Temperature::Cold.word());
    let mut costs = measured.numbers("kernel", &prefix);
    costs.retain(|(name, ..)| [ASSUMED, ANNOUNCED].contains(name));
    let inputs = vec![
        ("cache".to_owned(), Temperature::Cold.word().to_owned()),
        ("of".to_owned(), "a database".to_owned()),
    ];
    if costs.len() < 2 {
        // One alone is compared with nothing.
        costs.clear();
    }
    let (path, decision) = among(&costs, GAIN_MIN);
    (path == ANNOUNCED, Decision { inputs, ..decision })
}

/// The one that takes the least time, if what is assumed takes so many times as long.
fn among(costs: &[(&str, f64, &Fact)], gain_min: f64) -> (String, Decision) {
    let Some((best, least, _)) = costs.first() else {
        let reason = "assumed, as nothing was measured here: gadus kub measures";
        let would_change = vec!["facts of this machine's kernel".to_owned()];
        let decision = Decision::new("io path", ASSUMED, reason);
        return (ASSUMED.to_owned(), Decision { would_change, ..decision });
    };
    let usual = costs.iter().find(|(name, ..)| *name == ASSUMED).map(|(_, cost, _)| cost / least);
    let (choice, reason) = match usual {
        Some(ratio) if ratio > 1.0 && ratio < gain_min => (
            ASSUMED,
            format!("it takes {ratio:.2} times as long as {best}, which is no reason to change"),
        ),
        Some(ratio) if ratio > 1.0 => (
            *best,
            format!("it takes the least time here: {ASSUMED} takes {ratio:.2} times as long"),
        ),
        _ => (*best, "it takes the least time here".to_owned()),
    };
    let decision = Decision {
        facts: costs.iter().map(|(.., fact)| (*fact).clone()).collect(),
        alternatives: alternatives(costs),
        would_change: vec!["another kernel, file system or device".to_owned()],
        ..Decision::new("io path", choice, reason)
    };
    (choice.to_owned(), decision)
}

/// What was measured, the least first.
pub(super) fn alternatives(costs: &[(&str, f64, &Fact)]) -> Vec<Alternative> {
    let alternative = |(name, cost, fact): &(&str, f64, &Fact)| Alternative {
        choice: (*name).to_owned(),
        cost: *cost,
        unit: fact.unit.clone(),
    };
    costs.iter().map(alternative).collect()
}
