//! From which work on a scan has other threads help.

use super::{known_wake, micros, wake_fact};
use crate::decision::{Alternative, Decision};
use crate::facts::{Fact, Facts};
use std::time::Duration;

/// What `gadus kub` calls it.
const MADE: (&str, &str) = ("kernel", "thread made and ended");

/// So much work is always worth help, whatever was measured: another processor does half of it meanwhile.
const WORK_MAX: Duration = Duration::from_micros(500);

/// How much work of one thread a scan needs for others to help with it: less is done before they are there, by what
/// waking a thread of this kernel was `measured` to take, and making one. None where that was not measured: then
/// all help with every scan.
#[must_use]
pub fn decide_scan_helpers(measured: &Facts) -> (Option<Duration>, Decision) {
    let Some(wake) = known_wake(measured) else {
        let reason = "assumed, as nothing was measured here: gadus kub measures";
        let would_change = vec!["facts of this machine's kernel".to_owned()];
        let decision = Decision::new("scan helpers", "with every scan", reason);
        return (None, Decision { would_change, ..decision });
    };
    let made_fact = measured.get(MADE.0, MADE.1);
    let made = made_fact.and_then(|fact| Duration::try_from_secs_f64(fact.cost()? / 1e9).ok());
    let there = wake.max(made.unwrap_or_default());
    let work = there.min(WORK_MAX);
    let mut reason = match made {
        Some(made) if made > wake => {
            format!("a thread is made, and ends, in {:.1} µs", micros(made))
        }
        _ => format!("a thread wakes in {:.1} µs", micros(wake)),
    };
    reason.push_str(match work < there {
        true => "; so much work is always worth help",
        false => ": less is done before it could help",
    });
    // Alone all is one thread's; who helps takes as long to be there as the work takes.
    let cost = |choice: &str, time: Duration| Alternative {
        choice: choice.to_owned(),
        cost: micros(time),
        unit: format!("µs of processors, for a scan of {:.1} µs", micros(work)),
    };
    let facts = wake_fact(measured).map(|(fact, _)| fact).into_iter();
    let facts = facts.chain(made_fact.filter(|_| made.is_some()));
    let decision = Decision {
        facts: facts.cloned().collect::<Vec<Fact>>(),
        alternatives: vec![cost("alone", work), cost("with one more thread", work + there)],
        would_change: vec!["another time to wake a thread, or to make one".to_owned()],
        ..Decision::new("scan helpers", format!("from {:.0} µs of work on", micros(work)), reason)
    };
    (Some(work), decision)
}
