//! `gadus tpch`: the tables of TPC-H in a database.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus::{Database, Options};

use crate::commands::generate::scale_factor;
use crate::failure::Failure;
use crate::generate::tpch;
use crate::interrupt::Interrupt;
use crate::load::{self, BATCH_ROWS};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus tpch tpch.gadus --sf 0.1")]
pub(crate) struct Tpch {
    /// The database; created when it does not exist
    file: PathBuf,
    /// The scale factor: 1 is about a gigabyte of text in all tables
    #[arg(long = "sf", value_name = "N", default_value_t = 1.0, value_parser = loadable)]
    scale_factor: f64,
    /// Replace tables where they exist
    #[arg(long)]
    replace: bool,
}

pub(crate) fn run(command: &Tpch) -> Result<(), Failure> {
    let database = Database::open(&command.file, Options::new())?;
    load::refuse_existing(&database, &command.file, &tpch::TABLES, command.replace)?;
    let connection = database.connect();
    let interrupt = Interrupt::watch(connection.cancel_handle(), false)?;
    for table in tpch::tables(command.scale_factor, BATCH_ROWS) {
        let name = table.name;
        let rows = load::load(&connection, table, &interrupt)?;
        writeln!(io::stdout(), "{name}: {rows} rows")?;
    }
    Ok(())
}

/// A scale factor at which the primary keys of TPC-H hold.
pub(crate) fn loadable(text: &str) -> Result<f64, String> {
    // With fewer than a hundred suppliers, the standard's formula gives a part one of them twice.
    scale_factor(text)
        .ok()
        .filter(|factor| *factor >= 0.01)
        .ok_or_else(|| "a number from 0.01 to 100000".to_owned())
}
