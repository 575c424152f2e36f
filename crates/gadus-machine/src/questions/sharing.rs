//! From how many rows on a table's scan is worth sharing.

use super::{WAKE_ASSUMED, bytes_f64 as count_f64, known_wake, wake_fact};
use crate::decision::{Alternative, Decision};
use crate::facts::{Fact, Facts, Source};

/// What is assumed of a scan that runs alone, in rows a second.
const RATE_ASSUMED: f64 = 2.5e9;

/// Tables with fewer rows are not worth a thought, and with more always worth it.
const ROWS_MIN: f64 = 10_000.0;
const ROWS_MAX: f64 = 1_000_000.0;

/// From how many rows of a table on its scan is shared with others that run: a scan that is alone takes the time of its
/// rows, `rate` of them a second where that was seen; one that is shared goes to another thread and back before
/// anything is scanned. `measured` is what is known of this kernel.
#[must_use]
pub fn decide_sharing(measured: &Facts, rate: Option<f64>) -> (u64, Decision) {
    let known = known_wake(measured);
    let there_and_back = known.unwrap_or(WAKE_ASSUMED).saturating_mul(2);
    // A scan that was seen to do nothing tells nothing.
    let rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0);
    let worth = there_and_back.as_secs_f64() * rate.unwrap_or(RATE_ASSUMED);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within bounds
    let rows = worth.clamp(ROWS_MIN, ROWS_MAX) as u64;
    let bound = match worth {
        less if less < ROWS_MIN => "; fewer are never shared",
        more if more > ROWS_MAX => "; so many always are",
        _ => "",
    };
    let assumed = |what: &str, is_known: bool| match is_known {
        true => String::new(),
        false => format!("; {what} is assumed"),
    };
    let reason = format!(
        "{worth:.0} rows are scanned alone in the {:.1} µs in which a statement goes to another thread and \
         back{bound}{}{}",
        there_and_back.as_secs_f64() * 1e6,
        assumed("the time of a wake-up", known.is_some()),
        assumed("the rate of a scan", rate.is_some()),
    );
    let mut seen = Facts::default();
    if let Some(rate) = rate {
        seen.note(("scan", "rate alone"), rate, "rows/s", Source::Observed);
    }
    let alone = count_f64(rows) / rate.unwrap_or(RATE_ASSUMED);
    let mut costs = [("alone", alone), ("shared", there_and_back.as_secs_f64())];
    costs.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let alternatives = costs.map(|(choice, seconds)| Alternative {
        choice: choice.to_owned(),
        cost: seconds * 1e6,
        unit: format!("µs for a table of {rows} rows, before anything is gained"),
    });
    let decision = Decision {
        facts: wake_fact(measured)
            .map(|(fact, _)| fact)
            .into_iter()
            .chain(seen.get("scan", "rate alone"))
            .cloned()
            .collect::<Vec<Fact>>(),
        alternatives: alternatives.into(),
        would_change: vec!["another time to wake a thread, or another rate of scans".to_owned()],
        ..Decision::new("sharing", format!("from {rows} rows on"), reason)
    };
    (rows, decision)
}
