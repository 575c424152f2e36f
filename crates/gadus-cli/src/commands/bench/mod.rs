//! `gadus bench`: Gadus beside its peers, in one run.
//!
//! - Contestants take turns in random order, at least [`ROUNDS_MIN`] rounds after one to warm up,
//!   so that what the machine does meanwhile meets all alike. Fewer only where a turn takes minutes,
//!   and only when told to.
//! - Other builds of Gadus are peers of every benchmark (see [`builds`]) but three. `kill` and `soak` count
//!   what survives, which has no ratio. `python` measures the package that `--package` names, whatever
//!   program starts it.
//! - A benchmark states figures and never judges them; only wrong answers end it with an error, and
//!   a database in which `gadus check` finds a problem afterwards.
//! - The machine's state goes to standard error, figures to standard output: a table, or with
//!   `--json` one object a line.

mod answers;
mod bookings;
mod budget;
mod builds;
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

use clap::{Args, Subcommand, ValueEnum};

use self::builds::{Against, Comparison};
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
  gadus bench commit --clients 1,64 --against gadus=../old/target/release/gadus

Peers: gadus=PATH is the program of another build of Gadus. Both run the whole benchmark in turns, without
other peers; --rounds is the number of turns. A build compared with itself shows the noise. duckdb and
datafusion come as wheels into a virtual environment beside the results (Debian: python3-venv), sqlite with
python3, postgres as Debian's postgresql.")]
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
    /// Rounds that count, after one that does not; at least 5. If only builds are peers, turns of each, of
    /// five rounds; at least 1
    #[arg(long, default_value_t = ROUNDS_MIN, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
}

impl Repeat {
    /// Refuses too few rounds of this program; turns of builds can be fewer, as each has several rounds.
    fn check(&self) -> Result<(), Failure> {
        if self.rounds >= ROUNDS_MIN {
            return Ok(());
        }
        let rounds = self.rounds;
        Err(Failure::message(format!(
            "--rounds {rounds} is too few; expected at least {ROUNDS_MIN}, unless only builds are peers"
        )))
    }
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
    fn fair<P>(&self, against: &Against<P>) -> Result<Vec<P>, Failure>
    where
        P: ValueEnum + Clone + Send + Sync + 'static,
    {
        let peers = against.peers();
        if self.sync_delay.is_zero() {
            return Ok(peers);
        }
        if !peers.is_empty() {
            writeln!(io::stderr(), "--sync-delay slows down Gadus alone: measured without peers")?;
        }
        Ok(Vec::new())
    }
}

pub(crate) fn run(command: &Bench) -> Result<(), Failure> {
    match command.what.comparison() {
        Some(comparison) => comparison.run(|| command.what.run()),
        None => command.what.run(),
    }
}

impl What {
    /// Describes the turns of other builds; none if the benchmark cannot be compared with them.
    fn comparison(&self) -> Option<Comparison<'_>> {
        Some(match self {
            Self::Load(c) => Comparison::repeated("load", &c.against, &c.repeat, &c.common),
            Self::Commit(c) => Comparison::repeated("commit", &c.against, &c.repeat, &c.common),
            Self::Scan(c) => Comparison::repeated("scan", &c.against, &c.repeat, &c.common),
            Self::Bookings(c) => Comparison::repeated("bookings", &c.against, &c.repeat, &c.common)
                .also_itself(c.plot.is_some()),
            Self::Noise(c) => Comparison::repeated("noise", &c.against, &c.repeat, &c.common),
            Self::Budget(c) => {
                Comparison::new("budget", &c.against, (c.rounds, None), &c.common).without_warm_up()
            }
            Self::Streams(c) => {
                Comparison::new("streams", &c.against, (c.rounds, Some(1)), &c.common)
            }
            Self::Tpch(c) => Comparison::repeated("tpch", &c.against, &c.repeat, &c.common),
            Self::Clickbench(c) => {
                Comparison::repeated("clickbench", &c.against, &c.repeat, &c.common)
            }
            Self::Memory(c) => {
                Comparison::new("memory", &c.against, (c.rounds, Some(1)), &c.common)
                    .without_warm_up()
            }
            Self::Update(c) => Comparison::repeated("update", &c.against, &c.repeat, &c.common),
            Self::Processes(c) => {
                Comparison::repeated("processes", &c.against, &c.repeat, &c.common)
            }
            Self::Wire(c) => Comparison::repeated("wire", &c.against, &c.repeat, &c.common),
            Self::Freeze(c) => Comparison::repeated("freeze", &c.against, &c.repeat, &c.common),
            Self::Scopes(c) => Comparison::repeated("scopes", &c.against, &c.repeat, &c.common),
            Self::Locks(c) => Comparison::repeated("locks", &c.against, &c.repeat, &c.common),
            Self::Python(_) | Self::Soak(_) | Self::Kill(_) => return None,
        })
    }

    fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Load(command) => load::run(command),
            Self::Commit(command) => commit::run(command),
            Self::Scan(command) => scan::run(command),
            Self::Bookings(command) => bookings::run(command),
            Self::Noise(command) => bookings::run_noise(command),
            Self::Budget(command) => budget::run(command),
            Self::Streams(command) => streams::run(command),
            Self::Tpch(command) => tpch::run(command),
            Self::Clickbench(command) => clickbench::run(command),
            Self::Memory(command) => memory::run(command),
            Self::Update(command) => update::run(command),
            Self::Processes(command) => processes::run(command),
            Self::Python(command) => python::run(command),
            Self::Wire(command) => wire::run(command),
            Self::Freeze(command) => freeze::run(command),
            Self::Scopes(command) => scopes::run(command),
            Self::Locks(command) => locks::run(command),
            Self::Soak(command) => soak::run(command),
            Self::Kill(command) => kill::run(command),
        }
    }
}
