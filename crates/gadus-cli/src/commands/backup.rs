//! `gadus backup`: a copy of a database while others use it.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus::{Database, Options};
use serde_json::json;

use crate::failure::Failure;
use crate::progress::Progress;

#[derive(Debug, Args)]
#[command(after_help = "Example:
  gadus backup shop.gadus /backups/shop-monday.gadus

The copy is the database as it was when the command began, while others read and write. It is a database
itself: to restore it, copy it back to where nobody has one open.")]
pub(crate) struct Backup {
    /// The database
    file: PathBuf,
    /// The new file
    target: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Backup) -> Result<(), Failure> {
    let database = Database::open(&command.file, Options::new().create(false))?;
    let mut progress: Option<(Progress, u64)> = None;
    let copied = database.back_up(&command.target, |rows, all| {
        let (bar, shown) = progress.get_or_insert_with(|| (Progress::new("copying", all), 0));
        bar.advance(rows - *shown);
        *shown = rows;
    })?;
    drop(progress);
    let mut output = io::stdout();
    if command.json {
        let (commit, tables, rows) = (copied.commit.0, copied.tables, copied.rows);
        writeln!(output, "{}", json!({ "commit": commit, "tables": tables, "rows": rows }))?;
    } else {
        let target = command.target.display();
        let (rows, tables) = (copied.rows, copied.tables);
        writeln!(output, "{target}: {rows} rows in {tables} tables, as of {}", copied.commit)?;
    }
    Ok(())
}
