//! How to wait for what comes soon.

use super::{WAKE, WAKE_ASSUMED, known_wake, wake_fact};
use crate::decision::{Alternative, Decision};
use crate::facts::{Facts, Source};
use crate::limits::Limits;
use crate::topology::CpuSet;
use std::time::Duration;

/// What was seen just now.
const SEEN: (&str, &str) = ("machine", "wake-up");

/// How a thread waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It looks again and again, and keeps a processor.
    Spin,
    /// It is woken.
    Sleep,
}

/// How to wait for what comes after about so long, by what was `measured` of this kernel, or, where it was not, by
/// what waking a thread is `seen` to take now, as [`crate::measure_wake`] says. Who does not know for how long he
/// waits spins for as long as a wake takes, and sleeps then: that costs twice the better way at most.
#[must_use]
pub fn decide_wait(
    limits: &Limits,
    measured: &Facts,
    seen: Option<Duration>,
    expected: Duration,
) -> (Wait, Decision) {
    let kept = known_wake(measured);
    let wake = kept.or(seen).unwrap_or(WAKE_ASSUMED);
    let processors = limits.allowed.as_ref().map(CpuSet::count).filter(|count| *count > 0);
    // Whoever is waited for needs the only processor.
    let is_alone = processors == Some(1) || limits.cpus.is_some_and(|time| time <= 1.0);
    let costs = [(Wait::Spin, expected), (Wait::Sleep, wake)];
    let wait = if expected < wake && !is_alone { Wait::Spin } else { Wait::Sleep };
    let mut costs = costs.to_vec();
    costs.sort_by_key(|(one, cost)| (*one != wait, *cost));
    let mut known = Facts::default();
    known.add_limits(limits);
    // What is kept is as old as it is.
    match wake_fact(measured) {
        Some((fact, _)) => known.set(fact.clone()),
        None if seen.is_some() => {
            known.note(SEEN, wake.as_secs_f64() * 1e6, "µs", Source::Measured);
        }
        None => {}
    }
    let names = [WAKE, SEEN, ("process", "processors"), ("process", "processor time")];
    let reason = match wait {
        Wait::Spin => "it comes before a thread that sleeps would run again".to_owned(),
        Wait::Sleep if is_alone => "whoever is waited for needs the only processor".to_owned(),
        Wait::Sleep => {
            "a processor that spins for longer than a thread takes to wake does nothing else"
                .to_owned()
        }
    };
    let reason = match kept.or(seen) {
        Some(_) => reason,
        None => format!("{reason}; the time of a wake-up is assumed"),
    };
    let decision = Decision {
        inputs: vec![("expected".to_owned(), format!("{} µs", expected.as_micros()))],
        facts: Decision::facts_of(&known, &names),
        alternatives: costs
            .into_iter()
            .map(|(wait, cost)| Alternative {
                choice: word(wait).to_owned(),
                cost: cost.as_secs_f64() * 1e6,
                unit: "µs of a processor, or of waiting".to_owned(),
            })
            .collect(),
        would_change: vec![
            format!("something that comes before or after {} µs", wake.as_micros()),
            "another number of processors".to_owned(),
        ],
        ..Decision::new("wait", word(wait), reason)
    };
    (wait, decision)
}

fn word(wait: Wait) -> &'static str {
    match wait {
        Wait::Spin => "spin",
        Wait::Sleep => "sleep",
    }
}
