//! `gadus bench soak`: processes that write to one file for hours, of which some are killed.
//!
//! - Half of them live as long as the run; of the others one is killed now and then, and replaced.
//! - What must not grow is looked at again and again: the memory of those who live, the lock table,
//!   the log, the data file. Growth compares the last quarter of the run with the second.
//! - What survives and what grows is counted, not how fast: another build is no peer.
//! - At the end everything acknowledged must be there, and the file sound.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use gadus::{Database, Options};
use gadus_base::{Random, clock};

use super::figures::{self, Figure, Metric, median};
use super::left::{CHECKPOINT_LOG, ERRORS, Found, LOST, ROWS_KEPT, State, keep, look, prepare};
use super::machine::{Machine, proportional_bytes};
use super::workplace::{Workplace, remove_database};
use super::{Common, pause};
use crate::commands::ledger::{Numbers, Writers, Writing};
use crate::failure::Failure;

const HOURS: Metric = Metric::higher("hours", "h");
const COMMITS: Metric = Metric::higher("commits_per_second", "commits/s");
const KILLS: Metric = Metric::higher("kills", "count");
const RESIDENT: Metric = Metric::lower("resident", "bytes");
const LOCK_EXTENTS: Metric = Metric::lower("lock_extents", "count");
const LOG: Metric = Metric::lower("log", "bytes");
const DATA: Metric = Metric::lower("data", "bytes");
const RESIDENT_GROWTH: Metric = Metric::lower("resident_growth", "");
const LOCK_EXTENTS_GROWTH: Metric = Metric::lower("lock_extents_growth", "");
const LOG_GROWTH: Metric = Metric::lower("log_growth", "");
const DATA_GROWTH: Metric = Metric::lower("data_growth", "");

/// Looks at what may grow; a line for people every so many.
const SAMPLES: u32 = 240;
const SAMPLES_A_LINE: usize = 8;
/// At most so long between two looks, and at least.
const SAMPLE_MAX: Duration = Duration::from_secs(60);
const SAMPLE_MIN: Duration = Duration::from_millis(100);
/// Looks for each kill.
const SAMPLES_A_KILL: usize = 2;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench soak
  gadus bench soak --hours 0.5 --json")]
pub(super) struct Soak {
    /// How long
    #[arg(long, default_value_t = 8.0, value_parser = hours)]
    hours: f64,
    /// Processes, a writer each
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=256))]
    processes: u32,
    #[command(flatten)]
    common: Common,
}

fn hours(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(hours) if hours > 0.0 && hours <= 10_000.0 => Ok(hours),
        _ => Err("a number of hours, at most 10000".to_owned()),
    }
}

/// What is there at one moment.
#[derive(Debug, Clone, Copy)]
struct Sample {
    commits: u64,
    /// Of all processes that live as long as the run.
    resident: f64,
    lock_extents: f64,
    log: f64,
    data: f64,
}

pub(super) fn run(command: &Soak) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    machine.look_around()?;
    let all = Writing {
        writers: command.processes,
        rows_kept: Some(ROWS_KEPT),
        checkpoint_log: Some(CHECKPOINT_LOG.0),
        ..Writing::new(place.path("soak.db"))
    };
    prepare(&all)?;
    let time = Duration::from_secs_f64(command.hours * 3600.0);
    let mut found = Found::default();
    let (samples, kills, acknowledged) = watch(&all, time)?;
    found.acknowledged = acknowledged.beyond(&Numbers::default());
    match look(&all, &acknowledged, &State::default(), &mut found) {
        Ok(_) => remove_database(&all.file)?,
        Err(problem) => {
            found.errors += 1;
            let kept = keep(&place, &all.file, kills)?;
            writeln!(io::stderr(), "{problem}; kept in {}", kept.display())?;
        }
    }
    report(command, &samples, kills, &found, machine.was_quiet()?)
}

/// Lets them write, and looks; returns what it saw, how many were killed, and what was acknowledged.
fn watch(all: &Writing, time: Duration) -> Result<(Vec<Sample>, u32, Numbers), Failure> {
    let mut writers = Writers::start(all)?;
    let database = Database::open(&all.file, Options::new().create(false))?;
    let living = all.writers / 2;
    let pids = (0..living as usize).map(|index| writers.pid(index)).collect::<Vec<_>>();
    let rest = (time / SAMPLES).clamp(SAMPLE_MIN, SAMPLE_MAX);
    let (began, mut random) = (clock().now(), Random::from_system());
    let (mut samples, mut kills) = (Vec::new(), 0);
    while began.elapsed() < time {
        pause(rest);
        samples.push(sample(&database, &pids)?);
        if samples.len().is_multiple_of(SAMPLES_A_LINE) {
            tell(began.elapsed(), &samples)?;
        }
        if samples.len().is_multiple_of(SAMPLES_A_KILL) {
            // Those in front live on: a victim's place is taken by the last, and its heir's is the last.
            let others = u64::from(all.writers - living);
            let victim = living as usize + usize::try_from(random.below(others)).unwrap_or(0);
            writers.wait_for(victim)?;
            writers.replace(victim)?;
            kills += 1;
        }
    }
    drop(database);
    let acknowledged = writers.end()?.acknowledged;
    Ok((samples, kills, acknowledged))
}

#[allow(clippy::cast_precision_loss)] // sizes and counts below 2^53
fn sample(database: &Database, pids: &[u32]) -> Result<Sample, Failure> {
    let statistics = database.statistics();
    let resident = pids.iter().map(|pid| proportional_bytes(*pid)).sum::<Result<u64, _>>()?;
    // Follows the others, as a program does that asks now and then.
    database.tables()?;
    Ok(Sample {
        commits: statistics.commit.0,
        resident: resident as f64,
        lock_extents: statistics.locks.extents as f64,
        log: statistics.store.log_file_bytes as f64,
        data: statistics.store.data_file_bytes as f64,
    })
}

fn tell(elapsed: Duration, samples: &[Sample]) -> Result<(), Failure> {
    let Some(last) = samples.last() else { return Ok(()) };
    writeln!(
        io::stderr(),
        "{:>8.0} s  {:>10} commits  resident {:>6.1} MB  lock extents {:>3}  log {:>6.1} MB  data {:>6.1} MB",
        elapsed.as_secs_f64(),
        last.commits,
        last.resident / 1e6,
        last.lock_extents,
        last.log / 1e6,
        last.data / 1e6,
    )?;
    Ok(())
}

/// One of the sizes of a sample.
type Size = fn(&Sample) -> f64;

/// The medians of a quarter of the samples, the first being 0.
fn quarter(samples: &[Sample], number: usize, of: impl Fn(&Sample) -> f64) -> f64 {
    let (from, to) = (number * samples.len() / 4, (number + 1) * samples.len() / 4);
    median(&samples[from..to].iter().map(of).collect::<Vec<_>>())
}

#[allow(clippy::cast_precision_loss)] // counts below 2^53
fn report(
    command: &Soak,
    samples: &[Sample],
    kills: u32,
    found: &Found,
    quiet: bool,
) -> Result<(), Failure> {
    let case = format!("{} processes", command.processes);
    let rounds = samples.len();
    let seconds = command.hours * 3600.0;
    let mut figures = vec![
        (HOURS, command.hours),
        (COMMITS, found.acknowledged as f64 / seconds),
        (KILLS, f64::from(kills)),
        (LOST, found.lost as f64),
        (ERRORS, found.errors as f64),
    ];
    let sizes: [(Metric, Metric, Size); 4] = [
        (RESIDENT, RESIDENT_GROWTH, |sample| sample.resident),
        (LOCK_EXTENTS, LOCK_EXTENTS_GROWTH, |sample| sample.lock_extents),
        (LOG, LOG_GROWTH, |sample| sample.log),
        (DATA, DATA_GROWTH, |sample| sample.data),
    ];
    for (size, growth, of) in sizes {
        let last = quarter(samples, 3, of);
        figures.extend([(size, last), (growth, last / quarter(samples, 1, of))]);
    }
    let figures =
        figures.into_iter().map(|(metric, value)| Figure::alone(&case, metric, value, rounds));
    figures::print("soak", &figures.collect::<Vec<_>>(), quiet, command.common.json)
}
