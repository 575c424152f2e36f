//! `gadus hits`: ClickBench's table of web page hits in a database.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus::{Database, Options};

use crate::failure::Failure;
use crate::generate::hits;
use crate::interrupt::Interrupt;
use crate::load::{self, BATCH_ROWS};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus hits web.gadus --rows 1000000")]
pub(crate) struct Hits {
    /// The database; created when it does not exist
    file: PathBuf,
    /// How many rows
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(0..=hits::ROWS_MAX))]
    rows: u64,
    /// The same seed gives the same rows
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Replace the table where it exists
    #[arg(long)]
    replace: bool,
}

pub(crate) fn run(command: &Hits) -> Result<(), Failure> {
    let database = Database::open(&command.file, Options::new())?;
    let table = hits::Hits::new(command.rows, command.seed).into_table(BATCH_ROWS);
    load::refuse_existing(&database, &command.file, &[table.name], command.replace)?;
    let connection = database.connect();
    let interrupt = Interrupt::watch(connection.cancel_handle(), false)?;
    let name = table.name;
    let rows = load::load(&connection, table, &interrupt)?;
    writeln!(io::stdout(), "{name}: {rows} rows")?;
    Ok(())
}
