//! `gadus bench kill`: a process with several writers, small checkpoints and random death.
//!
//! - Each round starts a writing process on what the last one left, kills it with SIGKILL at a
//!   random moment, sometimes while it still opens, and looks at the files from a third process.
//! - What a round found wrong is printed, its files are kept, and the next begins with new ones.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use gadus::{ByteCount, Database, Options};
use gadus_base::{Random, clock};
use serde_json::{Value, json};

use super::figures::{self, Figure, Metric};
use super::machine::Machine;
use super::workplace::{Workplace, remove_database};
use super::{Common, pause, worker};
use crate::commands::ledger::{self, Numbers, Totals, WriterId, Writing, WritingProcess};
use crate::failure::Failure;
use crate::progress::Progress;

pub(super) const KILLS: Metric = Metric::higher("kills", "count");
pub(super) const LOST: Metric = Metric::lower("lost", "count");
pub(super) const ERRORS: Metric = Metric::lower("errors", "count");
pub(super) const ACKNOWLEDGED: Metric = Metric::higher("acknowledged", "count");
const CHECKPOINTED: Metric = Metric::higher("kills_after_new_checkpoints", "count");
const OPENING: Metric = Metric::lower("open_time_max", "s");

/// Log bytes after which the writers' database writes a checkpoint: several a round.
pub(super) const CHECKPOINT_LOG: ByteCount = ByteCount::kib(128);
/// Rows that each writer keeps in the ledger; older ones it deletes.
pub(super) const ROWS_KEPT: u32 = 500;
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

/// What the rounds found together.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) lost: u64,
    pub(super) errors: u64,
    pub(super) acknowledged: u64,
    checkpointed: u64,
    slowest: f64,
}

/// What a database holds: how far the writers came, and the last commit in a checkpoint.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) numbers: Numbers,
    checkpoint: u64,
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

/// A new database with the writers' tables.
pub(super) fn prepare(writing: &Writing) -> Result<(), Failure> {
    remove_database(&writing.file)?;
    let connection = Database::open(&writing.file, Options::new())?.connect();
    ledger::create(&connection, 0..writing.writers)
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

/// Looks at what a killed process left, from a new one.
pub(super) fn look(
    writing: &Writing,
    acknowledged: &Numbers,
    before: &State,
    found: &mut Found,
) -> Result<State, Failure> {
    let mut command = worker::command("verify")?;
    command.arg(&writing.file);
    let answer = worker::answer(command)?;
    let last: Vec<(u32, i64)> = serde_json::from_value(answer["last"].clone())
        .map_err(|error| Failure::message(format!("{answer}: {error}")))?;
    let mut numbers = Numbers::default();
    last.into_iter().for_each(|(writer, n)| numbers.note(WriterId(writer), n));
    if numbers.iter().count() != writing.writers as usize {
        return Err(Failure::message(format!("not {} writers: {answer}", writing.writers)));
    }
    // Also what the last look found, and so was durable then.
    let mut expected = before.numbers.clone();
    expected.note_all(acknowledged);
    found.lost += expected.beyond(&numbers);
    let state = State { numbers, checkpoint: answer["checkpoint"].as_u64().unwrap_or(0) };
    found.checkpointed += u64::from(state.checkpoint > before.checkpoint);
    found.slowest = found.slowest.max(answer["seconds"].as_f64().unwrap_or(0.0));
    Ok(state)
}

/// The verifying process: checks the files as they are, then what a reader finds in them.
pub(super) fn verify(file: &Path) -> Result<Value, Failure> {
    let checked = gadus::check(file, |_, _| ())?;
    if let Some(problem) = checked.problems.first() {
        return Err(Failure::message(format!("gadus check: {problem}")));
    }
    let started = clock().now();
    let options = Options::new().create(false).read_only(true);
    let connection = Database::open(file, options)?.connect();
    let totals = Totals::read(&connection)?;
    let seconds = started.elapsed().as_secs_f64();
    let numbers = totals.verify(&connection, Some(ROWS_KEPT))?;
    let last: Vec<_> = numbers.iter().map(|(writer, n)| (writer.0, n)).collect();
    let checkpoint = checked.last_commit.0 - checked.log_records as u64;
    Ok(json!({ "last": last, "checkpoint": checkpoint, "seconds": seconds }))
}

/// Copies the files of a round that found something.
pub(super) fn keep(place: &Workplace, file: &Path, round: u32) -> Result<PathBuf, Failure> {
    let folder = place.kept.join(format!("kill-{}-{round}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for entry in std::fs::read_dir(place.folder())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&name) {
            std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(folder)
}
