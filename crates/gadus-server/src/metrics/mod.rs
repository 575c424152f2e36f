//! What the server counts, for who watches it.
//!
//! - Counters are atomics that are added to without order: no statement waits for what another counts.
//! - What others know, the process and the database, is asked for when somebody reads.

mod counted;
mod page;
mod process;
mod text;

pub(crate) use counted::Counted;
pub(crate) use page::{CONTENT_TYPE, page};

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Classes of SQLSTATE: success, and those that statements of Gadus end with. Others are counted as the last.
const CLASSES: [&str; 20] = [
    "00", "08", "0A", "22", "23", "25", "26", "28", "34", "3B", "40", "42", "53", "54", "55", "57",
    "58", "72", "XX", "other",
];

/// The class of what has not failed.
const SUCCESS: &str = CLASSES[0];

/// Where the counts of statements by their time end, in nanoseconds and in seconds: three in each power of
/// ten would be twenty lines, two tell a point statement from a scan, and a scan from a wait.
const TIMES: [(u64, &str); 13] = [
    (100_000, "0.0001"),
    (300_000, "0.0003"),
    (1_000_000, "0.001"),
    (3_000_000, "0.003"),
    (10_000_000, "0.01"),
    (30_000_000, "0.03"),
    (100_000_000, "0.1"),
    (300_000_000, "0.3"),
    (1_000_000_000, "1"),
    (3_000_000_000, "3"),
    (10_000_000_000, "10"),
    (30_000_000_000, "30"),
    (100_000_000_000, "100"),
];

/// Counts since the server began.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) connections: Counter,
    pub(crate) refused: Counter,
    pub(crate) authentication_failures: Counter,
    pub(crate) cancels: Counter,
    pub(crate) commits: Counter,
    pub(crate) rollbacks: Counter,
    pub(crate) rows_sent: Counter,
    pub(crate) copy_rows_sent: Counter,
    pub(crate) copy_rows_received: Counter,
    pub(crate) bytes_received: Counter,
    pub(crate) bytes_sent: Counter,
    statements: [Counter; CLASSES.len()],
    /// The last is of those that took longer.
    times: [Counter; TIMES.len() + 1],
    time_ns: Counter,
}

/// What only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn add_one(&self) {
        self.add(1);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Metrics {
    /// Counts a statement that has come to its end; a code where it has failed.
    pub(crate) fn count_statement(&self, time: Duration, code: Option<&str>) {
        let class = code.map_or(SUCCESS, |code| code.get(..2).unwrap_or_default());
        let index = CLASSES.iter().position(|known| *known == class);
        self.statements[index.unwrap_or(CLASSES.len() - 1)].add_one();
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.times[TIMES.partition_point(|(end_ns, _)| *end_ns < time_ns)].add_one();
        self.time_ns.add(time_ns);
    }
}

#[cfg(test)]
mod tests;
