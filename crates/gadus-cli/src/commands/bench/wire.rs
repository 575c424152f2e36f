//! `gadus bench wire`: what the server costs, beside PostgreSQL and beside the embedded database.
//!
//! - Both servers are driven by the same programs: pgbench with its own tables and script, and psycopg.
//! - A look-up through the server is compared with the same one in a process that has the file open.
//! - Beside the latency of one client stands that of an echo: two threads that sleep, and do nothing but wake
//!   each other. Where processors sleep deeply, that is most of what a server costs that sleeps, too.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use clap::{Args, ValueEnum};
use gadus::{Database, Options, Value};
use gadus_base::{Random, clock};
use serde_json::json;

use super::builds::Against;
use super::figures::{self, Metric};
use super::machine::Machine;
use super::peers::{Endpoint, Postgres, Python, Served};
use super::rounds::{Entry, GADUS, Measured, measure};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::failure::Failure;

const RATE: Metric = Metric::higher("transactions", "transactions/s");
/// Until the driver has all rows, and until Python has all values.
const RECEIVED: Metric = Metric::higher("rows_received", "rows/s");
const ROWS: Metric = Metric::higher("rows_fetched", "rows/s");
const LATENCY: Metric = Metric::lower("latency", "us");
/// What the server adds to the same statement in a process that has the file open.
const OVERHEAD: Metric = Metric::lower("overhead_per_statement", "us");

/// Rows of pgbench's accounts for each unit of its scale.
const ACCOUNTS: u64 = 100_000;
const POSTGRES: &str = "postgres";
const ECHO: &str = "echo";

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus bench wire --against postgres --json")]
pub(super) struct Wire {
    /// Scale of pgbench's tables: a hundred thousand accounts each
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    scale: u32,
    /// Clients at once
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    clients: u32,
    /// Rows of the result that a driver reads
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// How long one turn takes
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "5s")]
    time: Duration,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    Postgres,
}

pub(super) fn run(command: &Wire) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let file = place.path("wire.gadus");
    let served = Served::start(&file, &place.path("sockets"))?;
    let driver = RefCell::new(Python::psycopg(&place.kept)?);
    let postgres = match command.against.contains(Peer::Postgres) {
        true => Some(Postgres::start(&place.path("postgres"), command.clients)?),
        false => None,
    };
    let mut servers = vec![(GADUS, served.unix.clone())];
    servers.extend(postgres.iter().map(|postgres| (POSTGRES, postgres.endpoint())));
    for (_, server) in &servers {
        server.initialize(command.scale)?;
        let request = json!({ "do": "make", "address": server.told(), "rows": command.rows });
        driver.borrow_mut().ask(&request)?;
    }
    let embedded = Embedded::open(&file, u64::from(command.scale) * ACCOUNTS)?;
    let (clients, rows, seconds) = (command.clients, command.rows, command.time.as_secs());
    let mut entries = Vec::new();
    for (who, server) in &servers {
        let case = format!("look-ups, {clients} clients");
        entries.push(Entry::new(case, who, move || {
            Ok(vec![(RATE, server.select_only(clients, seconds)?.rate)])
        }));
        let request = json!({ "do": "fetch", "address": server.told(), "rows": rows });
        let driver = &driver;
        entries.push(Entry::new(format!("{rows} rows in binary"), who, move || {
            let answer = driver.borrow_mut().ask(&request)?;
            #[allow(clippy::cast_precision_loss)] // no result has so many rows
            let rate = |key: &str| rows as f64 / answer[key].as_f64().unwrap_or(f64::NAN);
            Ok(vec![(RECEIVED, rate("received")), (ROWS, rate("seconds"))])
        }));
    }
    for (case, server) in [("one client, TCP", &served.tcp), ("one client, Unix", &served.unix)] {
        let embedded = &embedded;
        entries.push(Entry::new(case, GADUS, move || overhead(server, embedded, seconds)));
    }
    let time = Duration::from_secs(1);
    entries.push(Entry::new("one client, TCP", ECHO, move || {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let one = TcpStream::connect(listener.local_addr()?)?;
        let (other, _) = listener.accept()?;
        one.set_nodelay(true)?;
        other.set_nodelay(true)?;
        echoed(one, other, time)
    }));
    entries.push(Entry::new("one client, Unix", ECHO, move || {
        let (one, other) = UnixStream::pair()?;
        echoed(one, other, time)
    }));
    for (who, server) in servers.iter().skip(1) {
        entries.push(Entry::new("one client, Unix", who, move || {
            Ok(vec![(LATENCY, server.select_only(1, seconds)?.latency_ms * 1e3)])
        }));
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    drop(entries);
    let quiet = machine.was_quiet()?;
    figures::print("wire", &figures::figures(&series, GADUS), quiet, command.common.json)
}

/// The database that is served, opened by this process, too.
struct Embedded {
    connection: gadus::Connection,
    keys: u64,
    random: RefCell<Random>,
}

impl Embedded {
    fn open(file: &std::path::Path, keys: u64) -> Result<Self, Failure> {
        let database = Database::open(file, Options::new())?;
        let (connection, random) = (database.connect(), RefCell::new(Random::from_system()));
        Ok(Self { connection, keys, random })
    }

    /// Microseconds of one look-up, as pgbench's script has it.
    fn look_up(&self, time: Duration) -> Result<f64, Failure> {
        const TOGETHER: u32 = 100;
        let text = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
        let statement = self.connection.prepare(text)?;
        let (started, mut count) = (clock().now(), 0);
        while started.elapsed() < time {
            for _ in 0..TOGETHER {
                let key = 1 + self.random.borrow_mut().below(self.keys);
                let key = Value::Integer(i64::try_from(key).unwrap_or(i64::MAX));
                if statement.query(&[key])?.next().transpose()?.is_none() {
                    return Err(Failure::message("an account is not there"));
                }
            }
            count += TOGETHER;
        }
        Ok(started.elapsed().as_secs_f64() * 1e6 / f64::from(count))
    }
}

fn overhead(server: &Endpoint, embedded: &Embedded, seconds: u64) -> Result<Measured, Failure> {
    let own = embedded.look_up(Duration::from_secs(1))?;
    let through = server.select_only(1, seconds)?.latency_ms * 1e3;
    Ok(vec![(LATENCY, through), (OVERHEAD, through - own)])
}

/// The latency of a message that another thread sends back.
fn echoed<S: Read + Write + Send + 'static>(
    mut one: S,
    mut other: S,
    time: Duration,
) -> Result<Measured, Failure> {
    /// About what a look-up and its answer take.
    const MESSAGE_BYTES: usize = 64;
    // It ends when the first thread closes its socket.
    let back = gadus_base::spawn("echo", move || {
        let mut message = [0; MESSAGE_BYTES];
        while other.read_exact(&mut message).and_then(|()| other.write_all(&message)).is_ok() {}
    })?;
    let mut message = [0; MESSAGE_BYTES];
    let (started, mut count) = (clock().now(), 0);
    while started.elapsed() < time {
        one.write_all(&message)?;
        one.read_exact(&mut message)?;
        count += 1;
    }
    let latency = started.elapsed().as_secs_f64() * 1e6 / f64::from(count);
    drop(one);
    back.join().map_err(|_| Failure::message("the thread that echoes has panicked"))?;
    Ok(vec![(LATENCY, latency)])
}
