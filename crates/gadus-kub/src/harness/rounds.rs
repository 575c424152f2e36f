//! The rounds of a contest.

use super::Harness;
use super::budget::ROUNDS_MIN;
use super::contest::{Contest, Contestant, Repetitions};
use super::instruments::Usage;
use super::statistics::{Ratio, Summary, median};
use super::stopwatch::{Stopwatch, Told};
use crate::error::{ErrorKind, KubError};
use crate::numbers::{figure, nanoseconds};
use crate::report::{Cell, Measured, Parts, Skipped, Stopped, title_of};
use std::time::Duration;

/// Turns that warm up, at most: what is not steady by then is noisy by nature.
const WARM_UP_TURNS_MAX: usize = 12;

/// Turns are steady when the last three are this near to each other.
const STEADY: f64 = 0.05;

/// Rounds between two looks whether intervals are narrow enough: looking takes a millisecond.
const ROUNDS_PER_LOOK: usize = 2;

/// Rounds that are there even of a contest that takes twice its time.
const ROUNDS_IN_TIME_MIN: usize = 3;

/// Turns that a contestant must have time for, or it does not take part.
const TURNS_MIN: u32 = 4;

/// One who takes part, and what it has shown.
struct Player<'a> {
    contestant: Contestant<'a>,
    repetitions: u64,
    /// A figure for each round: nanoseconds for one time.
    rounds: Vec<f64>,
    /// The same of each step.
    steps: Vec<(&'static str, Vec<f64>)>,
    /// What else happened in each turn.
    counts: Vec<(&'static str, Vec<f64>)>,
    usage: Usage,
    turns: u64,
    disturbed: u64,
}

/// What a turn has shown.
struct Turn {
    time: Duration,
    told: Told,
    usage: Usage,
}

pub(super) fn measure(
    harness: &mut Harness<'_>,
    contest: Contest<'_>,
) -> Result<Option<Cell>, KubError> {
    let Contest { benchmark, origin, name, variables, noise, repetitions, .. } = contest;
    let Contest { contestants, equivalent, paper_found, .. } = contest;
    let title = title_of(&name, &variables);
    let began = harness.instruments.now();
    let turn = harness.turn(contestants.len());
    let mut players = Vec::new();
    for contestant in contestants {
        let who = contestant.who.clone();
        match Player::warm_up(harness, contestant, repetitions, turn) {
            Ok(player) => players.push(player),
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                let what = format!("{title}: {who}");
                harness.skip(Skipped { benchmark, what, why: error.to_string() });
            }
            Err(error) => return Err(named(&error, &title, &who)),
        }
    }
    if players.is_empty() {
        return Ok(None);
    }
    let mut order = (0..players.len()).collect::<Vec<_>>();
    let stopped = loop {
        harness.check()?;
        let rounds = players[0].rounds.len();
        let spent = harness.instruments.now().saturating_sub(began);
        if rounds >= harness.budget.rounds_max() {
            break Stopped::Rounds;
        }
        if rounds >= ROUNDS_IN_TIME_MIN && spent >= harness.time * 2 {
            break Stopped::Time;
        }
        if rounds >= ROUNDS_MIN {
            if spent >= harness.time {
                break Stopped::Time;
            }
            if rounds.is_multiple_of(ROUNDS_PER_LOOK)
                && is_narrow(&players, noise.uncertainty_max())
            {
                break Stopped::Narrow;
            }
        }
        shuffle(&mut order, &mut harness.random);
        round(harness, &mut players, &order).map_err(|(error, who)| named(&error, &title, &who))?;
    };
    let reference = players[0].rounds.clone();
    let measured = players.into_iter().enumerate();
    let measured = measured.map(|(place, player)| player.finish((place > 0).then_some(&reference)));
    Ok(Some(Cell {
        benchmark,
        origin,
        name,
        variables,
        unit: "ns".to_owned(),
        measured: measured.collect(),
        stopped,
        quiet: true,
        equivalent,
        paper_found,
    }))
}

/// A turn of each, and in the reverse order another.
fn round(
    harness: &Harness<'_>,
    players: &mut [Player<'_>],
    order: &[usize],
) -> Result<(), (KubError, String)> {
    let mut turns = players.iter().map(|_| Vec::new()).collect::<Vec<Vec<Turn>>>();
    for place in order.iter().chain(order.iter().rev()) {
        let player = &mut players[*place];
        let turn = player.turn(harness);
        turns[*place].push(turn.map_err(|error| (error, player.contestant.who.clone()))?);
    }
    for (player, turns) in players.iter_mut().zip(turns) {
        player.note(&turns);
    }
    Ok(())
}

fn is_narrow(players: &[Player<'_>], uncertainty_max: f64) -> bool {
    let (first, others) = (&players[0], &players[1..]);
    match others {
        [] => {
            let summary = Summary::of(&first.rounds);
            (summary.high - summary.low) / 2.0 / summary.median <= uncertainty_max
        }
        others => others.iter().all(|player| {
            Ratio::of(&player.rounds, &first.rounds).uncertainty() <= uncertainty_max
        }),
    }
}

impl<'a> Player<'a> {
    /// Finds how often the work is to be repeated, and repeats it until it takes alike.
    fn warm_up(
        harness: &Harness<'_>,
        contestant: Contestant<'a>,
        repetitions: Repetitions,
        turn: Duration,
    ) -> Result<Self, KubError> {
        let mut player = Self {
            contestant,
            repetitions: 1,
            rounds: Vec::new(),
            steps: Vec::new(),
            counts: Vec::new(),
            usage: Usage::default(),
            turns: 0,
            disturbed: 0,
        };
        let mut took = player.turn(harness)?.time;
        if took <= harness.time {
            // Once more: the first time may have been the dearest by far.
            took = took.min(player.turn(harness)?.time);
        }
        if took > harness.time / TURNS_MIN {
            let (took, all) = (took.as_secs_f64(), harness.time.as_secs_f64());
            let why = format!("once takes {took:.2} s: too long for a contest of {all:.1} s");
            return Err(KubError::unavailable(why));
        }
        match repetitions {
            Repetitions::Exactly(count) => player.repetitions = count,
            Repetitions::Calibrated(most) => player.calibrate(harness, most, turn)?,
        }
        let mut seen = Vec::new();
        let began = harness.instruments.now();
        for _ in 0..WARM_UP_TURNS_MAX {
            harness.check()?;
            seen.push(nanoseconds(player.turn(harness)?.time));
            let last = &seen[seen.len().saturating_sub(3)..];
            let middle = median(last);
            let is_near = |time: &f64| (time - middle).abs() <= middle * STEADY;
            let spent = harness.instruments.now().saturating_sub(began);
            if (last.len() == 3 && last.iter().all(is_near)) || spent > harness.time / 8 {
                break;
            }
        }
        Ok(player)
    }

    /// Doubles the repetitions until a turn takes long enough.
    fn calibrate(
        &mut self,
        harness: &Harness<'_>,
        most: u64,
        turn: Duration,
    ) -> Result<(), KubError> {
        loop {
            harness.check()?;
            let began = harness.instruments.now();
            let mut took = self.turn(harness)?.time;
            if took >= turn / 2 {
                // Once more: somebody else's turn must not pass for this one's.
                took = took.min(self.turn(harness)?.time);
            }
            // What is done before the time counts must not take for ever, either.
            let spent = harness.instruments.now().saturating_sub(began);
            if took >= turn / 2 || spent >= turn * 8 || self.repetitions >= most {
                return Ok(());
            }
            self.repetitions = (self.repetitions * 2).min(most);
        }
    }

    fn turn(&mut self, harness: &Harness<'_>) -> Result<Turn, KubError> {
        let mut watch = Stopwatch::new(harness.instruments);
        let used = harness.instruments.usage();
        let began = harness.instruments.now();
        (self.contestant.work)(self.repetitions, &mut watch)?;
        let time = harness.instruments.now().saturating_sub(began);
        let usage = harness.instruments.usage().since(used);
        let told = watch.finish();
        Ok(Turn { time: time.saturating_sub(told.paused), told, usage })
    }

    fn note(&mut self, turns: &[Turn]) {
        let count = figure(self.repetitions * turns.len() as u64);
        let total = turns.iter().map(|turn| turn.time).sum::<Duration>();
        self.rounds.push(nanoseconds(total) / count);
        for turn in turns {
            self.usage = self.usage.plus(turn.usage);
            self.turns += 1;
            self.disturbed += u64::from(turn.usage.involuntary_switches > 0);
            for (name, count) in &turn.told.counts {
                match self.counts.iter_mut().find(|(known, _)| known == name) {
                    Some((_, counts)) => counts.push(*count),
                    None => self.counts.push((name, vec![*count])),
                }
            }
        }
        let names = turns.iter().flat_map(|turn| turn.told.steps.iter().map(|(name, _)| *name));
        let mut names = names.collect::<Vec<_>>();
        names.dedup();
        for name in names {
            let of =
                |turn: &Turn| turn.told.steps.iter().find(|(known, _)| *known == name).copied();
            let total = turns.iter().filter_map(of).map(|(_, time)| time).sum::<Duration>();
            let value = nanoseconds(total) / count;
            match self.steps.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) if values.len() < self.rounds.len() => values.push(value),
                Some(_) => {}
                None => self.steps.push((name, vec![value])),
            }
        }
    }

    fn finish(self, reference: Option<&Vec<f64>>) -> Measured {
        let done = figure(self.turns * self.repetitions).max(1.0);
        Measured {
            who: self.contestant.who,
            side: self.contestant.side,
            summary: Summary::of(&self.rounds),
            ratio: reference.map(|reference| Ratio::of(&self.rounds, reference)),
            steps: summaries(&self.steps),
            counts: summaries(&self.counts),
            parts: Parts { steps: self.steps, counts: self.counts },
            user_ns: nanoseconds(self.usage.user) / done,
            system_ns: nanoseconds(self.usage.system) / done,
            voluntary_switches: figure(self.usage.voluntary_switches) / done,
            involuntary_switches: self.usage.involuntary_switches,
            minor_faults: figure(self.usage.minor_faults) / done,
            major_faults: self.usage.major_faults,
            repetitions: self.repetitions,
            disturbed: figure(self.disturbed) / figure(self.turns).max(1.0),
            paper: self.contestant.paper,
            sittings: vec![self.rounds.len()],
            rounds: self.rounds,
        }
    }
}

pub(crate) fn summaries(named: &[(&'static str, Vec<f64>)]) -> Vec<(String, Summary)> {
    named.iter().map(|(name, values)| ((*name).to_owned(), Summary::of(values))).collect()
}

fn named(error: &KubError, name: &str, who: &str) -> KubError {
    KubError::new(error.kind(), format!("{name}: {who}: {error}"))
}

fn shuffle(order: &mut [usize], random: &mut gadus_base::Random) {
    for last in (1..order.len()).rev() {
        let pick = crate::numbers::size(random.below(last as u64 + 1));
        order.swap(last, pick);
    }
}
