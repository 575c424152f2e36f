//! Generated tables into a database.
//!
//! - A table is created and loaded in one transaction: whole or not at all.
//! - Rows are generated on another thread while those before them are stored.

use std::path::Path;
use std::sync::mpsc::sync_channel;

use gadus::{Connection, Database};

use crate::failure::Failure;
use crate::generate::Table;
use crate::interrupt::Interrupt;
use crate::progress::Progress;

/// Rows of a generated batch: one batch of a segment in eight.
pub(crate) const BATCH_ROWS: usize = 8192;

/// Batches generated ahead: a few megabytes.
const BATCHES_AHEAD: usize = 16;

/// Refuses names that are taken, before anything is loaded.
pub(crate) fn refuse_existing(
    database: &Database,
    path: &Path,
    names: &[&str],
    replace: bool,
) -> Result<(), Failure> {
    let tables = database.tables()?;
    match names.iter().find(|name| tables.iter().any(|table| table == *name)) {
        Some(name) if !replace => Err(Failure::message(format!(
            "{} has a table {name} already; --replace replaces it",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Creates a table, in the place of one of the same name, and fills it; returns its rows.
pub(crate) fn load(
    connection: &Connection,
    table: Table,
    interrupt: &Interrupt,
) -> Result<u64, Failure> {
    connection.execute("BEGIN", &[])?;
    let loaded = load_in_transaction(connection, table, interrupt);
    // After a failure the first error is the one to tell, whatever becomes of the rollback.
    let ended = connection.execute(if loaded.is_ok() { "COMMIT" } else { "ROLLBACK" }, &[]);
    let rows = loaded?;
    ended?;
    Ok(rows)
}

fn load_in_transaction(
    connection: &Connection,
    table: Table,
    interrupt: &Interrupt,
) -> Result<u64, Failure> {
    connection.execute(&format!("DROP TABLE IF EXISTS {}", table.name), &[])?;
    connection.execute(&table.create_table, &[])?;
    let mut appender = connection.appender(table.name)?;
    let mut progress = Progress::new(table.name, table.rows);
    let (sender, batches) = sync_channel(BATCHES_AHEAD);
    let source = table.batches;
    let generating = gadus_base::spawn("generator", move || {
        for batch in source {
            if sender.send(batch).is_err() {
                break;
            }
        }
    })?;
    for batch in batches {
        interrupt.check()?;
        let batch = batch?;
        progress.advance(batch.num_rows() as u64);
        appender.append(batch)?;
    }
    if generating.join().is_err() {
        return Err(Failure::message(format!("generating {} broke off", table.name)));
    }
    Ok(appender.finish()?)
}
