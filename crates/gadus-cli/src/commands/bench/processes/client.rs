//! A process that plays a mix on a database of Gadus: how it is started, and what it does.
//!
//! - The first thing that goes wrong in it is told on standard error; all are counted.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use gadus::{Database, Options, Statement, params};
use gadus_base::{Random, clock};
use serde_json::Value;

use super::super::player::{Player as Process, await_start};
use super::super::{Turn, worker};
use super::mix::{Mix, Played, READ, ROWS, UPDATE};
use crate::failure::Failure;

/// Starts such a process.
pub(super) fn start(
    file: &Path,
    mix: Mix,
    turn: &Turn,
    exclusive: bool,
) -> Result<Process, Failure> {
    let mut command = worker::command("play")?;
    command.arg(file).arg("--reads-per-commit").arg(mix.reads_per_commit().to_string());
    command.arg("--sync-delay").arg(format!("{}us", turn.sync_delay.as_micros()));
    command.arg("--time").arg(format!("{}ms", turn.time.as_millis()));
    if exclusive {
        command.arg("--exclusive");
    }
    Process::start(command)
}

/// What such a process does: reads and updates rows until its time is over.
pub(in super::super) fn play(
    file: &Path,
    reads_per_commit: u32,
    sync_delay: Duration,
    time: Duration,
    exclusive: bool,
) -> Result<Value, Failure> {
    let options = Options::new().create(false).sync_delay(sync_delay).exclusive(exclusive);
    let connection = Database::open(file, options)?.connect();
    let mut player = Player {
        read: connection.prepare(READ)?,
        update: connection.prepare(UPDATE)?,
        random: Random::from_system(),
        played: Played::default(),
    };
    await_start()?;
    let started = clock().now();
    while started.elapsed() < time {
        (0..reads_per_commit).for_each(|_| player.read());
        player.commit();
    }
    Ok(player.played.to_json())
}

/// Who plays, and what it did so far.
struct Player {
    read: Statement,
    update: Statement,
    random: Random,
    played: Played,
}

impl Player {
    fn read(&mut self) {
        let id = self.id();
        let row = self.read.query(params![id]).and_then(|mut rows| rows.next().transpose());
        match row.and_then(|row| row.map(|row| row.get::<i64>(0)).transpose()) {
            Ok(Some(_)) => self.played.reads += 1,
            Ok(None) => self.failed(format!("no row has the key {id}")),
            Err(error) => self.failed(error),
        }
    }

    fn commit(&mut self) {
        let id = self.id();
        let begun = clock().now();
        match self.update.execute(params![id]) {
            Ok(1) => self.played.latencies.note(begun.elapsed()),
            Ok(rows) => self.failed(format!("{rows} rows have the key {id}")),
            Err(error) => self.failed(error),
        }
    }

    fn id(&mut self) -> i64 {
        i64::try_from(1 + self.random.below(ROWS)).unwrap_or(1)
    }

    fn failed(&mut self, why: impl Display) {
        if self.played.errors == 0 {
            // The count says it, too.
            let _ = writeln!(io::stderr(), "process {}: {why}", std::process::id());
        }
        self.played.errors += 1;
    }
}
