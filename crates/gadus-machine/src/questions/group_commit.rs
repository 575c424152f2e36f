//! From which time of a sync on its leader lets others come first.

use super::{WAKE_ASSUMED, known_wake, micros, wake_fact};
use crate::decision::Decision;
use crate::facts::{Fact, Facts};
use std::time::Duration;

/// What `gadus kub` calls it.
const SYNC: (&str, &str) = ("kernel", "sync of a record");

/// Those who were just served need some wake-ups until they append again, and may take an eighth of a sync for that.
/// So a sync is to take this many wake-ups: a millisecond, where a wake-up takes as long as assumed.
const WAKES: u32 = 50;

/// Faster syncs are never worth it, and slower ones always, whatever a wake-up was measured to take.
const SYNC_MIN: Duration = Duration::from_micros(100);
const SYNC_MAX: Duration = Duration::from_millis(10);

/// How long a sync has to take for its leader to let those come first whom the last one served, by what waking a
/// thread was `measured` to take. What syncs take is seen as they are made; what one was measured to take says what
/// will come of it.
#[must_use]
pub fn decide_gathering(measured: &Facts) -> (Duration, Decision) {
    let known = known_wake(measured);
    let wake = known.unwrap_or(WAKE_ASSUMED);
    let least = wake.saturating_mul(WAKES).clamp(SYNC_MIN, SYNC_MAX);
    let sync = measured.get(SYNC.0, SYNC.1);
    let took = sync.and_then(|fact| Duration::try_from_secs_f64(fact.cost()? / 1e9).ok());
    let mut reason = format!("{WAKES} times the {:.1} µs in which a thread wakes", micros(wake));
    if known.is_none() {
        reason.push_str("; the time of a wake-up is assumed");
    }
    if let Some(took) = took {
        let gathers = if took < least { "so leaders do not wait" } else { "so leaders wait" };
        reason
            .push_str(&format!("; a sync was measured to take {:.0} µs, {gathers}", micros(took)));
    }
    let choice = format!("from syncs of {:.0} µs on", micros(least));
    let facts = wake_fact(measured)
        .map(|(fact, _)| fact)
        .into_iter()
        .chain(sync.filter(|_| took.is_some()));
    let decision = Decision {
        facts: facts.cloned().collect::<Vec<Fact>>(),
        would_change: vec!["another time to wake a thread".to_owned()],
        ..Decision::new("group commit", choice, reason)
    };
    (least, decision)
}
