//! `gadus bench kill --processes N`: equals on one file, of which one after another is killed.
//!
//! - A victim is replaced at once by a process that carries on its writer; the others go on.
//! - Most victims are chosen because they are in the middle of what others wait for: this process has
//!   the database open, too, and sees it. How many were hit there is counted by who takes over.
//! - How long the survivors pause around a kill is measured at their acknowledged commits, from
//!   outside: with the start of the replacement, and with whatever else the cores do. Victims that have
//!   much memory are replaced by processes that have theirs before the kill.
//! - After some kills there are as many moments without one: pauses around these come from the machine, its disk, and
//!   checkpoints, and kills have no part in them.
//! - Witnesses of the disk and of each processor run meanwhile ([`super::witness`]). What the machine does to them,
//!   it does to the survivors: pauses are given with that time, without the disk's, and without both.
//! - Every so often all are killed at once, and the files are looked at from another process.

use std::io::{self, Write};
use std::time::Duration;

use gadus::{Database, Options, Stage, Takeovers};
use gadus_base::{Random, clock};

use super::figures::{self, Figure, Metric};
use super::kill::{ACKNOWLEDGED, KILLS, Kill};
use super::left::{CHECKPOINT_LOG, ERRORS, Found, LOST, ROWS_KEPT, State, keep, look, prepare};
use super::machine::Machine;
use super::pause;
use super::witness::{Seen, Witness};
use super::workplace::{Workplace, remove_database};
use crate::commands::ledger::{AFTERMATH, Numbers, Pause, Writers, Writing};
use crate::failure::Failure;
use crate::progress::Progress;

const STALL_999: Metric = Metric::lower("stall_ms_p999", "ms");
const STALL_MEDIAN: Metric = Metric::lower("stall_ms_median", "ms");
const STALL_MAX: Metric = Metric::lower("stall_ms_max", "ms");
const OWN_STALL_999: Metric = Metric::lower("stall_without_disk_ms_p999", "ms");
const OWN_STALL_MAX: Metric = Metric::lower("stall_without_disk_ms_max", "ms");
const BARE_STALL_999: Metric = Metric::lower("stall_without_machine_ms_p999", "ms");
const BARE_STALL_MAX: Metric = Metric::lower("stall_without_machine_ms_max", "ms");
const CALM_999: Metric = Metric::lower("pause_without_kill_ms_p999", "ms");
const CALM_MAX: Metric = Metric::lower("pause_without_kill_ms_max", "ms");
const BARE_SYNC_999: Metric = Metric::lower("bare_sync_ms_p999", "ms");
const BARE_SYNC_MAX: Metric = Metric::lower("bare_sync_ms_max", "ms");
const CPU_WAIT_MAX: Metric = Metric::lower("processor_wait_ms_max", "ms");

const HIT_COMMIT: Metric = Metric::higher("kills_in_commit", "count");
const HIT_SYNC: Metric = Metric::higher("kills_in_sync", "count");
const HIT_CHECKPOINT: Metric = Metric::higher("kills_in_checkpoint", "count");
const HIT_RECYCLING: Metric = Metric::higher("kills_in_recycling", "count");
const HIT_SPACE: Metric = Metric::higher("kills_in_space", "count");
const HIT_FOLD: Metric = Metric::higher("kills_in_fold", "count");

/// Kills between two looks at the files.
const KILLS_EACH: u32 = 100;
/// A victim dies at most this long after the one before.
const REST_MS_MAX: u64 = 20;
/// What victims are in the middle of, in turn; none where it does not matter.
const AIMS: [Option<Stage>; 8] = [
    None,
    Some(Stage::Commit),
    Some(Stage::Sync),
    Some(Stage::Checkpoint),
    None,
    Some(Stage::Recycling),
    Some(Stage::Space),
    Some(Stage::Fold),
];
/// How long to look for one; else it is any.
const AIM_MAX: Duration = Duration::from_millis(20);
/// One victim of this many is killed while it may still be opening.
const EARLY_ONE_IN: u64 = 8;

/// What happened around the kills.
#[derive(Debug, Default)]
struct Around {
    /// The survivors' pauses around each.
    stalls: Vec<Vec<Pause>>,
    /// The pauses around each moment without a kill.
    calm: Vec<Vec<Pause>>,
    /// Kills in the middle of something, by who took over.
    hits: Takeovers,
}

pub(super) fn run(command: &Kill) -> Result<(), Failure> {
    let Kill { kills, processes, resident, ref common, .. } = *command;
    let place = Workplace::make(common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    machine.look_around()?;
    let all = Writing {
        writers: processes,
        rows_kept: Some(ROWS_KEPT),
        checkpoint_log: Some(CHECKPOINT_LOG.0),
        resident,
        ..Writing::new(place.path("kill.db"))
    };
    prepare(&all)?;
    let witness = Witness::start(&place.path("witness"))?;
    let (mut random, mut found) = (Random::from_system(), Found::default());
    let (mut known, mut around) = (State::default(), Around::default());
    let mut progress = Progress::new("killing", u64::from(kills));
    let mut done = 0;
    while done < kills {
        let count = KILLS_EACH.min(kills - done);
        let round = kill_some(&all, count, &mut random, &mut progress, &mut around);
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
    let seen = witness.end()?;
    report(kills, processes, (&found, &around, seen), machine.was_quiet()?, common.json)
}

#[allow(clippy::cast_precision_loss)] // counts below 2^53
fn report(
    kills: u32,
    processes: u32,
    (found, around, mut seen): (&Found, &Around, Seen),
    quiet: bool,
    json: bool,
) -> Result<(), Failure> {
    let hits = &around.hits;
    let stalls = longest(&around.stalls, Pause::length);
    let own = longest(&around.stalls, |pause| seen.without_disk(*pause));
    let without_machine = longest(&around.stalls, |pause| seen.without_machine(*pause));
    let calm = longest(&around.calm, Pause::length);
    seen.syncs.sort_unstable();
    seen.waits.sort_unstable();
    let case = format!("{processes} processes");
    let figures = [
        (KILLS, f64::from(kills)),
        (ACKNOWLEDGED, found.acknowledged as f64),
        (LOST, found.lost as f64),
        (ERRORS, found.errors as f64),
        (STALL_MEDIAN, share_ms(&stalls, 0.5)),
        (STALL_999, share_ms(&stalls, 0.999)),
        (STALL_MAX, share_ms(&stalls, 1.0)),
        (OWN_STALL_999, share_ms(&own, 0.999)),
        (OWN_STALL_MAX, share_ms(&own, 1.0)),
        (BARE_STALL_999, share_ms(&without_machine, 0.999)),
        (BARE_STALL_MAX, share_ms(&without_machine, 1.0)),
        (CALM_999, share_ms(&calm, 0.999)),
        (CALM_MAX, share_ms(&calm, 1.0)),
        (BARE_SYNC_999, share_ms(&seen.syncs, 0.999)),
        (BARE_SYNC_MAX, share_ms(&seen.syncs, 1.0)),
        (CPU_WAIT_MAX, share_ms(&seen.waits, 1.0)),
        (HIT_COMMIT, hits.commit as f64),
        (HIT_SYNC, hits.sync as f64),
        (HIT_CHECKPOINT, hits.checkpoint as f64),
        (HIT_RECYCLING, hits.recycling as f64),
        (HIT_SPACE, hits.space as f64),
        (HIT_FOLD, hits.fold as f64),
    ];
    let figures =
        figures.map(|(metric, value)| Figure::alone(&case, metric, value, kills as usize));
    figures::print("kill", &figures, quiet, json)
}

/// The longest pause around each moment, sorted.
fn longest(around: &[Vec<Pause>], length: impl Fn(&Pause) -> Duration) -> Vec<Duration> {
    let of_one = |pauses: &Vec<Pause>| pauses.iter().map(&length).max().unwrap_or_default();
    let mut all = around.iter().map(of_one).collect::<Vec<_>>();
    all.sort_unstable();
    all
}

/// What so large a share of sorted times does not exceed, in milliseconds.
#[allow(clippy::cast_precision_loss)] // counts below 2^53
fn share_ms(sorted: &[Duration], share: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // an index
    let index = (sorted.len() as f64 * share) as usize;
    let time = sorted.get(index.min(sorted.len().saturating_sub(1)));
    time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// Starts all, kills some one after another, watches them for a while, and kills all at once; returns what they have
/// acknowledged, and adds how long they paused around each kill and each moment without one.
fn kill_some(
    all: &Writing,
    kills: u32,
    random: &mut Random,
    progress: &mut Progress,
    around: &mut Around,
) -> Result<Numbers, Failure> {
    let mut writers = Writers::start(all)?;
    let database = Database::open(&all.file, Options::new().create(false))?;
    for aim in AIMS.iter().cycle().take(kills as usize) {
        let mut victim = writers.any(random);
        if random.below(EARLY_ONE_IN) > 0 {
            writers.wait_for(victim)?;
        }
        writers.prepare_spare()?;
        pause(Duration::from_millis(random.below(REST_MS_MAX)));
        if let Some(stage) = aim {
            victim = find(&database, &writers, *stage).unwrap_or(victim);
        }
        writers.replace(victim)?;
        progress.advance(1);
    }
    // The last one's replacement is started.
    pause(2 * AFTERMATH);
    for _ in 0..kills {
        writers.note_calm();
        pause(AFTERMATH);
    }
    around.hits.add(&database.statistics().store.takeovers);
    // Nobody is left when all are killed at once.
    drop(database);
    let written = writers.end()?;
    around.stalls.extend(written.stalls);
    around.calm.extend(written.calm);
    Ok(written.acknowledged)
}

/// A writer that is in the middle of something, if one is before long.
fn find(database: &Database, writers: &Writers, stage: Stage) -> Option<usize> {
    let began = clock().now();
    while began.elapsed() < AIM_MAX {
        let busy = database.busy().into_iter().filter(|(_, doing)| *doing == stage);
        if let Some(victim) = busy.filter_map(|(pid, _)| writers.with_pid(pid)).next() {
            return Some(victim);
        }
    }
    None
}
