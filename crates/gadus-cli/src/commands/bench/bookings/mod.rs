//! `gadus bench bookings`: many different questions about bookings, on columns that have no index.
//!
//! - Closed loop: so many statements are outstanding all the time, divided among clients with a thread
//!   each; whenever one is answered, and its rows are read, the client submits the next. Latencies count
//!   from there.
//! - Open loop: statements come at a rate, whatever has been answered.
//! - Beside all stands the bare pass, which the machine's memory and cores alone limit.
//! - One client alone also asks each shape of queries by itself: none may be much slower than a peer's.
//! - The answers to some statements of each shape are compared before anything is measured.

mod asking;
mod bare;
mod charts;
mod noise;
mod open_loop;
mod rivals;
mod shapes;
mod turn;

pub(super) use asking::{Asking, ask};
pub(super) use noise::{Noise, run as run_noise};

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gadus::{Connection, Database, Options};

use self::asking::{Copies, memory_mib};
use self::bare::Bare;
use self::open_loop::{HELD, Offered, OpenLoop};
use self::rivals::{COMPARED, Peers, Rival};
use self::turn::{RATE, anywhere, measured};
use super::builds::Against;
use super::figures::{self, Metric, median};
use super::load::{create_table, insert, threads};
use super::machine::Machine;
use super::plot;
use super::rounds::{Entry, GADUS, Series, measure};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::failure::Failure;
use crate::generate::bookings::ROWS_MAX;
use crate::generate::statements::{Sample, Statements};

const MEMORY: Metric = Metric::lower("memory_beside_mib", "MiB");

/// Statements that are drawn before the clock runs; a turn goes round and round through them.
const DRAWN: usize = 1 << 16;

/// The machine's limit: see [`bare`].
const BARE: &str = "bare pass";
/// Two processes with a file each.
const COPIES: &str = "two copies";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench bookings --rows 1000000 --outstanding 1,64,1024
  gadus bench bookings --rows 10000000 --outstanding 1,64,1024,2048,16384 --against duckdb,duckdb-batched --json --plot out.svg
  gadus bench bookings --rows 10000000 --outstanding 1,2048 --against duckdb,sqlite,datafusion,postgres
  gadus bench bookings --outstanding 64,2048 --open-loop 50%,70%
  gadus bench bookings --outstanding 2048 --copies
  gadus bench bookings --update-after 8 --outstanding 2048
  gadus bench bookings --outstanding 64 --sharing never

The bare pass is a loop over the columns in memory that keeps counts and sums: what no database exceeds
that looks at each row.")]
pub(super) struct Bookings {
    /// Bookings in the table
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    /// Statements that are outstanding at a time
    #[arg(long, value_delimiter = ',', default_value = "1,64,1024,2048", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    outstanding: Vec<u32>,
    /// An update comes after so many queries; 0 for queries alone
    #[arg(long, value_delimiter = ',', default_value = "0,8", value_name = "QUERIES", value_parser = clap::value_parser!(u32).range(0..=1_000))]
    update_after: Vec<u32>,
    /// Threads that ask and read answers [default: one for each core]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    clients: Option<u32>,
    /// Whether statements share scans: auto, always, or never
    #[arg(long, default_value = "auto")]
    sharing: String,
    #[command(flatten)]
    pub(super) against: Against<Rival>,
    /// Statements also come at such rates whatever is answered: so many a second, or a percentage of the
    /// highest rate before
    #[arg(long, value_delimiter = ',', value_name = "RATE|PERCENT%")]
    open_loop: Vec<Offered>,
    /// Also ask two processes with a copy of the file each, half of the statements each
    #[arg(long)]
    copies: bool,
    /// Draw throughput and latency against outstanding statements, as SVG, into this file
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<PathBuf>,
    /// How long one turn takes
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "3s")]
    time: Duration,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

impl Bookings {
    /// The most statements that are outstanding.
    fn batch(&self) -> u32 {
        self.outstanding.iter().max().copied().unwrap_or(1)
    }

    fn clients(&self) -> u32 {
        self.clients.unwrap_or_else(|| u32::try_from(threads()).unwrap_or(1))
    }
}

/// Statements, with so many queries between updates; zero for queries alone.
struct Mix<'a> {
    queries_per_update: u32,
    statements: Statements<'a>,
}

/// All that takes turns.
struct Stage<'a> {
    command: &'a Bookings,
    file: PathBuf,
    database: Database,
    connection: Connection,
    clients: Vec<Connection>,
    mixes: Vec<Mix<'a>>,
    bare: Bare,
    peers: Peers,
    copies: Option<RefCell<Copies>>,
}

pub(super) fn run(command: &Bookings) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let parquet = place.bookings(command.rows)?;
    let file = place.path("gadus.db");
    let database = Database::open(&file, Options::new())?;
    let connection = database.connect();
    connection.execute(&create_table(true), &[])?;
    connection.execute(&insert(&parquet), &[])?;
    settle(&connection, &command.sharing, command.batch())?;
    let clients = clients(&database, command.clients(), &command.sharing, command.batch())?;
    let sample = Sample::of(&connection)?;
    let draw = |&after: &u32| Mix {
        queries_per_update: after,
        statements: Statements::drawn_from(&sample, after, DRAWN),
    };
    let mixes = command.update_after.iter().map(draw).collect::<Vec<_>>();
    let bare = Bare::load(command.rows, &sample)?;
    for mix in &mixes {
        bare.check(&connection, &mix.statements, COMPARED)?;
    }
    let peers = Peers::open(&command.against.peers(), &place, &parquet, command.rows)?;
    peers.compare(&connection, &mixes)?;
    let copies = command.copies.then(|| Copies::make(&place, &parquet, command)).transpose()?;
    let copies = copies.map(RefCell::new);
    let stage = Stage { command, file, database, connection, clients, mixes, bare, peers, copies };
    let mut series = stage.shapes(&sample, &mut machine)?;
    series.extend(measure(&mut stage.closed_loop()?, command.repeat.rounds, &mut machine)?);
    series.extend(stage.memory()?);
    let mut open_loop = stage.open_loop(&series);
    series.extend(measure(&mut open_loop, command.repeat.rounds, &mut machine)?);
    let quiet = machine.was_quiet()?;
    without_what_was_not_held(&mut series)?;
    in_order_of_cases(&mut series);
    if let Some(path) = &command.plot {
        plot::write(path, &charts::charts(command, &series))?;
    }
    figures::print("bookings", &figures::figures(&series, GADUS), quiet, command.common.json)
}

/// Says which rates of the open loop were too high, and takes away what was measured beside where most
/// turns did not hold them: the rest were only lucky.
fn without_what_was_not_held(series: &mut Vec<Series>) -> Result<(), Failure> {
    let mut unheld = Vec::new();
    for series in series.iter().filter(|series| series.metric == HELD) {
        let turns = series.values.len();
        let held = series.values.iter().filter(|held| **held > 0.0).count();
        let (case, missed) = (&series.case, turns - held);
        if missed > 0 {
            writeln!(io::stderr(), "{case}: the rate was not held in {missed} of {turns} turns")?;
        }
        if missed > held {
            unheld.push(case.clone());
        }
    }
    series.retain(|series| series.metric == HELD || !unheld.contains(&series.case));
    Ok(())
}

/// Puts what was measured of a case at different times together.
fn in_order_of_cases(series: &mut [Series]) {
    let mut cases: Vec<String> = Vec::new();
    for one in &*series {
        if !cases.contains(&one.case) {
            cases.push(one.case.clone());
        }
    }
    series.sort_by_key(|one| cases.iter().position(|case| *case == one.case));
}

/// Connections of clients, each for a thread of its own.
fn clients(
    database: &Database,
    count: u32,
    sharing: &str,
    batch: u32,
) -> Result<Vec<Connection>, Failure> {
    let connect = |_| {
        let connection = database.connect();
        settle(&connection, sharing, batch)?;
        Ok(connection)
    };
    (0..count).map(connect).collect()
}

/// How sessions share scans, and how many statements a pass takes.
fn settle(connection: &Connection, sharing: &str, batch: u32) -> Result<(), Failure> {
    connection.execute(&format!("SET gadus.sharing = '{sharing}'"), &[])?;
    connection.execute(&format!("SET gadus.batch_queries = {batch}"), &[])?;
    connection.execute(&format!("SET gadus.batch_updates = {}", (batch / 8).max(1)), &[])?;
    Ok(())
}

fn case(queries_per_update: u32, outstanding: u32) -> String {
    format!("{outstanding} outstanding, {}", mix(queries_per_update))
}

fn mix(queries_per_update: u32) -> &'static str {
    if queries_per_update == 0 { "queries" } else { "with updates" }
}

impl Stage<'_> {
    /// Who takes turns in the closed loop.
    fn closed_loop(&self) -> Result<Vec<Entry<'_>>, Failure> {
        let (time, mut entries) = (self.command.time, Vec::new());
        for Mix { queries_per_update: after, statements } in &self.mixes {
            for &outstanding in &self.command.outstanding {
                let case = case(*after, outstanding);
                entries.push(Entry::new(&case, GADUS, move || {
                    measured(&self.database, &self.clients, statements, outstanding, time)
                }));
                entries.push(Entry::new(&case, BARE, move || {
                    let rate = self.bare.play(statements, anywhere(), outstanding, time);
                    Ok(vec![(RATE, rate)])
                }));
                for rival in self.command.against.peers() {
                    if *after == 0 || rival.has_updates() {
                        entries.push(Entry::new(&case, rival.name(), move || {
                            let rate = self.peers.play(rival, statements, outstanding, time)?;
                            Ok(vec![(RATE, rate)])
                        }));
                    }
                }
                let copies = self.copies.as_ref().filter(|_| outstanding > 1);
                entries.extend(copies.map(|copies| {
                    let play = move || copies.borrow_mut().play(*after, outstanding, time);
                    Entry::new(&case, COPIES, play)
                }));
            }
        }
        let has_updates = self.mixes.iter().any(|mix| mix.queries_per_update > 0);
        for rival in self.command.against.peers().iter().filter(|rival| !rival.has_updates()) {
            if has_updates {
                let name = rival.name();
                writeln!(io::stderr(), "{name} changes no rows: measured with queries alone")?;
            }
        }
        Ok(entries)
    }

    /// What many outstanding statements take, in a process for each case; once, because it varies little.
    fn memory(&self) -> Result<Vec<Series>, Failure> {
        let mut series = Vec::new();
        for after in self.mixes.iter().map(|mix| mix.queries_per_update) {
            for &outstanding in &self.command.outstanding {
                let taken = memory_mib(&self.file, self.command, after, outstanding)?;
                series.push(Series {
                    case: case(after, outstanding),
                    who: GADUS,
                    metric: MEMORY,
                    values: vec![taken],
                });
            }
        }
        Ok(series)
    }

    /// Turns at rates, of which some follow from those of the closed loop.
    fn open_loop(&self, closed: &[Series]) -> Vec<Entry<'_>> {
        let mut entries = Vec::new();
        for Mix { queries_per_update: after, statements } in &self.mixes {
            let is_own = |series: &&Series| series.who == GADUS && series.metric == RATE;
            let is_mix = |series: &&Series| {
                let mut cases = self.command.outstanding.iter().map(|&count| case(*after, count));
                cases.any(|case| case == series.case)
            };
            let rates = closed.iter().filter(is_own).filter(is_mix);
            let highest = rates.map(|series| median(&series.values)).fold(0.0, f64::max);
            for &offered in &self.command.open_loop {
                let turn = OpenLoop {
                    database: &self.database,
                    connection: &self.connection,
                    statements,
                    bare: &self.bare,
                    rate: offered.rate(highest),
                    time: self.command.time,
                };
                let case = format!("open loop at {offered}, {}", mix(*after));
                entries.push(Entry::new(case, GADUS, move || turn.play()));
            }
        }
        entries
    }
}

#[cfg(test)]
mod tests;
