//! What a process takes of the memory that it is given.

use crate::decision::{Alternative, Decision};
use crate::facts::{FactValue, Facts, Source};
use crate::limits::Limits;
use gadus_base::ByteCount;

/// What is assumed where nobody tells how much memory there is.
const ASSUMED: ByteCount = ByteCount::gib(1);

/// A part of the memory that is given, for a purpose.
struct Part {
    question: &'static str,
    divisor: u64,
    /// The part in words.
    word: &'static str,
    /// What the rest is for.
    rest: &'static str,
}

/// How much memory a process uses for what it works on. The rest is for what is kept for later, by the process
/// and by the system for it, and for what nobody counts.
#[must_use]
pub fn decide_memory_limit(limits: &Limits) -> (ByteCount, Decision) {
    let part = Part {
        question: "memory limit",
        divisor: 2,
        word: "half",
        rest: "the rest is for what is kept of files, and what is not counted",
    };
    part.decide(limits)
}

/// How much memory a process uses at most for what it has read and keeps. The system keeps files, too, and gives
/// them up for whoever needs memory; what a process keeps, it must give up itself.
#[must_use]
pub fn decide_cache(limits: &Limits) -> (ByteCount, Decision) {
    let part = Part {
        question: "cache",
        divisor: 8,
        word: "an eighth",
        rest: "half is for what is worked on, and the rest for the system, which keeps files, too",
    };
    part.decide(limits)
}

impl Part {
    fn decide(&self, limits: &Limits) -> (ByteCount, Decision) {
        let Self { question, divisor, word, rest } = self;
        let bounds = [
            ("the machine has", limits.memory_of_machine),
            ("the control group may have", limits.memory),
            ("the control group may have before it is slowed down", limits.memory_high),
        ];
        let bounds = bounds.into_iter().filter_map(|(who, bytes)| Some((who, bytes?)));
        let mut bounds = bounds.collect::<Vec<_>>();
        bounds.sort_by_key(|(_, bytes)| *bytes);
        let given = limits.memory_given().unwrap_or(ASSUMED);
        let part = |bytes: ByteCount| ByteCount(bytes.0 / divisor);
        let (reason, would_change) = match bounds.first() {
            Some((who, bytes)) => (
                format!("{word} of the {bytes} that {who}; {rest}"),
                format!("more or less than the {bytes} that {who}"),
            ),
            None => (
                format!("{word} of {given}: nobody tells how much memory there is"),
                "somebody who tells how much memory there is".to_owned(),
            ),
        };
        let alternatives = bounds.iter().map(|(who, bytes)| Alternative {
            choice: format!("{}, {word} of what {who}", part(*bytes)),
            cost: bytes_f64(ByteCount(bytes.0.saturating_sub(given.0))),
            unit: "bytes that are not given".to_owned(),
        });
        let decision = Decision {
            facts: facts(limits),
            alternatives: alternatives.collect(),
            would_change: vec![would_change],
            ..Decision::new(question, part(given).exact(), reason)
        };
        (part(given), decision)
    }
}

/// Those that count.
fn facts(limits: &Limits) -> Vec<crate::facts::Fact> {
    let mut known = Facts::default();
    known.add_limits(limits);
    let unknown = || FactValue::Unknown("the system does not tell".to_owned());
    let total = limits.memory_of_machine.map_or_else(unknown, |bytes| bytes.0.into());
    known.note(("machine", "memory"), total, "bytes", Source::Discovered);
    let names = [("machine", "memory"), ("process", "memory limit"), ("process", "memory high")];
    Decision::facts_of(&known, &names)
}

#[allow(clippy::cast_precision_loss)] // a cost
fn bytes_f64(bytes: ByteCount) -> f64 {
    bytes.0 as f64
}
