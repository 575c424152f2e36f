//! What writers that were killed have left: looked at from another process, compared with what they
//! have acknowledged, kept where something is wrong.

use std::path::{Path, PathBuf};

use gadus::{ByteCount, CheckReport, Database, Options};
use gadus_base::clock;
use serde_json::{Value, json};

use super::figures::Metric;
use super::worker;
use super::workplace::{Workplace, remove_database};
use crate::commands::ledger::{self, Numbers, Totals, WriterId, Writing};
use crate::failure::Failure;

pub(super) const LOST: Metric = Metric::lower("lost", "count");
pub(super) const ERRORS: Metric = Metric::lower("errors", "count");

/// Log bytes after which the writers' database writes a checkpoint: several a round.
pub(super) const CHECKPOINT_LOG: ByteCount = ByteCount::kib(128);
/// Rows that each writer keeps in the ledger; older ones it deletes.
pub(super) const ROWS_KEPT: u32 = 500;

/// What the rounds found together.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) lost: u64,
    pub(super) errors: u64,
    pub(super) acknowledged: u64,
    /// Looks that found a newer checkpoint than the one before.
    pub(super) checkpointed: u64,
    /// Of all openings, in seconds.
    pub(super) slowest: f64,
}

/// What a database holds: how far the writers came, and the last commit in a checkpoint.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) numbers: Numbers,
    checkpoint: u64,
}

/// A new database with the writers' tables.
pub(super) fn prepare(writing: &Writing) -> Result<(), Failure> {
    remove_database(&writing.file)?;
    let connection = Database::open(&writing.file, Options::new())?.connect();
    ledger::create(&connection, 0..writing.writers)
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

/// What `gadus check` finds in a database, unless that is a problem.
pub(super) fn check(file: &Path) -> Result<CheckReport, Failure> {
    let checked = gadus::check(file, |_, _| ())?;
    match checked.problems.first() {
        Some(problem) => Err(Failure::message(format!("gadus check: {problem}"))),
        None => Ok(checked),
    }
}

/// The verifying process: checks the files as they are, then what a reader finds in them.
pub(super) fn verify(file: &Path) -> Result<Value, Failure> {
    let checked = check(file)?;
    let started = clock().now();
    let options = Options::new().create(false).read_only(true);
    let connection = Database::open(file, options)?.connect();
    let totals = Totals::read(&connection)?;
    let seconds = started.elapsed().as_secs_f64();
    let numbers = totals.verify(&connection, Some(ROWS_KEPT))?;
    let last: Vec<_> = numbers.iter().map(|(writer, n)| (writer.0, n)).collect();
    let checkpoint = checked.last_commit.0 - checked.log_records;
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
