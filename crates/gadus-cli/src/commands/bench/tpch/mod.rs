//! `gadus bench tpch`: the 22 queries of TPC-H, one at a time, each on all processors.
//!
//! - Data is in the file and in the cache: the round to warm up reads it.
//! - With DuckDB, its answers and those of Gadus are compared before anything is measured.
//! - `total` is the sum of the queries of a round.

mod compare;
mod data;

pub(super) use compare::difference;
pub(super) use data::{compare_all, load_gadus, open_duckdb};

use std::cell::RefCell;

use clap::{Args, ValueEnum};
use gadus::{Connection, Database, Options};
use gadus_base::clock;
use serde_json::json;

use super::builds::Against;
use super::figures::{self, Metric};
use super::machine::Machine;
use super::peers::Python;
use super::rounds::{Entry, GADUS, Measured, measure, total};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::commands::tpch::loadable;
use crate::failure::Failure;
use crate::generate::tpch::queries::{self, Query};

pub(super) const TIME: Metric = Metric::lower("query_time", "s");

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench tpch --sf 1 --against duckdb,datafusion
  gadus bench tpch --sf 0.1 --queries 1,18 --json

duckdb has the tables in a file, datafusion in memory.")]
pub(super) struct Tpch {
    /// The scale factor: 1 is about a gigabyte of text in all tables
    #[arg(long = "sf", value_name = "N", default_value_t = 1.0, value_parser = loadable)]
    scale_factor: f64,
    /// Queries by their numbers [default: all]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=i64::from(queries::QUERIES)))]
    queries: Vec<u8>,
    #[command(flatten)]
    pub(super) against: Against<Rival>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Rival {
    Duckdb,
    Datafusion,
}

impl Rival {
    fn name(self) -> &'static str {
        match self {
            Self::Duckdb => "duckdb",
            Self::Datafusion => "datafusion",
        }
    }

    fn open(self, place: &Workplace, scale_factor: f64) -> Result<Python, Failure> {
        match self {
            Self::Duckdb => open_duckdb(place, scale_factor),
            Self::Datafusion => data::open_datafusion(place, scale_factor),
        }
    }
}

pub(super) fn run(command: &Tpch) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let database = Database::open(place.path("gadus.db"), Options::new())?;
    load_gadus(&database, command.scale_factor)?;
    let connection = database.connect();
    let mut peers = Vec::new();
    for rival in command.against.peers() {
        let mut peer = rival.open(&place, command.scale_factor)?;
        if rival == Rival::Duckdb {
            compare_all(&connection, &mut peer, command.scale_factor)?;
        }
        peers.push((rival.name(), RefCell::new(peer)));
    }
    let asked = queries::validation(command.scale_factor)
        .filter(|query| command.queries.is_empty() || command.queries.contains(&query.number));
    let mut entries = Vec::new();
    for Query { number, text } in asked {
        let case = format!("query {number}");
        for (name, peer) in &peers {
            let request = json!({ "do": "query", "sql": text, "times": 1 });
            let turn = move || Ok(vec![(TIME, peer.borrow_mut().ask_number(&request, "seconds")?)]);
            entries.push(Entry::new(case.clone(), name, turn));
        }
        let connection = &connection;
        entries.push(Entry::new(case, GADUS, move || ask(connection, &text)));
    }
    let mut series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    let names = peers.iter().map(|(name, _)| *name).chain([GADUS]);
    let totals = names.map(|who| total(&series, who, TIME)).collect::<Vec<_>>();
    series.extend(totals);
    let quiet = machine.was_quiet()?;
    figures::print("tpch", &figures::figures(&series, GADUS), quiet, command.common.json)
}

/// Asks Gadus, and reads all rows.
pub(super) fn ask(connection: &Connection, text: &str) -> Result<Measured, Failure> {
    let began = clock().now();
    connection.query(text, &[])?.collect_batches()?;
    Ok(vec![(TIME, began.elapsed().as_secs_f64())])
}
