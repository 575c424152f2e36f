//! `gadus bench streams`: streams of TPC-H queries, all at once in one process.
//!
//! - Each stream has a connection and a thread of its own, and asks its queries one after another, in
//!   an order of its own, with parameters of its own. They are the same in every turn and every run.
//! - Gadus takes two turns, with shared scans and without; how it would choose is not asked.
//! - Peers that answer one statement at a time are given all queries one after another, on all
//!   processors: more at a time would only wait for each other.
//! - With a peer, its answers and those of Gadus to all 22 queries are compared before anything is
//!   measured.

mod turn;

use std::cell::RefCell;

use clap::Args;
use gadus::{Database, Options};
use gadus_base::Random;

use super::builds::Against;
use super::figures;
use super::load::Peer;
use super::machine::Machine;
use super::rounds::{Entry, GADUS, measure};
use super::tpch::{compare_all, load_gadus, open_duckdb};
use super::workplace::Workplace;
use super::{Common, ROUNDS_MIN};
use crate::commands::tpch::loadable;
use crate::failure::Failure;
use crate::generate::tpch::queries;

use turn::Sharing;

/// The streams' children of one seed: every run asks the same.
const SEED: u64 = 1;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench streams --streams 1,8,64 --against duckdb
  gadus bench streams --streams 64 --queries 5 --sf 0.1 --json
  gadus bench streams --sf 0.1 --check")]
pub(super) struct Streams {
    /// Streams that run at a time
    #[arg(long, value_delimiter = ',', default_value = "64", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    streams: Vec<u32>,
    /// The scale factor: 1 is about a gigabyte of text in all tables
    #[arg(long = "sf", value_name = "N", default_value_t = 1.0, value_parser = loadable)]
    scale_factor: f64,
    /// Queries of each stream, all different
    #[arg(long, default_value_t = queries::QUERIES, value_parser = clap::value_parser!(u8).range(1..=i64::from(queries::QUERIES)))]
    queries: u8,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    /// Compare the answers to all queries with those of DuckDB, and measure nothing
    #[arg(long)]
    check: bool,
    /// Rounds that count, after one that does not; fewer than five say nothing about their spread
    #[arg(long, default_value_t = ROUNDS_MIN, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(super) rounds: u32,
    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(command: &Streams) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let database = Database::open(place.path("gadus.db"), Options::new())?;
    load_gadus(&database, command.scale_factor)?;
    let duckdb = command.check || command.against.contains(Peer::Duckdb);
    let peer = duckdb.then(|| open_duckdb(&place, command.scale_factor)).transpose()?;
    let peer = peer.map(RefCell::new);
    if let Some(peer) = &peer {
        compare_all(&database.connect(), &mut peer.borrow_mut(), command.scale_factor)?;
    }
    if command.check {
        return Ok(());
    }
    let mut entries = Vec::new();
    for &streams in &command.streams {
        let case = format!("{streams} streams");
        let drawn = drawn(streams, command);
        for (who, sharing) in [(GADUS, Sharing::Always), ("gadus, sharing never", Sharing::Never)] {
            let (database, drawn) = (&database, drawn.clone());
            let turn = move || turn::of_gadus(database, &drawn, sharing);
            entries.push(Entry::new(case.clone(), who, turn));
        }
        if let Some(peer) = &peer {
            let turn = move || turn::of_peer(&mut peer.borrow_mut(), &drawn);
            entries.push(Entry::new(case, "duckdb", turn));
        }
    }
    let series = measure(&mut entries, command.rounds, &mut machine)?;
    let quiet = machine.was_quiet()?;
    figures::print("streams", &figures::figures(&series, GADUS), quiet, command.common.json)
}

/// What each stream asks.
fn drawn(streams: u32, command: &Streams) -> Vec<turn::Stream> {
    let seed = Random::seeded(SEED);
    let of = |index: u32| {
        let random = seed.child(u64::from(index));
        queries::stream(random, command.queries, command.scale_factor)
    };
    (0..streams).map(of).collect()
}
