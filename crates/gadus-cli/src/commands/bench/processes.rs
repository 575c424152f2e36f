//! `gadus bench processes`: durable updates of one row by key, from many processes on one file.
//!
//! - Each writer is a process with one connection, and waits for each answer. SQLite's are Python
//!   processes, PostgreSQL's are its server's, driven by pgbench.
//! - All writers are ready before a turn begins, and the turn ends by the clock.
//! - With `--sync-delay` every sync of Gadus takes longer; peers cannot be slowed down alike and
//!   are left out.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use clap::{Args, ValueEnum};
use gadus::{Database, Options, params};
use gadus_base::{Random, clock};
use serde_json::{Value, json};

use super::figures::{self, Figure, Metric};
use super::latencies::Latencies;
use super::machine::Machine;
use super::peers::{Postgres, Python};
use super::rounds::{Entry, GADUS, measure};
use super::workplace::{Workplace, remove_database};
use super::{Common, Repeat, Turn, worker};
use crate::failure::Failure;

const COMMITS: Metric = Metric::higher("commits", "commits/s");
const P99: Metric = Metric::lower("p99_ms", "ms");
const PER_SYNC: Metric = Metric::higher("commits_per_sync", "commits");
const ERRORS: Metric = Metric::lower("errors", "count");

const TABLE: &str = "CREATE TABLE counters (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)";
const UPDATE: &str = "UPDATE counters SET n = n + 1 WHERE id = ?";
const POSTGRES_UPDATE: &str = "\\set id random(1, 10000)\n\
                               UPDATE counters SET n = n + 1 WHERE id = :id;\n";
const ROWS: u64 = 10_000;
const WRITERS_MAX: i64 = 256;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench processes --writers 32 --against sqlite,postgres --json
  gadus bench processes --writers 32 --sync-delay 4ms")]
pub(super) struct Processes {
    /// Numbers of writing processes
    #[arg(long, value_delimiter = ',', default_value = "32", value_parser = clap::value_parser!(u32).range(1..=WRITERS_MAX))]
    writers: Vec<u32>,
    /// Peers
    #[arg(long, value_delimiter = ',')]
    against: Vec<Peer>,
    #[command(flatten)]
    turn: Turn,
    #[command(flatten)]
    repeat: Repeat,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peer {
    Postgres,
    Sqlite,
}

/// What the writers of a turn did together.
#[derive(Debug, Default)]
struct Written {
    latencies: Latencies,
    errors: u64,
}

pub(super) fn run(command: &Processes) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let against = command.turn.fair(&command.against)?;
    let wanted = |peer| against.contains(&peer);
    let most = command.writers.iter().copied().max().unwrap_or(1);
    let postgres = wanted(Peer::Postgres).then(|| start_postgres(&place, most)).transpose()?;
    let errors = Cell::new(0);
    let mut entries = Vec::new();
    for &writers in &command.writers {
        let case = format!("{writers} writers");
        let (place, errors) = (&place, &errors);
        entries.push(Entry::new(case.clone(), GADUS, move || {
            let (written, per_sync) =
                write(place, writers, command.turn.sync_delay, command.turn.time)?;
            errors.set(errors.get() + written.errors);
            let mut measured = written.measured(command.turn.time);
            measured.push((PER_SYNC, per_sync));
            Ok(measured)
        }));
        if wanted(Peer::Sqlite) {
            entries.push(Entry::new(case.clone(), "sqlite", move || {
                let file = place.path("sqlite");
                remove_database(&file)?;
                Ok(write_sqlite(&file, writers, command.turn.time)?.measured(command.turn.time))
            }));
        }
        if let Some(postgres) = &postgres {
            entries.push(Entry::new(case, "postgres", move || {
                let seconds = command.turn.time.as_secs();
                let mut written = Written::default();
                let latencies = postgres.latencies(POSTGRES_UPDATE, writers, seconds)?;
                latencies.for_each(|latency| written.latencies.note_microseconds(latency));
                Ok(written.measured(Duration::from_secs(seconds.max(1))))
            }));
        }
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    drop(entries);
    let mut figures = figures::figures(&series, GADUS);
    #[allow(clippy::cast_precision_loss)] // a count of errors
    let errors = errors.get() as f64;
    figures.push(Figure::alone("all", ERRORS, errors, command.repeat.rounds as usize));
    remove_database(&place.path("gadus.db"))?;
    figures::print("processes", &figures, machine.was_quiet()?, command.common.json)
}

impl Written {
    #[allow(clippy::cast_precision_loss)] // commits of a few seconds
    fn measured(&self, time: Duration) -> Vec<(Metric, f64)> {
        let rate = self.latencies.count() as f64 / time.as_secs_f64();
        vec![(COMMITS, rate), (P99, self.latencies.percentile_ms(0.99))]
    }

    fn add(&mut self, answer: &Value) -> Result<(), Failure> {
        self.latencies.add(&Latencies::from_json(&answer["latencies"])?);
        self.errors += answer["errors"].as_u64().unwrap_or(0);
        Ok(())
    }
}

fn start_postgres(place: &Workplace, writers: u32) -> Result<Postgres, Failure> {
    let postgres = Postgres::start(&place.path("postgres"), writers)?;
    postgres.execute(TABLE)?;
    let fill = format!("INSERT INTO counters SELECT g, 0 FROM generate_series(1, {ROWS}) g");
    postgres.execute(&fill)?;
    writeln!(io::stderr(), "peers: {}, its defaults", postgres.version()?)?;
    Ok(postgres)
}

/// One turn of Gadus; gives commits a sync, too.
fn write(
    place: &Workplace,
    writers: u32,
    sync_delay: Duration,
    time: Duration,
) -> Result<(Written, f64), Failure> {
    let file = place.path("gadus.db");
    remove_database(&file)?;
    let database = Database::open(&file, Options::new())?;
    let connection = database.connect();
    connection.execute(TABLE, &[])?;
    let fill = format!("INSERT INTO counters SELECT value, 0 FROM generate_series(1, {ROWS})");
    connection.execute(&fill, &[])?;
    let start = |_| Writer::start(&file, sync_delay, time);
    let mut started = (0..writers).map(start).collect::<Result<Vec<_>, _>>()?;
    started.iter_mut().try_for_each(Writer::wait_ready)?;
    let before = database.statistics().store.log_syncs;
    started.iter_mut().try_for_each(Writer::go)?;
    let mut written = Written::default();
    for mut writer in started {
        written.add(&writer.answer()?)?;
    }
    #[allow(clippy::cast_precision_loss)] // counts of a few seconds
    let syncs = (database.statistics().store.log_syncs - before).max(1) as f64;
    #[allow(clippy::cast_precision_loss)]
    let commits = written.latencies.count() as f64;
    Ok((written, commits / syncs))
}

/// A writing process.
struct Writer {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Writer {
    fn start(file: &Path, sync_delay: Duration, time: Duration) -> Result<Self, Failure> {
        let mut command = worker::command("update")?;
        command.arg(file).arg("--sync-delay").arg(format!("{}us", sync_delay.as_micros()));
        command.arg("--time").arg(format!("{}ms", time.as_millis()));
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let answers = child.stdout.take();
        let answers = answers.ok_or_else(|| Failure::message("a writer without output"))?;
        Ok(Self { child, answers: BufReader::new(answers) })
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(Failure::message("a writer broke off; see above"));
        }
        Ok(line)
    }

    fn wait_ready(&mut self) -> Result<(), Failure> {
        self.line().map(drop)
    }

    fn go(&mut self) -> Result<(), Failure> {
        let input = self.child.stdin.as_mut();
        Ok(writeln!(input.ok_or_else(|| Failure::message("a writer without input"))?, "go")?)
    }

    fn answer(&mut self) -> Result<Value, Failure> {
        let line = self.line()?;
        self.child.wait()?;
        serde_json::from_str(&line)
            .map_err(|error| Failure::message(format!("the answer of a writer: {error}")))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // One that has ended needs no more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The writing process: says when it is ready, then updates rows until its time is over.
pub(super) fn update(file: &Path, sync_delay: Duration, time: Duration) -> Result<Value, Failure> {
    let options = Options::new().create(false).sync_delay(sync_delay);
    let connection = Database::open(file, options)?.connect();
    let update = connection.prepare(UPDATE)?;
    let mut random = Random::from_system();
    writeln!(io::stdout(), "ready")?;
    io::stdin().read_line(&mut String::new())?;
    let (mut latencies, mut errors) = (Latencies::default(), 0);
    let started = clock().now();
    while started.elapsed() < time {
        let id = i64::try_from(1 + random.below(ROWS)).unwrap_or(1);
        let begun = clock().now();
        match update.execute(params![id]) {
            Ok(1) => latencies.note(begun.elapsed()),
            _ => errors += 1,
        }
    }
    Ok(json!({ "latencies": latencies.to_json(), "errors": errors }))
}

/// One turn of SQLite.
fn write_sqlite(file: &Path, writers: u32, time: Duration) -> Result<Written, Failure> {
    let mut peers = (0..writers).map(|_| Python::sqlite()).collect::<Result<Vec<_>, _>>()?;
    let make = json!({ "do": "make_counters", "path": file, "create_table": TABLE, "rows": ROWS });
    let [first, ..] = &mut peers[..] else { return Ok(Written::default()) };
    first.ask(&make)?;
    for peer in &mut peers {
        peer.ask(&json!({ "do": "prepare_update", "path": file }))?;
    }
    let request = json!({
        "do": "update", "update": UPDATE, "rows": ROWS, "seconds": time.as_secs_f64(),
    });
    let answers = std::thread::scope(|scope| {
        let ask = |mut peer: Python| {
            let request = &request;
            scope.spawn(move || peer.ask(request))
        };
        let threads = peers.into_iter().map(ask).collect::<Vec<_>>();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let mut written = Written::default();
    for answer in answers {
        written.add(&answer.map_err(|_| Failure::message("a thread broke off"))??)?;
    }
    Ok(written)
}
