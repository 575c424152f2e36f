//! `gadus bench kill --processes N`: equals on one file, of which one after another is killed.
//!
//! - A victim is replaced at once by a process that carries on its writer; the others go on.
//! - How long the survivors pause around a kill is measured at their acknowledged commits, from
//!   outside: with the start of the replacement, and with whatever else the cores do.
//! - Every so often all are killed at once, and the files are looked at from another process.

use std::io::{self, Write};
use std::time::Duration;

use gadus_base::Random;

use super::figures::{self, Figure, Metric};
use super::kill::{
    ACKNOWLEDGED, CHECKPOINT_LOG, ERRORS, Found, KILLS, LOST, ROWS_KEPT, State, keep, look, prepare,
};
use super::machine::Machine;
use super::workplace::{Workplace, remove_database};
use super::{Common, pause};
use crate::commands::ledger::{Numbers, Writers, Writing};
use crate::failure::Failure;
use crate::progress::Progress;

const STALL_999: Metric = Metric::lower("stall_ms_p999", "ms");
const STALL_MEDIAN: Metric = Metric::lower("stall_ms_median", "ms");
const STALL_MAX: Metric = Metric::lower("stall_ms_max", "ms");

/// Kills between two looks at the files.
const KILLS_EACH: u32 = 100;
/// A victim dies at most this long after the one before.
const REST_MS_MAX: u64 = 20;
/// One victim of this many is killed while it may still be opening.
const EARLY_ONE_IN: u64 = 8;

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
        let round = kill_some(&all, count, &mut random, &mut progress, &mut stalls);
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

/// Starts all, kills some one after another and then all at once; returns what they have
/// acknowledged, and adds how long survivors stalled around each kill.
fn kill_some(
    all: &Writing,
    kills: u32,
    random: &mut Random,
    progress: &mut Progress,
    stalls: &mut Vec<Duration>,
) -> Result<Numbers, Failure> {
    let mut writers = Writers::start(all)?;
    for _ in 0..kills {
        let victim = writers.any(random);
        if random.below(EARLY_ONE_IN) > 0 {
            writers.wait_for(victim)?;
        }
        pause(Duration::from_millis(random.below(REST_MS_MAX)));
        writers.replace(victim)?;
        progress.advance(1);
    }
    let (acknowledged, stalled) = writers.end()?;
    stalls.extend(stalled);
    Ok(acknowledged)
}
