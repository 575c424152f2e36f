//! What a benchmark does in a process of its own: a hidden subcommand, one JSON line of answer.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::{Args, Subcommand};
use gadus::{Database, Options};
use gadus_base::clock;
use serde_json::{Value, json};

use super::{bookings, budget, left, load, memory, processes, scopes, spinner};
use crate::failure::Failure;
use crate::texts::texts;

#[derive(Debug, Args)]
pub(crate) struct Worker {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Load a Parquet file into a new database
    Load {
        file: PathBuf,
        parquet: PathBuf,
        #[arg(long)]
        without_key: bool,
        #[arg(long)]
        threads: usize,
    },
    /// Open a database, run a query, and tell how long both took together
    OpenAndFind { file: PathBuf, sql: String },
    /// Read and update rows of a database once told to, and tell how often, and how long that took
    Play {
        file: PathBuf,
        #[arg(long)]
        reads_per_commit: u32,
        #[arg(long, value_parser = humantime::parse_duration)]
        sync_delay: Duration,
        #[arg(long, value_parser = humantime::parse_duration)]
        time: Duration,
        #[arg(long)]
        exclusive: bool,
    },
    /// Read a table from several threads, and tell how long that took
    Read {
        file: PathBuf,
        #[command(flatten)]
        reading: scopes::Reading,
    },
    /// Write for a time
    Write {
        file: PathBuf,
        #[arg(long, value_parser = humantime::parse_duration)]
        time: Duration,
    },
    /// Ask queries of TPC-H, and print their answers
    Answer {
        file: PathBuf,
        #[command(flatten)]
        asking: memory::Asking,
    },
    /// Ask questions about bookings, in turns
    Ask {
        file: PathBuf,
        #[command(flatten)]
        asking: bookings::Asking,
    },
    /// Open connections, and keep them open
    Hold {
        file: PathBuf,
        #[arg(long)]
        private: bool,
        #[arg(long)]
        connections: u32,
    },
    /// Scan a table, and tell how many threads there are for it
    ScanOn {
        file: PathBuf,
        #[arg(long)]
        threads: usize,
    },
    /// Keep a processor busy
    Spin {
        #[arg(long)]
        cpu: u32,
    },
    /// Time the statement after another instance's commit
    Notice { file: PathBuf },
    /// Tell whether a database is sound, and what its ledger holds
    Verify { file: PathBuf },
}

/// Does the work and prints its answer.
pub(crate) fn work(command: &Worker) -> Result<(), Failure> {
    let answer = match &command.what {
        What::Load { file, parquet, without_key, threads } => {
            let started = clock().now();
            let statement = load::create_table(!without_key);
            {
                let database = Database::open(file, Options::new().threads(*threads))?;
                let connection = database.connect();
                connection.execute(&statement, &[])?;
                connection.execute(&load::insert(parquet), &[])?;
            }
            json!({ "seconds": started.elapsed().as_secs_f64(), "peak_bytes": peak_bytes()? })
        }
        What::OpenAndFind { file, sql } => {
            let started = clock().now();
            let database = Database::open(file, Options::new().create(false))?;
            let rows = texts(database.connect().query(sql, &[])?)?;
            json!({ "seconds": started.elapsed().as_secs_f64(), "rows": rows.len() })
        }
        What::Play { file, reads_per_commit, sync_delay, time, exclusive } => {
            processes::play(file, *reads_per_commit, *sync_delay, *time, *exclusive)?
        }
        What::Read { file, reading } => return scopes::read(file, reading),
        What::Answer { file, asking } => return memory::answer(file, asking),
        What::Ask { file, asking } => return bookings::ask(file, asking),
        What::Write { file, time } => scopes::write(file, *time)?,
        What::Hold { file, private, connections } => {
            return scopes::hold(file, *private, *connections);
        }
        What::ScanOn { file, threads } => return budget::scan_on(file, *threads),
        What::Spin { cpu } => return spinner::spin(*cpu),
        What::Notice { file } => scopes::notice(file)?,
        What::Verify { file } => left::verify(file)?,
    };
    writeln!(io::stdout(), "{answer}")?;
    Ok(())
}

/// A command that starts this program as a worker.
pub(super) fn command(what: &str) -> Result<Command, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bench-worker", what]).stdin(Stdio::null()).stdout(Stdio::piped());
    Ok(command)
}

/// Runs a worker to its end; returns its answer.
pub(super) fn answer(mut command: Command) -> Result<Value, Failure> {
    let output = command.stderr(Stdio::piped()).output()?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::message(format!("worker, {}: {}", output.status, told.trim())));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure::message(format!("the answer of a worker: {error}")))
}

/// The most memory that this process ever had. (The figure that `wait` gives a parent begins with
/// what the parent itself had.)
pub(super) fn peak_bytes() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kibibytes.map(|kibibytes| kibibytes * 1024).ok_or_else(|| {
        Failure::message("/proc/self/status does not tell the peak memory of this process")
    })
}
