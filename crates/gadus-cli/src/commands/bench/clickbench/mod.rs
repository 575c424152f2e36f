//! `gadus bench clickbench`: the 43 queries of ClickBench, one at a time, each on all processors.
//!
//! - Queries and columns are the benchmark's; the rows are ours, by the generator of `gadus hits`.
//! - Data is in the file and in the cache: the round to warm up reads it.
//! - With DuckDB, its answers and those of Gadus are compared before anything is measured.
//! - `total` is the sum of the queries of a round.

mod compare;

use std::cell::RefCell;
use std::io::{self, Write};

use clap::Args;
use gadus::{Connection, Database, Options};
use serde_json::json;

use super::builds::Against;
use super::figures::{self, median};
use super::load::Peer;
use super::machine::Machine;
use super::peers::Python;
use super::rounds::{Entry, GADUS, Series, measure, total};
use super::tables;
use super::tpch::{TIME, ask};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::failure::Failure;
use crate::generate::hits::queries::{self, QUERIES, Query};
use crate::generate::hits::{Hits, ROWS_MAX};
use crate::interrupt::Interrupt;
use crate::load::{BATCH_ROWS, load};
use crate::progress::Progress;

const DUCKDB: &str = "duckdb";

/// The table of all runs.
const SEED: u64 = 1;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench clickbench --rows 1000000 --against duckdb --json
  gadus bench clickbench --queries 29,34

duckdb has the table in a file.")]
pub(super) struct Clickbench {
    /// Rows of the table
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    /// Queries by their numbers, from 1 [default: all]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=i64::from(QUERIES)))]
    queries: Vec<u8>,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(command: &Clickbench) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let database = Database::open(place.path("gadus.db"), Options::new())?;
    let connection = database.connect();
    let table = || Hits::new(command.rows, SEED).into_table(BATCH_ROWS);
    load(&connection, table(), &Interrupt::default())?;
    // What loading left to do is no part of the first turns.
    database.checkpoint()?;
    let asked = queries::all()
        .filter(|query| command.queries.is_empty() || command.queries.contains(&query.number))
        .collect::<Vec<_>>();
    let mut peer = match command.against.contains(Peer::Duckdb) {
        true => Some(tables::open_duckdb(&place, std::iter::once(table()))?),
        false => None,
    };
    if let Some(peer) = &mut peer {
        compare_all(&connection, peer, &asked)?;
    }
    let peer = peer.map(RefCell::new);
    let mut entries = Vec::new();
    for Query { number, text } in asked {
        let case = format!("query {number}");
        if let Some(peer) = &peer {
            let request = json!({ "do": "query", "sql": text, "times": 1 });
            let turn = move || Ok(vec![(TIME, peer.borrow_mut().ask_number(&request, "seconds")?)]);
            entries.push(Entry::new(case.clone(), DUCKDB, turn));
        }
        let connection = &connection;
        entries.push(Entry::new(case, GADUS, move || ask(connection, text)));
    }
    let mut series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    tell_slowest(&series)?;
    let names = peer.iter().map(|_| DUCKDB).chain([GADUS]);
    let totals = names.map(|who| total(&series, who, TIME)).collect::<Vec<_>>();
    series.extend(totals);
    let quiet = machine.was_quiet()?;
    figures::print("clickbench", &figures::figures(&series, GADUS), quiet, command.common.json)
}

/// Refuses to measure answers that are not those of DuckDB; says which differ, and how.
fn compare_all(
    connection: &Connection,
    duckdb: &mut Python,
    asked: &[Query],
) -> Result<(), Failure> {
    let (mut rows, mut differences) = (0, Vec::new());
    let mut progress = Progress::new("comparing", asked.len() as u64);
    for query in asked {
        let compared = compare::compare(connection, duckdb, query.text)?;
        rows += compared.rows;
        if let Some(difference) = compared.difference {
            differences.push(format!("query {}: {difference}\n    {}", query.number, query.text));
        }
        progress.advance(1);
    }
    drop(progress);
    if differences.is_empty() {
        let queries = asked.len();
        writeln!(io::stderr(), "answers to {queries} queries, {rows} rows: those of duckdb")?;
        return Ok(());
    }
    Err(Failure::message(format!("different answers\n  {}", differences.join("\n  "))))
}

/// Says which queries take Gadus the longest beside DuckDB.
fn tell_slowest(series: &[Series]) -> Result<(), Failure> {
    const TOLD: usize = 5;
    let own = series.iter().filter(|one| one.who == GADUS);
    let times = own.filter_map(|own| {
        let peer = series.iter().find(|other| other.who == DUCKDB && other.case == own.case)?;
        Some((median(&own.values) / median(&peer.values), own.case.as_str()))
    });
    let mut times = times.collect::<Vec<_>>();
    times.sort_by(|one, other| other.0.total_cmp(&one.0));
    let told = times.iter().take(TOLD).map(|(times, case)| format!("{case} {times:.1} ×"));
    let told = told.collect::<Vec<_>>();
    if !told.is_empty() {
        writeln!(io::stderr(), "the longest of duckdb's time: {}", told.join(", "))?;
    }
    Ok(())
}
