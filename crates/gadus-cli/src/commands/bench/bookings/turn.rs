//! A turn of Gadus, closed loop, and what it measured.
//!
//! - A steady state is measured, as of the bare pass, which has whole batches: from the end of each client's first round,
//!   with all that it has outstanding, to the end of a later one. Clients that begin one after another would share out
//!   their first statements among several passes, and the last pass would have as many as the end of the time let:
//!   that had the rate of a turn of ten passes differ by a tenth.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gadus::{Connection, Database, Outcome, Statistics};
use gadus_base::{Instant, Random, clock};
use serde_json::{Value, json};

use super::super::figures::Metric;
use super::super::latencies::Latencies;
use super::super::rounds::Measured;
use super::DRAWN;
use crate::failure::Failure;
use crate::generate::statements::Statements;

pub(super) const RATE: Metric = Metric::higher("statements", "statements/s");
pub(super) const P50: Metric = Metric::lower("p50_ms", "ms");
pub(super) const P99: Metric = Metric::lower("p99_ms", "ms");
const QUERIES: Metric = Metric::higher("queries", "queries/s");
const UPDATE_P99: Metric = Metric::lower("update_p99_ms", "ms");
const MODIFY: Metric = Metric::lower("modify_ms", "ms");
const PASS: Metric = Metric::lower("pass_ms", "ms");
const BATCH: Metric = Metric::higher("statements_per_pass", "statements");

/// What was answered in a turn, by one or several processes.
#[derive(Debug, Default)]
pub(super) struct Answered {
    pub(super) queries: Latencies,
    pub(super) updates: Latencies,
    pub(super) seconds: f64,
}

/// What shared scans did in a turn.
#[derive(Debug)]
pub(super) struct Scans {
    before: Statistics,
    after: Statistics,
}

/// One turn: so many statements are outstanding until the time is over, divided among the clients; `begin` is called
/// when it begins to count.
pub(super) fn play(
    clients: &[Connection],
    statements: &Statements<'_>,
    outstanding: u32,
    time: Duration,
    begin: &(dyn Fn() + Sync),
) -> Result<Answered, Failure> {
    let all = u32::try_from(clients.len()).unwrap_or(u32::MAX).min(outstanding);
    let (each, more) = (outstanding / all, outstanding % all);
    let rounds = Rounds { time, begin, began: OnceLock::new(), latest: AtomicU64::new(0) };
    let turns = std::thread::scope(|scope| {
        let start = |(place, client)| {
            let part = each + u32::from(place < more);
            let rounds = &rounds;
            scope.spawn(move || play_one(client, statements, part, rounds))
        };
        let begun = (0..all).zip(clients).map(start).collect::<Vec<_>>();
        begun.into_iter().map(|turn| turn.join()).collect::<Vec<_>>()
    });
    let mut answered = Answered::default();
    for turn in turns {
        answered.add(&turn.map_err(|_| Failure::message("a client broke off"))??);
    }
    Ok(answered)
}

/// Rounds that count: each client's second one is the first of them.
struct Rounds<'a> {
    time: Duration,
    begin: &'a (dyn Fn() + Sync),
    began: OnceLock<Instant>,
    /// The latest one that a client has begun in time.
    latest: AtomicU64,
}

impl Rounds<'_> {
    /// Returns when the first one began, which is now for the first client that has come to it.
    fn began(&self) -> Instant {
        *self.began.get_or_init(|| {
            (self.begin)();
            clock().now()
        })
    }

    /// Tells whether a client that has come to a round carries it out: in time, or as the only one after that if
    /// others have begun it.
    fn lets_begin(&self, round: u64, was_late: &mut bool) -> bool {
        if self.began().elapsed() < self.time {
            self.latest.fetch_max(round, Ordering::Relaxed);
            return true;
        }
        !std::mem::replace(was_late, true) && self.latest.load(Ordering::Relaxed) >= round
    }
}

/// The turn of one client.
fn play_one(
    connection: &Connection,
    statements: &Statements<'_>,
    outstanding: u32,
    rounds: &Rounds<'_>,
) -> Result<Answered, Failure> {
    let mut next = (0..statements.texts.len()).cycle().skip(anywhere());
    let mut submit = || {
        let place = next.next().expect("statements go round and round");
        let since = clock().now();
        (since, statements.is_update(place), connection.submit(&statements.texts[place], &[]))
    };
    let mut answered = Answered::default();
    let mut pending = (0..outstanding).map(|_| submit()).collect::<VecDeque<_>>();
    let (mut round, mut left, mut was_late, mut goes_on) = (0, outstanding, false, true);
    while let Some((since, is_update, statement)) = pending.pop_front() {
        finish(statement.wait()?)?;
        if !goes_on {
            continue;
        }
        if round > 0 {
            answered.note(is_update, since.elapsed());
        }
        pending.push_back(submit());
        left -= 1;
        if left == 0 {
            (round, left) = (round + 1, outstanding);
            goes_on = rounds.lets_begin(round, &mut was_late);
            answered.seconds = rounds.began().elapsed().as_secs_f64();
        }
    }
    Ok(answered)
}

/// The same, as figures.
pub(super) fn measured(
    database: &Database,
    clients: &[Connection],
    statements: &Statements<'_>,
    outstanding: u32,
    time: Duration,
) -> Result<Measured, Failure> {
    let before = OnceLock::new();
    let begin = || drop(before.set(database.statistics()));
    let answered = play(clients, statements, outstanding, time, &begin)?;
    let before = before.into_inner().unwrap_or_else(|| database.statistics());
    let scans = Scans::between(before, database.statistics());
    Ok(answered.figures().into_iter().chain(scans.figures()).collect())
}

impl Answered {
    pub(super) fn note(&mut self, is_update: bool, latency: Duration) {
        let latencies = if is_update { &mut self.updates } else { &mut self.queries };
        latencies.note(latency);
    }

    #[allow(clippy::cast_precision_loss)] // counts of a few seconds
    pub(super) fn figures(&self) -> Measured {
        let (queries, updates) = (self.queries.count() as f64, self.updates.count() as f64);
        let mut measured = vec![
            (RATE, (queries + updates) / self.seconds),
            (P50, self.queries.percentile_ms(0.5)),
            (P99, self.queries.percentile_ms(0.99)),
        ];
        if updates > 0.0 {
            measured.push((QUERIES, queries / self.seconds));
            measured.push((UPDATE_P99, self.updates.percentile_ms(0.99)));
        }
        measured
    }

    /// Adds what another client, or process, answered at the same time.
    pub(super) fn add(&mut self, other: &Self) {
        self.queries.add(&other.queries);
        self.updates.add(&other.updates);
        self.seconds = self.seconds.max(other.seconds);
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "queries": self.queries.to_json(),
            "updates": self.updates.to_json(),
            "seconds": self.seconds,
        })
    }

    pub(super) fn from_json(value: &Value) -> Result<Self, Failure> {
        let seconds = value["seconds"].as_f64();
        Ok(Self {
            queries: Latencies::from_json(&value["queries"])?,
            updates: Latencies::from_json(&value["updates"])?,
            seconds: seconds.ok_or_else(|| Failure::message(format!("no seconds in {value}")))?,
        })
    }
}

impl Scans {
    pub(super) fn between(before: Statistics, after: Statistics) -> Self {
        Self { before, after }
    }

    /// Statements of one pass; none where nothing was shared.
    #[allow(clippy::cast_precision_loss)] // counts of a few seconds
    pub(super) fn batch(&self) -> Option<f64> {
        let (before, after) = (&self.before.clock, &self.after.clock);
        let passes = after.passes - before.passes;
        let asked = after.questions + after.modifications - before.questions - before.modifications;
        (passes > 0).then(|| asked as f64 / passes as f64)
    }

    #[allow(clippy::cast_precision_loss)] // counts of a few seconds
    pub(super) fn figures(&self) -> Measured {
        let (before, after) = (&self.before.clock, &self.after.clock);
        let milliseconds = |time: Duration, count: u64| time.as_secs_f64() * 1e3 / count as f64;
        let mut measured = Measured::new();
        if let Some(batch) = self.batch() {
            let passes = after.passes - before.passes;
            measured.push((PASS, milliseconds(after.pass_time - before.pass_time, passes)));
            measured.push((BATCH, batch));
        }
        let commits = after.modifying_commits - before.modifying_commits;
        if commits > 0 {
            measured.push((MODIFY, milliseconds(after.modify_time - before.modify_time, commits)));
        }
        measured
    }
}

/// A place among the statements.
pub(super) fn anywhere() -> usize {
    usize::try_from(Random::from_system().below(DRAWN as u64)).unwrap_or(0)
}

/// Reads all rows of an answer.
pub(super) fn finish(outcome: Outcome) -> Result<(), Failure> {
    let mut rows = outcome.into_rows();
    while rows.next_batch()?.is_some() {}
    Ok(())
}
