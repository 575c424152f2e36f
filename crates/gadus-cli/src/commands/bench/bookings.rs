//! `gadus bench bookings`: many different questions about bookings, on columns that have no index.
//!
//! - Closed loop: so many statements are outstanding all the time; whenever one is answered, and its
//!   rows are read, the next is submitted. Latencies count from there.
//! - Peers that answer one statement at a time are given them one at a time: more outstanding ones
//!   would only wait for them. `duckdb-batched` has all outstanding statements of a shape made one join by
//!   hand.
//! - The answers to some statements of each shape are compared before anything is measured.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use gadus::{Connection, Database, Options, Outcome};
use gadus_base::{Random, clock};
use serde_json::json;

use super::figures::{self, Metric};
use super::latencies::Latencies;
use super::load::{create_table, insert, threads};
use super::machine::Machine;
use super::peers::Python;
use super::plot::{self, Chart, Curve};
use super::rounds::{Entry, GADUS, Measured, Series, measure};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::failure::Failure;
use crate::generate::bookings::ROWS_MAX;
use crate::generate::statements::{Sample, Statements};
use crate::texts::texts;

const RATE: Metric = Metric::higher("statements", "statements/s");
const QUERIES: Metric = Metric::higher("queries", "queries/s");
const UPDATE_P99: Metric = Metric::lower("update_p99_ms", "ms");
const MODIFY: Metric = Metric::lower("modify_ms", "ms");
const P50: Metric = Metric::lower("p50_ms", "ms");
const P99: Metric = Metric::lower("p99_ms", "ms");
const PASS: Metric = Metric::lower("pass_ms", "ms");
const BATCH: Metric = Metric::higher("statements_per_pass", "statements");

/// Statements that are drawn before the clock runs; a turn goes round and round through them.
const DRAWN: usize = 1 << 16;

/// Statements whose answers are compared: three of each shape, and more of the updates.
const COMPARED: usize = 45;

/// What tells whether two tables hold the same after updates.
const CHECKSUM: &str = "SELECT count(*), sum(fare_cents), sum(bags), count(seat), min(seat), \
    max(status), sum(passenger_id) FROM bookings";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench bookings --rows 1000000 --outstanding 1,64,1024
  gadus bench bookings --rows 10000000 --outstanding 1,64,1024,2048,16384 --against duckdb,duckdb-batched --json --plot out.svg
  gadus bench bookings --update-after 8 --outstanding 2048
  gadus bench bookings --outstanding 64 --sharing never")]
pub(super) struct Bookings {
    /// Bookings in the table
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    /// Statements that are outstanding at a time
    #[arg(long, value_delimiter = ',', default_value = "1,64,1024,2048", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    outstanding: Vec<u32>,
    /// An update comes after so many queries; 0 for queries alone
    #[arg(long, value_delimiter = ',', default_value = "0,8", value_name = "QUERIES", value_parser = clap::value_parser!(u32).range(0..=1_000))]
    update_after: Vec<u32>,
    /// Whether statements share scans: auto, always, or never
    #[arg(long, default_value = "auto")]
    sharing: String,
    /// Peers
    #[arg(long, value_delimiter = ',')]
    against: Vec<Rival>,
    /// Draw throughput and latency against outstanding statements, as SVG, into this file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// How long one turn takes
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "3s")]
    time: Duration,
    #[command(flatten)]
    repeat: Repeat,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rival {
    Duckdb,
    DuckdbBatched,
}

pub(super) fn run(command: &Bookings) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let parquet = place.bookings(command.rows)?;
    let file = place.path("gadus.db");
    let database = Database::open(&file, Options::new())?;
    let connection = database.connect();
    connection.execute(&create_table(true), &[])?;
    connection.execute(&insert(&parquet), &[])?;
    connection.execute(&format!("SET gadus.sharing = '{}'", command.sharing), &[])?;
    let batch = command.outstanding.iter().max().copied().unwrap_or(1);
    connection.execute(&format!("SET gadus.batch_queries = {batch}"), &[])?;
    connection.execute(&format!("SET gadus.batch_updates = {}", (batch / 8).max(1)), &[])?;
    let sample = Sample::of(&connection)?;
    let draw = |&after: &u32| (after, Statements::drawn_from(&sample, after, DRAWN));
    let mixes = command.update_after.iter().map(draw).collect::<Vec<_>>();
    let peer = (!command.against.is_empty())
        .then(|| open_duckdb(&place, &parquet))
        .transpose()?
        .map(RefCell::new);
    if let Some(peer) = &peer {
        for (_, statements) in &mixes {
            compare(&connection, &mut peer.borrow_mut(), &statements.texts[..COMPARED])?;
        }
    }
    let mut entries = Vec::new();
    for (after, statements) in &mixes {
        for &outstanding in &command.outstanding {
            let case = case(*after, outstanding);
            let (database, connection) = (&database, &connection);
            entries.push(Entry::new(case.clone(), GADUS, move || {
                play(database, connection, statements, outstanding, command.time)
            }));
            let Some(peer) = &peer else { continue };
            for &rival in &command.against {
                let turn =
                    move || rival.play(&mut peer.borrow_mut(), statements, outstanding, command);
                entries.push(Entry::new(case.clone(), rival.name(), turn));
            }
        }
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    let quiet = machine.was_quiet()?;
    if let Some(path) = &command.plot {
        plot::write(path, &charts(command, &series))?;
    }
    figures::print("bookings", &figures::figures(&series, GADUS), quiet, command.common.json)
}

fn case(queries_per_update: u32, outstanding: u32) -> String {
    format!("{outstanding} outstanding, {}", mix(queries_per_update))
}

fn mix(queries_per_update: u32) -> &'static str {
    if queries_per_update == 0 { "queries" } else { "with updates" }
}

/// Throughput of all, and the latencies of Gadus.
fn charts(command: &Bookings, series: &[Series]) -> [Chart; 2] {
    let curve = |name: String, after: u32, who: &str, metric: Metric| {
        let point = |&outstanding: &u32| {
            let case = case(after, outstanding);
            let mut fitting = series.iter().filter(|series| series.who == who);
            let found = fitting.find(|series| series.case == case && series.metric == metric)?;
            Some((f64::from(outstanding), figures::median(&found.values)))
        };
        let mut points = command.outstanding.iter().filter_map(point).collect::<Vec<_>>();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Curve { name, points }
    };
    let (mut rates, mut latencies) = (Vec::new(), Vec::new());
    for &after in &command.update_after {
        let mix = mix(after);
        for who in [GADUS].into_iter().chain(command.against.iter().map(|rival| rival.name())) {
            rates.push(curve(format!("{who}, {mix}"), after, who, RATE));
        }
        for (name, metric) in [("p50", P50), ("p99", P99)] {
            latencies.push(curve(format!("{name}, {mix}"), after, GADUS, metric));
        }
    }
    let chart = |title: &str, y, curves| Chart {
        title: format!("{title}, {} bookings", command.rows),
        x: "statements outstanding",
        y,
        curves,
    };
    [
        chart("Throughput", "statements/s", rates),
        chart("Latency of queries (Gadus)", "ms", latencies),
    ]
}

impl Rival {
    fn name(self) -> &'static str {
        match self {
            Self::Duckdb => "duckdb",
            Self::DuckdbBatched => "duckdb-batched",
        }
    }

    /// One turn.
    fn play(
        self,
        peer: &mut Python,
        statements: &Statements<'_>,
        outstanding: u32,
        command: &Bookings,
    ) -> Result<Measured, Failure> {
        let (first, count) = (anywhere(), outstanding as usize);
        let seconds = command.time.as_secs_f64();
        let request = match self {
            Self::Duckdb => {
                let some = statements.texts.iter().cycle().skip(first).take(1000);
                let some = some.collect::<Vec<_>>();
                json!({ "do": "play", "statements": some, "together": 1, "seconds": seconds })
            }
            Self::DuckdbBatched => {
                let joins = statements.batched(first, count);
                // Each of the joins answers its part of them.
                let together = f64::from(outstanding) / joins.len().max(1) as f64;
                json!({ "do": "play", "statements": joins, "together": together, "seconds": seconds })
            }
        };
        Ok(vec![(RATE, peer.ask_number(&request, "rate")?)])
    }
}

/// A place among the statements.
fn anywhere() -> usize {
    usize::try_from(Random::from_system().below(DRAWN as u64)).unwrap_or(0)
}

fn open_duckdb(place: &Workplace, parquet: &std::path::Path) -> Result<Python, Failure> {
    let mut peer = Python::duckdb(&place.kept)?;
    let path = place.path("duck.db");
    peer.ask(&json!({
        "do": "load",
        "path": path,
        "create_table": create_table(true),
        "table": "bookings",
        "parquet": parquet,
        "threads": threads(),
    }))?;
    peer.ask(&json!({ "do": "open", "path": path, "threads": threads() }))?;
    Ok(peer)
}

/// One turn of Gadus.
#[allow(clippy::cast_precision_loss)] // counts of a few seconds
fn play(
    database: &Database,
    connection: &Connection,
    statements: &Statements<'_>,
    outstanding: u32,
    time: Duration,
) -> Result<Measured, Failure> {
    let mut next = (0..statements.texts.len()).cycle().skip(anywhere());
    let mut submit = || {
        let place = next.next().expect("statements go round and round");
        let since = clock().now();
        (since, statements.is_update(place), connection.submit(&statements.texts[place], &[]))
    };
    let before = database.statistics().clock;
    let began = clock().now();
    let (mut queries, mut updates) = (Latencies::default(), Latencies::default());
    let mut pending = (0..outstanding).map(|_| submit()).collect::<VecDeque<_>>();
    while let Some((since, is_update, statement)) = pending.pop_front() {
        finish(statement.wait()?)?;
        let latencies = if is_update { &mut updates } else { &mut queries };
        latencies.note(since.elapsed());
        if began.elapsed() < time {
            pending.push_back(submit());
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let after = database.statistics().clock;
    let mut measured = vec![
        (RATE, (queries.count() + updates.count()) as f64 / seconds),
        (P50, queries.percentile_ms(0.5)),
        (P99, queries.percentile_ms(0.99)),
    ];
    if updates.count() > 0 {
        measured.push((QUERIES, queries.count() as f64 / seconds));
        measured.push((UPDATE_P99, updates.percentile_ms(0.99)));
    }
    let milliseconds = |time: Duration, count: u64| time.as_secs_f64() * 1e3 / count as f64;
    let passes = after.passes - before.passes;
    if passes > 0 {
        let asked = after.questions + after.modifications - before.questions - before.modifications;
        measured.push((PASS, milliseconds(after.pass_time - before.pass_time, passes)));
        measured.push((BATCH, asked as f64 / passes as f64));
    }
    let commits = after.modifying_commits - before.modifying_commits;
    if commits > 0 {
        measured.push((MODIFY, milliseconds(after.modify_time - before.modify_time, commits)));
    }
    Ok(measured)
}

/// Reads all rows of an answer.
fn finish(outcome: Outcome) -> Result<(), Failure> {
    let mut rows = outcome.into_rows();
    while rows.next_batch()?.is_some() {}
    Ok(())
}

/// Refuses to measure answers that differ.
fn compare(connection: &Connection, peer: &mut Python, some: &[String]) -> Result<(), Failure> {
    for text in some.iter().map(String::as_str).chain([CHECKSUM]) {
        let mut own = match connection.submit(text, &[]).wait()? {
            Outcome::Changed { rows, .. } => vec![vec![rows.to_string()]],
            outcome => texts(outcome.into_rows())?,
        };
        own.sort();
        let answer = peer.ask(&json!({ "do": "query", "sql": text, "times": 1 }))?;
        let mut other: Vec<Vec<String>> = serde_json::from_value(answer["rows"].clone())
            .map_err(|error| Failure::message(format!("{answer}: {error}")))?;
        other.sort();
        if own != other {
            let message = format!("different answers to {text}: {own:?} and {other:?}");
            return Err(Failure::message(message));
        }
    }
    Ok(())
}
