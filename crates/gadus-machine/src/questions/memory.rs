//! What a process takes of the memory that it is given.

use super::bytes_f64;
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

/// The part of `gadus.memory_limit` that a cache takes at most where that was set. Plans may take all of the limit: what
/// the cache takes comes on top.
const OF_MEMORY_LIMIT_DIVISOR: u64 = 8;

/// Decides the size of a cache as [`decide_cache`] does, bounded by a part of a memory limit that was set.
#[must_use]
pub fn decide_cache_beside_plans(
    limits: &Limits,
    memory_limit: ByteCount,
) -> (ByteCount, Decision) {
    let (usual, decision) = decide_cache(limits);
    let part = ByteCount(memory_limit.0 / OF_MEMORY_LIMIT_DIVISOR);
    if part >= usual {
        return (usual, decision);
    }
    let Decision { choice, reason, .. } = decision;
    let reason = format!(
        "an eighth of the {memory_limit} that gadus.memory_limit gives plans; otherwise {choice}: {reason}"
    );
    let would_change = vec!["another gadus.memory_limit".to_owned()];
    (part, Decision { choice: part.exact(), reason, would_change, ..decision })
}

/// Runs of sorted rows that are merged at once, of each of which rows are in hand; what is more than that is merged
/// in turn. Nobody knows how many there will be: with so many, statements sort 64 times what they may hold.
const RUNS: u64 = 64;

/// Of a row, where nobody knows how long rows are.
const ROW_BYTES: u64 = 256;

/// The part of the memory limit for what is in hand.
const IN_HAND_DIVISOR: u64 = 8;

/// Fewer rows at a time cost more for each than they save.
const BATCH_ROWS_MIN: u64 = 256;

/// More rows at a time save nothing more.
const BATCH_ROWS_MAX: u64 = 8_192;

/// How many rows plans pass on at a time that hold no more together than a limit: a power of two.
#[must_use]
pub fn batch_rows(limit: ByteCount) -> usize {
    let most = limit.0 / IN_HAND_DIVISOR / RUNS / ROW_BYTES;
    let rows = most.clamp(BATCH_ROWS_MIN, BATCH_ROWS_MAX).ilog2();
    1 << rows
}

/// The same with its reasons.
#[must_use]
pub fn decide_batch_rows(limit: ByteCount) -> (usize, Decision) {
    let rows = batch_rows(limit);
    let in_hand = |rows: u64| rows * RUNS * ROW_BYTES;
    let part = limit.0 / IN_HAND_DIVISOR;
    let reason = format!(
        "of {RUNS} sorted runs that are merged, with rows of {ROW_BYTES} bytes, {} are in hand: an eighth of the \
         memory limit of {limit} is for that",
        ByteCount(in_hand(rows as u64))
    );
    let mut counts = vec![rows as u64 / 2, rows as u64, rows as u64 * 2];
    counts.retain(|count| (BATCH_ROWS_MIN..=BATCH_ROWS_MAX).contains(count));
    counts.sort_by_key(|count| (in_hand(*count).saturating_sub(part), u64::MAX - count));
    let alternatives = counts.into_iter().map(|count| Alternative {
        choice: count.to_string(),
        cost: bytes_f64(in_hand(count).saturating_sub(part)),
        unit: "bytes beyond that part".to_owned(),
    });
    let mut known = Facts::default();
    known.note(("plans", "memory limit"), limit.0, "bytes", Source::Given);
    let decision = Decision {
        facts: Decision::facts_of(&known, &[("plans", "memory limit")]),
        alternatives: alternatives.collect(),
        would_change: vec!["another memory limit".to_owned()],
        ..Decision::new("batch rows", rows.to_string(), reason)
    };
    (rows, decision)
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
            cost: bytes_f64(bytes.0.saturating_sub(given.0)),
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
