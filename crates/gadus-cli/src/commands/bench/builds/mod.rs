//! Other builds of Gadus as peers of a benchmark: `--against gadus=PATH`.
//!
//! - A turn is the whole benchmark in a process of its own, with `--json`, the fewest rounds that it allows
//!   and no peers. This program and the builds get the same arguments.
//! - Builds take turns in random order within each round; `--rounds` is the number of turns. A benchmark that
//!   does not warm up itself gets one round more, which does not count.
//! - Figures match by case and metric. Their direction is this build's: an older one may not print it.
//! - Other peers are measured once, before the builds, by this program.
//! - A build that fails leaves the run and is reported by name. The figures of the others are printed, and
//!   the run ends with an error. A figure that only one of two builds has is reported on standard error.

mod against;
mod matching;
mod turn;

pub(super) use against::{Against, NoPeer};

use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use gadus_base::Random;

use self::against::Build;
use self::matching::matched;
use self::turn::{Report, play, turn_arguments};
use super::machine::Machine;
use super::rounds::{GADUS, shuffle};
use super::workplace::Workplace;
use super::{Common, ROUNDS_MIN, Repeat, figures};
use crate::failure::Failure;
use crate::progress::Progress;

/// A benchmark, and the builds to compare in it.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    bench: &'static str,
    builds: Vec<&'a Build>,
    measures_itself: bool,
    /// Turns that count.
    rounds: u32,
    /// The option that [`Comparison::rounds`] is from, unless the benchmark has its own.
    repeat: Option<&'a Repeat>,
    /// Rounds of one turn, the fewest that the benchmark allows; none if it has no such option.
    rounds_per_turn: Option<u32>,
    warms_up: bool,
    common: &'a Common,
}

impl<'a> Comparison<'a> {
    /// Describes a benchmark with a number of rounds of its own.
    pub(super) fn new<P>(
        bench: &'static str,
        against: &'a Against<P>,
        (rounds, rounds_per_turn): (u32, Option<u32>),
        common: &'a Common,
    ) -> Self
    where
        P: ValueEnum + Clone + Send + Sync + 'static,
    {
        let builds = against.builds().collect::<Vec<_>>();
        let measures_itself = builds.is_empty() || against.has_peers();
        Self {
            bench,
            builds,
            measures_itself,
            rounds,
            repeat: None,
            rounds_per_turn,
            warms_up: true,
            common,
        }
    }

    /// Describes a benchmark that is repeated as most are.
    pub(super) fn repeated<P>(
        bench: &'static str,
        against: &'a Against<P>,
        repeat: &'a Repeat,
        common: &'a Common,
    ) -> Self
    where
        P: ValueEnum + Clone + Send + Sync + 'static,
    {
        let repeated = Self::new(bench, against, (repeat.rounds, Some(ROUNDS_MIN)), common);
        Self { repeat: Some(repeat), ..repeated }
    }

    /// Marks a benchmark whose first round counts.
    pub(super) fn without_warm_up(self) -> Self {
        Self { warms_up: false, ..self }
    }

    /// Lets this program also measure by itself if `wanted`, as it does with other peers.
    pub(super) fn also_itself(self, wanted: bool) -> Self {
        Self { measures_itself: self.measures_itself || wanted, ..self }
    }

    /// Runs the benchmark in this process, if other peers or no builds are named, then lets builds take turns.
    pub(super) fn run(&self, bench: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        if self.measures_itself {
            self.repeat.map_or(Ok(()), Repeat::check)?;
            bench()?;
        }
        if self.builds.is_empty() { Ok(()) } else { self.take_turns() }
    }

    fn take_turns(&self) -> Result<(), Failure> {
        let place = Workplace::make(self.common.dir.as_deref())?;
        let mut machine = Machine::describe(place.folder())?;
        let mut contestants = self.contestants()?;
        self.measure(&mut contestants, &mut machine)?;
        let [own, builds @ ..] = &contestants[..] else { return Ok(()) };
        let reports = |of: &Contestant| (of.name.clone(), of.reports.clone());
        let builds_with_reports = builds.iter().filter(|build| !build.reports.is_empty());
        let compared = builds_with_reports.map(reports).collect::<Vec<_>>();
        let matched = matched(&own.reports, &compared);
        for gap in &matched.gaps {
            writeln!(io::stderr(), "{gap}")?;
        }
        let quiet = machine.was_quiet()?;
        if !compared.is_empty() {
            figures::print(self.bench, &matched.figures, quiet, self.common.json)?;
        }
        let failures = builds.iter().filter_map(|build| build.failure.clone()).collect::<Vec<_>>();
        if failures.is_empty() { Ok(()) } else { Err(Failure::Message(failures.join("\n"))) }
    }

    /// This program first, then the builds.
    fn contestants(&self) -> Result<Vec<Contestant>, Failure> {
        let mut contestants = vec![Contestant::new(GADUS, std::env::current_exe()?)];
        for build in &self.builds {
            writeln!(io::stderr(), "peer: {}, {}", build.name, build.version)?;
            contestants.push(Contestant::new(&build.name, build.program.clone()));
        }
        Ok(contestants)
    }

    /// Lets all have their turns; ends early if no build is left to compare with.
    fn measure(
        &self,
        contestants: &mut [Contestant],
        machine: &mut Machine,
    ) -> Result<(), Failure> {
        let arguments = turn_arguments(std::env::args_os().skip(1), self.rounds_per_turn);
        let warm_up = u32::from(!self.warms_up);
        let rounds = self.rounds + warm_up;
        let mut random = Random::from_system();
        let mut order = (0..contestants.len()).collect::<Vec<_>>();
        let mut progress = Progress::new("measuring", u64::from(rounds) * contestants.len() as u64);
        for round in 0..rounds {
            shuffle(&mut order, &mut random);
            machine.look_around()?;
            for &at in &order {
                let is_own = at == 0;
                if contestants.iter().skip(1).all(|build| build.failure.is_some()) {
                    return Ok(());
                }
                let contestant = &mut contestants[at];
                if contestant.failure.is_none() {
                    match play(&contestant.program, &arguments) {
                        Ok(report) if round >= warm_up => contestant.reports.push(report),
                        Ok(_) => {}
                        Err(problem) if is_own => {
                            return Err(Failure::message(format!("{GADUS}: {problem}")));
                        }
                        Err(problem) => {
                            contestant.failure = Some(format!("{}: {problem}", contestant.name));
                        }
                    }
                }
                progress.advance(1);
            }
        }
        Ok(())
    }
}

/// A program that takes turns, and the reports of its turns.
#[derive(Debug)]
struct Contestant {
    name: String,
    program: PathBuf,
    reports: Vec<Report>,
    failure: Option<String>,
}

impl Contestant {
    fn new(name: &str, program: PathBuf) -> Self {
        Self { name: name.to_owned(), program, reports: Vec::new(), failure: None }
    }
}

#[cfg(test)]
mod tests;
