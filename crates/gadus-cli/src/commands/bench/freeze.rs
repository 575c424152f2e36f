//! `gadus bench freeze`: a second connection's wait while a statement runs without end.
//!
//! - One statement for each operator, over tables of 100,000 and 1,000,000 rows; each would take minutes or
//!   for ever. Those over 20,000 texts of a megabyte take several seconds. Meanwhile new connections ask for one
//!   row, one after another; then the statement is cancelled.
//! - A statement that ends by itself, or with another error than that it was cancelled, is an error of the
//!   benchmark: it would have measured nothing.

use std::cell::RefCell;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::builds::Against;
use super::figures::{self, Metric};
use super::machine::Machine;
use super::peers::{Postgres, Python, Served};
use super::rounds::{Entry, GADUS, measure};
use super::workplace::Workplace;
use super::{Common, Repeat};
use crate::failure::Failure;

const SECOND: Metric = Metric::lower("second_connection_p99", "ms");
const CANCEL: Metric = Metric::lower("cancel", "ms");
const POSTGRES: &str = "postgres";

/// SQLSTATE of a statement that was cancelled.
const CANCELLED: &str = "57014";

/// Rows of the small table; the large one has ten times as many.
const ROWS: u64 = 100_000;

/// Operators, each with a statement that both peers understand and that has no end to wait for.
const STATEMENTS: &[(&str, &str)] = &[
    ("cross join", "SELECT count(*) FROM small a, small b"),
    (
        "cross join of series",
        "SELECT count(*) FROM generate_series(1, 200000000) a, generate_series(1, 100) b",
    ),
    ("nested loop join", "SELECT count(*) FROM large a JOIN small b ON a.id + b.id < 0"),
    (
        "nested loop left join",
        "SELECT count(*) FROM large a LEFT JOIN small b ON a.id < b.id AND a.v <> b.v",
    ),
    (
        "hash join, skewed",
        "SELECT count(*) FROM large a JOIN large b ON a.k = b.k JOIN large c ON c.k = a.k",
    ),
    (
        "semi-join",
        "SELECT count(*) FROM large a WHERE EXISTS (SELECT 1 FROM small b WHERE a.id + b.id < 0)",
    ),
    ("filter", "SELECT a.id FROM small a, small b WHERE a.id + b.id + 0.5 = 7"),
    ("pattern", "SELECT count(*) FROM small a, small b WHERE a.v LIKE '%' || b.v || 'x%'"),
    ("filter of long texts", "SELECT count(*) FROM longer WHERE translate(v, 'ng', 'gn') = 'x'"),
    ("sort", "SELECT v FROM (SELECT a.v FROM large a, large b ORDER BY a.v) x OFFSET 1000000000"),
    ("top rows", "SELECT a.id FROM large a, large b ORDER BY a.id + b.id LIMIT 10"),
    (
        "top rows of long texts",
        "SELECT length(v) FROM longer ORDER BY translate(v, 'ng', 'gn') DESC LIMIT 1",
    ),
    ("offset", "SELECT 1 FROM large a, large b OFFSET 100000000000 LIMIT 1"),
    (
        "window",
        "SELECT sum(r) FROM (SELECT row_number() OVER (ORDER BY a.v) AS r FROM large a, small b) x",
    ),
    (
        "window over partitions",
        "SELECT max(r) FROM (SELECT rank() OVER (PARTITION BY a.k ORDER BY b.v) AS r FROM large a, small b) x",
    ),
    (
        "aggregate by group",
        "SELECT count(*) FROM (SELECT a.id + b.id AS g, count(*) FROM large a, small b GROUP BY a.id + b.id) x",
    ),
    (
        "grouping sets",
        "SELECT count(*) FROM (SELECT a.id, b.id, count(*) FROM large a, small b GROUP BY CUBE (a.id, b.id)) x",
    ),
    ("distinct", "SELECT count(DISTINCT a.id + b.id) FROM large a, large b"),
    (
        "distinct on",
        "SELECT count(*) FROM (SELECT DISTINCT ON (a.id) a.id, b.v FROM large a, small b ORDER BY a.id, b.v) x",
    ),
    (
        "union",
        "SELECT count(*) FROM (SELECT a.id FROM large a, small b UNION SELECT b.id FROM large a, small b) x",
    ),
    (
        "except",
        "SELECT count(*) FROM (SELECT a.id + b.id FROM large a, small b EXCEPT SELECT id FROM large) x",
    ),
    ("list aggregate", "SELECT cardinality(array_agg(a.id)) FROM large a, small b"),
    (
        "ordered string aggregate",
        "SELECT length(string_agg(a.v, ',' ORDER BY b.v)) FROM large a, small b",
    ),
    (
        "recursion",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 - n FROM r) SELECT count(*) FROM r WHERE n < 0",
    ),
    (
        "recursive join",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.n FROM r, small WHERE small.id < 3) SELECT count(*) FROM r WHERE n < 0",
    ),
    ("series", "SELECT count(*) FROM generate_series(1, 1000000000000) AS s(n) WHERE n < 0"),
    (
        "scalar subquery",
        "SELECT (SELECT max(b.id) FROM small b WHERE b.id < a.id) FROM large a, small c",
    ),
    (
        "lateral join",
        "SELECT count(*) FROM large a, LATERAL (SELECT * FROM small b WHERE b.id <> a.id) x",
    ),
    ("full join", "SELECT count(*) FROM large a FULL JOIN large b ON a.k = b.k"),
    ("insert", "INSERT INTO large SELECT a.id, b.id, 'x' FROM large a, small b"),
    ("create table as", "CREATE TABLE copied AS SELECT a.id FROM large a, large b"),
    ("update", "UPDATE large SET v = (SELECT max(b.v) FROM small b WHERE b.id <> large.id)"),
    (
        "delete",
        "DELETE FROM large WHERE EXISTS (SELECT 1 FROM small b, small c WHERE b.id + c.id + large.id < 0)",
    ),
    ("copy", "COPY (SELECT a.v FROM large a, large b) TO STDOUT"),
    ("explain analyze", "EXPLAIN ANALYZE SELECT count(*) FROM large a, large b"),
];

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  gadus bench freeze --against postgres --json")]
pub(super) struct Freeze {
    /// Run each statement for TIME before the first new connection, so that it is in its long phase
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "500ms")]
    before: Duration,
    /// Open new connections for TIME
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "1s")]
    time: Duration,
    /// Measure only operators whose name contains TEXT
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    pub(super) against: Against<Peer>,
    #[command(flatten)]
    pub(super) repeat: Repeat,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    Postgres,
}

pub(super) fn run(command: &Freeze) -> Result<(), Failure> {
    let place = Workplace::make(command.common.dir.as_deref())?;
    let mut machine = Machine::describe(place.folder())?;
    let served = Served::start(&place.path("freeze.gadus"), &place.path("sockets"))?;
    let driver = RefCell::new(Python::psycopg(&place.kept)?);
    let postgres = match command.against.contains(Peer::Postgres) {
        true => Some(Postgres::start(&place.path("postgres"), 16)?),
        false => None,
    };
    let mut servers = vec![(GADUS, served.unix.clone())];
    servers.extend(postgres.iter().map(|postgres| (POSTGRES, postgres.endpoint())));
    for (_, server) in &servers {
        let request = json!({ "do": "tables", "address": server.told(), "rows": ROWS });
        driver.borrow_mut().ask(&request)?;
    }
    let is_meant =
        |name: &str| command.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut entries = Vec::new();
    for (operator, statement) in STATEMENTS.iter().filter(|(name, _)| is_meant(name)) {
        for (who, server) in &servers {
            let request = json!({
                "do": "freeze",
                "address": server.told(),
                "statement": statement,
                "before": command.before.as_secs_f64(),
                "seconds": command.time.as_secs_f64(),
            });
            let driver = &driver;
            entries.push(Entry::new(*operator, who, move || {
                let answer = driver.borrow_mut().ask(&request)?;
                let ended = answer["ended"].as_str().unwrap_or_default();
                if ended != CANCELLED {
                    let message = format!("the statement ended before it was cancelled: {ended}");
                    return Err(Failure::message(message));
                }
                let number = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
                Ok(vec![(SECOND, number("second_ms")), (CANCEL, number("cancel_ms"))])
            }));
        }
    }
    let series = measure(&mut entries, command.repeat.rounds, &mut machine)?;
    drop(entries);
    let quiet = machine.was_quiet()?;
    figures::print("freeze", &figures::figures(&series, GADUS), quiet, command.common.json)
}
