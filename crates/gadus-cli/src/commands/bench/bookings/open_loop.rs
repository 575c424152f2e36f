//! Open loop: statements arrive by a Poisson process, whatever has been answered.
//!
//! - Latency counts from the intended start: what arrives late, because the one who submits is late, has
//!   waited already.
//! - One thread submits and never waits for an answer. Another polls what is outstanding, and is woken by
//!   what is answered; a third reads the rows. A statement is over when its rows are read.
//! - A rate that is not held has no latencies: they would only tell how long the turn was.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use gadus::{Connection, Database, Outcome};
use gadus_base::{Instant, Random, clock};
use tokio::runtime::{Builder, Runtime};

use super::super::figures::Metric;
use super::super::latencies::Latencies;
use super::super::rounds::Measured;
use super::DRAWN;
use super::bare::Bare;
use super::turn::{Answered, P50, P99, RATE, Scans, anywhere, finish};
use crate::commands::pause;
use crate::failure::Failure;
use crate::generate::statements::Statements;

const P999: Metric = Metric::lower("p999_ms", "ms");
/// Whether it was held: 1 or 0.
pub(super) const HELD: Metric = Metric::higher("rate_held", "count");
const BARE_PASS: Metric = Metric::lower("bare_pass_ms", "ms");
const P99_IN_PASSES: Metric = Metric::lower("p99_in_bare_passes", "");

/// Statements that may be outstanding before a turn ends: as many as one may wish for in a closed loop.
const OUTSTANDING_MAX: u64 = 1 << 16;

/// Who submits may be late by this part of a turn at its end.
const LATE_MAX: u32 = 10;

/// A rate is held when of what arrived in the last three quarters of a turn this share was answered in
/// them, but for one batch that may be under way.
const ANSWERED_MIN: f64 = 0.95;

/// How many statements come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Offered {
    PerSecond(f64),
    /// Of the highest rate of the closed loop.
    Share(f64),
}

impl FromStr for Offered {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, is_share) =
            text.strip_suffix('%').map_or((text, false), |number| (number.trim_end(), true));
        match number.parse::<f64>() {
            Ok(percent) if is_share && (1.0..=1000.0).contains(&percent) => {
                Ok(Self::Share(percent / 100.0))
            }
            Ok(rate) if !is_share && (1.0..=1e7).contains(&rate) => Ok(Self::PerSecond(rate)),
            _ => Err("statements per second, from 1 on, or a percentage: 70%".to_owned()),
        }
    }
}

impl fmt::Display for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(rate) => write!(f, "{rate} a second"),
            Self::Share(share) => write!(f, "{:.0} %", share * 100.0),
        }
    }
}

impl Offered {
    /// Statements per second, where the closed loop has reached `highest`.
    pub(super) fn rate(self, highest: f64) -> f64 {
        match self {
            Self::PerSecond(rate) => rate,
            Self::Share(share) => highest * share,
        }
    }
}

/// When statements come, after the beginning: the gaps follow an exponential law.
#[derive(Debug)]
struct Arrivals {
    random: Random,
    rate: f64,
    next: f64,
}

impl Arrivals {
    fn new(rate: f64, seed: u64) -> Self {
        Self { random: Random::seeded(seed), rate, next: 0.0 }
    }
}

impl Iterator for Arrivals {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.next -= (1.0 - self.random.unit()).ln() / self.rate;
        Some(Duration::from_secs_f64(self.next))
    }
}

/// What a turn works on.
#[derive(Clone, Copy)]
pub(super) struct OpenLoop<'a> {
    pub(super) database: &'a Database,
    pub(super) connection: &'a Connection,
    pub(super) statements: &'a Statements<'a>,
    pub(super) bare: &'a Bare,
    pub(super) rate: f64,
    pub(super) time: Duration,
}

/// A statement that was answered, and the rows that are still to be read.
struct Answer {
    is_update: bool,
    intended: Instant,
    outcome: gadus::Result<Outcome>,
}

/// What has come of a turn.
#[derive(Debug, Default)]
struct Turn {
    answered: Answered,
    /// Statements that came, and that were answered, in the last three quarters of the turn.
    arrived: u64,
    answered_meanwhile: u64,
    /// How late the last one was submitted.
    late: Duration,
    overflowed: bool,
}

impl OpenLoop<'_> {
    /// One turn.
    pub(super) fn play(&self) -> Result<Measured, Failure> {
        let before = self.database.statistics();
        let turn = self.turn()?;
        let scans = Scans::between(before, self.database.statistics());
        let batch = scans.batch().unwrap_or(1.0).max(1.0);
        if !turn.held(batch, self.time) {
            return Ok(vec![(HELD, 0.0)]);
        }
        let mut all = Latencies::default();
        all.add(&turn.answered.queries);
        all.add(&turn.answered.updates);
        let p99 = all.percentile_ms(0.99);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at least 1
        let bare = self.bare.pass_ms(self.statements, anywhere(), batch.round() as usize);
        let mut measured = vec![
            (HELD, 1.0),
            (RATE, all.count() as f64 / turn.answered.seconds),
            (P50, all.percentile_ms(0.5)),
            (P99, p99),
            (P999, all.percentile_ms(0.999)),
            (BARE_PASS, bare),
            (P99_IN_PASSES, p99 / bare),
        ];
        measured.extend(scans.figures());
        Ok(measured)
    }

    /// Submits until the time is over, and waits for what is outstanding then.
    fn turn(&self) -> Result<Turn, Failure> {
        let polling =
            Builder::new_multi_thread().worker_threads(1).thread_name("answers").build()?;
        let (sender, answers) = channel();
        let began = clock().now();
        let read = &AtomicU64::new(0);
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || self.read(answers, began, read));
            let mut turn = self.submit(&polling, sender, began, read);
            let (answered, meanwhile) =
                reader.join().map_err(|_| Failure::message("a reader broke off"))??;
            turn.answered = answered;
            turn.answered_meanwhile = meanwhile;
            Ok(turn)
        })
    }

    fn submit(
        &self,
        polling: &Runtime,
        sender: Sender<Answer>,
        began: Instant,
        read: &AtomicU64,
    ) -> Turn {
        let first = anywhere();
        let mut turn = Turn::default();
        let arrivals = Arrivals::new(self.rate, Random::from_system().next_u64());
        for (number, after) in arrivals.take_while(|after| *after < self.time).enumerate() {
            let intended = began.plus(after);
            pause(intended.since(clock().now()));
            turn.late = intended.elapsed();
            if number as u64 - read.load(Ordering::Relaxed) > OUTSTANDING_MAX {
                turn.overflowed = true;
                break;
            }
            let place = (first + number) % DRAWN;
            let is_update = self.statements.is_update(place);
            let pending = self.connection.submit(&self.statements.texts[place], &[]);
            let sender = sender.clone();
            polling.spawn(async move {
                let outcome = pending.await;
                // Who reads has gone only when the turn has failed.
                let _ = sender.send(Answer { is_update, intended, outcome });
            });
            turn.arrived += u64::from(after >= self.time / 4);
        }
        turn
    }

    /// Reads answers until there are no more; gives them, and how many came meanwhile.
    fn read(
        &self,
        answers: Receiver<Answer>,
        began: Instant,
        read: &AtomicU64,
    ) -> Result<(Answered, u64), Failure> {
        let (mut answered, mut meanwhile) = (Answered::default(), 0);
        for answer in answers {
            finish(answer.outcome?)?;
            answered.note(answer.is_update, answer.intended.elapsed());
            read.fetch_add(1, Ordering::Relaxed);
            let after = began.elapsed();
            meanwhile += u64::from((self.time / 4..self.time).contains(&after));
        }
        answered.seconds = began.elapsed().as_secs_f64().max(self.time.as_secs_f64());
        Ok((answered, meanwhile))
    }
}

impl Turn {
    #[allow(clippy::cast_precision_loss)] // counts of a few seconds
    fn held(&self, batch: f64, time: Duration) -> bool {
        let answered = self.answered_meanwhile as f64 + batch;
        !self.overflowed
            && self.late <= time / LATE_MAX
            && answered >= self.arrived as f64 * ANSWERED_MIN
    }
}

#[cfg(test)]
mod tests;
