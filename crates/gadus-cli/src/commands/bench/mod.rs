//! `gadus bench`: Gadus beside its peers, in one run.
//!
//! - Contestants take turns in random order, at least [`ROUNDS_MIN`] rounds after one to warm up,
//!   so that what the machine does meanwhile meets all alike. Fewer only where a turn takes minutes,
//!   and only when told to.
//! - A benchmark states figures and never judges them; only wrong answers end it with an error, and
//!   a database in which `gadus check` finds a problem afterwards.
//! - The machine's state goes to standard error, figures to standard output: a table, or with
//!   `--json` one object a line.

mod answers;
mod bookings;
mod budget;
mod clickbench;
mod commit;
mod figures;
mod freeze;
mod kill;
mod kill_among;
mod latencies;
mod left;
mod load;
mod locks;
mod machine;
mod memory;
mod memory_watch;
mod peers;
mod player;
mod plot;
mod processes;
mod python;
mod rounds;
mod scan;
mod scopes;
mod soak;
mod spinner;
mod streams;
mod tables;
mod tpch;
mod update;
mod wire;
mod witness;
mod worker;
mod workplace;

pub(crate) use worker::{Worker, work};

use std::io::{self, Write};
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::commands::pause;
use crate::failure::Failure;

/// A median of fewer says nothing about its spread.
const ROUNDS_MIN: u32 = 5;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench load --rows 1000000 --against duckdb
  gadus bench commit --clients 1,64 --against sqlite,postgres
  gadus bench commit --clients 1,64 --sync-delay 4ms
  gadus bench scan --rows 10000000 --against duckdb --json
  gadus bench bookings --rows 10000000 --outstanding 1,64,1024,2048 --against duckdb --json
  gadus bench bookings --outstanding 64,2048 --open-loop 50%,70% --copies
  gadus bench streams --streams 64 --sf 1 --against duckdb
  gadus bench tpch --sf 1 --against duckdb,datafusion
  gadus bench clickbench --rows 1000000 --against duckdb --json
  gadus bench memory --sf 5 --memory-limit 1GiB --json
  gadus bench update --against duckdb --json
  gadus bench processes --processes 32 --against sqlite,postgres
  gadus bench processes --mix point --processes 1,2,4,8 --against sqlite
  gadus bench python --package . --against duckdb
  gadus bench wire --against postgres
  gadus bench freeze --against postgres
  gadus bench noise --batches 1024,2048,4096
  gadus bench budget --processes 4
  gadus bench scopes
  gadus bench locks
  gadus bench kill --kills 1000
  gadus bench soak --hours 0.5

Peers: duckdb and datafusion come as wheels into a virtual environment beside the results (Debian:
python3-venv), sqlite with python3, postgres as Debian's postgresql.")]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Load bookings from a Parquet file: time, peak memory, size of the file
    Load(load::Load),
    /// Durable inserts of one row, one client or many
    Commit(commit::Commit),
    /// Filters and aggregates over a table in memory; opening a file and finding a first row
    Scan(scan::Scan),
    /// Many different questions about bookings, on columns that have no index
    Bookings(bookings::Bookings),
    /// Shared scans beside a program that keeps one processor busy
    Noise(bookings::Noise),
    /// Processes on one file that divide the processors as they come, leave and die
    Budget(budget::Budget),
    /// Streams of TPC-H queries at once, with shared scans and without
    Streams(streams::Streams),
    /// The 22 queries of TPC-H, one at a time
    Tpch(tpch::Tpch),
    /// The 43 queries of ClickBench, one at a time, on a table of web page hits
    Clickbench(clickbench::Clickbench),
    /// The 22 queries of TPC-H with little memory, in a control group of its own
    Memory(memory::Memory),
    /// An update of a hundredth of a table, and of one row by its key
    Update(update::Update),
    /// Durable updates of one row, alone or among reads, from many processes on one file
    Processes(processes::Processes),
    /// The Python package: loops of small statements, Arrow data, batches
    Python(python::PackageBench),
    /// The server: look-ups by many clients, rows for a driver, what it adds to a statement
    Wire(wire::Wire),
    /// A second connection while a statement runs without end, operator by operator
    Freeze(freeze::Freeze),
    /// Readers as threads and as processes, with a cache that they share or one each
    Scopes(scopes::Scopes),
    /// A lock of the lock table, beside mutexes of one process and locks of a file
    Locks(locks::Locks),
    /// Processes that write to one file for hours: what must not grow
    Soak(soak::Soak),
    /// Kill -9 of a process that commits and checkpoints, again and again
    Kill(kill::Kill),
}

/// What every benchmark understands.
#[derive(Debug, Args)]
struct Common {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    /// Work in a new folder in this one; the disk it is on is what is measured [default: the build
    /// folder, else the folder for temporary files]
    #[arg(long)]
    dir: Option<std::path::PathBuf>,
}

/// How often a comparison is repeated.
#[derive(Debug, Args)]
struct Repeat {
    /// Rounds that count, after one that does not
    #[arg(long, default_value_t = ROUNDS_MIN, value_parser = clap::value_parser!(u32).range(i64::from(ROUNDS_MIN)..=1000))]
    rounds: u32,
}

/// One contestant's turn.
#[derive(Debug, Args)]
struct Turn {
    /// Let each sync of Gadus take this much longer, as on a slower disk: 4ms
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "0s")]
    sync_delay: Duration,
    /// How long one turn takes
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "3s")]
    time: Duration,
}

impl Turn {
    /// The peers to measure: none while only Gadus' disk is slowed down, said on standard error.
    fn fair<'a, P>(&self, against: &'a [P]) -> Result<&'a [P], Failure> {
        if self.sync_delay.is_zero() {
            return Ok(against);
        }
        if !against.is_empty() {
            writeln!(io::stderr(), "--sync-delay slows down Gadus alone: measured without peers")?;
        }
        Ok(&[])
    }
}

pub(crate) fn run(command: &Bench) -> Result<(), Failure> {
    match &command.what {
        What::Load(command) => load::run(command),
        What::Commit(command) => commit::run(command),
        What::Scan(command) => scan::run(command),
        What::Bookings(command) => bookings::run(command),
        What::Noise(command) => bookings::run_noise(command),
        What::Budget(command) => budget::run(command),
        What::Streams(command) => streams::run(command),
        What::Tpch(command) => tpch::run(command),
        What::Clickbench(command) => clickbench::run(command),
        What::Memory(command) => memory::run(command),
        What::Update(command) => update::run(command),
        What::Processes(command) => processes::run(command),
        What::Python(command) => python::run(command),
        What::Wire(command) => wire::run(command),
        What::Freeze(command) => freeze::run(command),
        What::Scopes(command) => scopes::run(command),
        What::Locks(command) => locks::run(command),
        What::Soak(command) => soak::run(command),
        What::Kill(command) => kill::run(command),
    }
}
