//! `gadus bench scan`: filters and aggregates over bookings in memory, and the first lookup in a
//! file that was just opened.
//!
//! - Answers are compared; a different one ends the benchmark with an error.

use std::path::Path;

use clap::Args;
use gadus::{Connection, Database, Options};
use gadus_base::clock;
use serde_json::json;

use super::builds::Against;
use super::figures::{self, Metric, median};
use super::load::{Peer, create_table, insert, threads};
use super::machine::Machine;
use super::peers::Python;
use super::rounds::{Entry, GADUS, Measured, measure};
use super::workplace::Workplace;
use super::{Common, Repeat, worker};
use crate::failure::Failure;
use crate::generate::bookings::ROWS_MAX;
use crate::texts::texts;

const TIME: Metric = Metric::lower("query_time", "s");
const OPENING: Metric = Metric::lower("open_and_find_time", "s");

/// Runs of a query in one turn, of which the median counts.
const RUNS: usize = 5;

/// What is asked: filters over one or a few columns, and a grouping.
const QUERIES: [(&str, &str); 5] = [
    (
        "filter and sum",
        "SELECT count(*), sum(fare_cents) FROM bookings WHERE origin = 'LHR' AND fare_cents > 30000",
    ),
    (
        "range of dates",
        "SELECT count(*), sum(tax_cents), max(fare_cents) FROM bookings \
         WHERE departure_date BETWEEN DATE '2025-03-01' AND DATE '2025-03-14'",
    ),
    (
        "one passenger",
        "SELECT count(*), min(fare_cents) FROM bookings WHERE passenger_id = 1004711",
    ),
    (
        "three conjuncts",
        "SELECT count(*), sum(bags) FROM bookings \
         WHERE cabin = 'C' AND status <> 'XX' AND fare_cents BETWEEN 50000 AND 150000",
    ),
    (
        "group by carrier",
        "SELECT carrier, count(*), sum(fare_cents) FROM bookings WHERE cabin = 'Y' \
         GROUP BY carrier ORDER BY carrier",
    ),
];

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus bench scan --rows 10000000 --against duckdb --json")]
pub(super) struct Scan {
    /// Bookings in the table
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(command: &Scan) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let parquet = place.bookings(command.rows)?;
    let gadus_file = place.path("gadus.db");
    let locator = load_gadus(&gadus_file, &parquet)?;
    let duck_file = place.path("duck.db");
    let duckdb = command.against.contains(Peer::Duckdb);
    if duckdb {
        load_duckdb(&place, &duck_file, &parquet)?;
    }
    let mut all = opening(&place, &gadus_file, duckdb.then_some(&duck_file), &locator, {
        (command.repeat.rounds, &mut machine)
    })?;
    let database = Database::open(&gadus_file, Options::new().create(false))?;
    let connection = database.connect();
    let peer =
        duckdb.then(|| Python::duckdb(&place.kept)).transpose()?.map(std::cell::RefCell::new);
    if let Some(peer) = &peer {
        let request = json!({ "do": "open", "path": duck_file, "threads": threads() });
        peer.borrow_mut().ask(&request)?;
    }
    let mut entries = Vec::new();
    for (case, sql) in QUERIES {
        let connection = &connection;
        if let Some(peer) = &peer {
            compare(connection, &mut peer.borrow_mut(), sql)?;
            entries.push(Entry::new(case, "duckdb", move || {
                let request = json!({ "do": "query", "sql": sql, "times": RUNS });
                Ok(vec![(TIME, peer.borrow_mut().ask_number(&request, "seconds")?)])
            }));
        }
        entries.push(Entry::new(case, GADUS, move || query(connection, sql)));
    }
    all.extend(measure(&mut entries, command.repeat.rounds, &mut machine)?);
    let quiet = machine.was_quiet()?;
    figures::print("scan", &figures::figures(&all, GADUS), quiet, command.common.json)
}

/// Opens the file in a new process and finds one row by its key.
fn opening(
    place: &Workplace,
    gadus_file: &Path,
    duck_file: Option<&std::path::PathBuf>,
    locator: &str,
    (rounds, machine): (u32, &mut Machine),
) -> Result<Vec<super::rounds::Series>, Failure> {
    let case = "open and find a key";
    let sql = format!("SELECT * FROM bookings WHERE record_locator = '{locator}'");
    let sql = sql.as_str();
    let found = |answer: &serde_json::Value| match answer["rows"].as_u64() {
        Some(1) => Ok(vec![(OPENING, answer["seconds"].as_f64().unwrap_or(f64::NAN))]),
        _ => Err(Failure::message(format!("the row of {locator} was not found: {answer}"))),
    };
    let mut entries = vec![Entry::new(case, GADUS, move || {
        let mut worker = worker::command("open-and-find")?;
        worker.arg(gadus_file).arg(sql);
        found(&worker::answer(worker)?)
    })];
    if let Some(file) = duck_file {
        entries.push(Entry::new(case, "duckdb", move || {
            let request =
                json!({ "do": "open_and_find", "path": file, "sql": sql, "threads": threads() });
            found(&Python::duckdb(&place.kept)?.ask(&request)?)
        }));
    }
    measure(&mut entries, rounds, machine)
}

/// Loads the bookings; returns the locator of one of them.
fn load_gadus(file: &Path, parquet: &Path) -> Result<String, Failure> {
    let connection = Database::open(file, Options::new())?.connect();
    connection.execute(&create_table(true), &[])?;
    connection.execute(&insert(parquet), &[])?;
    let rows = texts(connection.query("SELECT max(record_locator) FROM bookings", &[])?)?;
    let locator = rows.into_iter().flatten().next();
    locator.ok_or_else(|| Failure::message("there are no bookings"))
}

fn load_duckdb(place: &Workplace, file: &Path, parquet: &Path) -> Result<(), Failure> {
    let request = json!({
        "do": "load",
        "path": file,
        "create_table": create_table(true),
        "table": "bookings",
        "parquet": parquet,
        "threads": threads(),
    });
    Python::duckdb(&place.kept)?.ask(&request)?;
    Ok(())
}

fn query(connection: &Connection, sql: &str) -> Result<Measured, Failure> {
    let mut took = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let started = clock().now();
        connection.query(sql, &[])?.collect_batches()?;
        took.push(started.elapsed().as_secs_f64());
    }
    Ok(vec![(TIME, median(&took))])
}

/// Refuses to measure answers that differ.
fn compare(connection: &Connection, peer: &mut Python, sql: &str) -> Result<(), Failure> {
    let own = texts(connection.query(sql, &[])?)?;
    let other = peer.ask(&json!({ "do": "query", "sql": sql, "times": 1 }))?;
    if other["rows"] == json!(own) {
        return Ok(());
    }
    Err(Failure::message(format!("different answers to {sql}: {own:?} and {}", other["rows"])))
}
