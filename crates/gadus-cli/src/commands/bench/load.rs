//! `gadus bench load`: bookings from a Parquet file into a new database, each time in a new
//! process.
//!
//! - The time is from opening the new file to having closed it.

use std::num::NonZero;
use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::builds::Against;
use super::figures::{self, Metric};
use super::machine::Machine;
use super::peers::Python;
use super::rounds::{Entry, GADUS, Measured, measure};
use super::workplace::{Workplace, remove_database};
use super::{Common, Repeat, worker};
use crate::failure::Failure;
use crate::generate::bookings::{Bookings, ROWS_MAX};

const TIME: Metric = Metric::lower("load_time", "s");
const PEAK: Metric = Metric::lower("peak_memory", "bytes");
const SIZE: Metric = Metric::lower("file_size", "bytes");

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus bench load --rows 10000000 --against duckdb --json")]
pub(super) struct Load {
    /// Bookings to load
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    /// Whether the table has its primary key
    #[arg(long, value_delimiter = ',', default_value = "yes,no")]
    key: Vec<Key>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    Duckdb,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Key {
    Yes,
    No,
}

pub(super) fn run(command: &Load) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let parquet = place.bookings(command.rows)?;
    let mut entries = Vec::new();
    for &key in &command.key {
        let case = match key {
            Key::Yes => "with primary key",
            Key::No => "without key",
        };
        let (place, parquet) = (&place, &parquet);
        entries.push(Entry::new(case, GADUS, move || {
            let file = place.path("gadus.db");
            let mut worker = worker::command("load")?;
            worker.arg(&file).arg(parquet).arg("--threads").arg(threads().to_string());
            if key == Key::No {
                worker.arg("--without-key");
            }
            loaded(&worker::answer(worker)?, &file)
        }));
        if command.against.contains(Peer::Duckdb) {
            entries.push(Entry::new(case, "duckdb", move || {
                let file = place.path("duck.db");
                let answer = Python::duckdb(&place.kept)?.ask(&json!({
                    "do": "load",
                    "path": file,
                    "create_table": create_table(key == Key::Yes),
                    "table": "bookings",
                    "parquet": parquet,
                    "threads": threads(),
                }))?;
                loaded(&answer, &file)
            }));
        }
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    let quiet = machine.was_quiet()?;
    figures::print("load", &figures::figures(&series, GADUS), quiet, command.common.json)
}

/// What loading gave; removes the database.
#[allow(clippy::cast_precision_loss)] // sizes below 2^53
fn loaded(answer: &Value, file: &Path) -> Result<Measured, Failure> {
    let number = |key: &str| {
        let value = answer[key].as_f64();
        value.ok_or_else(|| Failure::message(format!("no {key} in {answer}")))
    };
    let measured = vec![
        (TIME, number("seconds")?),
        (PEAK, number("peak_bytes")?),
        (SIZE, std::fs::metadata(file)?.len() as f64),
    ];
    remove_database(file)?;
    Ok(measured)
}

/// Threads that every contestant may use.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The statement that creates the table, the same for all.
pub(super) fn create_table(with_key: bool) -> String {
    let statement = Bookings::create_table();
    if with_key {
        return statement;
    }
    statement.replace(",\n    PRIMARY KEY (record_locator)", "")
}

/// The statement that fills the table.
pub(super) fn insert(parquet: &Path) -> String {
    let path = parquet.display().to_string().replace('\'', "''");
    format!("INSERT INTO bookings SELECT * FROM read_parquet('{path}')")
}
