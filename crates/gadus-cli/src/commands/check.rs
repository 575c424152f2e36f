//! `gadus check`: verification of a database that nobody has open.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use gadus::{ByteCount, CheckReport};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::progress::Progress;

#[derive(Debug, Args)]
#[command(after_help = "Example:
  gadus check shop.gadus && echo sound

Reads the headers, the log, every value of every table, and finds every row by its key.
Exit code 1 when anything is damaged.")]
pub(crate) struct Check {
    /// The database
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &Check) -> Result<(), Failure> {
    let report = verify(&command.file)?;
    let mut output = io::stdout();
    if command.json {
        writeln!(output, "{}", json(&report))?;
    } else {
        print(&report, &mut output)?;
    }
    if report.problems.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// Verifies a database, with a progress bar.
pub(crate) fn verify(path: &Path) -> Result<CheckReport, Failure> {
    let mut progress: Option<(Progress, u64)> = None;
    let report = gadus::check(path, |read, total| {
        let (bar, shown) = progress.get_or_insert_with(|| (Progress::new("verifying", total), 0));
        bar.advance(read - *shown);
        *shown = read;
    })?;
    Ok(report)
}

fn print(report: &CheckReport, output: &mut impl Write) -> io::Result<()> {
    writeln!(
        output,
        "last {}; {} records in the log behind the checkpoint; {} of data, {} of log",
        report.last_commit,
        report.log_records,
        ByteCount(report.data_bytes),
        ByteCount(report.log_bytes)
    )?;
    for table in &report.tables {
        writeln!(output, "table {}: {} of {} rows read", table.name, table.rows_read, table.rows)?;
    }
    for problem in &report.problems {
        writeln!(output, "DAMAGED {problem}")?;
    }
    match report.problems.len() {
        0 => {
            // What is not written anywhere cannot be missed.
            writeln!(
                output,
                "not verifiable: a log cut off within its last 16 KiB looks like one that ends there"
            )?;
            writeln!(output, "sound")
        }
        1 => writeln!(output, "1 problem; restore the file from a backup"),
        count => writeln!(output, "{count} problems; restore the file from a backup"),
    }
}

fn json(report: &CheckReport) -> Value {
    let tables = report.tables.iter().map(
        |table| json!({ "name": table.name, "rows": table.rows, "rows_read": table.rows_read }),
    );
    let problems = report.problems.iter().map(|problem| {
        json!({
            "file": problem.file,
            "offset": problem.offset,
            "table": problem.table,
            "column": problem.column,
            "segment": problem.segment,
            "message": problem.message,
        })
    });
    json!({
        "sound": report.problems.is_empty(),
        "last_commit": report.last_commit.0,
        "log_records": report.log_records,
        "data_bytes": report.data_bytes,
        "log_bytes": report.log_bytes,
        "tables": tables.collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
    })
}
