//! `gadus bench kill --processes N`: equals on one file, of which one after another is killed.
//!
//! - A victim is replaced at once by a process that carries on its writer; the others go on.
//! - How long the survivors pause around a kill is measured at their acknowledged commits, from
//!   outside: with the start of the replacement, and with whatever else the cores do.
//! - Every so often all are killed at once, and the files are looked at from another process.

use std::io::{self, Write};
use std::time::Duration;

use gadus_base::{Instant, Random, clock};

use super::figures::{self, Figure, Metric};
use super::kill::{
    ACKNOWLEDGED, CHECKPOINT_LOG, ERRORS, Found, KILLS, LOST, ROWS_KEPT, State, keep, look, prepare,
};
use super::machine::Machine;
use super::workplace::{Workplace, remove_database};
use super::{Common, pause};
use crate::commands::ledger::{Numbers, Pause, Writing, WritingProcess};
use crate::failure::Failure;
use crate::progress::Progress;

const STALL_999: Metric = Metric::lower("stall_ms_p999", "ms");
const STALL_MEDIAN: Metric = Metric::lower("stall_ms_median", "ms");
const STALL_MAX: Metric = Metric::lower("stall_ms_max", "ms");

/// Kills between two looks at the files.
const KILLS_EACH: u32 = 100;
/// A victim dies at most this long after the one before.
const REST_MS_MAX: u64 = 20;
/// A pause that begins this long after a kill may still come from it: a latch is looked at every
/// ten milliseconds while somebody waits for it.
const AFTERMATH: Duration = Duration::from_millis(30);
/// One victim of this many is killed while it may still be opening.
const EARLY_ONE_IN: u64 = 8;

/// The writers of one database, each in a process of its own.
struct Writers {
    writing: Writing,
    processes: Vec<WritingProcess>,
    /// When somebody was killed, and the pauses of all that they did not end with.
    kills: Vec<Instant>,
    pauses: Vec<Vec<Pause>>,
}

pub(super) fn run(kills: u32, processes: u32, common: &Common) -> Result<(), Failure> {
    let place = Workplace::make(common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    machine.look_around()?;
    let all = Writing {
        writers: processes,
        rows_kept: Some(ROWS_KEPT),
        checkpoint_log: Some(CHECKPOINT_LOG.0),
        ..Writing::new(place.path("kill.db"))
    };
    prepare(&all)?;
    let (mut random, mut found) = (Random::from_system(), Found::default());
    let (mut known, mut stalls) = (State::default(), Vec::new());
    let mut progress = Progress::new("killing", u64::from(kills));
    let mut done = 0;
    while done < kills {
        let count = KILLS_EACH.min(kills - done);
        let round = Writers::kill_some(&all, count, &mut random, &mut progress, &mut stalls);
        done += count;
        let looked = round.and_then(|acknowledged| {
            found.acknowledged += acknowledged.beyond(&known.numbers);
            look(&all, &acknowledged, &known, &mut found)
        });
        match looked {
            Ok(state) => known = state,
            Err(problem) => {
                found.errors += 1;
                let kept = keep(&place, &all.file, done)?;
                writeln!(io::stderr(), "kill {done}: {problem}; kept in {}", kept.display())?;
                prepare(&all)?;
                known = State::default();
            }
        }
    }
    drop(progress);
    remove_database(&all.file)?;
    report(kills, processes, &found, stalls, machine.was_quiet()?, common.json)
}

#[allow(clippy::cast_precision_loss)] // counts below 2^53
fn report(
    kills: u32,
    processes: u32,
    found: &Found,
    mut stalls: Vec<Duration>,
    quiet: bool,
    json: bool,
) -> Result<(), Failure> {
    stalls.sort_unstable();
    let at = |share: f64| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an index
        let index = (stalls.len() as f64 * share) as usize;
        let stall = stalls.get(index.min(stalls.len().saturating_sub(1)));
        stall.map_or(0.0, |stall| stall.as_secs_f64() * 1e3)
    };
    let case = format!("{processes} processes");
    let figures = [
        (KILLS, f64::from(kills)),
        (ACKNOWLEDGED, found.acknowledged as f64),
        (LOST, found.lost as f64),
        (ERRORS, found.errors as f64),
        (STALL_MEDIAN, at(0.5)),
        (STALL_999, at(0.999)),
        (STALL_MAX, at(1.0)),
    ];
    let figures =
        figures.map(|(metric, value)| Figure::alone(&case, metric, value, kills as usize));
    figures::print("kill", &figures, quiet, json)
}

impl Writers {
    /// Starts all, kills some one after another and then all at once; returns what they have
    /// acknowledged, and adds how long survivors stalled around each kill.
    fn kill_some(
        all: &Writing,
        kills: u32,
        random: &mut Random,
        progress: &mut Progress,
        stalls: &mut Vec<Duration>,
    ) -> Result<Numbers, Failure> {
        let mut writers = Self::start(all)?;
        let mut acknowledged = Numbers::default();
        for process in &writers.processes {
            process.wait()?;
        }
        for _ in 0..kills {
            let victim = usize::try_from(random.below(writers.processes.len() as u64));
            let victim = victim.expect("below the number of processes");
            if random.below(EARLY_ONE_IN) > 0 {
                writers.processes[victim].wait_once()?;
            }
            pause(Duration::from_millis(random.below(REST_MS_MAX)));
            acknowledged.note_all(&writers.replace(victim)?);
            progress.advance(1);
        }
        for process in writers.processes.drain(..) {
            writers.pauses.push(process.pauses(true));
            acknowledged.note_all(&process.kill()?);
        }
        stalls.extend(writers.stalls());
        Ok(acknowledged)
    }

    fn start(all: &Writing) -> Result<Self, Failure> {
        let writing = Writing { writers: 1, ..all.clone() };
        let mut writers =
            Self { writing, processes: Vec::new(), kills: Vec::new(), pauses: Vec::new() };
        for id in 0..all.writers {
            writers.processes.push(writers.process(id)?);
        }
        Ok(writers)
    }

    fn process(&self, id: u32) -> Result<WritingProcess, Failure> {
        WritingProcess::start(&Writing { first_writer: id, ..self.writing.clone() }, 1)
    }

    /// Kills a process and starts another in its place; returns what the killed one acknowledged.
    fn replace(&mut self, victim: usize) -> Result<Numbers, Failure> {
        let killed = self.processes.swap_remove(victim);
        // The place of the last is now the victim's: writers are told apart by their ids.
        let id = killed.first_writer();
        self.pauses.push(killed.pauses(false));
        self.kills.push(clock().now());
        let acknowledged = killed.kill()?;
        let next = self.process(id)?;
        self.processes.push(next);
        Ok(acknowledged)
    }

    /// The longest pause of any survivor that overlaps each kill or its aftermath.
    fn stalls(&self) -> Vec<Duration> {
        let longest = |kill: &Instant| {
            let end = kill.plus(AFTERMATH);
            let overlaps = |pause: &&Pause| pause.from <= end && pause.to >= *kill;
            let pauses = self.pauses.iter().flatten().filter(overlaps);
            pauses.map(|pause| pause.to.since(pause.from)).max().unwrap_or(Duration::ZERO)
        };
        self.kills.iter().map(longest).collect()
    }
}
