//! `gadus bench memory`: the 22 queries of TPC-H with little memory, in a control group of its own.
//!
//! - A process of this program asks them one after another with `gadus.memory_limit`; its group has a
//!   quarter more, behind which the kernel ends it. Another process without limit asks them, too: for
//!   its answers and its times. Neither has read anything before.
//! - `group_peak` is what the group counts, with what the system keeps of files for it and gives up
//!   first; `anonymous_peak` is without. Where no group can be made, that is said, and `resident_peak` is
//!   the process's own.
//! - What is refused or ends the process is counted and named; the others are asked in a new process.
//! - Wrong answers end the benchmark with an error.

mod answering;
mod group;

#[cfg(test)]
mod tests;

pub(super) use answering::{Asking, answer};

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use gadus::{ByteCount, Database, Options};
use gadus_base::Random;

use self::answering::Asked;
use self::group::Group;
use super::builds::Against;
use super::figures::{self, Metric};
use super::load::Peer;
use super::machine::Machine;
use super::rounds::{GADUS, Series, TOTAL, total};
use super::tpch::{TIME, compare_all, difference, load_gadus, open_duckdb};
use super::workplace::Workplace;
use super::{Common, answers::Answer};
use crate::commands::tpch::loadable;
use crate::failure::Failure;
use crate::generate::tpch::queries::{self, Query};

const SPILLED: Metric = Metric::lower("spilled", "bytes");
/// Queries whose answers were those without limit.
const COMPARED: Metric = Metric::higher("answers_compared", "count");
const FAILED: Metric = Metric::lower("failed", "count");
const GROUP_PEAK: Metric = Metric::lower("group_peak", "bytes");
const ANONYMOUS_PEAK: Metric = Metric::lower("anonymous_peak", "bytes");
const RESIDENT_PEAK: Metric = Metric::lower("resident_peak", "bytes");

/// What the process without limit is called.
const UNLIMITED: &str = "gadus, no limit";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus bench memory --json
  gadus bench memory --sf 1 --memory-limit 256MiB --against duckdb

duckdb is not timed: its answers are compared with those without limit.")]
pub(super) struct Memory {
    /// The scale factor: 1 is about a gigabyte of text in all tables
    #[arg(long = "sf", value_name = "N", default_value_t = 5.0, value_parser = loadable)]
    scale_factor: f64,
    /// What plans may hold together
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    memory_limit: ByteCount,
    /// What the control group may have [default: a quarter more]
    #[arg(long, value_name = "SIZE")]
    group_limit: Option<ByteCount>,
    /// Queries by their numbers [default: all]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=i64::from(queries::QUERIES)))]
    queries: Vec<u8>,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    /// How often: each round takes minutes
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) rounds: u32,
    #[command(flatten)]
    pub(super) common: Common,
}

/// What processes found that asked all queries, one process after another where one was ended.
#[derive(Debug, Default)]
struct Found {
    asked: Vec<Asked>,
    failed: u32,
    peaks: Vec<(Metric, f64)>,
}

pub(super) fn run(command: &Memory) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let file = place.path("gadus.db");
    {
        let database = Database::open(&file, Options::new())?;
        load_gadus(&database, command.scale_factor)?;
        if command.against.contains(Peer::Duckdb) {
            let mut duckdb = open_duckdb(&place, command.scale_factor)?;
            compare_all(&database.connect(), &mut duckdb, command.scale_factor)?;
        }
    }
    let all = queries::validation(command.scale_factor)
        .filter(|query| command.queries.is_empty() || command.queries.contains(&query.number))
        .collect::<Vec<_>>();
    let (mut series, mut random) = (Vec::new(), Random::from_system());
    for _ in 0..command.rounds {
        let mut found = [Found::default(), Found::default()];
        let first = usize::from(random.chance(0.5));
        for turn in [first, 1 - first] {
            machine.look_around()?;
            found[turn] = command.ask(&file, &all, turn == 0)?;
        }
        let [limited, unlimited] = found;
        compare(&all, &limited, &unlimited)?;
        note(&mut series, limited, &unlimited);
    }
    for who in [GADUS, UNLIMITED] {
        series.push(total(&series, who, TIME));
    }
    let quiet = machine.was_quiet()?;
    figures::print("memory", &figures::figures(&series, GADUS), quiet, command.common.json)
}

impl Memory {
    fn group_limit(&self) -> u64 {
        let usual = self.memory_limit.0 / 4 * 5;
        self.group_limit.map_or(usual, |told| told.0)
    }

    /// Asks all queries, with the limit or without.
    fn ask(&self, file: &Path, all: &[Query], limited: bool) -> Result<Found, Failure> {
        let mut found = Found::default();
        let mut asking = Asking {
            scale_factor: self.scale_factor,
            memory_limit: limited.then_some(self.memory_limit),
            queries: all.iter().map(|query| query.number).collect(),
        };
        let group = match limited {
            true => Group::make(self.group_limit())?,
            false => Group::none(),
        };
        while !asking.queries.is_empty() {
            let (asked, ended) = group.run(file, &asking)?;
            let next = asking.queries.split_off(asked.len());
            asking.queries = next;
            for one in &asked {
                if let Err(error) = &one.answer {
                    found.failed += 1;
                    writeln!(io::stderr(), "query {} is refused: {error}", one.number)?;
                }
            }
            found.asked.extend(asked);
            if let Some(how) = ended {
                if asking.queries.is_empty() {
                    return Err(Failure::message(format!("a process that was done: {how}")));
                }
                let number = asking.queries.remove(0);
                found.failed += 1;
                writeln!(io::stderr(), "query {number} ended its process: {how}")?;
            }
        }
        found.peaks = group.peaks(&found.asked)?;
        Ok(found)
    }
}

/// Refuses figures of answers that are not those without limit.
fn compare(all: &[Query], limited: &Found, unlimited: &Found) -> Result<(), Failure> {
    let mut differences = Vec::new();
    for query in all {
        let answer = |found: &Found| -> Option<Answer> {
            let asked = found.asked.iter().find(|asked| asked.number == query.number)?;
            asked.answer.clone().ok()
        };
        if let (Some(own), Some(other)) = (answer(limited), answer(unlimited))
            && let Some(told) = difference(query, &own, &other.rows)?
        {
            differences.push(format!("query {}: {told}", query.number));
        }
    }
    match differences.is_empty() {
        true => Ok(()),
        false => Err(Failure::message(format!(
            "different answers, where duckdb stands for gadus without limit\n  {}",
            differences.join("\n  ")
        ))),
    }
}

/// Notes what the rounds of both gave; of a query that one has no answer to, nothing.
#[allow(clippy::cast_precision_loss)] // sizes below 2^53
fn note(series: &mut Vec<Series>, limited: Found, unlimited: &Found) {
    let mut note = |case: &str, who: &'static str, metric: Metric, value: f64| {
        let is_it = |one: &&mut Series| one.case == case && one.who == who && one.metric == metric;
        match series.iter_mut().find(is_it) {
            Some(known) => known.values.push(value),
            None => {
                series.push(Series { case: case.to_owned(), who, metric, values: vec![value] });
            }
        }
    };
    let (mut spilled, mut compared) = (0, 0_u32);
    for own in limited.asked.iter().filter(|asked| asked.answer.is_ok()) {
        let case = format!("query {}", own.number);
        let other = unlimited.asked.iter().find(|other| other.number == own.number);
        if let Some(other) = other.filter(|other| other.answer.is_ok()) {
            note(&case, GADUS, TIME, own.seconds);
            note(&case, UNLIMITED, TIME, other.seconds);
            compared += 1;
        }
        note(&case, GADUS, SPILLED, own.spilled_bytes as f64);
        spilled += own.spilled_bytes;
    }
    note(TOTAL, GADUS, SPILLED, spilled as f64);
    note(TOTAL, GADUS, COMPARED, f64::from(compared));
    note(TOTAL, GADUS, FAILED, f64::from(limited.failed));
    for (metric, value) in limited.peaks {
        note(TOTAL, GADUS, metric, value);
    }
}
