//! `gadus bench noise`: shared scans beside a program that keeps one processor busy.
//!
//! - Informed: threads stay on the processors that the machine's state suggests, and whoever is free
//!   takes the next segment. Naive: each thread has an equal part of the table, on a core of its own.
//!   Unpinned, where it is asked for: as informed, but the system moves the threads.
//! - What the other program takes is read from the kernel. What it leaves, as a part of the processors, is
//!   what the best layout could have of the quiet machine's throughput.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use gadus::{Connection, Database, Options};
use gadus_base::clock;

use super::super::builds::{Against, NoPeer};
use super::super::figures::{self, Figure, Metric, median};
use super::super::load::{create_table, insert, threads};
use super::super::machine::Machine;
use super::super::rounds::{Entry, GADUS, Measured, Series, measure};
use super::super::spinner::{Spinner, may_weigh};
use super::super::workplace::Workplace;
use super::super::{Common, Repeat};
use super::turn::{RATE, measured};
use super::{DRAWN, clients, settle};
use crate::failure::Failure;
use crate::generate::bookings::ROWS_MAX;
use crate::generate::statements::{Sample, Statements};
use crate::texts::texts;

const LEFT: Metric = Metric::higher("processors_left", "");
const OF_LEFT: Metric = Metric::higher("rate_of_what_is_left", "");
const PLACED: Metric = Metric::higher("threads_where_told", "count");

const QUIET: &str = "quiet";
const NAIVE: &str = "naive";
const UNPINNED: &str = "unpinned";

/// Queries for each update, as in the paper's batches: (1024, 128), (2048, 256), (4096, 512).
const QUERIES_PER_UPDATE: u32 = 8;

/// As a server has them. With one for each processor, the kernel leaves the other program its processor alone
/// as long as clients read what they were answered: it moves no thread where there are two on one processor and
/// one on the other.
const CLIENTS: u32 = 16;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench noise --rows 1000000
  gadus bench noise --rows 10000000 --batches 1024,2048,4096 --json
  gadus bench noise --weights 100,200
  perf sched record gadus bench noise --layouts gadus --batches 4096 --weights 200

Informed stands under gadus; quiet is the same without the other program.")]
pub(in super::super) struct Noise {
    /// Bookings in the table
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    rows: u64,
    /// Queries of a pass; beside eight there is an update
    #[arg(long, value_delimiter = ',', default_value = "1024,2048,4096", value_parser = clap::value_parser!(u32).range(8..=65_536))]
    batches: Vec<u32>,
    /// Threads that ask, among which statements are divided
    #[arg(long, default_value_t = CLIENTS, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    clients: u32,
    /// The processor that is kept busy
    #[arg(long, default_value_t = 0)]
    processor: u32,
    /// The other program's weight, in a control group of its own; 100 is the usual one, and needs none
    #[arg(long, value_delimiter = ',', default_value = "100,200", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    weights: Vec<u64>,
    /// The layouts that take turns: one alone is for a profiler; without quiet there is no ratio to it
    #[arg(long, value_delimiter = ',', default_values_t = [GADUS, QUIET, NAIVE].map(str::to_owned), value_parser = PossibleValuesParser::new(LAYOUTS.map(|layout| layout.0)))]
    layouts: Vec<String>,
    /// How long one turn takes: there are to be ten passes in it, of which one takes half a second
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "6s")]
    time: Duration,
    #[command(flatten)]
    pub(in super::super) against: Against<NoPeer>,
    #[command(flatten)]
    pub(in super::super) repeat: Repeat,
    #[command(flatten)]
    pub(in super::super) common: Common,
}

/// How segments come to threads.
#[derive(Debug, Clone, Copy)]
struct Layout {
    pinning: &'static str,
    divides: &'static str,
}

const INFORMED: Layout = Layout { pinning: "on", divides: "off" };
const LAYOUTS: [(&str, Layout, bool); 4] = [
    (GADUS, INFORMED, true),
    (QUIET, INFORMED, false),
    (NAIVE, Layout { pinning: "on", divides: "on" }, true),
    (UNPINNED, Layout { pinning: "off", divides: "off" }, true),
];

/// All that takes turns.
struct Stage<'a> {
    command: &'a Noise,
    database: Database,
    connection: Connection,
    clients: Vec<Connection>,
    statements: Statements<'a>,
}

pub(in super::super) fn run(command: &Noise) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let parquet = place.bookings(command.rows)?;
    let file = place.path("gadus.db");
    let database = Database::open(&file, Options::new())?;
    let connection = database.connect();
    connection.execute(&create_table(true), &[])?;
    connection.execute(&insert(&parquet), &[])?;
    let bytes = std::fs::metadata(file)?.len();
    writeln!(io::stderr(), "data: {} rows, {} MB in the file", command.rows, bytes / 1_000_000)?;
    let clients = clients(&database, command.clients, "auto", QUERIES_PER_UPDATE)?;
    let sample = Sample::of(&connection)?;
    let statements = Statements::drawn_from(&sample, QUERIES_PER_UPDATE, DRAWN);
    let stage = Stage { command, database, connection, clients, statements };
    let mut entries = stage.entries(&weights(command)?);
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    drop(entries);
    let mut figures = figures::figures(&series, GADUS);
    figures.extend(of_what_is_left(&series));
    figures::print("noise", &figures, machine.was_quiet()?, command.common.json)
}

/// The weights that the other program can have here.
fn weights(command: &Noise) -> Result<Vec<Option<u64>>, Failure> {
    let mut weights = Vec::new();
    for &weight in &command.weights {
        if weight == 100 {
            weights.push(None);
        } else if let Err(failure) = may_weigh() {
            writeln!(io::stderr(), "weight {weight} is left out: {failure}")?;
        } else {
            weights.push(Some(weight));
        }
    }
    Ok(weights)
}

impl Stage<'_> {
    fn entries(&self, weights: &[Option<u64>]) -> Vec<Entry<'_>> {
        let mut entries = Vec::new();
        for &weight in weights {
            for &batch in &self.command.batches {
                let weighed = weight.map_or(String::new(), |weight| format!(" of weight {weight}"));
                let case = format!("{batch} + {}, spinner{weighed}", batch / QUERIES_PER_UPDATE);
                let is_asked_for = |who: &str| self.command.layouts.iter().any(|name| name == who);
                for (who, layout, is_noisy) in LAYOUTS.iter().filter(|one| is_asked_for(one.0)) {
                    let play = move || self.play(batch, *layout, is_noisy.then_some(weight));
                    entries.push(Entry::new(&case, who, play));
                }
            }
        }
        entries
    }

    /// One turn; beside a spinner, if any, of some weight.
    fn play(
        &self,
        batch: u32,
        layout: Layout,
        spinner: Option<Option<u64>>,
    ) -> Result<Measured, Failure> {
        let Layout { pinning, divides } = layout;
        settle(&self.connection, "auto", batch)?;
        self.connection.execute(&format!("SET gadus.pin_threads = '{pinning}'"), &[])?;
        self.connection.execute(&format!("SET gadus.divide_scans = '{divides}'"), &[])?;
        let spinner = spinner.map(|weight| Spinner::start(self.command.processor, weight));
        let spinner = spinner.transpose()?;
        let spun = |spinner: &Option<Spinner>| {
            spinner.as_ref().map_or(Ok(Duration::ZERO), Spinner::processor_time)
        };
        let (began, before) = (clock().now(), spun(&spinner)?);
        let outstanding = batch + batch / QUERIES_PER_UPDATE;
        let (clients, time) = (&self.clients, self.command.time);
        let mut measured = measured(&self.database, clients, &self.statements, outstanding, time)?;
        let (took, taken) = (began.elapsed(), spun(&spinner)?.saturating_sub(before));
        let all = took.as_secs_f64() * f64::from(u32::try_from(threads()).unwrap_or(1));
        measured.push((LEFT, 1.0 - taken.as_secs_f64() / all));
        if pinning == "on" {
            measured.push((PLACED, self.placed()?));
        }
        Ok(measured)
    }

    /// The scan threads that ran where they were told to.
    #[allow(clippy::cast_precision_loss)] // a count of threads
    fn placed(&self) -> Result<f64, Failure> {
        let placed = "SELECT thread FROM gadus.threads WHERE pinned_to = processor";
        Ok(texts(self.connection.query(placed, &[])?)?.len() as f64)
    }
}

/// The throughput beside the other program, of what it leaves of the quiet machine's.
fn of_what_is_left(series: &[Series]) -> Vec<Figure> {
    let of = |case: &str, who: &str, metric: Metric| {
        let mut all = series.iter();
        let one = all.find(|one| one.case == case && one.who == who && one.metric == metric)?;
        Some((median(&one.values), one.values.len()))
    };
    let rates = series.iter().filter(|one| one.who == GADUS && one.metric == RATE);
    let part = |one: &Series| {
        let (rate, rounds) = (median(&one.values), one.values.len());
        let (quiet, _) = of(&one.case, QUIET, RATE)?;
        let (left, _) = of(&one.case, GADUS, LEFT)?;
        Some(Figure::alone(&one.case, OF_LEFT, rate / quiet / left, rounds))
    };
    rates.filter_map(part).collect()
}
