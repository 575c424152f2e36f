//! What the processes of the benchmark do: readers, the writer of bursts, connections that are open.

use std::path::Path;
use std::time::Duration;

use gadus::{ByteCount, CacheScope, Connection, Database, Options, Statement, params};
use gadus_base::{Instant, Random, clock};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::super::latencies::Latencies;
use super::super::player::{answer_and_stay, await_start};
use crate::failure::Failure;

pub(super) const TABLES: &str = "
    CREATE TABLE readings (id BIGINT PRIMARY KEY, station INTEGER NOT NULL, value DOUBLE NOT NULL,
                           note TEXT);
    CREATE TABLE counters (id BIGINT PRIMARY KEY, n BIGINT NOT NULL);
    INSERT INTO counters SELECT value, 0 FROM generate_series(1, 1000);";

const SCAN: &str = "SELECT count(*), sum(value) FROM readings WHERE station = ?";
const POINT: &str = "SELECT value, note FROM readings WHERE id = ?";
const UPDATE: &str = "UPDATE counters SET n = n + 1 WHERE id = ?";
const COUNTER: &str = "SELECT n FROM counters WHERE id = ?";

const STATIONS: u64 = 500;
const COUNTERS: u64 = 1000;
/// Rows that are read by key after each scan.
const POINTS: u32 = 8;
/// Changes of one row that another instance is asked for.
const CHANGES: u32 = 2_000;

pub(super) fn fill(rows: u64) -> String {
    format!(
        "INSERT INTO readings SELECT value, CAST(value * 7919 % {STATIONS} AS INTEGER), \
         CAST(value AS DOUBLE) / 8, CASE WHEN value % 4 = 0 THEN 'note ' || CAST(value % 97 AS TEXT) END \
         FROM generate_series(1, {rows})"
    )
}

/// How readers of one process read.
#[derive(Debug, Clone, clap::Args)]
pub(in super::super) struct Reading {
    /// Threads, a connection each
    #[arg(long)]
    pub(in super::super) readers: u32,
    /// Each connection has its own cache
    #[arg(long)]
    pub(in super::super) private: bool,
    /// Bytes of such a cache
    #[arg(long)]
    pub(in super::super) cache: u64,
    /// Rows of the table
    #[arg(long)]
    pub(in super::super) rows: u64,
    /// Questions of each reader
    #[arg(long)]
    pub(in super::super) queries: u32,
    /// Read for this long instead
    #[arg(long, value_parser = humantime::parse_duration)]
    pub(in super::super) time: Option<Duration>,
}

fn options(private: bool, cache: u64) -> Options {
    let scope = if private { CacheScope::Connection } else { CacheScope::Process };
    let options = Options::new().create(false).threads(1).cache_scope(scope);
    if cache > 0 { options.connection_cache(ByteCount(cache)) } else { options }
}

/// Reads, from as many threads as there are readers; stays open until somebody has looked.
pub(in super::super) fn read(file: &Path, reading: &Reading) -> Result<(), Failure> {
    let database = Database::open(file, options(reading.private, reading.cache))?;
    let mut readers = (0..reading.readers)
        .map(|_| Reader::prepare(database.connect(), reading.rows))
        .collect::<Result<Vec<_>, _>>()?;
    await_start()?;
    let (began, cpu) = (clock().now(), cpu_seconds());
    let asked = std::thread::scope(|scope| -> Result<u64, Failure> {
        let run = |reader| scope.spawn(move || Reader::run(reader, reading, began));
        let threads = readers.iter_mut().map(run).collect::<Vec<_>>();
        let mut asked = 0;
        for thread in threads {
            asked += thread.join().map_err(|_| Failure::message("a reader broke off"))??;
        }
        Ok(asked)
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let statistics = database.statistics();
    answer_and_stay(&json!({
        "asked": asked,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds() - cpu,
        "caught_up": statistics.caught_up_commits,
        "caught_up_seconds": statistics.caught_up_time.as_secs_f64(),
    }))
}

/// Processor time of this process.
#[allow(clippy::cast_precision_loss)] // nanoseconds of a second
pub(in super::super) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// One connection, and what it asks.
struct Reader {
    scan: Statement,
    point: Statement,
    random: Random,
    rows: u64,
    _connection: Connection,
}

impl Reader {
    fn prepare(connection: Connection, rows: u64) -> Result<Self, Failure> {
        let (scan, point) = (connection.prepare(SCAN)?, connection.prepare(POINT)?);
        let random = Random::from_system();
        Ok(Self { scan, point, random, rows, _connection: connection })
    }

    /// Asks as often, or as long, as it is told; gives how often.
    fn run(&mut self, reading: &Reading, began: Instant) -> Result<u64, Failure> {
        let mut asked = 0;
        while match reading.time {
            Some(time) => began.elapsed() < time,
            None => asked < u64::from(reading.queries),
        } {
            self.ask()?;
            asked += 1;
        }
        Ok(asked)
    }

    fn ask(&mut self) -> Result<(), Failure> {
        let station = i64::try_from(self.random.below(STATIONS)).unwrap_or(0);
        let row = self.scan.query(params![station])?.next();
        let count: i64 = row.ok_or_else(|| Failure::message("no count"))??.get(0)?;
        let expected = self.rows / STATIONS;
        if count.cast_unsigned().abs_diff(expected) > 1 {
            return Err(Failure::message(format!("{count} rows of station {station}")));
        }
        for _ in 0..POINTS {
            let id = i64::try_from(1 + self.random.below(self.rows)).unwrap_or(1);
            if self.point.execute(params![id])? != 1 {
                return Err(Failure::message(format!("no row has the key {id}")));
            }
        }
        Ok(())
    }
}

/// Writes for a time, as fast as one can.
pub(in super::super) fn write(file: &Path, time: Duration) -> Result<Value, Failure> {
    let connection = Database::open(file, Options::new().create(false))?.connect();
    let (update, mut random) = (connection.prepare(UPDATE)?, Random::from_system());
    await_start()?;
    let (began, mut commits) = (clock().now(), 0_u64);
    while began.elapsed() < time {
        let id = i64::try_from(1 + random.below(COUNTERS)).unwrap_or(1);
        commits += update.execute(params![id])?;
    }
    Ok(json!({ "commits": commits }))
}

/// Opens connections that have run a statement, and do nothing more.
pub(in super::super) fn hold(file: &Path, private: bool, connections: u32) -> Result<(), Failure> {
    let database = Database::open(file, options(private, 0))?;
    let open = |_| -> Result<Connection, Failure> {
        let connection = database.connect();
        connection.query(POINT, params![1])?.next().transpose()?;
        Ok(connection)
    };
    // What all connections share is there before the first of them is counted.
    let _first = open(0)?;
    await_start()?;
    let all = (0..connections).map(open).collect::<Result<Vec<_>, _>>()?;
    answer_and_stay(&json!({ "connections": all.len() }))
}

/// Times the statement that another instance runs after each durable change of one row.
pub(in super::super) fn notice(file: &Path) -> Result<Value, Failure> {
    let open = || Ok::<_, Failure>(Database::open(file, Options::new().create(false))?.connect());
    let (writer, reader) = (open()?, open()?);
    let (update, read) = (writer.prepare(UPDATE)?, reader.prepare(COUNTER)?);
    let value = || -> Result<i64, Failure> {
        let row = read.query(params![1])?.next();
        Ok(row.ok_or_else(|| Failure::message("no row"))??.get(0)?)
    };
    await_start()?;
    let mut seen = value()?;
    let mut latencies = Latencies::default();
    for _ in 0..CHANGES {
        update.execute(params![1])?;
        let begun = clock().now();
        let now = value()?;
        latencies.note(begun.elapsed());
        if now != seen + 1 {
            return Err(Failure::message(format!("{now} was read after {seen} had been changed")));
        }
        seen = now;
    }
    Ok(json!({ "latencies": latencies.to_json() }))
}
