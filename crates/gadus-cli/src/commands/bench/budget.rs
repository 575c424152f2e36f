//! `gadus bench budget`: processes on one file divide the processors, as they come, leave and die.
//!
//! - Each scans without a pause, and says many times a second how many threads it has for that. What they
//!   have together is held against the processors that there are.
//! - One process after another comes: it joins when it asks its question first, which is planned by then. One is killed,
//!   and one ends. After each of these the time is told until the sum is right again, and how much of the time it is
//!   right from there on.
//! - A process that the system does not let run says nothing at that time, and then nobody knows the sum: what is
//!   judged are the times at which all told, and how many these are is told, too.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::Args;
use gadus::{Database, Options};
use gadus_base::{clock, spawn};

use super::builds::{Against, NoPeer};
use super::figures::{self, Figure, Metric};
use super::load::{create_table, insert, threads};
use super::machine::Machine;
use super::workplace::Workplace;
use super::{Common, ROUNDS_MIN, worker};
use crate::commands::pause;
use crate::failure::Failure;
use crate::generate::bookings::ROWS_MAX;

const SETTLED: Metric = Metric::lower("settled_ms", "ms");
const RIGHT: Metric = Metric::higher("time_at_budget", "");
const MOST: Metric = Metric::lower("threads_most", "count");
const KNOWN: Metric = Metric::higher("time_known", "");
const PASS: Metric = Metric::lower("pass_ms", "ms");

/// Processes tell their threads so often: in the middle of such a time, by the wall clock.
const TELL: Duration = Duration::from_millis(2);

/// The sum is right again once it is so often in a row, of the times at which it is known.
const STEADY: usize = 10;

/// What each asks, again and again.
const QUESTION: &str = "SELECT count(*) FROM bookings WHERE seat = '1A'";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench budget --json
  gadus bench budget --processes 8 --threads 6")]
pub(super) struct Budget {
    /// Processes at most
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
    processes: u32,
    /// Threads that all together are to scan with [default: one for each processor]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    threads: Option<u32>,
    /// Bookings in the table
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    /// How long so many processes scan, before another comes or goes
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "2s")]
    time: Duration,
    #[command(flatten)]
    pub(super) against: Against<NoPeer>,
    /// Turns of each build, with --against gadus=PATH
    #[arg(long, default_value_t = ROUNDS_MIN, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(super) rounds: u32,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Threads by the time at which they were told, in units of [`TELL`].
type Told = BTreeMap<u64, u64>;

/// A process that scans, and what it tells.
struct Scanner {
    /// When it scanned first.
    since: u64,
    child: Child,
    told: JoinHandle<Told>,
}

/// Somebody came or went.
struct Event {
    what: String,
    /// Until then all was as before.
    begun: u64,
    at: u64,
    /// Processes from then on.
    processes: usize,
}

/// What was told at one time.
#[derive(Default)]
struct Sum {
    threads: u64,
    processes: usize,
}

pub(super) fn run(command: &Budget) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    machine.look_around()?;
    let file = place.path("gadus.db");
    let parquet = place.bookings(command.rows)?;
    let database = Database::open(&file, Options::new())?;
    let connection = database.connect();
    connection.execute(&create_table(true), &[])?;
    connection.execute(&insert(&parquet), &[])?;
    let threads = command.threads.map_or_else(threads, |threads| threads as usize);
    let (mut scanners, mut events) = (Vec::<Scanner>::new(), Vec::new());
    for number in 1..=command.processes {
        let begun = unit_now();
        let scanner = Scanner::start(&file, threads)?;
        let (what, at) = (format!("process {number} comes"), scanner.since);
        scanners.push(scanner);
        events.push(Event { what, begun, at, processes: scanners.len() });
        pause(command.time);
    }
    let mut told = Vec::new();
    let killed = scanners.remove(0);
    events.push(Event::now("one is killed".to_owned(), &scanners));
    told.push(killed.kill()?);
    pause(command.time);
    let ended = scanners.remove(0);
    events.push(Event::now("one ends".to_owned(), &scanners));
    told.push(ended.end()?);
    pause(command.time);
    let over = unit_now();
    for scanner in scanners {
        told.push(scanner.end()?);
    }
    let mut figures = judged(&events, over, &sums(told), threads as u64);
    figures.push(Figure::alone("one process", PASS, pass_ms(&database)?, 1));
    figures::print("budget", &figures, machine.was_quiet()?, command.common.json)
}

impl Event {
    fn now(what: String, scanners: &[Scanner]) -> Self {
        let at = unit_now();
        Self { what, begun: at, at, processes: scanners.len() }
    }
}

impl Scanner {
    /// Starts one; it scans when this returns.
    fn start(file: &Path, threads: usize) -> Result<Self, Failure> {
        let mut command = worker::command("scan-on")?;
        command.arg(file).arg("--threads").arg(threads.to_string());
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let output = child.stdout.take();
        let output = output.ok_or_else(|| Failure::message("a process without output"))?;
        let mut lines = BufReader::new(output).lines();
        // It may tell its threads before.
        let since = lines.by_ref().map_while(Result::ok).find_map(|line| line.parse().ok());
        let since = since.ok_or_else(|| Failure::message("a process broke off; see above"))?;
        let told = spawn("told", move || {
            let said = |line: io::Result<String>| {
                let line = line.ok()?;
                let (at, threads) = line.split_once(' ')?;
                Some((at.parse().ok()?, threads.parse().ok()?))
            };
            lines.map_while(said).collect::<Told>()
        })?;
        Ok(Self { since, child, told })
    }

    fn kill(mut self) -> Result<Told, Failure> {
        self.child.kill()?;
        self.gone()
    }

    fn end(mut self) -> Result<Told, Failure> {
        drop(self.child.stdin.take());
        self.gone()
    }

    fn gone(mut self) -> Result<Told, Failure> {
        self.child.wait()?;
        self.told.join().map_err(|_| Failure::message("what a process told was not read"))
    }
}

/// What all told at each time.
fn sums(told: Vec<Told>) -> BTreeMap<u64, Sum> {
    let mut sums = BTreeMap::<u64, Sum>::new();
    for (at, threads) in told.into_iter().flatten() {
        let sum = sums.entry(at).or_default();
        sum.threads += threads;
        sum.processes += 1;
    }
    sums
}

/// What followed each event, until the next.
#[allow(clippy::cast_precision_loss)] // counts of some seconds
fn judged(events: &[Event], over: u64, sums: &BTreeMap<u64, Sum>, budget: u64) -> Vec<Figure> {
    let mut figures = Vec::new();
    let ends = events.iter().skip(1).map(|event| event.begun).chain([over]);
    for (event, end) in events.iter().zip(ends) {
        // The wall clock may be put back.
        let end = end.max(event.at);
        let after = sums.range(event.at..end).filter(|(_, sum)| sum.processes == event.processes);
        let after = after.map(|(at, sum)| (*at, sum.threads)).collect::<Vec<_>>();
        let is_right = |(_, threads): &(u64, u64)| *threads == budget;
        let steady = after.windows(STEADY).position(|window| window.iter().all(is_right));
        let from = steady.unwrap_or(after.len());
        let settled = after.get(from).map_or(end, |(at, _)| *at) - event.at;
        let rest = &after[from..];
        let right = rest.iter().filter(|told| is_right(told)).count();
        let most = rest.iter().map(|(_, threads)| *threads).max().unwrap_or(0);
        let settled = settled as f64 * TELL.as_secs_f64() * 1e3;
        let right = right as f64 / rest.len().max(1) as f64;
        let known = after.len() as f64 / (end - event.at).max(1) as f64;
        let found = [(SETTLED, settled), (RIGHT, right), (MOST, most as f64), (KNOWN, known)];
        for (metric, value) in found {
            figures.push(Figure::alone(&event.what, metric, value, 1));
        }
    }
    figures
}

/// A pass of one process alone: a turn of the clock.
fn pass_ms(database: &Database) -> Result<f64, Failure> {
    let connection = database.connect();
    connection.execute("SET gadus.sharing = 'always'", &[])?;
    for _ in 0..3 {
        connection.query(QUESTION, &[])?.collect_batches()?;
    }
    Ok(database.statistics().clock.last_pass_time.as_secs_f64() * 1e3)
}

fn unit_now() -> u64 {
    unit_of(clock().wall_time().0)
}

fn unit_of(time: Duration) -> u64 {
    micros(time) / micros(TELL)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// In such a process: tells its threads, when it asks first, and scans, until its input ends.
pub(super) fn scan_on(file: &Path, threads: usize) -> Result<(), Failure> {
    let options = Options::new().create(false).threads(threads);
    let database = Database::open(file, options)?;
    let connection = database.connect();
    connection.execute("SET gadus.sharing = 'always'", &[])?;
    let question = connection.prepare(QUESTION)?;
    spawn("tells", move || -> io::Result<()> {
        // Who scans would keep it waiting.
        gadus_machine::rise_above_others();
        loop {
            // In the middle of a unit: whose turn it is changes between two.
            let (now, unit) = (micros(clock().wall_time().0), micros(TELL));
            pause(Duration::from_micros((now / unit + 1) * unit + unit / 2 - now));
            let at = unit_now();
            let threads = database.statistics().clock.threads;
            // Who was interrupted between the two does not know of when he told.
            if unit_now() == at {
                writeln!(io::stdout(), "{at} {threads}")?;
            }
        }
    })?;
    spawn("scans", move || -> io::Result<()> {
        writeln!(io::stdout(), "{}", unit_now())?;
        while question.query(&[]).and_then(|rows| rows.collect_batches()).is_ok() {}
        Ok(())
    })?;
    io::stdin().read_line(&mut String::new())?;
    // Whoever still scans must not keep the process.
    std::process::exit(0);
}
