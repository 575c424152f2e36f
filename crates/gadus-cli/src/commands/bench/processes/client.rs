//! A process that plays a mix on a database of Gadus: how it is started, and what it does.
//!
//! - It says when it is ready, begins when told to, and answers with one line when it is through.
//! - The first thing that goes wrong in it is told on standard error; all are counted.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use gadus::{Database, Options, Statement, params};
use gadus_base::{Random, clock};
use serde_json::Value;

use super::super::{Turn, worker};
use super::mix::{Mix, Played, READ, ROWS, UPDATE};
use crate::failure::Failure;

/// A started process.
pub(super) struct Client {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Client {
    pub(super) fn start(file: &Path, mix: Mix, turn: &Turn) -> Result<Self, Failure> {
        let mut command = worker::command("play")?;
        command.arg(file).arg("--reads-per-commit").arg(mix.reads_per_commit().to_string());
        command.arg("--sync-delay").arg(format!("{}us", turn.sync_delay.as_micros()));
        command.arg("--time").arg(format!("{}ms", turn.time.as_millis()));
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let answers = child.stdout.take();
        let answers = answers.ok_or_else(|| Failure::message("a process without output"))?;
        Ok(Self { child, answers: BufReader::new(answers) })
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(Failure::message("a process broke off; see above"));
        }
        Ok(line)
    }

    pub(super) fn wait_ready(&mut self) -> Result<(), Failure> {
        self.line().map(drop)
    }

    pub(super) fn go(&mut self) -> Result<(), Failure> {
        let input = self.child.stdin.as_mut();
        Ok(writeln!(input.ok_or_else(|| Failure::message("a process without input"))?, "go")?)
    }

    pub(super) fn answer(&mut self) -> Result<Value, Failure> {
        let line = self.line()?;
        self.child.wait()?;
        serde_json::from_str(&line)
            .map_err(|error| Failure::message(format!("the answer of a process: {error}")))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // One that has ended needs no more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What such a process does: reads and updates rows until its time is over.
pub(in super::super) fn play(
    file: &Path,
    reads_per_commit: u32,
    sync_delay: Duration,
    time: Duration,
) -> Result<Value, Failure> {
    let options = Options::new().create(false).sync_delay(sync_delay);
    let connection = Database::open(file, options)?.connect();
    let mut player = Player {
        read: connection.prepare(READ)?,
        update: connection.prepare(UPDATE)?,
        random: Random::from_system(),
        played: Played::default(),
    };
    writeln!(io::stdout(), "ready")?;
    io::stdin().read_line(&mut String::new())?;
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
