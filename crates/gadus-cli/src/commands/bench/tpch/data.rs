//! TPC-H's tables in Gadus and in its peers, and whether all answer its queries alike.

use std::io::{self, Write};

use gadus::{Connection, Database};
use serde_json::{Map, json};

use super::super::load::threads;
use super::super::peers::Python;
use super::super::tables::write_parquet;
use super::super::workplace::Workplace;
use super::compare::compare;
use crate::failure::Failure;
use crate::generate::tpch::{self, queries};
use crate::interrupt::Interrupt;
use crate::load::{BATCH_ROWS, load};
use crate::progress::Progress;

pub(in super::super) fn load_gadus(database: &Database, scale_factor: f64) -> Result<(), Failure> {
    let connection = database.connect();
    for table in tpch::tables(scale_factor, BATCH_ROWS) {
        load(&connection, table, &Interrupt::default())?;
    }
    // What loading left to do is no part of the first turns.
    Ok(database.checkpoint()?)
}

/// DuckDB with the same tables in a file.
pub(in super::super) fn open_duckdb(
    place: &Workplace,
    scale_factor: f64,
) -> Result<Python, Failure> {
    super::super::tables::open_duckdb(place, tpch::tables(scale_factor, BATCH_ROWS))
}

/// DataFusion with the same tables in memory, which is where it is fastest.
pub(super) fn open_datafusion(place: &Workplace, scale_factor: f64) -> Result<Python, Failure> {
    let mut peer = Python::datafusion(&place.kept)?;
    let mut tables = Map::new();
    for table in tpch::tables(scale_factor, BATCH_ROWS) {
        let parquet = place.path(&format!("{}.parquet", table.name));
        let name = table.name.to_owned();
        write_parquet(table, &parquet)?;
        tables.insert(name, json!(parquet));
    }
    peer.ask(&json!({ "do": "open", "tables": tables, "threads": threads() }))?;
    for parquet in tables.values().filter_map(|path| path.as_str()) {
        std::fs::remove_file(parquet)?;
    }
    writeln!(io::stderr(), "peer: {}", peer.version()?)?;
    Ok(peer)
}

/// Refuses to measure answers that are not those of DuckDB; says which differ, and how.
pub(in super::super) fn compare_all(
    connection: &Connection,
    duckdb: &mut Python,
    scale_factor: f64,
) -> Result<(), Failure> {
    let (mut rows, mut differences) = (0, Vec::new());
    let mut progress = Progress::new("comparing", u64::from(queries::QUERIES));
    for query in queries::validation(scale_factor) {
        let compared = compare(connection, duckdb, &query)?;
        rows += compared.rows;
        if let Some(difference) = compared.difference {
            differences.push(format!("query {}: {difference}", query.number));
        }
        progress.advance(1);
    }
    drop(progress);
    if differences.is_empty() {
        let queries = queries::QUERIES;
        writeln!(io::stderr(), "answers to {queries} queries, {rows} rows: those of duckdb")?;
        return Ok(());
    }
    Err(Failure::message(format!("different answers\n  {}", differences.join("\n  "))))
}
