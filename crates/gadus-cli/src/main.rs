//! The `gadus` program: the shell, and one subcommand per file in `commands`.
//!
//! - Results go to standard output, everything else to standard error.
//! - A reader that goes away, as `head` does, ends the program quietly.
//! - Exit codes: 0 done, 1 failed or damaged, 2 a wrong command line, 130 ended by Ctrl-C.

mod commands;
mod failure;
mod generate;
mod interrupt;
mod load;
mod output;
mod plot;
mod progress;
mod shell;
mod terminal;
mod texts;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

const EXAMPLES: &str = "Examples:
  gadus                                          a shell, in memory
  gadus shop.gadus                               a shell on a file
  gadus shop.gadus -c 'SELECT count(*) FROM orders'
  gadus shop.gadus --format csv -f report.sql > report.csv
  gadus demo                                     what Gadus does, shown on a million rows

A file with the name of a command is given with its folder: gadus ./demo";

/// An embedded SQL database that knows its machine.
#[derive(Debug, Parser)]
#[command(
    name = "gadus",
    version,
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    shell: shell::Arguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Copy a database while others use it
    Backup(commands::backup::Backup),
    /// Measure Gadus beside other databases
    Bench(commands::bench::Bench),
    /// Create a table of airline bookings in a database
    Bookings(commands::bookings::Bookings),
    /// Verify a database: files, checksums, every value, every key
    Check(commands::check::Check),
    /// Show what Gadus does: load, query, update, snapshots, kill -9
    Demo(commands::demo::Demo),
    /// Generate test data as files
    Generate(commands::generate::Generate),
    /// Create ClickBench's table of web page hits in a database
    Hits(commands::hits::Hits),
    /// Bring the tables of an SQLite file into a database
    Import(commands::import::Import),
    /// Measure what a database should leave to this kernel, and what it must do itself
    Kub(commands::kub::Kub),
    /// Show who holds locks in a database, and who waits for whom
    Locks(commands::locks::Locks),
    /// What the machine is, and where work should go on it
    Machine(commands::machine::Machine),
    /// Serve a database to psql and other clients of PostgreSQL
    Serve(commands::serve::Serve),
    /// Show who has a database open
    Sessions(commands::locks::Sessions),
    /// Create the tables of the TPC-H benchmark in a database
    Tpch(commands::tpch::Tpch),
    /// The writing process that the demo and the benchmark kill
    #[command(hide = true)]
    LedgerWriter(commands::ledger::Writing),
    /// What a benchmark does in a process of its own
    #[command(hide = true)]
    BenchWorker(commands::bench::Worker),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if gadus_allocator::heed_limits() {
        // A kernel that refuses this only costs memory.
        let _ = rustix::thread::disable_transparent_huge_pages(true);
    }
    let outcome = match cli.command {
        None => shell::run(cli.shell),
        Some(Command::Backup(command)) => commands::backup::run(&command),
        Some(Command::Bench(command)) => commands::bench::run(&command),
        Some(Command::BenchWorker(command)) => commands::bench::work(&command),
        Some(Command::Bookings(command)) => commands::bookings::run(&command),
        Some(Command::Check(command)) => commands::check::run(&command),
        Some(Command::Demo(command)) => commands::demo::run(&command),
        Some(Command::Generate(command)) => commands::generate::run(command),
        Some(Command::Hits(command)) => commands::hits::run(&command),
        Some(Command::Import(command)) => commands::import::run(&command),
        Some(Command::Kub(command)) => commands::kub::run(&command),
        Some(Command::Locks(command)) => commands::locks::locks(&command),
        Some(Command::Machine(command)) => commands::machine::run(&command),
        Some(Command::Serve(command)) => commands::serve::run(&command),
        Some(Command::Sessions(command)) => commands::locks::sessions(&command),
        Some(Command::Tpch(command)) => commands::tpch::run(&command),
        Some(Command::LedgerWriter(command)) => commands::ledger::write(&command),
    };
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    if !matches!(failure, Failure::ReaderGone | Failure::Reported) {
        // When not even this can be written, the exit code still tells.
        let _ = writeln!(io::stderr(), "error: {failure}");
    }
    failure.exit_code()
}
