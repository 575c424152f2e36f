//! How often who finds a latch taken looks again before it sleeps.

use super::wait::{Wait, decide_wait};
use super::{known_wake, micros};
use crate::decision::{Alternative, Decision};
use crate::facts::Facts;
use crate::limits::Limits;
use std::time::Duration;

/// Looks where nothing was measured: about the time for which a latch is usually held.
const ASSUMED: u32 = 100;

/// How long that is.
const HELD: Duration = Duration::from_micros(2);

/// More looks are no wait any more, whatever a wake-up was measured to take.
const LOOKS_MAX: u32 = 10_000;

/// How often to look whether a latch is free before sleeping: for as long as a thread takes to wake, by what was
/// `measured` of this kernel, since that costs twice the better way at most; where whoever has the latch needs the
/// only processor, not again. `look` is what a look takes, where somebody knows. Without facts it is what is assumed.
#[must_use]
pub fn decide_latch_looks(
    limits: &Limits,
    measured: &Facts,
    look: Option<Duration>,
) -> (u32, Decision) {
    let (wait, waiting) = decide_wait(limits, measured, None, HELD);
    let known = known_wake(measured).zip(look.filter(|look| !look.is_zero()));
    let (looks, reason) = match known {
        None => (ASSUMED, "assumed, as nothing was measured here: gadus kub measures".to_owned()),
        Some(_) if wait == Wait::Sleep => (1, waiting.reason),
        Some((wake, look)) => {
            let looks = wake.as_nanos() / look.as_nanos();
            let looks = u32::try_from(looks).unwrap_or(LOOKS_MAX).clamp(1, LOOKS_MAX);
            let reason = format!(
                "so many looks of {} ns take as long as a thread takes to wake, {:.1} µs",
                look.as_nanos(),
                micros(wake)
            );
            (looks, reason)
        }
    };
    let alternatives = match known {
        Some((wake, look)) if wait == Wait::Spin => alternatives(looks, wake, look),
        _ => Vec::new(),
    };
    let decision = Decision {
        facts: if known.is_some() { waiting.facts } else { Vec::new() },
        alternatives,
        would_change: vec![
            "another time to wake a thread, or another number of processors".to_owned(),
        ],
        ..Decision::new("latch looks", looks.to_string(), reason)
    };
    (looks, decision)
}

/// What so many looks, and others, cost beside the better of spinning and sleeping, if the latch is free just after
/// the last one.
fn alternatives(looks: u32, wake: Duration, look: Duration) -> Vec<Alternative> {
    let cost = |looks: u32| {
        let spun = micros(look * looks);
        (spun + micros(wake)) / spun.min(micros(wake))
    };
    let mut all = [looks, ASSUMED, 1].map(|looks| (looks, cost(looks))).to_vec();
    all.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    all.dedup_by_key(|(looks, _)| *looks);
    let alternative = |(looks, cost): (u32, f64)| Alternative {
        choice: looks.to_string(),
        cost,
        unit: "times the better of spinning and sleeping, at worst".to_owned(),
    };
    all.into_iter().map(alternative).collect()
}
