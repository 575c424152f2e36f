//! What follows for databases of others: settings, with the versions that have them.
//!
//! - A setting is named only where the intervals say that it makes a difference; otherwise none is needed.

use super::criteria::by_number;
use crate::harness::Ratio;
use crate::report::{Benchmark, Cell, Report};

/// A difference below this is not worth a setting.
pub(super) const WORTH: f64 = 1.10;

/// A setting, or that none is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The database.
    pub product: String,
    /// Its versions for which that is so.
    pub versions: String,
    /// What to set; none where no setting is needed, or it is not known.
    pub setting: Option<String>,
    /// Whether it is known: nothing follows from what was measured while others disturbed it.
    pub is_known: bool,
    /// By what.
    pub why: String,
}

pub(super) fn settings(report: &Report) -> Vec<Advice> {
    let mut all = Vec::new();
    all.extend(log_sync(report));
    all.extend(io_method(report));
    all.extend(local_clients(report));
    all.extend(flush(report));
    all.extend(mapped_database(report));
    all.push(duckdb(report));
    all
}

impl Advice {
    /// As tables have it.
    #[must_use]
    pub fn answer(&self) -> &str {
        match (&self.setting, self.is_known) {
            (Some(setting), _) => setting,
            (None, true) => "no setting needed",
            (None, false) => "not known",
        }
    }
}

fn advice(product: &str, versions: &str, setting: Option<String>, why: String) -> Advice {
    let (product, versions) = (product.to_owned(), versions.to_owned());
    Advice { product, versions, setting, is_known: true, why }
}

/// No setting, if that is known by a cell.
fn none(product: &str, versions: &str, cell: &Cell, why: String) -> Advice {
    Advice { is_known: cell.quiet, ..advice(product, versions, None, why) }
}

fn durable(report: &Report) -> Option<&Cell> {
    report.cell(
        Benchmark::Sync,
        "a record made durable",
        &[("bytes", "4096"), ("room", "overwritten")],
    )
}

/// How many times dearer one contestant is than another, where the interval has no 1 in it.
pub(super) fn certain(cell: &Cell, one: &str, other: &str) -> Option<Ratio> {
    let ratio = cell.by(one)?.ratio_to(cell.by(other)?);
    (cell.quiet && (ratio.low > 1.0 || ratio.high < 1.0)).then_some(ratio)
}

fn shown(ratio: Ratio) -> String {
    format!("{:.2} times ({:.2} to {:.2})", ratio.value, ratio.low, ratio.high)
}

fn uncertain(cell: &Cell, what: &str) -> String {
    match cell.quiet {
        true => format!("{what}: no difference that is certain and worth it"),
        false => format!("{what}: the machine was not quiet, so that nothing follows"),
    }
}

/// PostgreSQL's log is written over old segments, as the cell is.
fn log_sync(report: &Report) -> Option<Advice> {
    let cell = durable(report)?;
    let usual = "write, fdatasync";
    let others = [("open_datasync", "write, O_DSYNC"), ("fsync", "write, fsync")];
    let cheaper = others.into_iter().filter_map(|(method, who)| {
        let ratio = certain(cell, usual, who)?;
        (ratio.low >= WORTH).then_some((method, ratio))
    });
    let best = cheaper.max_by(|one, other| one.1.value.total_cmp(&other.1.value));
    Some(match best {
        Some((method, ratio)) => advice(
            "PostgreSQL",
            "all that are supported",
            Some(format!("wal_sync_method = {method}")),
            format!("fdatasync, the default, costs {} as much", shown(ratio)),
        ),
        None => none(
            "PostgreSQL",
            "all that are supported",
            cell,
            format!("wal_sync_method stays fdatasync: {}", uncertain(cell, "the other methods")),
        ),
    })
}

/// Buffered, as PostgreSQL reads: io_uring beside calls.
fn io_method(report: &Report) -> Option<Advice> {
    let cells = by_number(report, Benchmark::Bind, "scan a file", "bytes", &[("cache", "cold")]);
    let (_, cell) = cells.last()?;
    let ratio = certain(cell, "read, 64 KiB", "io_uring, 8 at a time");
    Some(match ratio.filter(|ratio| ratio.low >= WORTH) {
        Some(ratio) => advice(
            "PostgreSQL",
            "18 and later, built with liburing",
            Some("io_method = io_uring".to_owned()),
            format!("a cold scan by single reads takes {} as long", shown(ratio)),
        ),
        None => none(
            "PostgreSQL",
            "18 and later",
            cell,
            format!("io_method stays worker: {}", uncertain(cell, "a cold scan by io_uring")),
        ),
    })
}

fn local_clients(report: &Report) -> Option<Advice> {
    let echoes = by_number(report, Benchmark::Message, "echo", "bytes", &[("processor", "other")]);
    let (bytes, cell) = echoes.into_iter().find(|(_, cell)| cell.by("Unix stream").is_some())?;
    let ratio = certain(cell, "TCP", "Unix stream");
    let products = "PostgreSQL and MySQL";
    Some(match ratio.filter(|ratio| ratio.low >= WORTH) {
        Some(ratio) => advice(
            products,
            "all",
            Some("connect by the Unix socket from the same machine: host=/var/run/postgresql, or socket=".to_owned()),
            format!("an echo of {bytes} bytes by TCP takes {} as long", shown(ratio)),
        ),
        None => none(products, "all", cell, uncertain(cell, "TCP beside Unix sockets")),
    })
}

fn flush(report: &Report) -> Option<Advice> {
    let cell = durable(report)?;
    let ratio = certain(cell, "write, fsync", "write, fdatasync");
    Some(match ratio.filter(|ratio| ratio.low >= WORTH) {
        Some(ratio) => advice(
            "MySQL",
            "8.0.26 to 8.3; from 8.4 it is the default",
            Some("innodb_use_fdatasync = ON".to_owned()),
            format!("fsync takes {} as long", shown(ratio)),
        ),
        None => none("MySQL", "8.0 and later", cell, uncertain(cell, "fsync beside fdatasync")),
    })
}

/// `SQLite` copies every page of its file into its own cache, unless the file is mapped; it writes by calls either
/// way, so that nothing is written uninvited.
fn mapped_database(report: &Report) -> Option<Advice> {
    let pages = by_number(report, Benchmark::Bind, "read a row of a random page", "bytes", &[]);
    let (bytes, cell) = pages.last()?;
    let ratio = certain(cell, "read of the page", "mapped");
    Some(match ratio.filter(|ratio| ratio.low >= WORTH) {
        Some(ratio) => advice(
            "SQLite",
            "3.7.17 and later",
            Some(
                "PRAGMA mmap_size = the size of the database, at most 2 GiB unless built otherwise"
                    .to_owned(),
            ),
            format!(
                "to read a page that the kernel has takes {} as long as to touch it mapped, in a file of {}",
                shown(ratio),
                gadus_base::ByteCount(*bytes)
            ),
        ),
        None => none(
            "SQLite",
            "3.7.17 and later",
            cell,
            uncertain(cell, "mapped pages beside read ones"),
        ),
    })
}

fn duckdb(report: &Report) -> Advice {
    let why = match report.of(Benchmark::Bind).next() {
        Some(_) => "it has its own pool and reads by calls, and no setting changes which calls",
        None => "no setting of it changes which of the measured services it uses",
    };
    advice("DuckDB", "1.0 and later", None, why.to_owned())
}
