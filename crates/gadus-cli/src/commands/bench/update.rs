//! `gadus bench update`: many rows changed by one statement, and single rows by their key.
//!
//! - Bookings with their primary key, in a file and in the cache. Statements come alone, each its own
//!   transaction.
//! - Of a hundredth of all rows, both make the change durable before they answer: a log that is synced,
//!   their default. What a turn left to do is done before the next one begins, and told by itself: the
//!   time of a checkpoint.
//! - Single rows are changed with `gadus.durability` off, by a prepared statement. DuckDB cannot leave
//!   out syncs: its statements, prepared too, are one transaction, of which the end is synced once.
//! - Afterwards both have the same rows, or it is an error.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;

use arrow::array::AsArray;
use clap::Args;
use gadus::{Connection, Database, Options, Value};
use gadus_base::{Random, clock};
use serde_json::{Value as Json, json};

use super::builds::Against;
use super::figures::{self, Metric};
use super::load::{Peer, create_table, insert, threads};
use super::machine::Machine;
use super::peers::Python;
use super::rounds::{Entry, GADUS, Measured, measure};
use super::workplace::{Workplace, bookings};
use super::{Common, Repeat};
use crate::failure::Failure;
use crate::generate::bookings::ROWS_MAX;
use crate::texts::texts;

const TIME: Metric = Metric::lower("update_time", "s");
const CHECKPOINT: Metric = Metric::lower("checkpoint_time", "s");
const ROWS: Metric = Metric::higher("rows_updated", "count");

const DUCKDB: &str = "duckdb";

/// Updates of about a hundredth of the rows: of one status, anywhere in the table, and of a week of
/// departures out of two years, which come nearly together.
const UPDATES: [(&str, &str); 2] = [
    ("1 % anywhere", "UPDATE bookings SET fare_cents = fare_cents + 1 WHERE status = 'NO'"),
    (
        "1 % together",
        "UPDATE bookings SET tax_cents = tax_cents + 1 \
         WHERE departure_date BETWEEN DATE '2025-03-01' AND DATE '2025-03-07'",
    ),
];

const POINT: &str = "UPDATE bookings SET fare_cents = fare_cents + 1 WHERE record_locator = $1";

/// Keys of a turn: so many that a clock and a few slow ones do not matter.
const KEYS: usize = 2000;

/// What tells whether two tables hold the same.
const CHECKSUM: &str = "SELECT count(*), sum(fare_cents), sum(tax_cents), min(fare_cents), max(tax_cents) FROM bookings";

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus bench update --rows 10000000 --against duckdb --json")]
pub(super) struct Update {
    /// Bookings in the table
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(command: &Update) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let parquet = place.bookings(command.rows)?;
    let database = Database::open(place.path("gadus.db"), Options::new())?;
    let connection = database.connect();
    connection.execute(&create_table(true), &[])?;
    connection.execute(&insert(&parquet), &[])?;
    database.checkpoint()?;
    let duckdb = command.against.contains(Peer::Duckdb);
    let peer = duckdb.then(|| open_duckdb(&place, &parquet)).transpose()?.map(RefCell::new);
    std::fs::remove_file(&parquet)?;
    let keys = keys(command.rows);
    let without_waiting = database.connect();
    without_waiting.execute("SET gadus.durability = off", &[])?;
    let mut entries = Vec::new();
    for (case, sql) in UPDATES {
        if let Some(peer) = &peer {
            entries.push(Entry::new(case, DUCKDB, move || of_duckdb(&mut peer.borrow_mut(), sql)));
        }
        let (database, connection) = (&database, &connection);
        entries.push(Entry::new(case, GADUS, move || of_gadus(database, connection, sql)));
    }
    let case = "one row by its key";
    if let Some(peer) = &peer {
        let request = json!({ "do": "update_points", "sql": POINT, "keys": keys });
        entries.push(Entry::new(case, DUCKDB, move || {
            Ok(vec![(TIME, peer.borrow_mut().ask_number(&request, "seconds")?)])
        }));
    }
    let (of_points, keys) = (&without_waiting, keys.as_slice());
    entries.push(Entry::new(case, GADUS, move || points(of_points, keys)));
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    if let Some(peer) = &peer {
        compare(&connection, &mut peer.borrow_mut())?;
    }
    let quiet = machine.was_quiet()?;
    figures::print("update", &figures::figures(&series, GADUS), quiet, command.common.json)
}

fn open_duckdb(place: &Workplace, parquet: &Path) -> Result<Python, Failure> {
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
    writeln!(io::stderr(), "peer: {}, its defaults", peer.version()?)?;
    Ok(peer)
}

/// The keys of rows from all over the table, the same for all.
fn keys(rows: u64) -> Vec<String> {
    let (bookings, mut random) = (bookings(rows), Random::seeded(2));
    let key = |index| {
        let row = bookings.batch(index, 1);
        row.column(0).as_string_view().value(0).to_owned()
    };
    (0..KEYS).map(|_| key(random.below(rows))).collect()
}

#[allow(clippy::cast_precision_loss)] // rows below 2^53
fn of_gadus(database: &Database, connection: &Connection, sql: &str) -> Result<Measured, Failure> {
    let started = clock().now();
    let rows = connection.execute(sql, &[])?;
    let updated = clock().now();
    database.checkpoint()?;
    Ok(vec![
        (TIME, updated.since(started).as_secs_f64()),
        (CHECKPOINT, updated.elapsed().as_secs_f64()),
        (ROWS, rows as f64),
    ])
}

fn of_duckdb(peer: &mut Python, sql: &str) -> Result<Measured, Failure> {
    let mut timed = |sql: &str| {
        let answer = peer.ask(&json!({ "do": "query", "sql": sql, "times": 1 }))?;
        let seconds = answer["seconds"].as_f64();
        let rows = answer["rows"][0][0].as_str().and_then(|rows| rows.parse::<f64>().ok());
        Ok::<_, Failure>((seconds.unwrap_or(f64::NAN), rows))
    };
    let (seconds, rows) = timed(sql)?;
    let (checkpoint, _) = timed("CHECKPOINT")?;
    let rows = rows.ok_or_else(|| Failure::message("duckdb told no count of rows"))?;
    Ok(vec![(TIME, seconds), (CHECKPOINT, checkpoint), (ROWS, rows)])
}

/// The mean time of an update of one row.
#[allow(clippy::cast_precision_loss)] // some thousand keys
fn points(connection: &Connection, keys: &[String]) -> Result<Measured, Failure> {
    let prepared = connection.prepare(POINT)?;
    let started = clock().now();
    for key in keys {
        if prepared.execute(&[Value::Text(key.clone())])? != 1 {
            return Err(Failure::message(format!("no booking {key} was found")));
        }
    }
    Ok(vec![(TIME, started.elapsed().as_secs_f64() / keys.len() as f64)])
}

/// Refuses figures of updates that left different rows.
fn compare(connection: &Connection, peer: &mut Python) -> Result<(), Failure> {
    let own = json!(texts(connection.query(CHECKSUM, &[])?)?);
    let other: Json = peer.ask(&json!({ "do": "query", "sql": CHECKSUM, "times": 1 }))?;
    match other["rows"] == own {
        true => Ok(()),
        false => Err(Failure::message(format!("different rows: {own} and {}", other["rows"]))),
    }
}
