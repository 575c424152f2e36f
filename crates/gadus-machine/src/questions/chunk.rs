//! How many rows are worked on at a time.

use super::bytes_f64;
use crate::decision::{Alternative, Decision};
use crate::facts::{Facts, Source};
use crate::gather::cache_subject;
use crate::topology::{Cache, CacheKind};
use gadus_base::ByteCount;

/// What is in hand of a row: a value, and its place where it is asked for.
const ROW_BYTES: usize = 10;

/// A chunk has so many rows at least: what is done once for each chunk would cost more than what the cache saves.
const ROWS_MIN: usize = 256;

/// How many rows a scan works on at a time, so that what it has in hand of them stays in the first-level cache of
/// each of the processors: a power of two, `rows_max` at most.
#[must_use]
pub fn decide_chunk_rows(caches: &[Cache], rows_max: usize) -> (usize, Decision) {
    let is_first = |cache: &&Cache| cache.level == 1 && cache.kind != CacheKind::Instruction;
    let least = caches.iter().filter(is_first).min_by_key(|cache| cache.bytes);
    let Some(cache) = least else {
        let reason = "nobody tells how large the first-level cache is: the most there can be";
        return (rows_max, Decision::new("chunk rows", rows_max.to_string(), reason));
    };
    let beyond = |rows: usize| ((rows * ROW_BYTES) as u64).saturating_sub(cache.bytes.0);
    let mut counts = std::iter::successors(Some(rows_max), |rows| Some(rows / 2))
        .take_while(|rows| *rows >= ROWS_MIN)
        .collect::<Vec<_>>();
    // What does not fit is worse the more it is; of what fits, most rows are best.
    counts.sort_by_key(|rows| (beyond(*rows), rows_max - rows));
    let rows = counts.first().copied().unwrap_or(rows_max);
    let alternatives = counts.iter().map(|rows| Alternative {
        choice: rows.to_string(),
        cost: bytes_f64(beyond(*rows)),
        unit: "bytes that do not fit".to_owned(),
    });
    let subject = cache_subject(cache);
    let mut known = Facts::default();
    known.note((subject.as_str(), "size"), cache.bytes.0, "bytes", Source::Discovered);
    let in_hand = ByteCount((rows * ROW_BYTES) as u64);
    let reason =
        format!("{in_hand} of them are in hand, and the first-level cache has {}", cache.bytes);
    let decision = Decision {
        facts: Decision::facts_of(&known, &[(subject.as_str(), "size")]),
        alternatives: alternatives.collect(),
        would_change: vec![format!("a first-level cache that has not {}", cache.bytes)],
        ..Decision::new("chunk rows", rows.to_string(), reason)
    };
    (rows, decision)
}
