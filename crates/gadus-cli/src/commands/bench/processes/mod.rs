//! `gadus bench processes`: point reads and durable commits from many processes on one file.
//!
//! - Each process has one connection, and waits for each answer. SQLite's are Python processes,
//!   PostgreSQL's are its server's, driven by pgbench.
//! - All processes are ready before a turn begins, and the turn ends by the clock.
//! - One process alone stands beside itself with the file opened for it alone: `--against exclusive`.
//! - With `--sync-delay` every sync of Gadus takes longer, in other builds, too; other peers cannot be slowed
//!   down alike and are left out.

mod client;
mod mix;
mod rivals;

pub(super) use client::play;

use std::cell::Cell;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gadus::{Database, Options};

use super::builds::Against;
use super::figures::{self, Figure, Metric};
use super::left::check;
use super::machine::Machine;
use super::player::Player;
use super::rounds::{Entry, GADUS, measure};
use super::workplace::{Workplace, remove_database};
use super::{Common, Repeat, Turn};
use crate::failure::Failure;
use mix::{Mix, Played, ROWS, TABLE};
use rivals::Rivals;

const PER_SYNC: Metric = Metric::higher("commits_per_sync", "commits");
const ERRORS: Metric = Metric::lower("errors", "count");

const PROCESSES_MAX: i64 = 256;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench processes --processes 32 --against sqlite,postgres --json
  gadus bench processes --processes 32 --sync-delay 4ms
  gadus bench processes --mix point --processes 1,2,4,8 --against sqlite --json
  gadus bench processes --processes 1 --against exclusive")]
pub(super) struct Processes {
    /// What each process does
    #[arg(long, value_enum, default_value_t = Mix::Update)]
    mix: Mix,
    /// Numbers of processes
    #[arg(long, visible_alias = "writers", value_delimiter = ',', default_value = "32", value_parser = clap::value_parser!(u32).range(1..=PROCESSES_MAX))]
    processes: Vec<u32>,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    #[command(flatten)]
    turn: Turn,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// Gadus, one process that keeps all others out
    Exclusive,
    Postgres,
    Sqlite,
}

pub(super) fn run(command: &Processes) -> Result<(), Failure> {
    let against = command.turn.fair(&command.against)?;
    if command.mix == Mix::Point && against.contains(&Peer::Postgres) {
        return Err(Failure::message(
            "postgres plays no `--mix point`: leave it out of --against, or use `--mix update`",
        ));
    }
    if against.contains(&Peer::Exclusive) && !command.processes.contains(&1) {
        return Err(Failure::message(
            "--against exclusive is about one process: add `--processes 1`",
        ));
    }
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let rivals = Rivals::start(command, &against, &place)?;
    let errors = Cell::new(0);
    let mut entries = Vec::new();
    for &processes in &command.processes {
        let case = command.mix.case(processes);
        let (place, errors) = (&place, &errors);
        entries.push(Entry::new(case.clone(), GADUS, move || {
            let (played, per_sync) = play_gadus(place, command.mix, processes, &command.turn)?;
            errors.set(errors.get() + played.errors);
            let mut measured = played.measured(command.mix, command.turn.time);
            measured.push((PER_SYNC, per_sync));
            Ok(measured)
        }));
        rivals.enter(&mut entries, &case, processes, command, place);
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    drop(entries);
    rivals.tell_errors()?;
    let mut figures = figures::figures(&series, GADUS);
    #[allow(clippy::cast_precision_loss)] // a count of errors
    let errors = errors.get() as f64;
    figures.push(Figure::alone("all", ERRORS, errors, command.repeat.rounds as usize));
    remove_database(&place.path("gadus.db"))?;
    figures::print("processes", &figures, machine.was_quiet()?, command.common.json)
}

/// A new database, and its file.
fn make_database(place: &Workplace) -> Result<(Database, PathBuf), Failure> {
    let file = place.path("gadus.db");
    remove_database(&file)?;
    let database = Database::open(&file, Options::new())?;
    let connection = database.connect();
    connection.execute(TABLE, &[])?;
    let fill = format!("INSERT INTO counters SELECT value, 0 FROM generate_series(1, {ROWS})");
    connection.execute(&fill, &[])?;
    Ok((database, file))
}

/// One turn of one process that keeps others out.
fn play_exclusively(place: &Workplace, mix: Mix, turn: &Turn) -> Result<Played, Failure> {
    let (database, file) = make_database(place)?;
    drop(database);
    let mut client = client::start(&file, mix, turn, true)?;
    client.wait_ready()?;
    client.go()?;
    let mut played = Played::default();
    played.add(&client.answer()?)?;
    Ok(played)
}

/// One turn of Gadus; gives commits a sync, too.
fn play_gadus(
    place: &Workplace,
    mix: Mix,
    processes: u32,
    turn: &Turn,
) -> Result<(Played, f64), Failure> {
    let (database, file) = make_database(place)?;
    let start = |_| client::start(&file, mix, turn, false);
    let mut started = (0..processes).map(start).collect::<Result<Vec<_>, _>>()?;
    started.iter_mut().try_for_each(Player::wait_ready)?;
    let before = database.statistics().store.log_syncs;
    started.iter_mut().try_for_each(Player::go)?;
    let mut played = Played::default();
    for mut client in started {
        played.add(&client.answer()?)?;
    }
    #[allow(clippy::cast_precision_loss)] // counts of a few seconds
    let syncs = (database.statistics().store.log_syncs - before).max(1) as f64;
    #[allow(clippy::cast_precision_loss)]
    let commits = played.latencies.count() as f64;
    drop(database);
    check(&file)?;
    Ok((played, commits / syncs))
}
