//! `gadus bench scopes`: readers as threads and as processes, with one cache or one each.
//!
//! - The table of the Embedded Classic paper: processor time, memory as the sum of proportional set
//!   sizes, elapsed time; each reader does the same work, however many there are.
//! - Then the same readers for a time, in which a process writes in bursts: the first tenth of it.
//!   What following that costs them is told.
//! - Two readers of one file stand beside two processes with a copy of the file each.

mod measure;
mod reading;

pub(super) use reading::{Reading, cpu_seconds, hold, notice, read, write};

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use gadus::{ByteCount, CacheScope, Database, Options};

use super::builds::{Against, NoPeer};
use super::figures;
use super::left::check;
use super::machine::Machine;
use super::rounds::{Entry, GADUS, measure};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::failure::Failure;
use measure::{Start, burst, idle, one_row, play};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench scopes
  gadus bench scopes --readers 16 --rows 1000000 --json")]
pub(super) struct Scopes {
    /// Numbers of readers
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,16", value_parser = clap::value_parser!(u32).range(1..=256))]
    readers: Vec<u32>,
    /// Rows of the table
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    rows: u64,
    /// What each reader asks: a scan and eight rows by key each
    #[arg(long, default_value_t = 1000)]
    queries: u32,
    /// How long readers read beside bursts of writes; the first tenth of it is a burst
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "10s")]
    burst_time: Duration,
    /// Mebibytes of each cache, where each connection has one
    #[arg(long, default_value_t = 16)]
    connection_cache: u64,
    #[command(flatten)]
    pub(super) against: Against<NoPeer>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

/// How readers share a file, and a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    /// Each reader in a process of its own.
    processes: bool,
    scope: CacheScope,
}

const WAYS: [Way; 4] = [
    Way { processes: false, scope: CacheScope::Process },
    Way { processes: false, scope: CacheScope::Connection },
    Way { processes: true, scope: CacheScope::Process },
    Way { processes: true, scope: CacheScope::Connection },
];

/// Connections that are open and do nothing.
const IDLE: u32 = 1_000;

/// The peer of two readers: two processes with a file each.
const COPIES: &str = "two copies";

impl Way {
    fn case(self, readers: u32) -> String {
        let who = if self.processes { "processes" } else { "threads" };
        format!("{readers} readers, {who}, {}", self.scope_name())
    }

    fn scope_name(self) -> &'static str {
        match self.scope {
            CacheScope::Process => "process scope",
            CacheScope::Connection => "connection scope",
        }
    }
}

pub(super) fn run(command: &Scopes) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let files = make_files(&place, command.rows)?;
    let cache = ByteCount::mib(command.connection_cache);
    let start = |way: Way| Start { way, cache, rows: command.rows, queries: command.queries };
    let mut entries = Vec::new();
    let file = &files[0];
    for &readers in &command.readers {
        for way in WAYS {
            let case = way.case(readers);
            if readers == 2 {
                let start = start(Way { processes: true, ..way });
                let files = &files;
                entries.push(Entry::new(&case, COPIES, move || play(&start, files, 1)));
            }
            let start = start(way);
            entries.push(Entry::new(case, GADUS, move || {
                play(&start, std::slice::from_ref(file), readers)
            }));
        }
    }
    let readers = command.readers.iter().copied().max().unwrap_or(1);
    for way in WAYS {
        let (start, time) = (start(way), command.burst_time);
        let case = format!("{}, bursts", way.case(readers));
        entries.push(Entry::new(case, GADUS, move || burst(&start, file, readers, time)));
    }
    for way in &WAYS[..2] {
        let case = format!("{IDLE} idle connections, {}", way.scope_name());
        entries.push(Entry::new(case, GADUS, move || idle(file, way.scope, IDLE)));
    }
    entries.push(Entry::new("one row changed by another", GADUS, move || one_row(file)));
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    check(file)?;
    let figures = figures::figures(&series, GADUS);
    figures::print("scopes", &figures, machine.was_quiet()?, command.common.json)
}

/// A database, and a copy of it.
fn make_files(place: &Workplace, rows: u64) -> Result<[PathBuf; 2], Failure> {
    let files = [place.path("one.db"), place.path("two.db")];
    for file in &files {
        fill(file, rows)?;
    }
    Ok(files)
}

fn fill(file: &Path, rows: u64) -> Result<(), Failure> {
    let connection = Database::open(file, Options::new())?.connect();
    connection.execute_script(reading::TABLES)?;
    connection.execute(&reading::fill(rows), &[])?;
    Ok(())
}
