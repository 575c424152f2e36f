//! How clients on this machine and a server tell each other something.

use super::io_path::alternatives;
use crate::decision::Decision;
use crate::facts::{Fact, Facts};
use gadus_base::ByteCount;

/// What is assumed where nothing was measured.
const ASSUMED: &str = "Unix stream";

/// Where a server of a database listens.
const OF_SERVERS: [&str; 2] = [ASSUMED, "TCP"];

/// How messages of so many bytes are to go to another process and back, by what was measured for the size next to
/// it. Ways through memory that both have are among them: they are for those who trust each other.
#[must_use]
pub fn decide_client_transport(measured: &Facts, bytes: ByteCount) -> (String, Decision) {
    let inputs = vec![("message".to_owned(), bytes.exact())];
    let (way, decision) = decide(measured, bytes, |_| true);
    (way, Decision { inputs, ..decision })
}

/// How clients on this machine are best to reach a server, by the ways that servers have: as
/// [`decide_client_transport`], but of these.
#[must_use]
pub fn decide_server_transport(measured: &Facts, bytes: ByteCount) -> (String, Decision) {
    let inputs =
        vec![("message".to_owned(), bytes.exact()), ("of".to_owned(), "a server".to_owned())];
    let (way, decision) = decide(measured, bytes, |way| OF_SERVERS.contains(&way));
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
    let reason =
        format!("a message of {} there and back takes the least time so", ByteCount(nearest));
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
