//! `gadus demo`: what Gadus does, shown on data that anybody can make again.
//!
//! - Every claim is verified while it is shown; the first that does not hold ends the demo with an
//!   error.
//! - Works in a folder of its own, which is removed afterwards unless it is to be kept.

mod equals;
mod kill;
mod report;
mod show;
mod together;

use std::path::{Path, PathBuf};

use clap::Args;
use gadus::{Database, Options};
use gadus_base::{clock, counted};

use crate::commands::check;
use crate::commands::tpch::loadable;
use crate::failure::Failure;
use crate::generate::{bookings, tpch};
use crate::interrupt::Interrupt;
use crate::load::{self, BATCH_ROWS};
use crate::shell::shown_seconds;
use report::Report;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus demo --rows 100000 --sf 0.01 --keep")]
pub(crate) struct Demo {
    /// Work in a new folder in this one [default: the folder for temporary files]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Bookings to load
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1_000..=bookings::ROWS_MAX))]
    rows: u64,
    /// The scale factor of the TPC-H tables to load
    #[arg(long = "sf", value_name = "N", default_value_t = 0.1, value_parser = loadable)]
    scale_factor: f64,
    /// How often a writing process is killed, alone and among others
    #[arg(long, default_value_t = 5)]
    kills: u32,
    /// Keep the database
    #[arg(long)]
    keep: bool,
}

/// The folder that the demo works in.
struct Workplace {
    folder: PathBuf,
    keep: bool,
}

pub(crate) fn run(command: &Demo) -> Result<(), Failure> {
    let workplace = Workplace::make(command)?;
    let path = workplace.folder.join("demo.gadus");
    let mut report = Report::new();
    {
        let database = Database::open(&path, Options::new())?;
        let connection = database.connect();
        let interrupt = Interrupt::watch(connection.cancel_handle(), false)?;
        load_all(command, &connection, &path, &interrupt, &mut report)?;
        show::queries(&connection, &mut report)?;
        interrupt.check()?;
        together::questions(&database, &mut report)?;
        interrupt.check()?;
        show::update(&connection, &mut report)?;
        show::snapshot(&database, &mut report)?;
        interrupt.check()?;
    }
    kill::rounds(&path, command.kills, &mut report)?;
    let shared = workplace.folder.join("together.gadus");
    equals::rounds(&shared, command.kills, &mut report)?;
    verify(&[&path, &shared], &mut report)?;
    report.summary()?;
    if workplace.keep {
        report.line(&format!("The database stays in {}", path.display()))?;
    }
    Ok(())
}

fn load_all(
    command: &Demo,
    connection: &gadus::Connection,
    path: &Path,
    interrupt: &Interrupt,
    report: &mut Report,
) -> Result<(), Failure> {
    report.heading("Load")?;
    report.line(&format!(
        "{} bookings of airlines and TPC-H at scale {}, into {}",
        counted(command.rows),
        command.scale_factor,
        path.display()
    ))?;
    let started = clock().now();
    let bookings = bookings::Bookings::new(command.rows, 1).into_table(BATCH_ROWS);
    let tables = std::iter::once(bookings).chain(tpch::tables(command.scale_factor, BATCH_ROWS));
    let mut all = 0;
    for table in tables {
        let (name, table_started) = (table.name, clock().now());
        let rows = load::load(connection, table, interrupt)?;
        let time = shown_seconds(table_started.elapsed().as_secs_f64());
        report.line(&format!("  {name:<9} {:>10} rows  {time}", counted(rows)))?;
        all += rows;
    }
    let seconds = started.elapsed().as_secs_f64();
    report.figure("rows generated and loaded, in 9 tables", &counted(all));
    report.figure("time to generate and load", &shown_seconds(seconds));
    let bytes = std::fs::metadata(path)?.len();
    report.figure("size of the file", &gadus::ByteCount(bytes).to_string());
    Ok(())
}

/// Reads every value of the databases and finds every row by its key.
fn verify(paths: &[&Path], report: &mut Report) -> Result<(), Failure> {
    report.heading("Verify")?;
    let started = clock().now();
    let mut rows = 0;
    for path in paths {
        let found = check::verify(path)?;
        if let Some(problem) = found.problems.first() {
            return Err(Failure::message(format!("the database is damaged: {problem}")));
        }
        rows += found.tables.iter().map(|table| table.rows_read).sum::<u64>();
    }
    let rows = counted(rows);
    let time = shown_seconds(started.elapsed().as_secs_f64());
    report.line(&format!("  every value of {rows} rows read, every key found, in {time}"))?;
    report.figure("problems found by gadus check", "0");
    Ok(())
}

impl Workplace {
    fn make(command: &Demo) -> Result<Self, Failure> {
        let parent = command.dir.clone().unwrap_or_else(std::env::temp_dir);
        let folder = parent.join(format!("gadus-demo-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::message(format!("cannot make {}: {error}", folder.display()))
        })?;
        Ok(Self { folder, keep: command.keep })
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed is in the folder for temporary files.
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
