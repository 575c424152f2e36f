//! `gadus bench python`: what the Python package costs, beside DuckDB's and beside Rust.
//!
//! - Both packages do the same in a process of their own, which tells the time.
//! - The package is measured, whatever program starts it: another build of the program is no peer.
//! - A batch of statements is also run by this program: what it takes longer in Python is the package's.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gadus::{Connection, Database, Options, Value};
use gadus_base::clock;
use serde_json::json;

use super::figures::{self, Metric};
use super::machine::Machine;
use super::peers::Python;
use super::rounds::{Entry, GADUS, Measured, measure};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::failure::Failure;

const RATE: Metric = Metric::higher("statements", "statements/s");
const TIME: Metric = Metric::lower("time", "s");
/// Memory that the process has more, as a part of the bytes that the table holds.
const RESIDENT: Metric = Metric::lower("resident_part", "of the table");
const STATEMENT: Metric = Metric::lower("time_per_statement", "us");
const OVERHEAD: Metric = Metric::lower("overhead_per_statement", "us");

/// Rows of the table that keys are looked up in.
const KEYS: u64 = 100_000;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus bench python --against duckdb --json")]
pub(super) struct PackageBench {
    /// The package: a wheel, or the folder of a clone to build one from
    #[arg(long, value_name = "PATH", default_value = ".")]
    package: PathBuf,
    /// Rows of the table that becomes Arrow data
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// Statements of a batch
    #[arg(long, default_value_t = 2_048, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: u32,
    /// How long one turn of a loop takes
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "1s")]
    time: std::time::Duration,
    /// Peers
    #[arg(long, value_delimiter = ',')]
    against: Vec<Peer>,
    #[command(flatten)]
    repeat: Repeat,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peer {
    Duckdb,
}

pub(super) fn run(command: &PackageBench) -> Result<(), Failure> {
    command.repeat.check()?;
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let own = Python::gadus(&place.kept, &command.package)?;
    let mut packages = vec![(GADUS, open(own, GADUS, &place.path("own.gadus"))?)];
    if command.against.contains(&Peer::Duckdb) {
        let peer = Python::duckdb_package(&place.kept)?;
        packages.push(("duckdb", open(peer, "duckdb", &place.path("peer.duckdb"))?));
    }
    let database = Database::open(place.path("own.gadus"), Options::new())?;
    let connection = database.connect();
    let mut entries = Vec::new();
    for (who, package) in &packages {
        let seconds = command.time.as_secs_f64();
        for (case, what) in [("SELECT 1", "select_one"), ("a key", "look_up")] {
            let request = json!({ "do": what, "seconds": seconds });
            entries.push(Entry::new(case, who, move || {
                Ok(vec![(RATE, package.borrow_mut().ask_number(&request, "rate")?)])
            }));
        }
        let request = json!({ "do": "to_arrow", "rows": command.rows });
        entries.push(Entry::new(format!("{} rows to Arrow", command.rows), who, move || {
            let answer = package.borrow_mut().ask(&request)?;
            let number = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
            Ok(vec![(TIME, number("seconds")), (RESIDENT, number("resident_part"))])
        }));
    }
    if let Some((_, package)) = packages.first() {
        entries.push(Entry::new(format!("a batch of {}", command.batch), GADUS, || {
            batch(&connection, &mut package.borrow_mut(), command.batch)
        }));
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    drop(entries);
    let quiet = machine.was_quiet()?;
    figures::print("python", &figures::figures(&series, GADUS), quiet, command.common.json)
}

/// Has a package make its database.
fn open(mut package: Python, module: &str, file: &Path) -> Result<RefCell<Python>, Failure> {
    let request = json!({ "do": "open", "module": module, "path": file, "keys": KEYS });
    package.ask(&request)?;
    Ok(RefCell::new(package))
}

/// The same statements from Rust and from Python, their answers compared.
fn batch(connection: &Connection, package: &mut Python, count: u32) -> Result<Measured, Failure> {
    const TEXT: &str = "SELECT count(*) FROM t WHERE kind = ? AND id < ?";
    let started = clock().now();
    let values = (0..i64::from(count)).map(|number| [number % 1_000, number].map(Value::Integer));
    let values = values.collect::<Vec<_>>();
    let outcomes = connection.execute_many(values.iter().map(|values| (TEXT, values.as_slice())));
    let mut counts = 0;
    for outcome in outcomes {
        for row in outcome?.into_rows() {
            counts += row?.get::<i64>(0)?;
        }
    }
    let own = started.elapsed().as_secs_f64();
    let answer = package.ask(&json!({ "do": "execute_batch", "statements": count }))?;
    if answer["counts"] != json!(counts) {
        let other = &answer["counts"];
        return Err(Failure::message(format!("different answers: {counts} and {other}")));
    }
    let python = answer["seconds"].as_f64().unwrap_or(f64::NAN);
    let each = |seconds: f64| seconds * 1e6 / f64::from(count);
    Ok(vec![(STATEMENT, each(python)), (OVERHEAD, each(python - own))])
}
