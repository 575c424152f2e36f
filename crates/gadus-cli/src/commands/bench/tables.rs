//! Generated tables in DuckDB's file, by way of Parquet files.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use super::load::threads;
use super::peers::Python;
use super::workplace::Workplace;
use crate::failure::Failure;
use crate::generate::Table;
use crate::output::{Format, Limits};
use crate::progress::Progress;

/// DuckDB with these tables in a file of the run, open for queries.
pub(super) fn open_duckdb(
    place: &Workplace,
    tables: impl Iterator<Item = Table>,
) -> Result<Python, Failure> {
    let mut peer = Python::duckdb(&place.kept)?;
    let path = place.path("duck.db");
    for table in tables {
        let parquet = place.path("table.parquet");
        let (name, create_table) = (table.name, table.create_table.clone());
        write_parquet(table, &parquet)?;
        peer.ask(&json!({
            "do": "load",
            "path": path,
            "create_table": create_table,
            "table": name,
            "parquet": parquet,
            "threads": threads(),
        }))?;
        std::fs::remove_file(&parquet)?;
    }
    peer.ask(&json!({ "do": "open", "path": path, "threads": threads() }))?;
    writeln!(io::stderr(), "peer: {}", peer.version()?)?;
    Ok(peer)
}

pub(super) fn write_parquet(table: Table, path: &Path) -> Result<(), Failure> {
    let mut writer = Format::Parquet.writer(File::create(path)?, Limits::default());
    let mut progress = Progress::new(table.name, table.rows);
    writer.start(&table.schema)?;
    for batch in table.batches {
        let batch = batch?;
        progress.advance(batch.num_rows() as u64);
        writer.batch(&batch)?;
    }
    Ok(writer.finish()?)
}
