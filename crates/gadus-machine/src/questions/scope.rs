//! Who shares what was read from a file.

use super::{bytes_f64, decide_cache};
use crate::decision::{Alternative, Decision};
use crate::facts::{Facts, Source};
use crate::limits::Limits;
use gadus_base::ByteCount;

/// Whether all connections of a process share a cache, which they wait for, or each has one of its own, which
/// takes as many times the memory: `process` or `connection`. `bytes` is what each of them looks at again and
/// again.
#[must_use]
pub fn decide_cache_scope(
    limits: &Limits,
    connections: u64,
    bytes: ByteCount,
) -> (&'static str, Decision) {
    let (cache, of_cache) = decide_cache(limits);
    let copies = ByteCount(bytes.0.saturating_mul(connections));
    let fits = connections > 1 && copies <= cache;
    let (choice, reason) = match (connections, fits) {
        (0 | 1, _) => ("process", "nobody else waits for the cache".to_owned()),
        (_, true) => (
            "connection",
            format!("a copy for each takes {copies} of a cache of {cache}, and nobody waits"),
        ),
        _ => (
            "process",
            format!("a copy for each would take {copies}, more than the {cache} of a cache"),
        ),
    };
    let mut alternatives = [("process", bytes), ("connection", copies)].map(|(scope, bytes)| {
        let unit = "bytes of memory".to_owned();
        Alternative { choice: scope.to_owned(), cost: bytes_f64(bytes.0), unit }
    });
    alternatives.sort_by_key(|alternative| alternative.choice != choice);
    let mut known = Facts::default();
    known.note(("cache", "size"), cache.0, "bytes", Source::Discovered);
    let mut facts = Decision::facts_of(&known, &[("cache", "size")]);
    facts.extend(of_cache.facts);
    let decision = Decision {
        inputs: vec![
            ("connections".to_owned(), connections.to_string()),
            ("bytes".to_owned(), bytes.exact()),
        ],
        facts,
        alternatives: alternatives.into(),
        would_change: vec![format!("more or less than {cache} for all copies")],
        ..Decision::new("cache scope", choice, reason)
    };
    (choice, decision)
}
