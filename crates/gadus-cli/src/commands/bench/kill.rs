//! `gadus bench kill`: a process with several writers, small checkpoints and random death.
//!
//! - Each round starts a writing process on what the last one left, kills it with SIGKILL at a
//!   random moment, sometimes while it still opens, and looks at the files from a third process.
//! - What survives is counted, not how fast: another build is no peer.
//! - What a round found wrong is printed, its files are kept, and the next begins with new ones.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use gadus::ByteCount;
use gadus_base::Random;

use super::figures::{self, Figure, Metric};
use super::left::{CHECKPOINT_LOG, ERRORS, Found, LOST, ROWS_KEPT, State, keep, look, prepare};
use super::machine::Machine;
use super::workplace::{Workplace, remove_database};
use super::{Common, pause};
use crate::commands::ledger::{Numbers, Writing, WritingProcess};
use crate::failure::Failure;
use crate::progress::Progress;

pub(super) const KILLS: Metric = Metric::higher("kills", "count");
pub(super) const ACKNOWLEDGED: Metric = Metric::higher("acknowledged", "count");
const CHECKPOINTED: Metric = Metric::higher("kills_after_new_checkpoints", "count");
const OPENING: Metric = Metric::lower("open_time_max", "s");

/// A writer lives at most this long after its first acknowledged commit …
const LIFE_MS_MAX: u64 = 120;
/// … and one round of this many kills it this soon after its start, whatever it does then.
const EARLY_ONE_IN: u64 = 8;
const EARLY_US_MAX: u64 = 20_000;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench kill --kills 1000 --json
  gadus bench kill --processes 8 --kills 10000 --json
  gadus bench kill --processes 8 --kills 300 --resident 2GiB")]
pub(super) struct Kill {
    /// How often the writing process is killed
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) kills: u32,
    /// Threads of the writing process that commit
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    writers: u32,
    /// Processes that write at the same time, of which one after another is killed; each has one
    /// writer then
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) processes: u32,
    /// Memory that each of several processes has beside, such as 2GiB: their death takes longer
    #[arg(long, value_name = "SIZE")]
    pub(super) resident: Option<ByteCount>,
    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(command: &Kill) -> Result<(), Failure> {
    if command.processes > 1 {
        return super::kill_among::run(command);
    }
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    machine.look_around()?;
    let writing = Writing {
        writers: command.writers,
        rows_kept: Some(ROWS_KEPT),
        checkpoint_log: Some(CHECKPOINT_LOG.0),
        ..Writing::new(place.path("kill.db"))
    };
    prepare(&writing)?;
    let (mut random, mut found) = (Random::from_system(), Found::default());
    let mut known = State::default();
    let mut progress = Progress::new("killing", u64::from(command.kills));
    for round in 1..=command.kills {
        let acknowledged = write_and_kill(&writing, &mut random)?;
        found.acknowledged += acknowledged.beyond(&known.numbers);
        match look(&writing, &acknowledged, &known, &mut found) {
            Ok(state) => known = state,
            Err(problem) => {
                found.errors += 1;
                let kept = keep(&place, &writing.file, round)?;
                writeln!(io::stderr(), "kill {round}: {problem}; kept in {}", kept.display())?;
                prepare(&writing)?;
                known = State::default();
            }
        }
        progress.advance(1);
    }
    drop(progress);
    remove_database(&writing.file)?;
    report(command, &found, machine.was_quiet()?)
}

#[allow(clippy::cast_precision_loss)] // counts below 2^53
fn report(command: &Kill, found: &Found, quiet: bool) -> Result<(), Failure> {
    let case = format!("{} writers", command.writers);
    let rounds = command.kills as usize;
    let figures = [
        (KILLS, f64::from(command.kills)),
        (ACKNOWLEDGED, found.acknowledged as f64),
        (LOST, found.lost as f64),
        (ERRORS, found.errors as f64),
        (CHECKPOINTED, found.checkpointed as f64),
        (OPENING, found.slowest),
    ];
    let figures = figures.map(|(metric, value)| Figure::alone(&case, metric, value, rounds));
    figures::print("kill", &figures, quiet, command.common.json)
}

/// Starts a writing process and kills it; returns what it has acknowledged.
fn write_and_kill(writing: &Writing, random: &mut Random) -> Result<Numbers, Failure> {
    let process = WritingProcess::start(writing, 1)?;
    let life = if random.below(EARLY_ONE_IN) == 0 {
        // Nobody waits for the first commit of a process that is killed early.
        Duration::from_micros(random.below(EARLY_US_MAX))
    } else {
        process.wait()?;
        Duration::from_millis(random.below(LIFE_MS_MAX))
    };
    pause(life);
    process.kill()
}
