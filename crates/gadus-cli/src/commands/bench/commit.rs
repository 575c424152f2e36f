//! `gadus bench commit`: durable inserts of one row, by autocommit and prepared.
//!
//! - Clients are threads of this process with a connection each, and wait for each answer.
//! - Each turn begins with an empty table, so that what a turn left to do in the background is no
//!   part of the next one.
//! - The bare loop, one write and one fdatasync, stands beside the single client always.
//! - With `--sync-delay` every sync of Gadus takes longer, in other builds, too; other peers cannot be slowed
//!   down alike and are left out.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use gadus::{Connection, Database, Options, params};
use gadus_base::{Random, clock};
use serde_json::json;

use super::builds::Against;
use super::figures::{self, Figure, Metric, median};
use super::machine::Machine;
use super::peers::{Bare, Postgres, Python};
use super::rounds::{Entry, GADUS, Series, measure};
use super::workplace::{Workplace, remove_database};
use super::{Common, Repeat, Turn, pause};
use crate::failure::Failure;

const RATE: Metric = Metric::higher("commits_per_second", "commits/s");
const SPEEDUP: Metric = Metric::higher("speedup_over_one_client", "");

/// What all create; PostgreSQL counts the identifiers itself, as pgbench has no counter.
const TABLE: &str = "CREATE TABLE notes (id BIGINT PRIMARY KEY, client BIGINT, note TEXT)";
const INSERT: &str = "INSERT INTO notes VALUES (?, ?, ?)";
const POSTGRES_TABLE: &str =
    "CREATE TABLE notes (id BIGSERIAL PRIMARY KEY, client BIGINT, note TEXT)";
const POSTGRES_INSERT: &str =
    "INSERT INTO notes (client, note) VALUES (:client_id, 'a note of some length');\n";
const NOTE: &str = "a note of some length";

const CLIENTS_MAX: i64 = 1000;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench commit --clients 1,64 --against sqlite,postgres --json
  gadus bench commit --clients 1,64 --sync-delay 4ms")]
pub(super) struct Commit {
    /// Numbers of clients
    #[arg(long, value_delimiter = ',', default_value = "1,64", value_parser = clap::value_parser!(u32).range(1..=CLIENTS_MAX))]
    clients: Vec<u32>,
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
    Duckdb,
    Postgres,
    Sqlite,
}

pub(super) fn run(command: &Commit) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let slowed = !command.turn.sync_delay.is_zero();
    let against = command.turn.fair(&command.against)?;
    let rivals = Rivals::start(command, &against, &place)?;
    let mut entries = Vec::new();
    for &clients in &command.clients {
        let case = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
        let place = &place;
        entries.push(Entry::new(case.clone(), GADUS, move || {
            let file = place.path("gadus.db");
            remove_database(&file)?;
            let options = Options::new().sync_delay(command.turn.sync_delay);
            let database = Database::open(&file, options)?;
            database.connect().execute(TABLE, &[])?;
            Ok(vec![(RATE, commits(&database, clients, command.turn.time)?)])
        }));
        rivals.enter(&mut entries, &case, clients, command, place, !slowed);
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    let mut figures = figures::figures(&series, GADUS);
    figures.extend(speedups(&series));
    figures::print("commit", &figures, machine.was_quiet()?, command.common.json)
}

/// The peers of a run.
struct Rivals {
    bare: RefCell<Bare>,
    sqlite: Option<RefCell<Python>>,
    duckdb: Option<RefCell<Python>>,
    postgres: Option<Postgres>,
}

impl Rivals {
    fn start(command: &Commit, against: &[Peer], place: &Workplace) -> Result<Self, Failure> {
        let wanted = |peer| against.contains(&peer);
        let clients_max = command.clients.iter().copied().max().unwrap_or(1);
        let start_postgres = || -> Result<Postgres, Failure> {
            let postgres = Postgres::start(&place.path("postgres"), clients_max)?;
            postgres.execute(POSTGRES_TABLE)?;
            Ok(postgres)
        };
        let rivals = Self {
            bare: RefCell::new(Bare::create(&place.path("bare"))?),
            sqlite: wanted(Peer::Sqlite).then(Python::sqlite).transpose()?.map(RefCell::new),
            duckdb: wanted(Peer::Duckdb)
                .then(|| Python::duckdb(&place.kept))
                .transpose()?
                .map(RefCell::new),
            postgres: wanted(Peer::Postgres).then(start_postgres).transpose()?,
        };
        let mut versions = Vec::new();
        for peer in [&rivals.sqlite, &rivals.duckdb].into_iter().flatten() {
            versions.push(peer.borrow_mut().version()?);
        }
        if let Some(postgres) = &rivals.postgres {
            versions.push(postgres.version()?);
        }
        if !versions.is_empty() {
            writeln!(io::stderr(), "peers: {}, their defaults", versions.join(", "))?;
        }
        Ok(rivals)
    }

    fn enter<'a>(
        &'a self,
        entries: &mut Vec<Entry<'a>>,
        case: &str,
        clients: u32,
        command: &'a Commit,
        place: &'a Workplace,
        bare: bool,
    ) {
        let time = command.turn.time;
        if clients == 1 && bare {
            entries.push(Entry::new(case, "bare", move || {
                Ok(vec![(RATE, self.bare.borrow_mut().commit(time)?)])
            }));
        }
        for (name, peer) in [("sqlite", &self.sqlite), ("duckdb", &self.duckdb)] {
            let Some(peer) = peer else { continue };
            entries.push(Entry::new(case, name, move || {
                let file = place.path(name);
                remove_database(&file)?;
                let rate = python_commits(&mut peer.borrow_mut(), &file, clients, time)?;
                Ok(vec![(RATE, rate)])
            }));
        }
        if let Some(postgres) = &self.postgres {
            entries.push(Entry::new(case, "postgres", move || {
                postgres.execute("TRUNCATE notes")?;
                Ok(vec![(RATE, postgres.commit(POSTGRES_INSERT, clients, time.as_secs())?)])
            }));
        }
    }
}

fn python_commits(
    peer: &mut Python,
    file: &Path,
    clients: u32,
    time: Duration,
) -> Result<f64, Failure> {
    let request = json!({
        "do": "commit",
        "path": file,
        "create_table": TABLE,
        "insert": INSERT,
        "clients": clients,
        "seconds": time.as_secs_f64(),
    });
    peer.ask_number(&request, "commits_per_second")
}

/// Lets `clients` threads commit for as long as told; returns commits a second.
fn commits(database: &Database, clients: u32, time: Duration) -> Result<f64, Failure> {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let ready = Barrier::new(clients as usize + 1);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for client in 0..clients {
            let (connection, stop, done, ready) = (database.connect(), &stop, &done, &ready);
            threads.push(scope.spawn(move || client_loop(&connection, client, stop, done, ready)));
        }
        ready.wait();
        let (before, started) = (done.load(Ordering::Relaxed), clock().now());
        pause(time);
        let count = done.load(Ordering::Relaxed) - before;
        let seconds = started.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        for thread in threads {
            thread.join().map_err(|_| Failure::message("a client broke off"))??;
        }
        #[allow(clippy::cast_precision_loss)] // commits of a few seconds
        Ok(count as f64 / seconds)
    })
}

fn client_loop(
    connection: &Connection,
    client: u32,
    stop: &AtomicBool,
    done: &AtomicU64,
    ready: &Barrier,
) -> Result<(), Failure> {
    // Apart from every other client's, of this turn and of those before.
    let first = i64::try_from(Random::from_system().child(u64::from(client)).next_u64() >> 2);
    let prepared = connection.prepare(INSERT);
    // Also after a failure, or the others would wait for ever.
    ready.wait();
    let (prepared, first) = (prepared?, first.expect("62 bits fit"));
    for id in first.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        prepared.execute(params![id, i64::from(client), NOTE])?;
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// How much faster many clients commit than one.
fn speedups(series: &[Series]) -> Vec<Figure> {
    let own = |series: &&Series| series.who == GADUS;
    let Some(one) = series.iter().filter(own).find(|series| series.case == "1 client") else {
        return Vec::new();
    };
    let many = series.iter().filter(own).filter(|series| series.case != one.case);
    many.map(|many| {
        let speedup = median(&many.values) / median(&one.values);
        Figure::alone(&many.case, SPEEDUP, speedup, many.values.len())
    })
    .collect()
}
