//! How clients on this machine and a server tell each other something.

use super::io_path::alternatives;
use crate::decision::Decision;
use crate::facts::{Fact, Facts};
use gadus_base::ByteCount;

/// What is assumed where nothing was measured.
const ASSUMED: &str = "Unix stream";

/// Where a server of a database listens.
const OF_SERVERS: [&str; 2] = [ASSUMED, "TCP"];

/// Measured as what a message costs at least: it goes to no other process.
const WITHIN_A_PROCESS: &str = "call with copy";

/// Ways by memory that both have, or that one reads of the other: what they begin with.
const BY_MEMORY: [&str; 2] = ["shared memory", "process_vm_readv"];

/// Whom a client wants to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// Another process here that is as one likes.
    Process,
    /// A server of a database, by the ways that it has.
    Server,
}

/// How messages of so many bytes are to go to another process here and back, by what was measured for the size next
/// to it. Ways by memory are for those who trust each other: where one of them is the best, the reason says so, and
/// what is the best for others.
#[must_use]
pub fn decide_client_transport(
    measured: &Facts,
    bytes: ByteCount,
    reached: Reached,
) -> (String, Decision) {
    let mut inputs = vec![("message".to_owned(), bytes.exact())];
    let (way, decision) = match reached {
        Reached::Process => decide(measured, bytes, |way| way != WITHIN_A_PROCESS),
        Reached::Server => {
            inputs.push(("of".to_owned(), "a server".to_owned()));
            decide(measured, bytes, |way| OF_SERVERS.contains(&way))
        }
    };
    (way, Decision { inputs, ..decision })
}

fn decide(
    measured: &Facts,
    bytes: ByteCount,
    is_possible: impl Fn(&str) -> bool,
) -> (String, Decision) {
    let all = measured.numbers("kernel", "message of ");
    // "4096 bytes by pipe": of the size that is the nearest by its ratio.
    let of = |(name, cost, fact): &(&'_ str, f64, &'_ Fact)| {
        let (size, way) = name.split_once(" bytes by ")?;
        let size = size.parse::<u64>().ok().filter(|_| is_possible(way))?;
        Some((size, way.to_owned(), *cost, (*fact).clone()))
    };
    let known = all.iter().filter_map(of).collect::<Vec<_>>();
    #[allow(clippy::cast_precision_loss)] // sizes of messages, compared by their ratio
    let distance = |size: u64| ((size.max(1) as f64) / (bytes.0.max(1) as f64)).ln().abs();
    let sizes = known.iter().map(|(size, ..)| *size);
    let Some(nearest) = sizes.min_by(|one, other| distance(*one).total_cmp(&distance(*other)))
    else {
        let reason = "assumed, as nothing was measured here: gadus kub measures";
        let would_change = vec!["facts of this machine's kernel".to_owned()];
        let decision = Decision::new("client transport", ASSUMED, reason);
        return (ASSUMED.to_owned(), Decision { would_change, ..decision });
    };
    let near = known.iter().filter(|(size, ..)| *size == nearest);
    let near = near.map(|(_, way, cost, fact)| (way.as_str(), *cost, fact)).collect::<Vec<_>>();
    let best = near.first().map_or(ASSUMED, |(way, ..)| way).to_owned();
    let mut reason =
        format!("a message of {} there and back takes the least time so", ByteCount(nearest));
    let needs_trust = |way: &str| BY_MEMORY.iter().any(|known| way.starts_with(known));
    if needs_trust(&best) {
        let others = near.iter().find(|(way, ..)| !needs_trust(way));
        let others = others.map_or(ASSUMED, |(way, ..)| way);
        reason.push_str(&format!(
            "; for those who trust each other, as one can change or read the other's memory: for others it is {others}"
        ));
    }
    let decision = Decision {
        facts: near.iter().map(|(.., fact)| (*fact).clone()).collect(),
        alternatives: alternatives(&near),
        would_change: vec![
            "messages of another size".to_owned(),
            "another kernel, or other processors".to_owned(),
        ],
        ..Decision::new("client transport", best.clone(), reason)
    };
    (best, decision)
}
