//! One turn: all streams ask all their queries.
//!
//! - The share of scans is the processor time that scans of planned queries took of their threads, over
//!   that of the process.

use std::fmt;
use std::sync::Barrier;
use std::time::Duration;

use gadus::{Connection, Database};
use gadus_base::{Instant, clock};
use serde_json::json;

use super::super::figures::Metric;
use super::super::latencies::Latencies;
use super::super::peers::Python;
use super::super::rounds::Measured;
use super::super::scopes::cpu_seconds;
use crate::failure::Failure;
use crate::generate::tpch::queries::Query;

const RATE: Metric = Metric::higher("queries", "queries/s");
const MEAN: Metric = Metric::lower("mean_ms", "ms");
const P99: Metric = Metric::lower("p99_ms", "ms");
const CPU: Metric = Metric::lower("cpu_ms_per_query", "ms");
const SCAN_SHARE: Metric = Metric::lower("scan_share", "");

/// Queries in the order in which they are asked.
pub(super) type Stream = Vec<Query>;

/// Whether statements share scans.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sharing {
    Always,
    Never,
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "always",
            Self::Never => "never",
        })
    }
}

/// How long the queries of some streams took.
#[derive(Debug, Default)]
struct Took {
    latencies: Latencies,
    seconds: f64,
}

impl Took {
    fn add(&mut self, other: &Self) {
        self.latencies.add(&other.latencies);
        self.seconds += other.seconds;
    }
}

/// A turn of Gadus: all streams at once.
#[allow(clippy::cast_precision_loss)] // a count of queries
pub(super) fn of_gadus(
    database: &Database,
    streams: &[Stream],
    sharing: Sharing,
) -> Result<Measured, Failure> {
    let connect = || -> Result<Connection, Failure> {
        let connection = database.connect();
        connection.execute(&format!("SET gadus.sharing = {sharing}"), &[])?;
        Ok(connection)
    };
    let connections = streams.iter().map(|_| connect()).collect::<Result<Vec<_>, _>>()?;
    let start = Barrier::new(streams.len() + 1);
    let (began, took) = std::thread::scope(|scope| -> Result<_, Failure> {
        let start = &start;
        let run = |(connection, stream)| scope.spawn(move || ask_all(connection, stream, start));
        let threads = connections.iter().zip(streams).map(run).collect::<Vec<_>>();
        start.wait();
        let began = Moment::now(database);
        let mut took = Took::default();
        for thread in threads {
            took.add(&thread.join().map_err(|_| Failure::message("a stream broke off"))??);
        }
        Ok((began, took))
    })?;
    let ended = Moment::now(database);
    let queries = took.latencies.count() as f64;
    let cpu_seconds = ended.cpu_seconds - began.cpu_seconds;
    Ok(vec![
        (RATE, queries / ended.at.since(began.at).as_secs_f64()),
        (MEAN, took.seconds * 1e3 / queries),
        (P99, took.latencies.percentile_ms(0.99)),
        (CPU, cpu_seconds * 1e3 / queries),
        (SCAN_SHARE, (ended.scan_time - began.scan_time).as_secs_f64() / cpu_seconds),
    ])
}

/// What the clocks say.
#[derive(Debug)]
struct Moment {
    at: Instant,
    cpu_seconds: f64,
    scan_time: Duration,
}

impl Moment {
    fn now(database: &Database) -> Self {
        let scan_time = database.statistics().clock.plan_scan_time;
        Self { at: clock().now(), cpu_seconds: cpu_seconds(), scan_time }
    }
}

/// Asks the queries of a stream and reads all rows of each answer.
fn ask_all(connection: &Connection, stream: &Stream, start: &Barrier) -> Result<Took, Failure> {
    let mut took = Took::default();
    start.wait();
    for query in stream {
        let since = clock().now();
        let answered = connection.query(&query.text, &[]).and_then(|mut rows| {
            while rows.next_batch()?.is_some() {}
            Ok(())
        });
        answered.map_err(|error| Failure::message(format!("query {}: {error}", query.number)))?;
        let elapsed = since.elapsed();
        took.latencies.note(elapsed);
        took.seconds += elapsed.as_secs_f64();
    }
    Ok(took)
}

/// A turn of a peer: one query after another.
#[allow(clippy::cast_precision_loss)] // a count of queries
pub(super) fn of_peer(peer: &mut Python, streams: &[Stream]) -> Result<Measured, Failure> {
    let (mut seconds, mut queries) = (0.0, 0);
    for query in streams.iter().flatten() {
        let request = json!({ "do": "query", "sql": query.text, "times": 1 });
        seconds += peer.ask_number(&request, "seconds")?;
        queries += 1;
    }
    Ok(vec![(RATE, f64::from(queries) / seconds)])
}
